import type { Part } from "../messages/part.ts";
import type { Note } from "../note.ts";
import { positionOf } from "../transcript/accumulate.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { callTool } from "./call-subject.ts";
import { textOf } from "./content.ts";
import { ownOutput } from "./kept-output.ts";
import { labelOf } from "./part-kinds.ts";
import { callBadge, turnBadge } from "./plain-text.ts";
import { searchText } from "./search-text.ts";
import { fullToolLabel } from "./tool-label.ts";

/**
 * A whole transcript as Markdown, in the order of its parts: a heading per turn, prompts as quotes, thinking and tool output in
 * `<details>`, and tool input and output in unmodified code blocks. Yields one block at a time. `notes`: each follows its part;
 * those on the session, or on parts that no longer exist, follow the title.
 */
export function* markdownOf(
  transcript: Transcript,
  title: string,
  notes: readonly Note[] = [],
): Generator<string> {
  yield `# ${oneLine(title)}\n`;
  const rows = new Map<string, Note[]>();
  for (const note of notes) {
    const id = note.part && rowOf(note.part.id, transcript);
    if (id === undefined) yield `\n${noteBlock(note)}\n`;
    else rows.set(id, [...(rows.get(id) ?? []), note]);
  }
  let turn_index = -1;
  let index = 0;
  for (const part of transcript.parts) {
    for (
      let next = transcript.turns.at(turn_index + 1);
      next !== undefined && next.first_part <= index;
      next = transcript.turns.at(turn_index + 1)
    ) {
      turn_index += 1;
      yield `\n${turnHeading(next)}\n`;
    }
    const block = part && blockOf(part, transcript);
    if (part && block !== undefined && block !== "") yield `\n${withdrawn(part)}${block}\n`;
    for (const note of (part && rows.get(part.id)) ?? []) yield `\n${noteBlock(note)}\n`;
    index += 1;
  }
}

/** The id of the part whose block contains a part: a result is in the block of its call. */
function rowOf(part_id: string, transcript: Transcript): string | undefined {
  const index = positionOf(transcript, part_id);
  const part = index === undefined ? undefined : transcript.parts.at(index);
  if (part?.type !== "tool_result" || part.call_index === undefined) return part?.id;
  return transcript.parts.at(part.call_index)?.id ?? part.id;
}

/** A note as a quote with a heading, so that it cannot be mistaken for content of the session. */
function noteBlock({ text, part, created_at }: Note): string {
  const about =
    part === undefined
      ? ""
      : ` on ${part.tool === undefined ? part.kind : fullToolLabel(part.tool)}: ${oneLine(part.excerpt)}`;
  return quote(`**Note, ${new Date(created_at).toISOString()}**${about}\n\n${text}`);
}

function turnHeading(turn: Turn): string {
  const title = turn.title === undefined ? "" : `: ${oneLine(turn.title)}`;
  const note = turn.retracted === undefined ? "" : ` (withdrawn: ${oneLine(turn.retracted)})`;
  return `## Turn ${turn.index + 1}${title} ${turnBadge(turn)}${note}`;
}

const withdrawn = ({ retracted }: TranscriptPart) =>
  retracted === undefined ? "" : `*Withdrawn: ${oneLine(retracted)}*\n\n`;

/** A part as a block; `undefined`: it is written with another part. */
function blockOf(part: TranscriptPart, transcript: Transcript): string | undefined {
  switch (part.type) {
    case "prompt":
      return quote(`${part.queued ? "*(while the agent worked)*\n\n" : ""}${promptText(part.parts)}`);
    case "thinking":
      return details("Thinking", part.thinking || `(${part.hidden ?? "empty"})`);
    case "text":
      return part.text;
    case "tool_call": {
      const result = part.result_index === undefined ? undefined : transcript.parts.at(part.result_index);
      return callBlock(part, result?.type === "tool_result" ? result : undefined);
    }
    case "tool_result":
      if (part.call_index !== undefined) return undefined;
      return `**Result of ${code(part.tool_call_id)}** ${callBadge(part.is_error ? "error" : "completed")}\n\n${fence(outputOf(part))}`;
    case "image":
      return `*Image: ${code(part.media.type === "image_file" ? part.media.file_path : shortUrl(part.media.url))}*`;
    case "file":
      return `*File: ${code(part.media.filename ?? shortUrl(part.media.url))}*`;
    case "step_start":
    case "step_finish":
      return undefined;
    case "marker":
      return `*${part.kind}: ${oneLine(part.title)}*${part.text ? `\n\n${details("More", fence(part.text))}` : ""}`;
    case "request": {
      const answer =
        part.answer?.text ?? part.answer?.option_ids.join(", ") ?? part.outcome ?? "not answered";
      return `*${part.request.kind}: ${oneLine(part.request.title)} → ${oneLine(answer)}*`;
    }
    case "unknown":
      return `*${oneLine(part.title ?? "Unknown record")}*\n\n${details("Record", fence(searchText(part)))}`;
    case "legacy":
      return `${part.thinking ? `${details("Thinking", part.thinking)}\n\n` : ""}${part.content}`;
    default:
      return otherBlock(part);
  }
}

/** Fallback for kinds of parts without special handling here. */
const otherBlock = (part: TranscriptPart): string =>
  `*${oneLine(labelOf(part))}*\n\n${details("More", fence(searchText(part)))}`;

function callBlock(
  call: TranscriptPartOf<"tool_call">,
  result: TranscriptPartOf<"tool_result"> | undefined,
): string {
  const run = call.run ? `\n\n*Sub-agent session ${code(call.run.session_id)}*` : "";
  const output = result ? outputOf(result) : (call.progress ?? "");
  const shown = output === "" ? "" : `\n\n${details("Output", fence(output))}`;
  return `**${oneLine(fullToolLabel(callTool(call)))}** ${callBadge(call.state.status)}\n\n${fence(call.arguments_json, "json")}${run}${shown}`;
}

function outputOf(result: TranscriptPartOf<"tool_result">): string {
  const media = result.parts.map(({ type }) => `[${type}]`).join(" ");
  return [ownOutput(result), media].filter((text) => text !== "").join("\n");
}

function promptText(parts: readonly Part[]): string {
  const media = parts.filter(({ type }) => type !== "text").map(({ type }) => `[${type}]`);
  return [textOf(parts), media.join(" ")].filter((text) => text !== "").join("\n\n");
}

const quote = (text: string) => text.replace(/^/gm, "> ");
const details = (summary: string, text: string) =>
  `<details><summary>${summary}</summary>\n\n${text}\n\n</details>`;
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
const shortUrl = (url: string) =>
  url.startsWith("data:") ? url.slice(0, url.indexOf(",") + 1) || "data:" : url;

/** A code span for any text: its delimiter is longer than every run of backticks in it. */
function code(text: string): string {
  const ticks = "`".repeat(longestRun(text) + 1);
  return ticks.length === 1 ? `\`${oneLine(text)}\`` : `${ticks} ${oneLine(text)} ${ticks}`;
}

/** A code block for any text, with the same rule. */
function fence(text: string, language = ""): string {
  const ticks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}${language}\n${text.replace(/\n$/, "")}\n${ticks}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
