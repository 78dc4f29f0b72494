import { randomUUID } from "node:crypto";
import { createOrderChecker } from "../../model/frames/order.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { createLineCutter } from "../../model/line-cutter.ts";
import { shorten } from "../../model/parts/content.ts";
import type { StreamFormat } from "../../sources/push/format.ts";
import { findStreamFormat, STREAM_FORMATS } from "../../sources/push/index.ts";
import { CUT_OFF, Refused } from "../sessions/refused.ts";
import type { ManagedSessions } from "./managed-sessions.ts";
import { type LineReader, readForeign, readFrames, refuseLonger } from "./push/line-readers.ts";
import type { Push, Pushed } from "./push/push.ts";
import type { Recorder } from "./record/recorder.ts";

/** Maximum length of a sender's name, in UTF-16 code units. */
const NAME_LIMIT = 100;
interface PushOptions {
  session_id: string;
  /** The sender's name, shown as the session's agent. */
  agent?: string;
  /** `frames`, or the id of another stream format. */
  format?: string;
  /** Identifies a stream of another format, whose events have no numbers: repeated pushes of it have no effect. */
  epoch?: string;
}

/** Accepts pushed sessions. A session has one sender at a time; a new sender replaces the previous one. */
interface Ingestion {
  /** Applies a body as it arrives. Rejects with `Refused`. The frames that the result or error counts are on disk. */
  push(options: PushOptions, body: AsyncIterable<Uint8Array>): Promise<Pushed>;
}

export function createIngestion(managed: ManagedSessions, now: () => number): Ingestion {
  /** A checker remembers all ids of its session, so it is dropped together with the session's record. */
  const checkers = new WeakMap<Recorder, ReturnType<typeof createOrderChecker>>();
  /** The current sender of each session. */
  const senders = new Map<string, object>();

  function checkerOf(recorder: Recorder) {
    const known = checkers.get(recorder);
    if (known) return known;
    const checker = createOrderChecker();
    for (const frame of recorder.frames()) checker.check(frame);
    checkers.set(recorder, checker);
    return checker;
  }

  async function push(options: PushOptions, body: AsyncIterable<Uint8Array>): Promise<Pushed> {
    const { session_id, agent = "", epoch } = options;
    if (!isUuid(session_id)) throw new Refused(400, "session", "The session's id must be a UUID.");
    const foreign = foreignFormat(options.format ?? "frames");
    let recorder: Recorder | undefined;
    const stored = async () => await recorder?.stored();
    // Idle sessions are unloaded, also while their sender is connected.
    const load = () => managed.load(session_id);
    const sender = {};
    senders.set(session_id, sender);
    const current: Push = {
      session_id,
      stream_id: foreign && (epoch ?? randomUUID()),
      pushed: { applied: 0, repeated: 0 },
      line: 1,
      record() {
        recorder = managed.pushed(session_id, (shorten(agent, NAME_LIMIT) || foreign?.id) ?? "pushed");
        return recorder;
      },
      get recorder() {
        return recorder;
      },
      checkerOf,
      dropChecker: (of) => void checkers.delete(of),
      isCurrent: () => senders.get(session_id) === sender,
      now,
    };
    const reader = foreign ? readForeign(current, foreign, epoch) : readFrames(current);
    try {
      // The state of an open stream is on disk, and the previous push may have just ended.
      if (managed.get(session_id)) {
        await load();
        await current.record().stored();
      }
      await readLines(current, reader, body, { load, stored });
      return current.pushed;
    } finally {
      if (current.isCurrent()) senders.delete(session_id);
      await stored();
    }
  }

  return { push };
}

/** The format of a pushed stream; `undefined`: frames. Throws a `Refused` for an unknown one. */
function foreignFormat(format: string): StreamFormat | undefined {
  if (format === "frames") return undefined;
  const foreign = findStreamFormat(format);
  if (foreign) return foreign;
  const known = ["frames", ...STREAM_FORMATS.map(({ id }) => id)].join(", ");
  throw new Refused(
    400,
    "format",
    `\`format\`: unknown format ${JSON.stringify(format)}. Supported formats: ${known}.`,
  );
}

/**
 * Passes the lines of a body to a reader as they arrive. `load`: loads the record that the lines are added to; `stored`: resolves
 * once their frames are on disk.
 */
async function readLines(
  push: Push,
  reader: LineReader,
  body: AsyncIterable<Uint8Array>,
  { load, stored }: { load: () => Promise<void>; stored: () => Promise<void> },
): Promise<void> {
  const decoder = new TextDecoder();
  const cutter = createLineCutter();
  let ended = 0;
  const take = (text: string, last?: "whole" | "cut off"): void => {
    ended += 1;
    push.line = ended;
    refuseLonger(push, text.length, "a line");
    if (last) reader.end(text, last === "cut off");
    else reader.push(text);
  };
  try {
    for await (const chunk of bodyOrCutOff(body, CUT_OFF)) {
      await load();
      for (const text of cutter.push(decoder.decode(chunk, { stream: true }))) take(text);
      push.line = ended + 1;
      refuseLonger(push, cutter.length, "a line");
      await stored();
    }
  } catch (error) {
    // Only foreign streams have an inferred end.
    if (error === CUT_OFF && push.stream_id !== undefined) {
      await load();
      take(cutter.end(), "cut off");
    }
    throw error;
  }
  await load();
  take(cutter.end() + decoder.decode(), "whole");
}

/** The chunks of a body. Throws `cut_off` if the sender closed the connection early. */
async function* bodyOrCutOff(body: AsyncIterable<Uint8Array>, cut_off: Refused): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    throw cut_off;
  }
}
