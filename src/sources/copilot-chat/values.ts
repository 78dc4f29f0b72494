import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { localPath } from "../conversation/path-url.ts";
import { namesOf } from "../conversation/paths.ts";

/**
 * The text of a Markdown value: a string, or `{value}`. Links without a text, which VS Code shows as file names, are named. An
 * icon at the start, `$(info) `, is left out.
 */
export function markdownText(value: unknown): string {
  const text = asString(value) ?? asString(asObject(value)?.value) ?? "";
  return text
    .replace(/^\$\([a-z][a-z-]*\) /, "")
    .replace(/\[\]\(([^()\s]+)\)/g, (_, address: string) => `\`${nameOfPath(decoded(address))}\``);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The last name of a path or an address. */
export const nameOfPath = (path: string): string => namesOf(path).at(-1) ?? path;

/**
 * The path or address of a URI, which VS Code writes as text or by its components, of a location (`{uri, range}`), or of a symbol
 * (`{location}`). `undefined`: it is none of them.
 */
export function pathOf(value: unknown): string | undefined {
  const text = asText(value);
  if (text !== undefined) return pathOfAddress(text);
  const object = asObject(value);
  if (object === undefined) return undefined;
  const path = asText(object.path);
  const scheme = asText(object.scheme);
  if (path !== undefined && scheme !== undefined) return pathOfComponents(object, scheme, path);
  return (
    asText(object.fsPath) ?? path ?? (asObject(object.uri) && pathOf(object.uri)) ?? pathOf(object.location)
  );
}

function pathOfComponents({ authority, query }: JsonObject, scheme: string, path: string): string {
  if (scheme === "http" || scheme === "https") {
    const search = asText(query);
    return `${scheme}://${asString(authority) ?? ""}${path}${search === undefined ? "" : `?${search}`}`;
  }
  // A drive of Windows is preceded by a slash.
  return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path;
}

/** The path in an address of a file, local or on a remote computer; another address unchanged. */
export function pathOfAddress(address: string): string {
  const [, path] = /^(?:file|vscode-remote):\/\/[^/]*(\/.*)$/.exec(address) ?? [];
  return path === undefined ? address : localPath(`file://${path}`);
}

/** The range of a location: its first line, and the last one if it has several. */
export function linesOf(value: unknown): { first: number; last: number } | undefined {
  const range = asObject(asObject(value)?.range) ?? asObject(asObject(asObject(value)?.location)?.range);
  const first = asNumber(range?.startLineNumber);
  return first === undefined ? undefined : { first, last: asNumber(range?.endLineNumber) ?? first };
}

/** The name of a referenced file with its lines, as VS Code shows it: `tide.ts`, `tide.ts:4-9`. */
export function nameOfReference(value: unknown): string | undefined {
  const path = pathOf(value);
  return path === undefined ? undefined : `${nameOfPath(path)}${lineSuffix(value)}`;
}

/** A referenced file by its whole path, with its lines. */
export function placeOfReference(value: unknown): string | undefined {
  const path = pathOf(value);
  return path === undefined ? undefined : `${path}${lineSuffix(value)}`;
}

function lineSuffix(value: unknown): string {
  const lines = linesOf(value);
  if (lines === undefined) return "";
  return lines.first === lines.last ? `:${lines.first}` : `:${lines.first}-${lines.last}`;
}

/** A text as a data URL, if it is not an address itself. */
export function dataUrl(mime: string, data: string): string {
  return /^(?:data|https?):/.test(data) ? data : `data:${mime};base64,${data}`;
}
