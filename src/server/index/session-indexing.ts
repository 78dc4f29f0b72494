import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { SessionSummary } from "../../model/session.ts";
import { accumulate } from "../../model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { SourceUpdate } from "../../store/index/contract.ts";
import {
  projectPart,
  projectSession,
  projectSteps,
  projectTranscript,
} from "../../store/index/projection.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { type IndexState, sessionStamp } from "./index-state.ts";
import type { IndexTarget } from "./index-writer.ts";

/** Minimum time between two indexings of a growing session, in milliseconds. */
const REST_MS = 3_000;
/** Maximum time that folding a session blocks the event loop, in milliseconds. */
const SLICE = 8;
/** Number of sessions whose last projection is cached, so that only changes are sent. */
const MAX_REMEMBERED = 16;

/**
 * Indexes sessions that index threads cannot read: managed sessions, and those that only the archive has. `isWanted`: whether a
 * row belongs to one of them.
 */
export function indexSessions(options: {
  sessions: Sessions;
  state: IndexState;
  write(target: IndexTarget, update: SourceUpdate): void;
  isWanted(row: SessionSummary): boolean;
}): { readonly waiting: number; close(): void } {
  const { sessions, state, write } = options;
  const queue = new Set<string>();
  /** The last sent parts, by session. */
  const sent = new Map<string, (TranscriptPart | undefined)[]>();
  let closed = false;
  let working = false;

  const add = (row: SessionSummary) => {
    if (options.isWanted(row) && state.stampOf(keyOf(row.id)) !== sessionStamp(row)) queue.add(row.id);
    void work();
  };

  async function work(): Promise<void> {
    if (working) return;
    working = true;
    try {
      while (queue.size > 0 && !closed) {
        await sleep(REST_MS, undefined, { ref: false });
        for (const id of [...queue]) {
          if (closed) return;
          queue.delete(id);
          // Read errors are reported when the session is opened.
          await index(id).catch(() => {});
        }
      }
    } finally {
      working = false;
    }
  }

  async function index(id: string): Promise<void> {
    const row = sessions.get(id);
    if (!row) return;
    const target = { path: state.path, generation: state.generation };
    const transcript = await transcriptOf(sessions, id, () => closed);
    if (!transcript || closed) return;
    const before = sent.get(id);
    const parts = [...transcript.parts];
    const { turns } = projectTranscript({ ...transcript, parts: emptyTranscript(id).parts });
    const heads = [...transcript.turns];
    let turn = 0;
    const changed = parts.flatMap((part, seq) => {
      while (seq >= (heads[turn + 1]?.first_part ?? Number.POSITIVE_INFINITY)) turn += 1;
      return part && part !== before?.[seq] ? [projectPart(part, seq, turn, transcript)] : [];
    });
    sent.delete(id);
    sent.set(id, parts);
    for (const oldest of sent.keys()) {
      if (sent.size <= MAX_REMEMBERED) break;
      sent.delete(oldest);
    }
    write(target, {
      key: keyOf(id),
      stamp: sessionStamp(row),
      sessions: [
        {
          ...projectSession(row),
          ...{ part_count: parts.length, parts: changed, turns },
          ...{ steps: projectSteps(transcript), steps_from: 0 },
        },
      ],
    });
  }

  const end = sessions.subscribe(({ changed }) => {
    for (const row of changed) add(row);
  });
  const addAll = () => {
    sent.clear();
    for (const row of sessions.list()) add(row);
  };
  addAll();
  state.onRebuild(addAll);

  return {
    get waiting() {
      return queue.size;
    },
    close() {
      closed = true;
      end();
    },
  };
}

/** The current transcript of an open session. Other sessions are folded for this purpose. */
async function transcriptOf(
  sessions: Sessions,
  id: string,
  isClosed: () => boolean,
): Promise<Transcript | undefined> {
  const batches = await sessions.frames(id);
  if (!batches) return undefined;
  let transcript = emptyTranscript(id);
  let since = performance.now();
  for await (const frames of batches) {
    for (const frame of frames) {
      transcript = accumulate(transcript, frame);
      if (performance.now() - since <= SLICE) continue;
      await setImmediate();
      since = performance.now();
    }
    if (isClosed()) return undefined;
  }
  return transcript;
}

const PREFIX = "session:";
const keyOf = (id: string): string => PREFIX + id;
/** The session id of an index key, if it is a session's key. */
export const sessionOfKey = (key: string): string | undefined =>
  key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
