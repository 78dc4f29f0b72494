import { randomUUID } from "node:crypto";
import type { Frame } from "../../src/model/frames/frame.ts";
import { keptOutputOf } from "../../src/model/parts/kept-output.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { accumulateAndAddress } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { mediaOf } from "../../src/model/truncate/media-references.ts";
import type { ChannelFrame, RawReply } from "../../src/protocol.ts";
import type { OpenSession, SessionEvent, Sessions } from "../../src/server/sessions/sessions.ts";

/** An in-memory implementation of `Sessions`, based only on the fold. */
export interface MemorySessions extends Sessions {
  add(id: string, frames?: readonly Frame[]): void;
  /** Appends frames to a session, as its file would. */
  push(id: string, frames: readonly Frame[]): void;
  /** Replaces the session's file by one with these frames. */
  rewrite(id: string, frames: readonly Frame[]): void;
  /** Removes the session, as a start without its folder does. */
  remove(id: string): void;
  transcript(id: string): Transcript;
}

interface Kept {
  epoch: string;
  seq: number;
  transcript: Transcript;
  frames: ChannelFrame[];
  listeners: Set<(event: SessionEvent) => void>;
}

export function createMemorySessions({ held = 5_000 } = {}): MemorySessions {
  const kept = new Map<string, Kept>();
  const listeners = new Set<
    (change: { seq: number; changed: SessionSummary[]; removed: string[] }) => void
  >();
  const frame_listeners = new Set<Parameters<NonNullable<Sessions["watchFrames"]>>[0]>();
  const epoch = randomUUID();
  let seq = 0;

  const fold = (id: string, session: Kept, frames: readonly Frame[]) => {
    for (const listener of frame_listeners) listener(id, frames, session.epoch);
    return frames.map((frame) => {
      const folded = accumulateAndAddress(session.transcript, frame);
      session.transcript = folded.transcript;
      session.seq++;
      const sent = { seq: session.seq, frame: folded.frame };
      session.frames.push(sent);
      if (session.frames.length > held) session.frames.shift();
      return sent;
    });
  };
  const summaryOf = (id: string, { transcript }: Kept): SessionSummary => ({
    id,
    agent: "claude-code",
    status: "running",
    last_activity_at: 0,
    turns: transcript.turns.length,
    steps: 0,
    tool_calls: 0,
    errors: 0,
    parts: transcript.parts.length,
    runs: 0,
    byte_size: 0,
  });
  const changed = (id: string, session: Kept) => {
    seq++;
    for (const listener of listeners) listener({ seq, changed: [summaryOf(id, session)], removed: [] });
  };
  const need = (id: string): Kept => {
    const session = kept.get(id);
    if (!session) throw new Error(`The test has no session ${id}.`);
    return session;
  };

  return {
    epoch,
    get seq() {
      return seq;
    },
    list: () => [...kept].map(([id, session]) => summaryOf(id, session)),
    get: (id) => {
      const session = kept.get(id);
      return session && summaryOf(id, session);
    },
    async open(id) {
      const session = kept.get(id);
      if (!session) return undefined;
      const open: OpenSession = {
        id,
        get epoch() {
          return session.epoch;
        },
        get seq() {
          return session.seq;
        },
        get transcript() {
          return session.transcript;
        },
        get summary() {
          return summaryOf(id, session);
        },
        framesAfter(epoch, after) {
          const missed = session.seq - after;
          if (epoch !== session.epoch || !(missed >= 0 && missed <= session.frames.length)) return undefined;
          return session.frames.slice(session.frames.length - missed);
        },
        subscribe(listener) {
          session.listeners.add(listener);
          return () => session.listeners.delete(listener);
        },
      };
      return open;
    },
    async raw(id, part_id): Promise<RawReply | undefined> {
      const part = [...need(id).transcript.parts].find((candidate) => candidate?.id === part_id);
      if (!part) return undefined;
      const text = JSON.stringify(part);
      return { file: "memory", line: 1, byte: 0, length: text.length, text, archived: false };
    },
    async attachment(id, part_id, n) {
      const part = [...need(id).transcript.parts].find((candidate) => candidate?.id === part_id);
      const media = part && mediaOf(part)[n];
      if (!media || !("url" in media)) return undefined;
      const [, mime_type, base64] = /^data:([^;,]*);base64,(.*)$/s.exec(media.url) ?? [];
      if (mime_type === undefined || base64 === undefined) return undefined;
      return { mime_type, bytes: Buffer.from(base64, "base64") };
    },
    async output(id, part_id, from) {
      const part = [...need(id).transcript.parts].find((candidate) => candidate?.id === part_id);
      if (part === undefined || keptOutputOf(part) === undefined || part.type !== "tool_result")
        return undefined;
      return Buffer.from(part.output_text).subarray(from);
    },
    async frames(id) {
      const session = kept.get(id);
      return session && oneBatch(session.frames.map(({ frame }) => frame));
    },
    status: () => ({
      index: { files_found: 1, files_done: 1, bytes_found: 1, bytes_done: 1, done: true },
      notices: [],
      roots: [],
    }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    watchFrames(listener) {
      frame_listeners.add(listener);
      return () => frame_listeners.delete(listener);
    },
    async close() {},
    add(id, frames = []) {
      const session: Kept = {
        epoch: randomUUID(),
        seq: 0,
        transcript: emptyTranscript(id),
        frames: [],
        listeners: new Set(),
      };
      kept.set(id, session);
      fold(id, session, frames);
      changed(id, session);
    },
    push(id, frames) {
      const session = need(id);
      const sent = fold(id, session, frames);
      for (const listener of session.listeners) listener({ type: "frames", frames: sent });
      changed(id, session);
    },
    rewrite(id, frames) {
      const session = need(id);
      session.epoch = randomUUID();
      session.seq = 0;
      session.transcript = emptyTranscript(id);
      session.frames = [];
      fold(id, session, frames);
      for (const listener of session.listeners) listener({ type: "reset" });
      changed(id, session);
    },
    remove(id) {
      kept.delete(id);
      seq++;
      for (const listener of listeners) listener({ seq, changed: [], removed: [id] });
    },
    transcript: (id) => need(id).transcript,
  };
}

async function* oneBatch(frames: readonly Frame[]): AsyncGenerator<readonly Frame[]> {
  yield frames;
}
