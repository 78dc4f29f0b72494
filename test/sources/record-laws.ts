import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import type { Format, ReadRecord, SessionLinkFacts } from "../../src/sources/contract.ts";

/** One file as a format reads it. */
export interface ReadSession {
  records: ReadRecord[];
  /** The transcripts of all sessions in the file, in order. */
  transcripts: Transcript[];
  parts: TranscriptPart[];
  facts: SessionLinkFacts[];
}

export function readSession(
  format: Format,
  path: string,
  pieces: readonly Uint8Array[],
  side?: string,
): ReadSession {
  const reader = format.createReader({ path });
  const records = pieces.flatMap((piece) => reader.push(piece));
  records.push(...reader.close());
  if (side !== undefined) records.push(...reader.readSide(side));
  const transcripts = new Map<string, Transcript>();
  for (const frame of records.flatMap(({ frames }) => frames)) {
    const before = transcripts.get(frame.session_id) ?? emptyTranscript(frame.session_id);
    transcripts.set(frame.session_id, accumulate(before, frame));
  }
  const all = [...transcripts.values()];
  const parts = all.flatMap(({ parts: some }) => some.slice().filter((part) => part !== undefined));
  return { records, transcripts: all, parts, facts: reader.linkFacts().sessions };
}

/** The bytes of a file with one JSON line for each record. */
export const bytesFrom = (records: readonly object[]): Uint8Array =>
  new TextEncoder().encode(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

export const bytesOf = (path: string): Uint8Array => new Uint8Array(readFileSync(path));

/**
 * The order of a session in short: `U` a prompt (`u` one inside a turn), `T` a thought, `x` a text, `c:name` a call and its end
 * (`!` failed, `-` stopped, `?` no result), `r` a result without its call, `[kind]` a marker, `??` an unknown part, and `|`
 * between two steps.
 */
export function orderOf(parts: readonly TranscriptPart[]): string {
  const words: string[] = [];
  let steps = 0;
  for (const part of parts) {
    switch (part.type) {
      case "prompt":
        words.push(part.queued === true ? "u" : "U");
        if (part.queued !== true) steps = 0;
        break;
      case "step_start":
        if (steps > 0) words.push("|");
        steps += 1;
        break;
      case "thinking":
        words.push("T");
        break;
      case "text":
        words.push("x");
        break;
      case "tool_call":
        words.push(`c:${part.tool_name}${endingOf(part)}`);
        break;
      case "tool_result":
        if (part.call_index === undefined) words.push("r");
        break;
      case "marker":
        words.push(`[${part.kind}]`);
        break;
      case "unknown":
        words.push("??");
        break;
      case "image":
      case "file":
        words.push("media");
        break;
      default:
    }
  }
  return words.join(" ");
}

function endingOf({ state, result_index }: Extract<TranscriptPart, { type: "tool_call" }>): string {
  if (result_index === undefined) return "?";
  return state.status === "error" ? "!" : state.status === "aborted" ? "-" : "";
}

/** Every line has one record, in order, and every shown or unknown one has a part. */
export function expectAccounted({ records, parts }: ReadSession, text: string): void {
  const lines = text.endsWith("\n") ? text.slice(0, -1).split("\n") : text.split("\n");
  const told = records.filter(({ place }) => place.length > 0 || isBlank(lines[place.line - 1]));
  const numbers = [...new Set(told.map(({ place }) => place.line))];
  expect(numbers).toEqual(lines.map((_, index) => index + 1));
  const sources = new Set(
    parts.flatMap(({ source }) => (source !== undefined && "byte" in source ? source.byte : [])),
  );
  for (const { place, disposition } of records) {
    if (place.length === 0 || !["shown", "unknown", "unreadable"].includes(disposition.kind)) continue;
    expect(sources, `line ${place.line} is ${disposition.kind}`).toContain(place.byte);
  }
}

const isBlank = (line: string | undefined): boolean => line !== undefined && line.trim() === "";
