import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { DiffHunk, FileDiff, UiExtra } from "../../model/parts/ui-extra.ts";
import { own } from "../conversation/own.ts";
import { payloadOf, withExit } from "../conversation/tool-payload.ts";
import { fileDiff, hunksOf } from "../conversation/unified-diff.ts";

/** Record types of tool results, if they are not the tool's name in capitals. */
const RESULT_TYPES: Readonly<Record<string, string>> = {
  list_dir: "LIST_DIRECTORY",
  find_by_name: "FIND",
  write_to_file: "CODE_ACTION",
  replace_file_content: "CODE_ACTION",
  multi_replace_file_content: "CODE_ACTION",
};
/** Known record types of results. */
const KNOWN_RESULTS = new Set([
  ...Object.values(RESULT_TYPES),
  "GREP_SEARCH",
  "INVOKE_SUBAGENT",
  "RUN_COMMAND",
  "SEARCH_WEB",
  "VIEW_FILE",
]);

/** Removes the tool set that some versions write before a tool's name. */
const bareName = (tool_name: string): string => tool_name.replace(/^default_api:/, "");

/** The record type of a tool's result. */
export function resultTypeOf(tool_name: string): string {
  const name = bareName(tool_name);
  return own(RESULT_TYPES, name) ?? name.toUpperCase();
}

/** Whether records of this type are tool results, even if no call waits for one. */
export const isResultType = (type: string): boolean => KNOWN_RESULTS.has(type);

/** The arguments of a call. Strings may be JSON-encoded; `isEncoded`: some were, and are decoded. */
export function argumentsOf(args: unknown): { input: JsonObject; isEncoded: boolean } {
  const given = asObject(args) ?? {};
  let isEncoded = false;
  const input: JsonObject = {};
  for (const [name, value] of Object.entries(given)) {
    const text = typeof value === "string" && /^".*"$/s.test(value) ? decoded(value) : undefined;
    isEncoded ||= text !== undefined;
    // Not by assignment, because a name may be `__proto__`.
    Object.defineProperty(input, name, {
      value: text ?? value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return { input, isEncoded };
}

function decoded(json: string): string | undefined {
  try {
    return asText(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** Names of the shared tool cards by Antigravity's tool names. */
const CARDS: Readonly<Record<string, string>> = {
  replace_file_content: "edit",
  multi_replace_file_content: "edit",
  read_url_content: "web_fetch",
};

/** The typed payload of a call from its arguments, which determines the card of its result. */
export function payloadFor(tool_name: string, input: JsonObject): UiExtra | undefined {
  const name = bareName(tool_name);
  switch (name) {
    case "call_mcp_tool": {
      const server = asText(input.ServerName);
      const tool = asText(input.ToolName);
      return server === undefined || tool === undefined ? undefined : { type: "mcp", server, tool };
    }
    case "invoke_subagent":
      return { type: "sub_agent" };
    case "write_to_file":
    case "replace_file_content":
    case "multi_replace_file_content": {
      const path = asText(input.TargetFile);
      const files = path === undefined ? [] : [fileDiff(path, "update", [])];
      return { type: "diff", files };
    }
    default:
      return payloadOf(own(CARDS, name) ?? name, withSharedNames(input));
  }
}

/** Adds arguments under the names that the shared cards read. */
function withSharedNames(input: JsonObject): JsonObject {
  const shared: JsonObject = { ...input };
  for (const [name, foreign] of SHARED) if (input[foreign] !== undefined) shared[name] = input[foreign];
  return shared;
}

const SHARED = [
  ["command", "CommandLine"],
  ["cwd", "Cwd"],
  ["path", "AbsolutePath"],
  ["start_line", "StartLine"],
  ["query", "Query"],
  ["url", "Url"],
] as const;

/** The hunks of the diffs in a result's text. */
function shownHunks(output: string): DiffHunk[] {
  const [, ...begun] = output.split("[diff_block_start]\n");
  return begun.flatMap((text) => {
    const end = text.indexOf("\n[diff_block_end]");
    return end === -1 ? [] : hunksOf(text.slice(0, end));
  });
}

/** The exit code of a command in its result, after the times and before the output. */
const EXIT = /^[ \t]*The command exited with code (-?\d+)\b/m;
const MAX_HEAD = 400;

/** Adds facts from a result's text to the payload: changed lines, the exit code, or the started sub-agent. */
export function answered(payload: UiExtra | undefined, output: string): UiExtra | undefined {
  switch (payload?.type) {
    case "diff": {
      const [file] = payload.files;
      if (file === undefined) return payload;
      const change: FileDiff["change"] = /^Created file /m.test(output) ? "create" : "update";
      return { type: "diff", files: [fileDiff(file.path, change, shownHunks(output))] };
    }
    case "shell": {
      const [, exit] = EXIT.exec(output.slice(0, MAX_HEAD).split("Output:")[0] ?? "") ?? [];
      return exit === undefined ? payload : withExit(payload, { exit_code: Number(exit) });
    }
    case "sub_agent": {
      const [, agent_key] = /"conversationId"\s*:\s*"([^"\\]+)"/.exec(output) ?? [];
      return { ...payload, ...(agent_key !== undefined && { agent_key }) };
    }
    default:
      return payload;
  }
}
