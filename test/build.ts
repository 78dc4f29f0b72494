import type { CallOutcome } from "../src/model/parts/outcome.ts";
import type { UiExtra } from "../src/model/parts/ui-extra.ts";
import type {
  MarkerKind,
  TranscriptPart,
  TranscriptPartOf,
  Turn,
} from "../src/model/transcript/transcript.ts";
import type { TranscriptHost } from "../src/web/transcript/host.ts";

/** Small builders of transcript parts: a test states only relevant fields, all others have defaults. */
const SESSION = "00000000-0000-4000-8000-000000000001";
const MESSAGE = "00000000-0000-4000-8000-000000000002";
export const START = Date.UTC(2026, 0, 2, 14, 3, 22);

type Given<Type extends TranscriptPart["type"]> = Partial<TranscriptPartOf<Type>>;

/** A UUID derived from the words. */
export function idOf(words: string): string {
  let hash = 0;
  for (const character of words) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return `00000000-0000-4000-9000-${hash.toString(16).padStart(12, "0")}`;
}

const common = (words: string) => ({
  id: idOf(words),
  session_id: SESSION,
  message_id: MESSAGE,
  at: START,
  step: 1,
});

export function thinking(words: string, given: Given<"thinking"> = {}): TranscriptPartOf<"thinking"> {
  return {
    ...common(`thinking ${words}`),
    type: "thinking",
    thinking: words,
    ended_at: START + 3_000,
    ...given,
  };
}
export function text(words: string, given: Given<"text"> = {}): TranscriptPartOf<"text"> {
  return { ...common(`text ${words}`), type: "text", text: words, ...given };
}
export function prompt(words: string, given: Given<"prompt"> = {}): TranscriptPartOf<"prompt"> {
  const { step: _, ...rest } = common(`prompt ${words}`);
  return { ...rest, type: "prompt", parts: [{ type: "text", text: words }], ...given };
}

/** A call in the given state; completed by default. */
export function call(
  tool_name: string,
  input: unknown,
  given: Given<"tool_call"> & { output?: string; spent?: number } = {},
): TranscriptPartOf<"tool_call"> {
  const { output = "", spent = 1_200, ...rest } = given;
  const arguments_json = typeof input === "string" ? input : JSON.stringify(input);
  const tool_call_id = rest.tool_call_id ?? `call ${tool_name} ${arguments_json}`;
  return {
    ...common(tool_call_id),
    type: "tool_call",
    tool_call_id,
    tool_name,
    arguments_json,
    state: {
      status: "completed",
      input,
      output,
      title: tool_name,
      metadata: {},
      time: { start: START, end: START + spent },
    },
    ...rest,
  };
}

export const running = (input: unknown, since = START): TranscriptPartOf<"tool_call">["state"] => ({
  status: "running",
  input,
  time: { start: since },
});
export const failed = (input: unknown, error: string): TranscriptPartOf<"tool_call">["state"] => ({
  status: "error",
  input,
  error,
  time: { start: START, end: START + 800 },
});
export const aborted = (
  input: unknown,
  reason?: string,
  outcome?: CallOutcome,
): TranscriptPartOf<"tool_call">["state"] => ({
  status: "aborted",
  input,
  ...(reason === undefined ? {} : { reason }),
  ...(outcome === undefined ? {} : { outcome }),
  time: { start: START, end: START + 800 },
});

export function result(
  of: TranscriptPartOf<"tool_call"> | string,
  output_text: string,
  given: Given<"tool_result"> & { ui_extra?: UiExtra } = {},
): TranscriptPartOf<"tool_result"> {
  const tool_call_id = typeof of === "string" ? of : of.tool_call_id;
  const isError = typeof of !== "string" && of.state.status === "error";
  return {
    ...common(`result ${tool_call_id}`),
    type: "tool_result",
    tool_call_id,
    is_error: isError,
    status: isError ? "error" : "success",
    output_text,
    parts: [],
    ...given,
  };
}
export function marker(
  kind: MarkerKind,
  title: string,
  given: Given<"marker"> = {},
): TranscriptPartOf<"marker"> {
  return { ...common(`marker ${kind} ${title}`), type: "marker", kind, title, ...given };
}
export function stepEnd(
  reason: TranscriptPartOf<"step_finish">["reason"],
  given: Given<"step_finish"> = {},
): TranscriptPartOf<"step_finish"> {
  return {
    ...common(`step end ${reason}`),
    type: "step_finish",
    ...(reason === undefined ? {} : { reason }),
    ...given,
  };
}
export function unknown(raw: unknown, given: Given<"unknown"> = {}): TranscriptPartOf<"unknown"> {
  return { ...common(`unknown ${JSON.stringify(raw)}`), type: "unknown", raw, ...given };
}
export function legacy(content: string, given: Given<"legacy"> = {}): TranscriptPartOf<"legacy"> {
  return { ...common(`legacy ${content}`), type: "legacy", role: "assistant", content, ...given };
}

/** The parts with each call and result paired, as the fold does. */
export function paired(parts: readonly TranscriptPart[]): TranscriptPart[] {
  const calls = new Map<string, number>();
  const results = new Map<string, number>();
  for (const [index, part] of parts.entries()) {
    if (part.type === "tool_call") calls.set(part.tool_call_id, index);
    if (part.type === "tool_result" && calls.has(part.tool_call_id)) results.set(part.tool_call_id, index);
  }
  return parts.map((part) => {
    if (part.type === "tool_call") {
      const result_index = results.get(part.tool_call_id);
      return result_index === undefined ? part : { ...part, result_index };
    }
    if (part.type !== "tool_result") return part;
    const call_index = calls.get(part.tool_call_id);
    return call_index === undefined ? part : { ...part, call_index };
  });
}

export function turnOf(parts: readonly TranscriptPart[], given: Partial<Turn> = {}): Turn {
  const prompt_index = parts.findIndex((part) => part.type === "prompt" && part.queued !== true);
  return {
    id: idOf("turn"),
    session_id: SESSION,
    index: 0,
    first_part: 0,
    part_count: parts.length,
    ...(prompt_index < 0 ? {} : { prompt_index }),
    status: "completed",
    title: "A turn",
    started_at: START,
    ended_at: START + 62_000,
    steps: 2,
    tool_calls: parts.filter((part) => part.type === "tool_call").length,
    errors: 0,
    ...given,
  };
}

/** A transcript host that remembers opened parts, without a daemon. */
export function hostOf(
  given: Partial<TranscriptHost> = {},
): TranscriptHost & { opened: Map<string, boolean> } {
  const opened = new Map<string, boolean>();
  return {
    opened,
    openState: (id) => opened.get(id),
    setOpen: (id, open) => opened.set(id, open),
    partHref: (id) => `#part-${id}`,
    runHref: (id) => `/sessions/${id}`,
    thinking: "closed",
    showSteps: false,
    everyRecord: false,
    formatTime: (at) => new Date(at).toISOString().slice(11, 19),
    ...given,
  };
}
