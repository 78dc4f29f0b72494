import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Frame } from "../../src/model/frames/frame.ts";
import { uuidFrom } from "../../src/model/uuid.ts";
import type {
  Format,
  Reader,
  ReaderOptions,
  ReadRecord,
  SessionLinkFacts,
} from "../../src/sources/contract.ts";
import { outputFileIn } from "../../src/sources/conversation/output-file.ts";
import { createLineReader, type LineRecord } from "../../src/sources/lines/lines.ts";

/**
 * A minimal format: each line of a session file is a frame, or facts that link a run. Tests of the daemon use it to be
 * independent of any agent's format.
 */
export const frameFormat: Format = {
  id: "frames",
  name: "Frames",
  root: { variable: "FRAMES_HOME", home: ".frames", folders: ["sessions"] },
  registry: {
    folder: "running",
    read(name, text) {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null) return undefined;
      return { session_id: name, ...value };
    },
  },
  titles: {
    file: "titles.json",
    read: (text) => new Map(Object.entries(JSON.parse(text) as Record<string, string>)),
  },
  classify(path) {
    if (!/\.jsonl(\.zst)?$/.test(path)) return undefined;
    if (/(^|\/)run-[^/]+$/.test(path)) return { kind: "run", side: path.replace(/\.jsonl$/, ".meta.json") };
    return { kind: "session" };
  },
  detect: (head) => new TextDecoder().decode(head.subarray(0, 10)) === '{"frame":{',
  outputFile: (session_path, recorded_path) =>
    outputFileIn(`${session_path.replace(/\.jsonl$/, "")}/tool-results`, recorded_path),
  createReader,
};

function createReader({ path }: ReaderOptions): Reader {
  const lines = createLineReader();
  const facts = new Map<string, SessionLinkFacts>();
  let session_id = uuidFrom("6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a72", path);

  function read(record: LineRecord): ReadRecord {
    const { place } = record;
    if (record.blank) return { place, disposition: { kind: "hidden", rule: "blank" }, frames: [] };
    if (record.value?.facts) {
      const found = record.value.facts as SessionLinkFacts;
      facts.set(found.session_id, found);
      return { place, disposition: { kind: "folded", into: "links" }, frames: [] };
    }
    const source = { file: path, ...place };
    if (record.value?.frame) {
      const frame = record.value.frame as Frame;
      session_id = frame.session_id;
      return { place, disposition: { kind: "shown" }, frames: [{ ...frame, source }] };
    }
    const part_id = uuidFrom(session_id, `unreadable ${place.byte}`);
    return {
      place,
      disposition: { kind: "unreadable" },
      frames: [
        { type: "unknown", session_id, at: 0, part_id, raw: record.text, error: record.error ?? "", source },
      ],
    };
  }

  return {
    push: (chunk) => lines.push(chunk).map(read),
    settle: () => lines.settle().map(read),
    close: () => lines.close().map(read),
    readSide(text) {
      const { facts: found, name } = JSON.parse(text) as { facts: SessionLinkFacts; name: string };
      facts.set(found.session_id, found);
      const frame: Frame = {
        type: "session.update",
        session_id: found.session_id,
        at: 0,
        patch: { run: { name } },
      };
      const place = { line: 1, byte: 0, length: text.length };
      return [{ place, disposition: { kind: "folded", into: "session" }, frames: [frame] }];
    },
    linkFacts: () => ({ sessions: [...facts.values()] }),
  };
}

/** A session's id from a short name. */
export const sessionId = (name: string): string => uuidFrom("6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a73", name);
const messageId = (session: string, name: string) => uuidFrom(sessionId(session), name);

/** The time of the written sessions. */
/** A recent time, because a fresh file of an old session counts as a copy. */
export const AT = Date.now() - 60_000;
const line = (value: object): string => `${JSON.stringify(value)}\n`;
export const frame = (value: Frame): string => line({ frame: value });

export const prompt = (session: string, text: string): string =>
  frame({
    type: "user.message",
    session_id: sessionId(session),
    at: AT,
    message_id: messageId(session, text),
    parts: [{ type: "text", text }],
  });

/** One answer: a message with one text, which does not end the turn. */
export const answer = (session: string, text: string): string => {
  const common = { session_id: sessionId(session), at: AT + 1_000 };
  const message_id = messageId(session, `answer ${text}`);
  const part_id = messageId(session, `text ${text}`);
  return [
    frame({ ...common, type: "message.start", message_id, model: "model-1" }),
    frame({ ...common, type: "message.part_start", part_id, message_id, kind: "text" }),
    frame({ ...common, type: "message.part_end", part_id, text }),
    frame({ ...common, type: "message.end", message_id, stop_reason: "stop" }),
  ].join("");
};

export const call = (session: string, tool_call_id: string, tool_name = "Bash"): string =>
  frame({
    type: "message.tool_call",
    session_id: sessionId(session),
    at: AT + 2_000,
    tool_call_id,
    tool_name,
    arguments_json: "{}",
  });

export const result = (
  session: string,
  tool_call_id: string,
  parts: Result["parts"] = [],
  more: Partial<Result> = {},
): string =>
  frame({
    type: "message.tool_result",
    session_id: sessionId(session),
    at: AT + 3_000,
    tool_call_id,
    is_error: false,
    status: "success",
    output_text: "done",
    parts,
    ...more,
  });
type Result = Extract<Frame, { type: "message.tool_result" }>;

export const turnEnd = (session: string): string =>
  frame({ type: "turn.end", session_id: sessionId(session), at: AT + 4_000 });

export const facts = (value: SessionLinkFacts): string => line({ facts: value });

export function write(path: string, ...texts: string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, texts.join(""));
}
export const append = (path: string, ...texts: string[]): void => appendFileSync(path, texts.join(""));
