import { asObject } from "../narrow.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { promptTitle, titleOf } from "./content.ts";
import { ownOutput } from "./kept-output.ts";
import { isError } from "./part-kinds.ts";
import { preview } from "./preview.ts";

/** Maximum length of a failed call's subject, in UTF-16 code units. */
const SUBJECT_LIMIT = 120;
/** Longer arguments are not parsed for a subject, in UTF-16 code units. */
const ARGUMENTS_LIMIT = 20_000;

/**
 * An entry of a turn's outline. `calls`: consecutive calls that did not fail, without a `text`. `error`: a failed call or an error of
 * the agent. `request`: an approval or a question.
 */
export interface OutlineEntry {
  kind: "text" | "prompt" | "calls" | "error" | "request" | "compaction" | "interrupt";
  /** Position of its first part in the session. */
  index: number;
  part_id: string;
  /** One line, at most 200 characters. */
  text: string;
  /** Of `calls`: by tool, most frequent first. */
  tools?: { name: string; count: number }[];
  /** Of `calls` that changed files: added and removed lines. */
  additions?: number;
  deletions?: number;
}

/** The outline of a turn. */
export interface TurnOutline {
  entries: OutlineEntry[];
}

type Call = TranscriptPartOf<"tool_call">;

/**
 * Outlines a turn of a complete transcript: the beginnings of the agent's texts, and between them what it did, failures, requests,
 * compactions and prompts. Without the prompt that heads the turn.
 */
export function outlineOf(
  { parts }: Pick<Transcript, "parts">,
  { first_part, part_count }: Pick<Turn, "first_part" | "part_count">,
): TurnOutline {
  const entries: OutlineEntry[] = [];
  let calls: Call[] = [];
  let first_call = 0;
  const resultOf = ({ result_index }: Call) =>
    result_index === undefined ? undefined : parts.at(result_index);
  const endCalls = (): void => {
    if (calls.length > 0) entries.push(callsEntry(first_call, calls, resultOf));
    calls = [];
  };
  let is_headed = false;
  for (let index = first_part; index < first_part + part_count; index += 1) {
    const part = parts.at(index);
    if (part === undefined) continue;
    if (part.type === "prompt" && !is_headed) {
      is_headed = true;
      continue;
    }
    if (part.type === "tool_call" && !isError(part)) {
      if (calls.length === 0) first_call = index;
      calls.push(part);
      continue;
    }
    const entry = part.type === "tool_call" ? failureEntry(part, resultOf(part)) : entryOf(part);
    if (entry === undefined) continue;
    endCalls();
    entries.push({ ...entry, index, part_id: part.id });
  }
  endCalls();
  return { entries };
}

type OwnEntry = Pick<OutlineEntry, "kind" | "text">;

/** A failed call: its tool with the first text among its arguments, otherwise with the beginning of its output. */
function failureEntry(call: Call, result: TranscriptPart | undefined): OwnEntry {
  const output = result?.type === "tool_result" ? titleOf(ownOutput(result)) : undefined;
  return { kind: "error", text: `${call.tool_name} ${subjectOf(call) || (output ?? "")}`.trim() };
}

/** The entry of a part that is no call. `undefined`: it has none. */
function entryOf(part: Exclude<TranscriptPart, Call>): OwnEntry | undefined {
  switch (part.type) {
    case "text":
      return lineEntry("text", part.text);
    case "prompt": {
      const text = promptTitle(part.parts);
      return text === undefined ? undefined : { kind: "prompt", text };
    }
    case "tool_result":
      return isError(part) ? lineEntry("error", part.output_text) : undefined;
    case "request":
      return lineEntry("request", part.request.title);
    case "marker":
      if (part.kind === "error" || part.kind === "compaction" || part.kind === "interrupt")
        return { kind: part.kind, text: titleOf(part.title) ?? "" };
      return undefined;
    case "legacy":
      return lineEntry("text", part.content);
    case "thinking":
    case "image":
    case "file":
    case "step_start":
    case "step_finish":
    case "unknown":
      return undefined;
    default:
      return part satisfies never;
  }
}

function lineEntry(kind: OutlineEntry["kind"], text: string): OwnEntry | undefined {
  const line = titleOf(text);
  return line === undefined ? undefined : { kind, text: line };
}

function callsEntry(
  index: number,
  calls: readonly Call[],
  resultOf: (call: Call) => TranscriptPart | undefined,
): OutlineEntry {
  const counts = new Map<string, number>();
  let additions = 0;
  let deletions = 0;
  for (const call of calls) {
    counts.set(call.tool_name, (counts.get(call.tool_name) ?? 0) + 1);
    const result = resultOf(call);
    if (result?.type !== "tool_result" || result.ui_extra?.type !== "diff") continue;
    for (const file of result.ui_extra.files) {
      additions += file.additions;
      deletions += file.deletions;
    }
  }
  const tools = [...counts].map(([name, count]) => ({ name, count }));
  tools.sort((one, other) => other.count - one.count);
  const isEdit = additions > 0 || deletions > 0;
  const part_id = calls[0]?.id ?? "";
  return { kind: "calls", index, part_id, text: "", tools, ...(isEdit && { additions, deletions }) };
}

/** The first text among a call's arguments, in one line. */
function subjectOf({ arguments_json }: Call): string {
  if (arguments_json.length > ARGUMENTS_LIMIT) return "";
  try {
    const values = Object.values(asObject(JSON.parse(arguments_json)) ?? {});
    return preview(values.find((value) => typeof value === "string") ?? "", SUBJECT_LIMIT);
  } catch {
    // The model's arguments need not be valid JSON.
    return "";
  }
}
