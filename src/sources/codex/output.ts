import type { ToolStatus } from "../../model/messages/message.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { parseObject } from "../lines/parse-object.ts";
import { audioPart, encrypted, isAudio } from "./content-items.ts";
import { outcomeOfText } from "./refusals.ts";

/** The output of a call, from any of the shapes that Codex has used. */
export interface Output {
  /** The complete text as the model read it. */
  text: string;
  media: MediaPart[];
  status: ToolStatus;
  /** Who refused or stopped it, if Codex reports that in place of an output. The status is `aborted`. */
  outcome?: CallOutcome;
  /** Start of the command's own output in `text`, after Codex's header, in UTF-16 code units. */
  output_start?: number;
  exit_code?: number;
  duration_ms?: number;
  /** Set while running: the id of the shell session or code cell that later calls poll. */
  running?: { session?: string; cell?: string };
  /** The number of a command whose output a code cell printed before it ended. */
  printed_terminal?: string;
  /** Exit codes in the complete command results that a code cell printed, in order. */
  exit_codes?: number[];
}

/** Header lines that Codex writes before the output of a command or script. */
const HEADER_LINE =
  /^(?:Chunk ID|Wall time|Process exited with code|Process running with session ID|Original token count|Exit code|Total output lines|Script (?:completed|failed|terminated|running))/;
const HEADER_LIMIT = 500;
const FAILED =
  /^(?:unsupported (?:custom tool )?call|failed to parse function arguments|execution error|apply_patch verification failed|write_stdin failed|exec_command failed|exec failed|tool call error|tool call failed|unable to locate image|failed in sandbox|command timed out|Script (?:failed|terminated|error)|(?:collab|agent) [^\n]*(?:failed|not found)|error:)/i;

/** Reads an output in any of its shapes: a string, a list of content, or an object. */
export function readOutput(output: unknown): Output {
  if (typeof output === "string") return readText(output);
  if (Array.isArray(output)) return readContent(output);
  const object = asObject(output);
  if (object === undefined) return readText(output === undefined || output === null ? "" : String(output));
  return readObject(object) ?? readText(JSON.stringify(object));
}

function readText(text: string): Output {
  // Until 2026 a shell's output was a JSON object in a string.
  if (text.startsWith("{") && text.includes('"output"') && text.includes('"metadata"')) {
    const wrapped = parseObject(text);
    const read = wrapped === undefined ? undefined : readObject(wrapped);
    if (read !== undefined) return read;
  }
  const read = withHeader(text, []);
  const exit_codes = read.output_start === undefined ? [] : exitCodesIn(text.slice(read.output_start));
  return exit_codes.length === 0 ? read : { ...read, exit_codes };
}

function readObject(object: Record<string, unknown>): Output | undefined {
  const metadata = asObject(object.metadata);
  const inner = asString(object.output);
  if (inner !== undefined && (metadata !== undefined || Object.keys(object).length === 1)) {
    const exit_code = asNumber(metadata?.exit_code);
    const seconds = asNumber(metadata?.duration_seconds);
    const { outcome, ...read } = withHeader(inner, []);
    return {
      ...read,
      ...(exit_code === undefined && outcome !== undefined ? { outcome } : {}),
      ...(exit_code === undefined ? {} : { exit_code, status: exit_code === 0 ? "success" : "error" }),
      ...(seconds === undefined ? {} : { duration_ms: Math.round(seconds * 1000) }),
    };
  }
  if (object.content !== undefined && (typeof object.success === "boolean" || "content_items" in object)) {
    const read = readOutput(object.content);
    return object.success === false && read.status === "success" ? { ...read, status: "error" } : read;
  }
  if (typeof object.text === "string" || object.image_url !== undefined) return readContent([object]);
  return undefined;
}

/** Reads a list of `input_text`, `input_image` and similar content. MCP content has the same shapes. */
export function readContent(content: readonly unknown[]): Output {
  const pieces: string[] = [];
  const appendText = (text: string): void => {
    if (pieces.at(-1)?.endsWith("\n") === false) pieces.push("\n");
    if (text !== "") pieces.push(text);
  };
  const media: MediaPart[] = [];
  const exit_codes: number[] = [];
  let printed_terminal: string | undefined;
  for (const entry of content) {
    const item = asObject(entry);
    if (item === undefined) {
      if (typeof entry === "string") appendText(entry);
      continue;
    }
    const text = asString(item.text) ?? (item.type === "encrypted_content" ? encrypted(item) : undefined);
    const url = imageUrl(item);
    if (text !== undefined && text !== "") {
      appendText(text);
      exit_codes.push(...exitCodesIn(text));
      printed_terminal ??= SHELL_RUNNING.exec(printedBy(text))?.[1];
    }
    if (url !== undefined) media.push({ type: "image_url", url });
    else if (isAudio(item)) media.push(audioPart(item));
    else if (text === undefined && item.image_url !== null) media.push({ type: "unknown", raw: entry });
  }
  const read = withHeader(pieces.join(""), media);
  return {
    ...read,
    ...(exit_codes.length === 0 ? {} : { exit_codes }),
    ...(printed_terminal === undefined ? {} : { printed_terminal }),
  };
}

/** The URL of an image in a content list: `image_url` (text or `{url}`), or MCP's `data` with its MIME type. */
export function imageUrl(item: Record<string, unknown>): string | undefined {
  const url = asString(item.image_url) ?? asString(asObject(item.image_url)?.url);
  if (url !== undefined) return url;
  const data = asString(item.data);
  const mime = asString(item.mimeType) ?? asString(item.mime_type);
  return item.type === "image" && data !== undefined
    ? `data:${mime ?? "image/png"};base64,${data}`
    : undefined;
}

/** Codex's lines before a text that it truncated for the model. */
const CUT_HEADER = /^Warning: truncated output[^\n]*\n(?:Total output lines: \d+\n)?\n*/;
/** The start of a shell tool's result in the form that scripts receive and print as JSON. The rest may be truncated. */
const SHELL_RESULT =
  /^\{"chunk_id":"[^"\\]*","wall_time_seconds":[\d.e+-]+(?:,"session_id":\d+)?,"exit_code":(-?\d+)[,}]/;
/** The same for a command that is still running. */
const SHELL_RUNNING =
  /^\{"chunk_id":"[^"\\]*","wall_time_seconds":[\d.e+-]+,"session_id":(\d+),"(?:original_token_count|output)":/;
/** Maximum nesting of results in a script's output, such as `Promise.allSettled` of several. */
const MAX_DEPTH = 4;

const printedBy = (text: string): string => text.replace(CUT_HEADER, "").trimStart();

/** The exit codes in a text that a code cell printed, if it printed the results of its shell tools unchanged. */
function exitCodesIn(printed: string): number[] {
  const text = printedBy(printed);
  const first = SHELL_RESULT.exec(text)?.[1];
  if (first !== undefined) return [Number(first)];
  if (!/^[[{]/.test(text) || !text.includes('"wall_time_seconds"')) return [];
  try {
    return exitCodesOf(JSON.parse(text), MAX_DEPTH);
  } catch {
    // It was truncated, or is other text.
    return [];
  }
}

function exitCodesOf(value: unknown, depth: number): number[] {
  if (depth === 0 || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((entry) => exitCodesOf(entry, depth - 1));
  const object = asObject(value) ?? {};
  const exit_code = asNumber(object.exit_code);
  if (object.wall_time_seconds !== undefined) return exit_code === undefined ? [] : [exit_code];
  return Object.values(object).flatMap((entry) => exitCodesOf(entry, depth - 1));
}

function withHeader(text: string, media: MediaPart[]): Output {
  const header = headerOf(text);
  const exit = /^(?:Process exited with code|Exit code:) (-?\d+)$/m.exec(header);
  const seconds = /^Wall time:? ([\d.]+) seconds/m.exec(header);
  const session = /^Process running with session ID (\S+)$/m.exec(header)?.[1];
  const cell = /^Script running with cell ID (\S+)$/m.exec(header)?.[1];
  const exit_code = exit ? Number(exit[1]) : undefined;
  const start = text.slice(0, HEADER_LIMIT);
  // An ended command may have printed any text, so the text is only examined if no exit code is known.
  const outcome = exit_code === undefined ? outcomeOfText(text) : undefined;
  const failed = exit_code === undefined ? FAILED.test(start) : exit_code !== 0;
  return {
    text,
    media,
    status: outcome !== undefined ? "aborted" : failed ? "error" : "success",
    ...(outcome === undefined ? {} : { outcome }),
    ...(header === "" ? {} : { output_start: header.length }),
    ...(exit_code === undefined ? {} : { exit_code }),
    ...(seconds ? { duration_ms: Math.round(Number(seconds[1]) * 1000) } : {}),
    ...(session === undefined && cell === undefined
      ? {}
      : { running: { ...(session ? { session } : {}), ...(cell ? { cell } : {}) } }),
  };
}

/** Codex's header before the output, including the line `Output:`; empty if there is none. */
function headerOf(text: string): string {
  if (!HEADER_LINE.test(text)) return "";
  const start = text.slice(0, HEADER_LIMIT);
  const mark = start.indexOf("\nOutput:\n");
  if (mark === -1) return "";
  const lines = start.slice(0, mark).split("\n");
  return lines.every((line) => HEADER_LINE.test(line)) ? start.slice(0, mark + "\nOutput:\n".length) : "";
}

/** The names in a result list of a tool search, one per line. */
export function toolNames(tools: unknown): string {
  const names: string[] = [];
  for (const entry of asArray(tools)) {
    const tool = asObject(entry);
    const name = asString(tool?.name);
    if (name === undefined) continue;
    const inner = asArray(tool?.tools).map((each) => asString(asObject(each)?.name) ?? "?");
    names.push(inner.length === 0 ? name : `${name}: ${inner.join(", ")}`);
  }
  return names.join("\n");
}
