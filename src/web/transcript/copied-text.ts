import { callText, indent, type PlainForm, plainText, turnHead } from "../../model/plain-text.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../../model/transcript.ts";
import { terminalText } from "../ui/ansi.ts";
import { wholeOf } from "./field-text.ts";
import type { TranscriptHost, TurnTranscriptProps } from "./host.ts";
import { textOf } from "./part-words.ts";

/** What is copied is whole, and as it was written. */
const COPIED: PlainForm = {
  fit: (text) => text,
  output: (text) => terminalText(text).trimEnd(),
  title: (text) => text,
  subject: ({ subject = "" }) => indent(subject, "   │ "),
};

/** What "Copy" copies: a part's own text and its result's, each loaded first where it was cut. Rejects where it cannot be. */
export async function partText(
  part: TranscriptPart,
  result: TranscriptPartOf<"tool_result"> | undefined,
  host: TranscriptHost,
): Promise<string> {
  const [whole, wholeResult] = await Promise.all([wholeOf(part, host), result && wholeOf(result, host)]);
  return whole.type === "tool_call" ? callText(whole, wholeResult, COPIED) : textOf(whole);
}

/** All of a turn, as the terminal shows it. Rejects where something of it cannot be loaded. */
export async function turnText(
  turn: Turn,
  partAt: TurnTranscriptProps["partAt"],
  host: TranscriptHost,
): Promise<string> {
  const load = async (index: number): Promise<TranscriptPart> => {
    if (partAt(index) === undefined) await host.loadParts?.(index, index + 1);
    const part = partAt(index);
    if (part === undefined) throw new Error("A part of the turn could not be loaded.");
    return wholeOf(part, host);
  };
  const texts: string[] = [turnHead(turn)];
  for (let index = turn.first_part; index < turn.first_part + turn.part_count; index += 1) {
    const here = partAt(index);
    // It is copied with its call.
    if (here?.type === "tool_result" && here.call_index !== undefined) continue;
    const part = await load(index);
    const of = part.type === "tool_call" ? part.result_index : undefined;
    const text = plainText(part, of === undefined ? undefined : await load(of), COPIED);
    if (text !== undefined && text !== "") texts.push(text);
  }
  return `${texts.join("\n\n")}\n`;
}
