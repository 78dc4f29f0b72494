import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import type { Disposition, Format, Reader, ReadRecord } from "../../src/sources/contract.ts";

/** A reader's result for a few lines in short form, for tests of single records. */
export interface Account {
  /** One per record: its disposition, and the parts in its place. */
  outcomes: string[];
  /** The parts of all sessions in the file. */
  parts: TranscriptPart[];
  /** The transcript of the first session. */
  transcript: Transcript;
  records: ReadRecord[];
  reader: Reader;
}

/** Reads lines, JSON or text, as one file. */
export function accountOf(format: Format, path: string, lines: readonly (object | string)[]): Account {
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  const reader = format.createReader({ path });
  const records = [...reader.push(new TextEncoder().encode(text)), ...reader.close()];
  keepsTheRules(records, reader);
  const transcripts = new Map<string, Transcript>();
  for (const frame of records.flatMap(({ frames }) => frames)) {
    const before = transcripts.get(frame.session_id) ?? emptyTranscript(frame.session_id);
    transcripts.set(frame.session_id, accumulate(before, frame));
  }
  const transcript =
    transcripts.values().next().value ?? emptyTranscript("00000000-0000-8000-8000-000000000000");
  const parts = [...transcripts.values()].flatMap((each) =>
    each.parts.slice().filter((part) => part !== undefined),
  );
  const outcomes = records.map(({ disposition, place }) => {
    const made = parts.filter(
      // Frames inferred from the end of the file create no parts.
      ({ source, type }) =>
        place.length > 0 &&
        linePlace(source)?.byte === place.byte &&
        type !== "step_start" &&
        type !== "step_finish",
    );
    return [fate(disposition), ...made.map(partInShort)].join(" · ");
  });
  return { outcomes, parts, transcript, records, reader };
}

/** Checks for any input: frames are in a valid order, and equal to their JSON. */
function keepsTheRules(records: readonly ReadRecord[], reader: Reader): void {
  const checker = createOrderChecker();
  for (const frame of records.flatMap(({ frames }) => frames)) {
    expect(checker.check(frame).filter(({ rule }) => rule !== "orphan_result")).toEqual([]);
    isItsJson(frame);
  }
  isItsJson(reader.linkFacts());
}

function isItsJson(value: unknown): void {
  const read: unknown = JSON.parse(JSON.stringify(value));
  if (!isDeepStrictEqual(read, value)) expect(value).toStrictEqual(read);
}

function fate(disposition: Disposition): string {
  switch (disposition.kind) {
    case "folded":
      return `folded into ${disposition.into}`;
    case "hidden":
      return `hidden: ${disposition.rule}`;
    default:
      return disposition.kind;
  }
}

function partInShort(part: TranscriptPart): string {
  const json = (value: unknown) => (value === undefined ? [] : [JSON.stringify(value)]);
  const words = (...all: (string | string[] | undefined | false)[]) =>
    all.flatMap((word) => (word === undefined || word === false || word === "" ? [] : word)).join(" ");
  const withdrawn = part.retracted === undefined ? "" : `(${part.retracted})`;
  switch (part.type) {
    case "prompt":
      return words("prompt", part.queued && "(queued)", part.origin && `(${part.origin})`, json(part.parts));
    case "text":
      return words("text", withdrawn, part.phase && `(${part.phase})`, JSON.stringify(part.text));
    case "thinking":
      return words("thinking", withdrawn, part.hidden && `(${part.hidden})`, JSON.stringify(part.thinking));
    case "tool_call":
      return words("call", part.tool_call_id, part.tool_name, part.arguments_json, json(part.run));
    case "tool_result":
      return words(
        `result ${part.tool_call_id} ${part.status}`,
        JSON.stringify(part.output_text),
        part.parts.length > 0 && json(part.parts),
        json(part.ui_extra),
      );
    case "marker":
      return words(`[${part.kind}] ${part.title}`, json(part.text), json(part.data));
    case "unknown":
      return words("unknown", part.title, json(part.raw), part.error && "with an error");
    default: {
      const {
        id: _,
        turn_id: __,
        source: ___,
        at: ____,
        ...rest
      } = part as unknown as Record<string, unknown>;
      return JSON.stringify(rest);
    }
  }
}
