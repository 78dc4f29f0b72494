import {
  asArray,
  asNumber,
  asObject,
  asString,
  asText,
  isBlank,
  type JsonObject,
} from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { payloadOf } from "../conversation/tool-payload.ts";

/**
 * The text of a result in which Cursor keeps what a tool found as a structure; `undefined`: it is none of these.
 *
 * The shapes are those of conversations of 2025 and 2026 that others published with their results, and of decoders that name
 * them.
 */
export function textOfFound(result: JsonObject): string | undefined {
  if (Object.keys(result).length === 0) return "";
  const searched = asObject(asObject(result.success)?.workspaceResults);
  if (searched !== undefined) return linesOf(Object.values(searched), matchLines);
  if (Array.isArray(result.directories)) return linesOf(result.directories, fileLines);
  if (Array.isArray(result.codeResults)) return linesOf(result.codeResults, codeLines);
  if (Array.isArray(result.linterErrorsByFile)) return linesOf(result.linterErrorsByFile, lintLines);
  if (Array.isArray(result.references)) return linesOf(result.references, referenceLines);
  const root = asObject(result.directoryTreeRoot) ?? asObject(asObject(result.success)?.directoryTreeRoot);
  return root && treeLines(root, 0).join("\n");
}

const linesOf = (items: readonly unknown[], lines: (item: JsonObject) => string[]): string =>
  items.flatMap((item) => lines(asObject(item) ?? {})).join("\n");

/** Matches of a search: lines of files, files alone, or their number per file. */
function matchLines({ content, files, count }: JsonObject): string[] {
  return [
    ...asArray(asObject(content)?.matches).flatMap((each) => {
      const { file, matches } = asObject(each) ?? {};
      return asArray(matches).map((match) => {
        const { lineNumber, content: text, isContextLine } = asObject(match) ?? {};
        const sign = isContextLine === true ? "-" : ":";
        return [asString(file) ?? "", asNumber(lineNumber) ?? "", asString(text) ?? ""].join(sign);
      });
    }),
    ...asArray(asObject(files)?.files).flatMap((file) => asText(file) ?? []),
    ...asArray(asObject(count)?.counts).map((each) => {
      const { file, count: number } = asObject(each) ?? {};
      return `${asString(file) ?? ""}:${asNumber(number) ?? ""}`;
    }),
  ];
}

/** A folder, and the files in it by their paths from it. */
function fileLines({ absPath, files }: JsonObject): string[] {
  const names = asArray(files).flatMap((file) => asText(asObject(file)?.relPath) ?? asText(file) ?? []);
  const folder = asText(absPath);
  return folder === undefined ? names : [`${folder}:`, ...names];
}

function codeLines({ codeBlock }: JsonObject): string[] {
  const { relativeWorkspacePath, range, contents } = asObject(codeBlock) ?? {};
  const place = [asText(relativeWorkspacePath) ?? "", startOf(range)].filter((part) => part !== undefined);
  return [place.join(":"), ...(isBlank(asString(contents) ?? "") ? [] : [asString(contents) ?? ""])];
}

/** The problems of a file: its path alone if it has none. */
function lintLines({ relativeWorkspacePath, errors }: JsonObject): string[] {
  const path = asText(relativeWorkspacePath) ?? "";
  const lines = asArray(errors).map((each) => {
    const { message, range, severity } = asObject(each) ?? {};
    const level = asText(severity)
      ?.replace(/^DIAGNOSTIC_SEVERITY_/, "")
      .toLowerCase();
    const place = [path, startOf(range)].filter((part) => part !== undefined).join(":");
    return [place, level, asString(message)].filter((part) => part !== undefined).join(": ");
  });
  return lines.length === 0 ? [path] : lines;
}

const startOf = (range: unknown): number | undefined =>
  asNumber(asObject(asObject(range)?.startPosition)?.line);

function referenceLines({ title, url, chunk }: JsonObject): string[] {
  return [title, url, chunk].flatMap((text) => asText(text) ?? []);
}

/** Maximum depth of folders, because foreign data may nest endlessly. */
const MAX_DEPTH = 32;

function treeLines(folder: JsonObject, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const path = asText(folder.absPath) ?? "";
  const name = depth === 0 ? path : path.replace(/^.*[\\/](?=.)/, "");
  return [
    `${indent}${name}/`,
    ...asArray(folder.childrenDirs).flatMap((each) =>
      depth < MAX_DEPTH ? treeLines(asObject(each) ?? {}, depth + 1) : [],
    ),
    ...asArray(folder.childrenFiles).flatMap((each) => {
      const file = asText(asObject(each)?.name);
      return file === undefined ? [] : [`${indent}  ${file}`];
    }),
  ];
}

/** The whole to-do list after a call. The call may name only some items of it, or none. */
export function todosOfResult(result: JsonObject | undefined): UiExtra | undefined {
  const todos = asArray(result?.finalTodos);
  return todos.length === 0 ? undefined : payloadOf("todo_write", { todos });
}

/** To-dos with the states that Cursor's protocol names `TODO_STATUS_IN_PROGRESS`. */
export function withStates(input: JsonObject): JsonObject {
  if (!Array.isArray(input.todos)) return input;
  const todos = input.todos.map((each: unknown) => {
    const todo = asObject(each);
    const state = asString(todo?.status)?.replace(/^TODO_STATUS_/, "");
    return todo === undefined || state === undefined ? each : { ...todo, status: state };
  });
  return { ...input, todos };
}
