import * as z from "zod";
import { type Frame, frame as frameSchema } from "../../../model/frames/frame.ts";
import { asObject, type JsonObject, messageOf } from "../../../model/narrow.ts";
import { type SessionPatch, sessionPatch } from "../../../model/session.ts";
import type { StreamFormat } from "../../../sources/push/format.ts";
import { createStreamReader, type ReadEvent } from "../../../sources/push/index.ts";
import { isDeeper, MAX_DEPTH, storable } from "../record/join-deltas.ts";
import { apply, setStream } from "./apply.ts";
import { type Push, refuse } from "./push.ts";

/** Maximum length of a line or of an event in several lines, in UTF-16 code units. Fits an image of 5 MB in base64. */
const LINE_LIMIT = 8 * 1024 * 1024;
/** Latest time that a `Date` can represent, in milliseconds since 1970. */
const LATEST = 8.64e15;

/** The position of a frame from a sender that numbers its frames. */
const numbered = z.object({ epoch: z.string().min(1).max(200), seq: z.int().min(1) });

/** Processes the lines of a body in order. */
export interface LineReader {
  push(text: string): void;
  /** Ends the body with its last line, which may be empty. `isCutOff`: the connection broke. */
  end(text: string, isCutOff: boolean): void;
}

/** Reads lines with one frame each. */
export function readFrames(push: Push): LineReader {
  return {
    push(text) {
      if (text.trim() === "") return;
      const { frame, number } = readLine(text, push);
      apply(push, frame, number);
    },
    end(text) {
      this.push(text);
    },
  };
}

/** Reads a stream of another format. `epoch`: see `PushOptions`. */
export function readForeign(push: Push, format: StreamFormat, epoch: string | undefined): LineReader {
  const { session_id, stream_id, now } = push;
  const reader = createStreamReader(format, {
    session_id,
    now,
    ...(epoch === undefined ? {} : { seed: epoch }),
  });
  let seq = 0;
  const applyAll = (events: readonly ReadEvent[]): void => {
    for (const event of events) {
      push.line = event.line;
      for (const frame of event.frames) {
        seq += 1;
        apply(push, frame, epoch === undefined ? undefined : { epoch, seq });
      }
    }
  };
  return {
    push(text) {
      applyAll(reader.push(`${text}\n`));
      refuseLonger(push, reader.waiting, "an event");
    },
    end(text, isCutOff) {
      const events = reader.push(`${text}\n\n`);
      // With an epoch another push can send the rest from here. Then an incomplete event is ignored, and the inferred end is
      // only stored for later.
      applyAll(epoch === undefined ? events : events.filter(isReadable));
      const isOver = epoch === undefined || reader.isOver || (reader.hasFailed && !isCutOff);
      const ending = reader.end();
      if (isOver) applyAll(ending);
      if (push.recorder === undefined) return;
      const into = push.record();
      const { stream, seq: last } = into.state.pushed ?? {};
      if (stream === undefined || stream.id !== stream_id) return;
      if (isOver) setStream(into);
      else if (seq === last) {
        setStream(into, { ...stream, ending: ending.flatMap(({ frames }) => frames).map(storable) });
      }
    },
  };
}

/** Refuses a line or an event that is too long. */
export function refuseLonger(push: Push, length: number, what: string): void {
  if (length > LINE_LIMIT)
    refuse(push, "too_long", `${what} can have at most ${LINE_LIMIT} characters.`, 413);
}

function isReadable({ frames }: ReadEvent): boolean {
  return !frames.some((frame) => frame.type === "unknown" && frame.error !== undefined);
}

function readLine(text: string, push: Push): { frame: Frame; number?: { epoch: string; seq: number } } {
  let value: JsonObject | undefined;
  try {
    value = asObject(JSON.parse(text));
  } catch (error) {
    return refuse(push, "json", `invalid JSON: ${messageOf(error)}.`);
  }
  if (value === undefined) return refuse(push, "frame", "a frame must be a JSON object.");
  if (isDeeper(value, MAX_DEPTH)) return refuse(push, "depth", `nested more than ${MAX_DEPTH} levels deep.`);
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
    return refuse(
      push,
      "frame",
      "`epoch` and `seq` must be given together: a string, and an integer from 1.",
    );
  }
  const parsed = frameSchema.safeParse({ session_id: push.session_id, ...given });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join(".") || "type";
    return refuse(push, "frame", `\`${field}\`: ${issue?.message ?? "invalid value"}.`);
  }
  if (parsed.data.session_id !== push.session_id) {
    return refuse(
      push,
      "session",
      `\`session_id\`: this URL is for session ${push.session_id}. Push a run to its own URL.`,
    );
  }
  if (Math.abs(parsed.data.at) > LATEST) return refuse(push, "frame", "`at`: the time is out of range.");
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
