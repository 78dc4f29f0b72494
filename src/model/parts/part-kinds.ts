import type { MediaPart } from "../messages/part.ts";
import type { PartKindName, PartStatusName } from "../search/query.ts";
import type { ToolState } from "../transcript/tool-state.ts";
import type { TranscriptPart, TranscriptPartOf } from "../transcript/transcript.ts";
import { textOf } from "./content.ts";
import { ownOutput } from "./kept-output.ts";
import { isQuiet, type RowSettings } from "./quiet.ts";

/** A section of a part's text with its form, so that each consumer can render it. */
export interface PartText {
  readonly text: string;
  /**
   * `plain`: unformatted. `arguments`: JSON as the model sent it, possibly invalid or incomplete. `json`: a value. `terminal`:
   * output with escape sequences. `address`: a URL, possibly a data URL of megabytes.
   */
  readonly form: "plain" | "arguments" | "json" | "terminal" | "address";
  /** Searched but not copied, because the page shows it next to the part's own text. */
  readonly search_only?: true;
}

/** The author of a part. `system`: the agent's program, not the model. */
export type Author = "user" | "assistant" | "tool" | "system";

/**
 * Describes one kind of part for all consumers. The only place that interprets its fields as text. Consumers that render a kind in
 * a form of their own (plain text, Markdown, request, page) override what they derive from this.
 */
export interface PartKind<Type extends TranscriptPart["type"]> {
  /** Its name in the page's gutter. */
  label(part: TranscriptPartOf<Type>): string;
  /** The value of `kind:` that matches it in a search. */
  kind: PartKindName | ((part: TranscriptPartOf<Type>) => PartKindName);
  author: Author | ((part: TranscriptPartOf<Type>) => Author);
  /** How it ended. Absent: the kind has no end status. */
  status?(part: TranscriptPartOf<Type>): PartStatusName | undefined;
  /** Its text sections, in display order. */
  texts(part: TranscriptPartOf<Type>): readonly PartText[];
  /**
   * Whether it has a row of its own. A paired result is shown in the card of its call; steps are separators that can be switched
   * on; an empty block is not shown; quiet parts (`isQuiet`) are folded into a neighbouring row. A prompt that heads its turn is
   * a row too; renderers of the turn's heading omit it.
   */
  isRow(part: TranscriptPartOf<Type>, options: RowSettings): boolean;
  /** Whether it is a failure, counted in a turn's `errors`. True for the part whose row shows it: the call, not its result. */
  isError?(part: TranscriptPartOf<Type>): boolean;
}

const plain = (text: string | undefined): PartText[] => (text === undefined ? [] : [{ text, form: "plain" }]);
const searched = (text: string | undefined, form: PartText["form"] = "plain"): PartText[] =>
  text === undefined ? [] : [{ text, form, search_only: true }];
const always = () => true;
const ifStepsShown = (_: unknown, { showSteps }: RowSettings) => showSteps;

const KINDS: { readonly [Type in TranscriptPart["type"]]: PartKind<Type> } = {
  thinking: {
    label: () => "thinking",
    kind: "thought",
    author: "assistant",
    texts: ({ thinking }) => plain(thinking),
    isRow: ({ thinking, open, hidden }) => thinking !== "" || open === true || hidden !== undefined,
  },
  text: {
    label: () => "text",
    kind: "text",
    author: "assistant",
    texts: ({ text }) => plain(text),
    isRow: ({ text, open }) => text !== "" || open === true,
  },
  tool_call: {
    label: () => "tool",
    kind: "call",
    author: "assistant",
    status: ({ state }) => CALL_STATUS[state.status],
    texts: ({ tool_name, arguments_json, progress }) => [
      { text: tool_name, form: "plain" },
      { text: arguments_json, form: "arguments" },
      ...searched(progress, "terminal"),
    ],
    isRow: always,
    isError: ({ state }) => state.status === "error",
  },
  tool_result: {
    label: () => "result",
    kind: "output",
    author: "tool",
    status: ({ status }) => (status === "success" ? "ok" : status === "error" ? "failed" : "stopped"),
    texts: (part) => [{ text: ownOutput(part), form: "terminal" }],
    isRow: ({ call_index }) => call_index === undefined,
    isError: ({ call_index, is_error }) => call_index === undefined && is_error,
  },
  image: {
    label: () => "image",
    kind: "file",
    author: "assistant",
    texts: ({ media }) => mediaTexts(media),
    isRow: always,
  },
  file: {
    label: () => "file",
    kind: "file",
    author: "assistant",
    texts: ({ media }) => mediaTexts(media),
    isRow: always,
  },
  prompt: {
    label: ({ origin }) => (origin === "notification" ? "notice" : (origin ?? "prompt")),
    kind: "prompt",
    author: "user",
    texts: ({ parts }) => plain(textOf(parts)),
    isRow: always,
  },
  step_start: {
    label: () => "step",
    kind: "step",
    author: "assistant",
    texts: ({ model }) => plain(model),
    isRow: ifStepsShown,
  },
  step_finish: {
    label: () => "step",
    kind: "step",
    author: "assistant",
    status: ({ error }) => (error === undefined ? "ok" : "failed"),
    texts: ({ reason }) => plain(reason),
    isRow: ifStepsShown,
  },
  marker: {
    label: ({ kind }) => (kind === "model_switch" ? "model" : kind === "notification" ? "notice" : kind),
    kind: "marker",
    author: "system",
    status: ({ kind }) => (kind === "error" ? "failed" : kind === "interrupt" ? "stopped" : undefined),
    texts: ({ title, text }) => [...plain(title), ...plain(text)],
    isRow: always,
    isError: ({ kind }) => kind === "error",
  },
  request: {
    label: ({ request }) => request.kind,
    kind: "request",
    author: "system",
    texts: ({ request: { title, subject }, answer }) => [
      ...(subject === undefined ? plain(title) : searched(title)),
      ...plain(subject),
      ...searched(answer?.text),
    ],
    isRow: always,
  },
  unknown: {
    label: () => "unknown",
    kind: "unknown",
    author: "system",
    texts: ({ title, raw }) => [
      ...searched(title),
      typeof raw === "string"
        ? { text: raw, form: "plain" }
        : { text: JSON.stringify(raw) ?? "", form: "json" },
    ],
    isRow: always,
  },
  legacy: {
    label: ({ role }) => role,
    kind: ({ role }) => (role === "user" ? "prompt" : "text"),
    author: ({ role }) => role,
    texts: ({ thinking, content }) => [...plain(thinking), ...plain(content)],
    isRow: always,
  },
};

const CALL_STATUS: Readonly<Record<ToolState["status"], PartStatusName>> = {
  pending: "running",
  running: "running",
  completed: "ok",
  error: "failed",
  aborted: "stopped",
};

function mediaTexts(media: MediaPart): PartText[] {
  switch (media.type) {
    case "image_url":
      return [{ text: media.url, form: "address" }];
    case "image_file":
      return plain(media.file_path);
    case "file":
      return media.filename === undefined
        ? [{ text: media.url, form: "address" }]
        : [...plain(media.filename), ...searched(media.url, "address")];
    case "unknown":
      return [{ text: JSON.stringify(media.raw) ?? "", form: "json" }];
    default:
      return media satisfies never;
  }
}

/** The compiler cannot relate a kind to the part's own type. */
const describe = (part: TranscriptPart) => KINDS[part.type] as PartKind<TranscriptPart["type"]>;

/** See `PartKind`. */
export const labelOf = (part: TranscriptPart): string => describe(part).label(part);
export const textsOf = (part: TranscriptPart): readonly PartText[] => describe(part).texts(part);
export const statusOf = (part: TranscriptPart): PartStatusName | undefined => describe(part).status?.(part);
export function kindOf(part: TranscriptPart): PartKindName {
  const { kind } = describe(part);
  return typeof kind === "function" ? kind(part) : kind;
}
export function authorOf(part: TranscriptPart): Author {
  const { author } = describe(part);
  return typeof author === "function" ? author(part) : author;
}
export const isRow = (part: TranscriptPart, options: RowSettings): boolean =>
  (options.everyRecord === true || !isQuiet(part)) && describe(part).isRow(part, options);
export const isError = (part: TranscriptPart): boolean =>
  part.retracted === undefined && describe(part).isError?.(part) === true;
