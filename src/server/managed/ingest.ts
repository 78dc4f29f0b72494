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

/** Longest line, and longest event of several, in UTF-16 code units: an image of 5 MB in base64, and room. */
const LINE_LIMIT = 8 * 1024 * 1024;
/** What a sender calls itself, in UTF-16 code units. */
const NAME_LIMIT = 100;
/** Beyond this no date can be said: milliseconds since 1970. */
const LATEST = 8.64e15;
/** A result without its call is shown alone: it breaks the order, and is kept. */
const KEPT: ReadonlySet<Rule> = new Set<Rule>(["orphan_result"]);

/** A number of a frame, where its sender counts. */
const numbered = z.object({ epoch: z.string().min(1).max(200), seq: z.int().min(1) });

interface PushOptions {
  session_id: string;
  /** What the sender is called, where it says so: shown as the session's agent. */
  agent?: string;
  /** `frames`, our own; or the id of a foreign stream's format. */
  format?: string;
  /** Of a foreign stream, whose events have no numbers: makes it once, however often it is sent. */
  epoch?: string;
}

/** What became of a push: where the sender stands, and how many of its frames were new. */
interface Pushed {
  epoch?: string;
  /** The last frame of that epoch that is stored. */
  seq?: number;
  applied: number;
  repeated: number;
}

/** A push that was refused: what came before the line is stored, nothing behind it was looked at. */
export class PushRefused extends Refused {
  readonly line: number;
  readonly pushed: Pushed;
  /** The number that a frame should have had. */
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

/** Takes what agents push. One sender writes a session at a time: a new one takes the place of the one before. */
interface Ingestion {
  /** Applies a body while it comes; rejects with `Refused`. Whatever it resolves or rejects with, what it tells is on disk. */
  push(options: PushOptions, body: AsyncIterable<Uint8Array>): Promise<Pushed>;
}

export function createIngestion(managed: ManagedSessions, now: () => number): Ingestion {
  /** They remember every id of their session, and so go with its record when nobody needs that in memory any more. */
  const checkers = new WeakMap<Recorder, ReturnType<typeof createOrderChecker>>();
  /** Who writes a session now. */
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
        `\`format\`: there is no ${JSON.stringify(format)}; there are ${known}.`,
      );
    }
    /** What a foreign stream is known by: one without an epoch has no rest that another push could bring. */
    const stream_id = foreign && (options.epoch ?? randomUUID());
    let recorder: Recorder | undefined;
    /**
     * Begun by the first frame that can be read: a mistake in the address makes no session. Asked for with each frame, since
     * one of which nothing was heard for long is not held in memory.
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
    /** The one that a refusal names. */
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

    /** Absent: no foreign stream is open, or it is not waited for any more. */
    function setStream(into: Recorder, stream?: OpenStream): void {
      const { stream: _, ...counted } = into.state.pushed ?? {};
      into.setState({ pushed: { ...counted, ...(stream && { stream }) } });
    }

    /**
     * Whether a frame goes on with what was pushed last: a stream, which begins its own messages, with its rest alone; frames with
     * the epoch that they have.
     */
    function goesOn({ pushed: before }: SessionState, epoch: string | undefined): boolean {
      if (foreign || before?.stream) return before?.stream?.id === stream_id;
      return before?.epoch === undefined || epoch === undefined || before.epoch === epoch;
    }

    /** What was left open ends where something else begins: its rest is not waited for any more. */
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

    /** Whether a number is the next one; a repeat is not. */
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
        refuse("gap", `expected seq ${last + 1} of epoch ${epoch}, got ${seq}.`, 409, last + 1);
      return true;
    }

    function apply(frame: Frame, number?: { epoch: string; seq: number }): void {
      if (senders.get(session_id) !== sender) {
        refuse("replaced", "another sender has begun to push this session.", 409);
      }
      if (number && !isNext(number.epoch, number.seq)) return;
      const into = record();
      if (!goesOn(into.state, number?.epoch)) endLeftOpen(into);
      const broken = checkerOf(into)
        .check(asKept(frame))
        .find(({ rule }) => !KEPT.has(rule));
      if (broken) {
        // It has seen what was not taken: the next one begins with what was.
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
      if (length > LINE_LIMIT) refuse("too_long", `${what} may have ${LINE_LIMIT} characters.`, 413);
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
          // With an epoch the rest can still be sent, and begins where this ends: half an event is none, and the end only waits.
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
      // What a stream left open is told by what is on disk, and the one before may have ended this moment.
      if (managed.get(session_id)) await record().stored();
      try {
        for await (const chunk of wholeOr(body, CUT_OFF)) {
          for (const text of cutter.push(decoder.decode(chunk, { stream: true }))) take(text);
          line = ended + 1;
          refuseLonger(cutter.length, "a line");
          await stored();
        }
      } catch (error) {
        // Of frames nobody knows how they would end.
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

/** The chunks of a body; throws what is given where its sender broke it off. */
async function* wholeOr(body: AsyncIterable<Uint8Array>, cut_off: Refused): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    throw cut_off;
  }
}

/** What reads the lines of a body, one after the other. */
interface LineReader {
  push(text: string): void;
  /** The body is over; its last line, empty where the body ends with a line's end. `isCutOff`: its connection broke. */
  end(text: string, isCutOff: boolean): void;
}

/** A channel's end is the turn's in history: what follows is judged as it would be once that was read again. */
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
    return refuse("json", `this is no JSON: ${messageOf(error)}.`);
  }
  if (value === undefined) return refuse("frame", "a frame is a JSON object.");
  if (isDeeper(value, MAX_DEPTH)) return refuse("depth", `nested more than ${MAX_DEPTH} levels deep.`);
  // The place in a channel of ours, and what only the daemon says.
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
    return refuse("frame", "`epoch` and `seq` go together: a text, and a whole number from 1.");
  }
  const parsed = frameSchema.safeParse({ session_id, ...given });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join(".") || "type";
    return refuse("frame", `\`${field}\`: ${issue?.message ?? "this is not what is expected"}.`);
  }
  if (parsed.data.session_id !== session_id) {
    return refuse(
      "session",
      `\`session_id\`: this is the address of ${session_id}; a run is pushed to its own.`,
    );
  }
  if (Math.abs(parsed.data.at) > LATEST) return refuse("frame", "`at`: there is no such time.");
  return { frame: plain(parsed.data), ...(number && { number: number.data }) };
}

/** Facts about a session become its row: only those that a source may state. */
function plain(frame: Frame): Frame {
  if (frame.type !== "session.update") return frame;
  const patch = Object.fromEntries(
    Object.entries(frame.patch).filter(([name]) => name in sessionPatch.shape),
  );
  // What was left out are fields that the type does not have.
  return { ...frame, patch: patch as SessionPatch };
}
