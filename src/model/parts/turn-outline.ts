import type { TextCode } from "../text/coded-text.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { callSubject, callTool } from "./call-subject.ts";
import { promptTitle, titleOf } from "./content.ts";
import { failureLineOf } from "./failure-line.ts";
import { isError } from "./part-kinds.ts";

/**
 * An entry of a turn's outline. `calls`: consecutive calls that did not fail, without a `text`. `error`: a failed call or an error of
 * the agent. `request`: an approval or a question.
 */
export type OutlineEntry = EntryContent & {
  /** Position of its first part in the session. */
  index: number;
  part_id: string;
};

/** `text`: one line, at most 200 characters. `title_code`: of a marker whose title Verbatim wrote. */
type EntryContent =
  | { kind: "text" | "prompt" | "request"; text: string }
  | { kind: "compaction" | "interrupt"; text: string; title_code?: TextCode }
  | { kind: "error"; text: string; tool_name?: string; title_code?: TextCode }
  | CallsContent;

interface CallsContent {
  kind: "calls";
  /** By tool, most frequent first. */
  tools: { name: string; count: number }[];
  /** Lines added and removed by the calls that changed files. */
  additions?: number;
  deletions?: number;
}

/** Counts of a turn. Retracted parts are not counted. */
export interface TurnDigest {
  steps: number;
  /** By tool, most frequent first. */
  tools: { name: string; count: number }[];
  /** Files changed by calls that did not fail, with added and removed lines. */
  files: number;
  additions: number;
  deletions: number;
  errors: number;
}

/** The outline of a turn. */
export interface TurnOutline {
  entries: OutlineEntry[];
  digest: TurnDigest;
}

type Call = TranscriptPartOf<"tool_call">;

/**
 * Outlines a turn of a complete transcript: the beginnings of the agent's texts, and between them its calls, failures, requests,
 * compactions and prompts. Omits the prompt that heads the turn, and retracted parts.
 */
export function outlineOf(
  { parts }: Pick<Transcript, "parts">,
  { first_part, part_count, steps, errors }: Pick<Turn, "first_part" | "part_count" | "steps" | "errors">,
): TurnOutline {
  const entries: OutlineEntry[] = [];
  const all: Call[] = [];
  let calls: Call[] = [];
  let first_call = 0;
  const resultOf = ({ result_index }: Call) =>
    result_index === undefined ? undefined : parts.at(result_index);
  const endCalls = (): void => {
    const [first] = calls;
    if (first !== undefined)
      entries.push({ ...callsContent(calls, resultOf), index: first_call, part_id: first.id });
    calls = [];
  };
  let is_headed = false;
  for (let index = first_part; index < first_part + part_count; index += 1) {
    const part = parts.at(index);
    if (part === undefined || part.retracted !== undefined) continue;
    if (part.type === "prompt" && !is_headed) {
      is_headed = true;
      continue;
    }
    if (part.type === "tool_call") all.push(part);
    if (part.type === "tool_call" && !isError(part)) {
      if (calls.length === 0) first_call = index;
      calls.push(part);
      continue;
    }
    const entry = part.type === "tool_call" ? failureContent(part, resultOf(part)) : contentOf(part);
    if (entry === undefined) continue;
    endCalls();
    entries.push({ ...entry, index, part_id: part.id });
  }
  endCalls();
  const { files, additions, deletions } = changesOf(
    all.filter((call) => !isError(call)),
    resultOf,
  );
  return { entries, digest: { steps, tools: toolsOf(all), files: files.size, additions, deletions, errors } };
}

/** A failed call, with its subject or, if it has none, the line of its output that states the cause. */
function failureContent(call: Call, part: TranscriptPart | undefined): EntryContent {
  const result = part?.type === "tool_result" ? part : undefined;
  const text = callSubject(call, result) || (failureLineOf(call, result) ?? "");
  return { kind: "error", text, tool_name: callTool(call) };
}

/** The entry of a part that is not a call. `undefined`: it is not in the outline. */
function contentOf(part: Exclude<TranscriptPart, Call>): EntryContent | undefined {
  switch (part.type) {
    case "text":
      return lineContent("text", part.text);
    case "prompt": {
      const text = promptTitle(part.parts);
      return text === undefined ? undefined : { kind: "prompt", text };
    }
    case "tool_result":
      return isError(part) ? lineContent("error", part.output_text) : undefined;
    case "request":
      return lineContent("request", part.request.title);
    case "marker": {
      const { title_code } = part;
      if (part.kind === "error" || part.kind === "compaction" || part.kind === "interrupt")
        return { kind: part.kind, text: titleOf(part.title) ?? "", ...(title_code && { title_code }) };
      return undefined;
    }
    case "legacy":
      return lineContent("text", part.content);
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

function lineContent(kind: Exclude<OutlineEntry["kind"], "calls">, text: string): EntryContent | undefined {
  const line = titleOf(text);
  return line === undefined ? undefined : { kind, text: line };
}

type ResultOf = (call: Call) => TranscriptPart | undefined;

function callsContent(calls: readonly Call[], resultOf: ResultOf): CallsContent {
  const { additions, deletions } = changesOf(calls, resultOf);
  const isEdit = additions > 0 || deletions > 0;
  return { kind: "calls", tools: toolsOf(calls), ...(isEdit && { additions, deletions }) };
}

/** How often each tool was called, the most frequent first. */
function toolsOf(calls: readonly Call[]): { name: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const call of calls) counts.set(callTool(call), (counts.get(callTool(call)) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count })).sort((one, other) => other.count - one.count);
}

/** The files that calls report as changed. */
function changesOf(
  calls: readonly Call[],
  resultOf: ResultOf,
): { files: ReadonlySet<string>; additions: number; deletions: number } {
  const files = new Set<string>();
  let additions = 0;
  let deletions = 0;
  for (const call of calls) {
    const result = resultOf(call);
    if (result?.type !== "tool_result" || result.ui_extra?.type !== "diff") continue;
    for (const file of result.ui_extra.files) {
      files.add(file.path);
      additions += file.additions;
      deletions += file.deletions;
    }
  }
  return { files, additions, deletions };
}
