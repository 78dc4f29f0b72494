import { randomUUID } from "node:crypto";
import * as z from "zod";
import { type Frame, frame as frameSchema } from "../../model/frames/frame.ts";
import { createOrderChecker, type Rule } from "../../model/frames/order.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { createLineCutter } from "../../model/line-cutter.ts";
import { asObject, type JsonObject, messageOf } from "../../model/narrow.ts";
import { shorten } from "../../model/parts/content.ts";
import { type SessionPatch, sessionPatch } from "../../model/session.ts";
import { CUT } from "../../sources/push/endings.ts";
import type { StreamFormat } from "../../sources/push/format.ts";
import {
  createStreamReader,
  findStreamFormat,
  type ReadEvent,
  STREAM_FORMATS,
} from "../../sources/push/index.ts";
import { CUT_OFF, Refused } from "../sessions/refused.ts";
import type { ManagedSessions } from "./managed-sessions.ts";
import { isDeeper, MAX_DEPTH, storable } from "./record/join-deltas.ts";
import type { Recorder } from "./record/recorder.ts";
import type { OpenStream, SessionState } from "./session-config.ts";

/** Maximum length of a line or of an event in several lines, in UTF-16 code units. Fits an image of 5 MB in base64. */
const LINE_LIMIT = 8 * 1024 * 1024;
/** Maximum length of a sender's name, in UTF-16 code units. */
const NAME_LIMIT = 100;
/** Latest time that a `Date` can represent, in milliseconds since 1970. */
const LATEST = 8.64e15;
/** Rules whose violations are accepted: a result without its call is shown on its own. */
const KEPT: ReadonlySet<Rule> = new Set<Rule>(["orphan_result"]);

/** The position of a frame from a sender that numbers its frames. */
const numbered = z.object({ epoch: z.string().min(1).max(200), seq: z.int().min(1) });

interface PushOptions {
  session_id: string;
  /** The sender's name, shown as the session's agent. */
  agent?: string;
  /** `frames`, or the id of another stream format. */
  format?: string;
  /** Identifies a stream of another format, whose events have no numbers: repeated pushes of it have no effect. */
  epoch?: string;
}

/** The result of a push: the sender's position, and the number of new frames. */
interface Pushed {
  epoch?: string;
  /** The last stored frame of that epoch. */
  seq?: number;
  applied: number;
  repeated: number;
}

/** A rejected push. Lines before the rejected one are stored, later ones were not read. */
export class PushRefused extends Refused {
  readonly line: number;
  readonly pushed: Pushed;
  /** The expected sequence number. */
  readonly expected: number | undefined;
  constructor(
    status: Refused["status"],
    code: string,
    message: string,
    at: { line: number; pushed: Pushed; expected?: number },
  ) {
    super(status, code, message);
    this.line = at.line;
    this.pushed = at.pushed;
    this.expected = at.expected;
  }
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
    const { session_id, format = "frames" } = options;
    if (!isUuid(session_id)) throw new Refused(400, "session", "The session's id must be a UUID.");
    const foreign = format === "frames" ? undefined : findStreamFormat(format);
    if (format !== "frames" && !foreign) {
      const known = ["frames", ...STREAM_FORMATS.map(({ id }) => id)].join(", ");
      throw new Refused(
        400,
        "format",
        `\`format\`: unknown format ${JSON.stringify(format)}. Supported formats: ${known}.`,
      );
    }
    /** Identifies the foreign stream. Without an epoch it cannot be continued by another push. */
    const stream_id = foreign && (options.epoch ?? randomUUID());
    let recorder: Recorder | undefined;
    /**
     * The session is created by the first valid frame, so that a wrong address creates none. It is looked up for each frame,
     * because idle sessions are unloaded.
     */
    const record = () => {
      recorder = managed.pushed(
        session_id,
        (shorten(options.agent ?? "", NAME_LIMIT) || foreign?.id) ?? "pushed",
      );
      return recorder;
    };
    const stored = async () => await recorder?.stored();
    const sender = {};
    senders.set(session_id, sender);
    const pushed: Pushed = { applied: 0, repeated: 0 };
    /** The line number for errors. */
    let line = 1;

    function refuse(
      code: string,
      message: string,
      status: Refused["status"] = 422,
      expected?: number,
    ): never {
      throw new PushRefused(status, code, `Line ${line}: ${message}`, {
        line,
        pushed,
        ...(expected === undefined ? {} : { expected }),
      });
    }

    /** Absent: no foreign stream is open, or it can no longer be continued. */
    function setStream(into: Recorder, stream?: OpenStream): void {
      const { stream: _, ...counted } = into.state.pushed ?? {};
      into.setState({ pushed: { ...counted, ...(stream && { stream }) } });
    }

    /** Whether a frame continues the previous push: for a foreign stream, the same stream; for frames, the same epoch. */
    function goesOn({ pushed: before }: SessionState, epoch: string | undefined): boolean {
      if (foreign || before?.stream) return before?.stream?.id === stream_id;
      return before?.epoch === undefined || epoch === undefined || before.epoch === epoch;
    }

    /** Ends an unfinished push when something else begins. */
    function endLeftOpen(into: Recorder): void {
      const ending = endingOf(into);
      for (const frame of ending) checkerOf(into).check(frame);
      into.emit(...ending);
      setStream(into);
    }

    function endingOf(into: Recorder): Frame[] {
      const { stream } = into.state.pushed ?? {};
      if (stream?.ending?.length) return stream.ending;
      const { message_id, part_id } = checkerOf(into).open(session_id);
      const isTurnLeft = stream !== undefined && into.buffer.transcript.open.turn_open;
      if (!isTurnLeft && message_id === undefined && part_id === undefined) return [];
      const common = { session_id, at: now() };
      const ending: Frame[] = [];
      if (part_id !== undefined) ending.push({ type: "message.part_end", ...common, part_id });
      if (message_id !== undefined) {
        ending.push({ type: "message.end", ...common, message_id, stop_reason: "error" });
      }
      ending.push(
        { type: "error", ...common, message: CUT, can_retry: true },
        { type: "turn.end", ...common },
      );
      return ending;
    }

    /** Whether this is the next number. `false` for a repeat. */
    function isNext(epoch: string, seq: number): boolean {
      const before = record().state.pushed;
      const last = before?.epoch === epoch ? (before.seq ?? 0) : 0;
      pushed.epoch = epoch;
      pushed.seq = last;
      if (seq <= last) {
        pushed.repeated += 1;
        return false;
      }
      if (seq > last + 1)
        refuse("gap", `expected seq ${last + 1} of epoch ${epoch} but got ${seq}.`, 409, last + 1);
      return true;
    }

    function apply(frame: Frame, number?: { epoch: string; seq: number }): void {
      if (senders.get(session_id) !== sender) {
        refuse("replaced", "another sender has started to push this session.", 409);
      }
      if (number && !isNext(number.epoch, number.seq)) return;
      const into = record();
      if (!goesOn(into.state, number?.epoch)) endLeftOpen(into);
      const broken = checkerOf(into)
        .check(asKept(frame))
        .find(({ rule }) => !KEPT.has(rule));
      if (broken) {
        // The checker has seen a rejected frame: create a new one from the accepted frames.
        checkers.delete(into);
        refuse(broken.rule, `${broken.message}.`);
      }
      into.emit(frame);
      pushed.applied += 1;
      const before = into.state.pushed;
      if (number || before?.stream?.id !== stream_id) {
        const stream = stream_id === undefined ? {} : { stream: { id: stream_id } };
        into.setState({ pushed: { ...before, ...number, ...stream } });
      }
      if (number) pushed.seq = number.seq;
    }

    function refuseLonger(length: number, what: string): void {
      if (length > LINE_LIMIT) refuse("too_long", `${what} can have at most ${LINE_LIMIT} characters.`, 413);
    }

    function readFrames(): LineReader {
      return {
        push(text) {
          if (text.trim() === "") return;
          const { frame, number } = readLine(text, session_id, refuse);
          apply(frame, number);
        },
        end(text) {
          this.push(text);
        },
      };
    }

    function readForeign(format: StreamFormat): LineReader {
      const { epoch } = options;
      const reader = createStreamReader(format, {
        session_id,
        now,
        ...(epoch === undefined ? {} : { seed: epoch }),
      });
      let seq = 0;
      const applyAll = (events: readonly ReadEvent[]): void => {
        for (const event of events) {
          line = event.line;
          for (const frame of event.frames) {
            seq += 1;
            apply(frame, epoch === undefined ? undefined : { epoch, seq });
          }
        }
      };
      return {
        push(text) {
          applyAll(reader.push(`${text}\n`));
          refuseLonger(reader.waiting, "an event");
        },
        end(text, isCutOff) {
          const events = reader.push(`${text}\n\n`);
          // With an epoch another push can send the rest from here. Then an incomplete event is ignored, and the inferred end is
          // only stored for later.
          applyAll(epoch === undefined ? events : events.filter(isReadable));
          const isOver = epoch === undefined || reader.isOver || (reader.hasFailed && !isCutOff);
          const ending = reader.end();
          if (isOver) applyAll(ending);
          if (recorder === undefined) return;
          const into = record();
          const { stream, seq: last } = into.state.pushed ?? {};
          if (stream === undefined || stream.id !== stream_id) return;
          if (isOver) setStream(into);
          else if (seq === last) {
            setStream(into, { ...stream, ending: ending.flatMap(({ frames }) => frames).map(storable) });
          }
        },
      };
    }

    const decoder = new TextDecoder();
    const cutter = createLineCutter();
    const reader = foreign ? readForeign(foreign) : readFrames();
    let ended = 0;
    const take = (text: string, last?: "whole" | "cut off"): void => {
      ended += 1;
      line = ended;
      refuseLonger(text.length, "a line");
      if (last) reader.end(text, last === "cut off");
      else reader.push(text);
    };
    try {
      // The state of an open stream is on disk, and the previous push may have just ended.
      if (managed.get(session_id)) await record().stored();
      try {
        for await (const chunk of wholeOr(body, CUT_OFF)) {
          for (const text of cutter.push(decoder.decode(chunk, { stream: true }))) take(text);
          line = ended + 1;
          refuseLonger(cutter.length, "a line");
          await stored();
        }
      } catch (error) {
        // Only foreign streams have an inferred end.
        if (error === CUT_OFF && foreign) take(cutter.end(), "cut off");
        throw error;
      }
      take(cutter.end() + decoder.decode(), "whole");
      return pushed;
    } finally {
      if (senders.get(session_id) === sender) senders.delete(session_id);
      await stored();
    }
  }

  return { push };
}

/** The chunks of a body. Throws `cut_off` if the sender closed the connection early. */
async function* wholeOr(body: AsyncIterable<Uint8Array>, cut_off: Refused): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    throw cut_off;
  }
}

/** Processes the lines of a body in order. */
interface LineReader {
  push(text: string): void;
  /** Ends the body with its last line, which may be empty. `isCutOff`: the connection broke. */
  end(text: string, isCutOff: boolean): void;
}

/** In history, the end of a channel is the end of the turn. Frames are checked as they will be read from history. */
function asKept(frame: Frame): Frame {
  return frame.type === "end" ? { ...frame, type: "turn.end" } : frame;
}

function isReadable({ frames }: ReadEvent): boolean {
  return !frames.some((frame) => frame.type === "unknown" && frame.error !== undefined);
}

function readLine(
  text: string,
  session_id: string,
  refuse: (code: string, message: string) => never,
): { frame: Frame; number?: { epoch: string; seq: number } } {
  let value: JsonObject | undefined;
  try {
    value = asObject(JSON.parse(text));
  } catch (error) {
    return refuse("json", `invalid JSON: ${messageOf(error)}.`);
  }
  if (value === undefined) return refuse("frame", "a frame must be a JSON object.");
  if (isDeeper(value, MAX_DEPTH)) return refuse("depth", `nested more than ${MAX_DEPTH} levels deep.`);
  // `channel`, `epoch` and `seq` are the position in one of our channels, which only the daemon sets.
  const {
    epoch,
    seq,
    channel: _,
    part_index: __,
    step: ___,
    truncated: ____,
    output_end: _____,
    ...given
  } = value;
  const number = epoch === undefined && seq === undefined ? undefined : numbered.safeParse({ epoch, seq });
  if (number && !number.success) {
    return refuse("frame", "`epoch` and `seq` must be given together: a string, and an integer from 1.");
  }
  const parsed = frameSchema.safeParse({ session_id, ...given });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join(".") || "type";
    return refuse("frame", `\`${field}\`: ${issue?.message ?? "invalid value"}.`);
  }
  if (parsed.data.session_id !== session_id) {
    return refuse(
      "session",
      `\`session_id\`: this URL is for session ${session_id}. Push a run to its own URL.`,
    );
  }
  if (Math.abs(parsed.data.at) > LATEST) return refuse("frame", "`at`: the time is out of range.");
  return { frame: plain(parsed.data), ...(number && { number: number.data }) };
}

/** Keeps the facts in a session update that a source may set. */
function plain(frame: Frame): Frame {
  if (frame.type !== "session.update") return frame;
  const patch = Object.fromEntries(
    Object.entries(frame.patch).filter(([name]) => name in sessionPatch.shape),
  );
  // The removed fields are not part of the type.
  return { ...frame, patch: patch as SessionPatch };
}
