import { RawJson } from "../raw-json.ts";
import type { Request } from "../request.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import { type CallOutcome, outcomeText } from "./outcome.ts";
import { labelOf } from "./part-kinds.ts";
import { searchText } from "./search-text.ts";

/**
 * How an agent's text is adapted for printing or copying: a terminal has little space, and must be protected from control
 * characters.
 */
export interface PlainForm {
  /** Truncates a text to the available space. */
  shorten(text: string): string;
  /** Truncates the output of a tool. */
  output(text: string): string;
  /** A title on one line. */
  title(text: string): string;
  /** The subject of a request, shown below its title; empty if it has none. */
  subject(request: Request): string;
}

/** A part as plain text, with the result of a call. `undefined`: it belongs to another part, or has no text. */
export function plainText(
  part: TranscriptPart,
  result: TranscriptPart | undefined,
  form: PlainForm,
): string | undefined {
  const text = textOfKind(part, result, form);
  return text !== undefined && part.retracted !== undefined
    ? `[withdrawn: ${part.retracted}]\n${text}`
    : text;
}

function textOfKind(
  part: TranscriptPart,
  result: TranscriptPart | undefined,
  form: PlainForm,
): string | undefined {
  switch (part.type) {
    case "prompt":
      return indent(
        `${part.queued ? "(while it ran) " : ""}${searchText(part) || mediaText(part.parts)}`,
        "> ",
      );
    case "thinking":
      return indent(part.thinking || `(${part.hidden ?? "empty"})`, "thinking │ ");
    case "text":
      return part.text;
    case "tool_call":
      return callText(part, result, form);
    case "tool_result":
      return part.call_index === undefined
        ? `${resultBadge(part)} result of ${part.tool_call_id}\n${outputText(part, form)}`
        : undefined;
    case "image":
    case "file":
      return mediaText([part.media]);
    case "step_start":
    case "step_finish":
      return undefined;
    case "marker":
      return `── ${part.kind}: ${part.title}${hasMoreText(part) ? `\n${indent(form.shorten(part.text ?? ""), "   ")}` : ""}`;
    case "request": {
      const { request, outcome, answer } = part;
      const labels = request.options.flatMap(({ id, label }) =>
        answer?.option_ids.includes(id) === true ? [label] : [],
      );
      const answered = [...labels, ...(answer?.text === undefined ? [] : [answer.text])].join(", ");
      const subject = form.subject(request);
      return `── ${request.kind}: ${form.title(request.title)} → ${answered || (outcome ?? "not answered yet")}${subject && `\n${subject}`}`;
    }
    case "unknown":
      return `?? ${part.title ?? "unknown record"}${part.error ? `: ${part.error}` : ""}\n${indent(form.output(searchText(part)), "    ")}`;
    case "legacy":
      return [part.thinking && indent(part.thinking, "thinking │ "), part.content].filter(Boolean).join("\n");
    default:
      return otherText(part, form);
  }
}

/** Fallback for kinds of parts without special handling here. */
const otherText = (part: TranscriptPart, form: PlainForm): string =>
  `── ${labelOf(part)}: ${form.shorten(searchText(part))}`;

/** A call with its result. */
export function callText(
  call: TranscriptPartOf<"tool_call">,
  result: TranscriptPart | undefined,
  form: PlainForm,
): string {
  const run = call.run ? `\n    → run ${call.run.session_id} ${call.run.name ?? ""}` : "";
  const partialOutput = [call.progress ?? "", endText(call.state)].filter((text) => text !== "").join("\n");
  const output = outputText(
    result?.type === "tool_result" ? result : { output_text: partialOutput, parts: [] },
    form,
  );
  const outcome = outcomeOf(call.state);
  const ended = outcome?.by === undefined ? "" : `\n    ${firstLine(outcomeText(outcome), form)}`;
  return `${callHead(call, call.state.status, form)}${ended}${run}${output && `\n${output}`}`;
}

/** Why a call without a result ended. */
function endText(state: TranscriptPartOf<"tool_call">["state"]): string {
  return state.status === "error" ? state.error : state.status === "aborted" ? (state.reason ?? "") : "";
}

/** A call's status, its tool and its arguments. */
export function callHead(call: TranscriptPartOf<"tool_call">, status: CallStatus, form: PlainForm): string {
  const { command, rest } = commandOf(call.arguments_json);
  const more = rest && `\n    with ${form.shorten(rest)}`;
  // Indented, so that no line of a command looks like the beginning of a call or a turn.
  const shown_status = form.shorten(command).replaceAll("\n", "\n      ");
  return `${callBadge(status, outcomeOf(call.state))} ${firstLine(call.tool_name, form)} ${shown_status}${more}`;
}

export function firstLine(text: string, { shorten }: PlainForm): string {
  return shorten(text.split("\n", 1)[0] ?? "");
}

/** A command as it was run, and its other arguments; other calls' arguments unchanged. */
function commandOf(json: string): { command: string; rest: string } {
  const unparsed = { command: json, rest: "" };
  try {
    const input: unknown = JSON.parse(json);
    if (typeof input !== "object" || input === null) return unparsed;
    const entries = Object.entries(input);
    const [name, command] = entries.find(([key]) => key === "command" || key === "cmd") ?? [];
    if (typeof command !== "string" || command === "") return unparsed;
    const written = new RawJson({ text: json });
    const others = entries
      .filter(([key]) => key !== name)
      .map(([key]) => `${JSON.stringify(key)}:${written.at([key])}`);
    return { command, rest: others.length === 0 ? "" : `{${others.join(",")}}` };
  } catch {
    return unparsed;
  }
}

/** The heading of a turn. */
export function turnHead(turn: Turn): string {
  const withdrawn = turn.retracted === undefined ? "" : ` [withdrawn: ${turn.retracted}]`;
  return `── turn ${turn.index + 1} ${turnBadge(turn)}${withdrawn}`;
}

/** The output of a tool, indented, with its media at the end. */
export function outputText(
  { output_text, parts }: Pick<TranscriptPartOf<"tool_result">, "output_text" | "parts">,
  { output }: PlainForm,
): string {
  return indent([output(output_text), mediaText(parts)].filter((piece) => piece !== "").join("\n"), "    ");
}

/** Names the kinds of parts that plain text cannot show: `[image_url]`. */
function mediaText(parts: readonly { type: string }[]): string {
  return parts
    .filter(({ type }) => type !== "text")
    .map(({ type }) => `[${type}]`)
    .join(" ");
}

/** Whether a marker has more text than its title. */
function hasMoreText({ title, text = "" }: { title: string; text?: string }): boolean {
  return text !== "" && !title.toLowerCase().endsWith(text.trim().toLowerCase());
}

export function indent(text: string, by: string): string {
  return text === "" ? "" : text.replace(/^/gm, by);
}

const TURN_BADGES: Readonly<Record<Turn["status"], string>> = {
  running: "[RUNNING]",
  completed: "[OK]",
  failed: "[FAILED]",
  interrupted: "stopped",
};

/** The status of a turn as a word in brackets. */
export const turnBadge = ({ status, no_end }: Turn): string =>
  no_end === true ? "[NO END]" : TURN_BADGES[status];

type CallStatus = TranscriptPartOf<"tool_call">["state"]["status"];

function outcomeOf(state: TranscriptPartOf<"tool_call">["state"]): CallOutcome | undefined {
  return state.status === "aborted" ? state.outcome : undefined;
}

const OUTCOME_BADGES: Readonly<Record<CallOutcome["kind"], string>> = {
  refused: "[REFUSED]",
  stopped: "[STOPPED]",
  unknown: "[UNKNOWN]",
};

/** The status of a call as a word in brackets. `outcome`: for an `aborted` call. */
export function callBadge(status: CallStatus, outcome?: CallOutcome): string {
  switch (status) {
    case "completed":
      return "[OK]";
    case "pending":
    case "running":
      return "[RUNNING]";
    case "error":
      return "[FAILED]";
    case "aborted":
      return OUTCOME_BADGES[outcome?.kind ?? "stopped"];
    default:
      return status satisfies never;
  }
}

/** The status of a result as a word in brackets. */
export function resultBadge({ status, outcome }: TranscriptPartOf<"tool_result">): string {
  return callBadge(status === "success" ? "completed" : status, outcome);
}
