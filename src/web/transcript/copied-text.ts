import "../text/session-text.ts";
import { callText, indent, type PlainForm, plainText, turnHead } from "../../model/parts/plain-text.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../../model/transcript/transcript.ts";
import { terminalText } from "../code/ansi.ts";
import { t } from "../text/text.ts";
import { textOf } from "./describe-part.ts";
import { wholeOf } from "./field-text.ts";
import type { TranscriptHost, TurnTranscriptProps } from "./host.ts";

/** Copied text is complete and unchanged. */
const COPY_FORMAT: PlainForm = {
  shorten: (text) => text,
  output: (text) => terminalText(text).trimEnd(),
  title: (text) => text,
  subject: ({ subject = "" }) => indent(subject, "   │ "),
};

/** Number of parts of a turn that are loaded concurrently. */
const MAX_CONCURRENT = 8;

/** The complete text of a part and its result, for "Copy". Rejects if it cannot be loaded. */
export async function partText(
  part: TranscriptPart,
  result: TranscriptPartOf<"tool_result"> | undefined,
  host: TranscriptHost,
): Promise<string> {
  const [whole, wholeResult] = await Promise.all([wholeOf(part, host), result && wholeOf(result, host)]);
  return whole.type === "tool_call" ? callText(whole, wholeResult, COPY_FORMAT) : textOf(whole);
}

/** The whole turn as a terminal would show it. Rejects if any part of it cannot be loaded. */
export async function turnText(
  turn: Turn,
  partAt: TurnTranscriptProps["partAt"],
  host: TranscriptHost,
): Promise<string> {
  const load = async (index: number): Promise<TranscriptPart> => {
    if (partAt(index) === undefined) await host.loadParts?.(index, index + 1);
    const part = partAt(index);
    if (part === undefined) throw new Error(t.turn.partNotLoaded);
    return part;
  };
  const textAt = async (index: number): Promise<string | undefined> => {
    const part = await load(index);
    // A result is copied with its call.
    if (part.type === "tool_result" && part.call_index !== undefined) return undefined;
    const of = part.type === "tool_call" ? part.result_index : undefined;
    const result = of === undefined ? undefined : await wholeOf(await load(of), host);
    return plainText(await wholeOf(part, host), result, COPY_FORMAT);
  };
  const texts: (string | undefined)[] = [];
  const places = placesOf(turn);
  const loadRest = async (): Promise<void> => {
    for (const place of places) texts[place] = await textAt(turn.first_part + place);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, loadRest));
  return `${[turnHead(turn), ...texts].filter(Boolean).join("\n\n")}\n`;
}

/** A generator, because several loops share it: if one of them throws, it ends for all of them. */
function* placesOf({ part_count }: Turn): Generator<number> {
  for (let place = 0; place < part_count; place += 1) yield place;
}
