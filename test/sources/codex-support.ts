import { readFileSync } from "node:fs";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { codex } from "../../src/sources/codex/format.ts";
import type { ReadRecord } from "../../src/sources/contract.ts";
import { type Account, accountOf } from "./account.ts";

export const THREAD = "01a00000-0000-7000-8000-000000000001";
type Fields = Record<string, unknown>;

/** Lines of a rollout file. */
export const meta = (payload: Fields = {}) => ({ type: "session_meta", payload: { id: THREAD, ...payload } });
export const item = (payload: Fields) => ({ type: "response_item", payload });
export const event = (type: string, payload: Fields = {}) => ({
  type: "event_msg",
  payload: { type, ...payload },
});
export const completed = (type: string, payload: Fields = {}) =>
  event("item_completed", { item: { type, ...payload } });
export const call = (name: string, input: unknown, call_id = "c") =>
  item({
    type: "function_call",
    call_id,
    name,
    arguments: typeof input === "string" ? input : JSON.stringify(input),
  });
export const output = (value: unknown, call_id = "c") =>
  item({ type: "function_call_output", call_id, output: value });
export const user = (text: string) =>
  item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
export const says = (text: string) =>
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });

/** The reader's result for these lines. */
export const accountOfLines = (...lines: readonly (object | string)[]): Account =>
  accountOfFile(`rollout-2026-03-01T10-00-00-${THREAD}.jsonl`, ...lines);
/** The same for a file with another name. Frames inferred from the end of the file are in the parts, but not in the records. */
export function accountOfFile(path: string, ...lines: readonly (object | string)[]): Account {
  const whole = accountOf(codex, path, lines);
  return { ...whole, outcomes: whole.outcomes.slice(0, ofFile(whole.records).length) };
}
/** The records of the file, without the last one with frames inferred from its end. */
export const ofFile = (records: readonly ReadRecord[]): ReadRecord[] =>
  records.filter(({ place, disposition }) => place.length > 0 || disposition.kind === "hidden");
/** The same for a thread whose first line has only its id; that line is omitted. */
export function account(...lines: readonly (object | string)[]): Account {
  const whole = accountOfLines(meta(), ...lines);
  return { ...whole, outcomes: whole.outcomes.slice(1) };
}

/** Reads bytes in the given chunks, optionally with a `settle` after each. */
export function readPieces(path: string, pieces: readonly Uint8Array[], settle = false): ReadRecord[] {
  const reader = codex.createReader({ path });
  const records: ReadRecord[] = [];
  for (const piece of pieces) {
    records.push(...reader.push(piece));
    if (settle) records.push(...reader.settle());
  }
  records.push(...reader.close());
  return records;
}

export function fold(records: readonly ReadRecord[]): Transcript {
  let transcript: Transcript | undefined;
  for (const record of records) {
    for (const frame of record.frames) {
      transcript = accumulate(transcript ?? emptyTranscript(frame.session_id), frame);
    }
  }
  return transcript ?? emptyTranscript("00000000-0000-8000-8000-000000000000");
}

export function partsOf(transcript: Transcript): TranscriptPart[] {
  return transcript.parts.slice().filter((part) => part !== undefined);
}

export const readFile = (path: string): Uint8Array => new Uint8Array(readFileSync(path));

/** The lines of a file as separate chunks. */
export function linesOf(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  while (from < bytes.length) {
    const newline = bytes.indexOf(0x0a, from);
    const to = newline === -1 ? bytes.length : newline + 1;
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  return pieces;
}

/**
 * The order of a session in short: `U` a prompt, `T` a thought (`T(enc)` an encrypted one), `x` a text, `c:name` a call
 * (`!` failed, `?` unanswered), `(summary)` a compaction, `|` the next answer of the model to the same prompt. Prompts typed into
 * a running turn and other markers are omitted.
 */
export function orderOf(transcript: Transcript): string {
  const words: string[] = [];
  let steps = 0;
  for (const part of partsOf(transcript)) {
    switch (part.type) {
      case "prompt":
        if (part.queued !== true) {
          words.push("U");
          steps = 0;
        }
        break;
      case "step_start":
        if (steps > 0) words.push("|");
        steps += 1;
        break;
      case "thinking":
        words.push(part.hidden === "encrypted" ? "T(enc)" : "T");
        break;
      case "text":
        words.push("x");
        break;
      case "tool_call": {
        const { status } = part.state;
        const ending = part.result_index === undefined ? "?" : status === "completed" ? "" : "!";
        words.push(`c:${part.tool_name}${ending}`);
        break;
      }
      case "marker":
        if (part.kind === "compaction") words.push("(summary)");
        break;
      default:
    }
  }
  return words.join(" ");
}

/**
 * Parts without fields that depend on which of two equal records came first: if the file pauses between them, it is read up to
 * there.
 */
export function untimed(parts: readonly TranscriptPart[]): unknown[] {
  return parts.map(({ source: _, at: __, ...part }) => ({
    ...part,
    ended_at: undefined,
    ...(part.type === "tool_call" ? { state: { ...part.state, time: undefined } } : {}),
  }));
}

/** The order violations of a session's frames; an output without its call is allowed. */
export function violationsOf(records: readonly ReadRecord[]): string[] {
  const checker = createOrderChecker();
  return records.flatMap(({ frames, place }) =>
    frames.flatMap((frame) =>
      checker
        .check(frame)
        .filter(({ rule }) => rule !== "orphan_result")
        .map(({ rule, message }) => `line ${place.line}: ${rule}: ${message}`),
    ),
  );
}
