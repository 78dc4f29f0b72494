import type { ComponentType, ReactNode } from "react";
import { cutShort } from "../../../hidden-text/cut-short.ts";
import type { ToolKind } from "../../../model/parts/tool-label.ts";
import type { UiExtra } from "../../../model/parts/ui-extra.ts";
import type { TranscriptPartOf } from "../../../model/transcript/transcript.ts";
import type { TranscriptHost } from "../host.ts";

/** Input of a card: a call, its result if there is one, and their parsed contents. */
export interface CallView {
  readonly call: TranscriptPartOf<"tool_call">;
  readonly result?: TranscriptPartOf<"tool_result">;
  /** The arguments as an object. Empty if they are not an object, in which case only `call.arguments_json` has them. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The typed payload of the result. */
  readonly extra?: UiExtra;
  /** The output so far: the text of the result, or the progress of a running call. */
  readonly output: string;
  readonly failed: boolean;
  /** The agent's working directory. */
  readonly cwd?: string;
}

/** The line of a collapsed call: `label` names the tool, `subject` is its main argument, `figures` are at the end of the line. */
interface Summary {
  label: string;
  subject: ReactNode;
  /** The line as plain text, for screen readers. */
  title: string;
  figures?: ReactNode;
}

export interface CardBodyProps {
  view: CallView;
  host: TranscriptHost;
}

/** A kind of card. To add one, write a file with a card and add a line to `index.ts`. */
export interface ToolCard {
  /** Typed payloads that the card handles. They take precedence over the tool's name. */
  readonly payloads: readonly UiExtra["type"][];
  /** The kind of the tools that the card handles. Absent: any other tools. */
  readonly kind?: ToolKind;
  summary(view: CallView): Summary;
  /** The body, above the complete input and output at the end of every expanded card. */
  readonly Body?: ComponentType<CardBodyProps>;
  /** What the body already shows completely and need not be repeated. Depends on the call: not every diff can be computed. */
  shows?(view: CallView): { input?: boolean; output?: boolean };
  /** A link beside the line of the collapsed call. */
  readonly Action?: ComponentType<CardBodyProps>;
}

export function createView(call: CallView["call"], result: CallView["result"], cwd?: string): CallView {
  const state = call.state;
  const extra = result?.ui_extra;
  return {
    call,
    ...(result === undefined ? {} : { result }),
    input: readInput(state.input, call.arguments_json),
    ...(extra === undefined ? {} : { extra }),
    output: result?.output_text ?? (state.status === "completed" ? state.output : (call.progress ?? "")),
    failed: state.status === "error" || state.status === "aborted",
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function readInput(input: unknown, json: string): Record<string, unknown> {
  if (isRecord(input) && Object.keys(input).length > 0) return input;
  try {
    const parsed: unknown = JSON.parse(json);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first of the given fields that is a non-empty string. */
export function text(input: Readonly<Record<string, unknown>>, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(input, key) ? input[key] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** The first of the given fields that is a finite number. */
export function count(input: Readonly<Record<string, unknown>>, ...keys: string[]): number | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(input, key) ? input[key] : undefined;
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return undefined;
}

/** A field that is an array; empty if it is not. */
export function list(input: Readonly<Record<string, unknown>>, key: string): readonly unknown[] {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  return Array.isArray(value) ? value : [];
}

/** A text as one line of at most `limit` characters, with runs of white space collapsed. */
export function oneLine(value: string, limit = 300): string {
  const line = cutShort(value, limit * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > limit ? `${cutShort(line, limit - 1)}…` : line;
}

const isWindowsPath = (path: string): boolean => /^[A-Za-z]:\\/.test(path);

/** A path relative to the working directory (`src/a.ts`), otherwise its last segments. */
export function shortPath(path: string, cwd: string | undefined): string {
  const separator = isWindowsPath(path) ? "\\" : "/";
  if (cwd !== undefined && cwd !== "/" && path.startsWith(cwd + separator) && path.length > cwd.length + 1)
    return path.slice(cwd.length + 1);
  const parts = path.split(separator);
  return path.length > 64 && parts.length > 4 ? `…${separator}${parts.slice(-3).join(separator)}` : path;
}

/** Number of lines. A trailing newline does not begin another line, and an empty text has none. */
export function lineCount(value: string): number {
  if (value === "") return 0;
  let lines = value.endsWith("\n") ? 0 : 1;
  for (let at = value.indexOf("\n"); at >= 0; at = value.indexOf("\n", at + 1)) lines++;
  return lines;
}
