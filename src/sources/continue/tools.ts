import type { ToolStatus } from "../../model/messages/message.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { TodoItem, UiExtra } from "../../model/parts/ui-extra.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { changeOf } from "../conversation/content-change.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { inputOf, ofFailure, payloadOf as sharedPayload, withExit } from "../conversation/tool-payload.ts";
import { fileDiff, hunksOf } from "../conversation/unified-diff.ts";

/** The extension's tools with names that other agents do not use. */
const NAMES: Readonly<Record<string, string>> = {
  create_new_file: "write",
  edit_existing_file: "edit",
  single_find_and_replace: "edit",
  read_file_range: "read",
  fetch_url_content: "web_fetch",
};

/** The payload of a call. `text`: its arguments. */
export function payloadOf(tool_name: string, text: string): UiExtra | undefined {
  const input = inputOf(text);
  if (tool_name === "Checklist") {
    const todos = todosIn(asString(input?.checklist) ?? "");
    return todos.length === 0 ? undefined : { type: "todos", todos };
  }
  return sharedPayload(own(NAMES, tool_name) ?? tool_name, input && withNames(input));
}

/** Adds the names that other agents use for arguments. */
function withNames(input: JsonObject): JsonObject {
  const { filepath, startLine } = input;
  return {
    ...input,
    ...(filepath !== undefined && { path: filepath }),
    ...(startLine !== undefined && { start_line: startLine }),
  };
}

/** The items of a Markdown list of tasks. */
function todosIn(list: string): TodoItem[] {
  return list.split("\n").flatMap((line): TodoItem[] => {
    const [, mark, text] = /^\s*(?:[-*+]|\d+\.)\s*\[([ xX])\]\s*(\S.*)$/.exec(line) ?? [];
    return text === undefined ? [] : [{ text, status: mark === " " ? "pending" : "completed" }];
  });
}

/** Whether a call is a command that the user ran in the command line version, by its id. */
export const isShellCommand = (id: unknown): boolean => /^shell-\d{13}-[0-9a-z]+$/.test(asString(id) ?? "");

/** Reads the output of a command that the user ran. */
export function readShellResult(conversation: Conversation, value: JsonObject): void {
  const output_text = textOf(value);
  conversation.marker("note", sourceTitle("shell_output", { exit: exitOf(value) }), output_text);
  conversation.endTurn("completed");
}

const STATUSES: Readonly<Record<string, ToolStatus>> = { done: "success", errored: "error" };

/** Reads the result of a call: `{call, status, output}`, where the output is a list of context items. */
export function readResult(conversation: Conversation, value: JsonObject): void {
  const output_text = textOf(value);
  const status = own(STATUSES, asString(value.status)) ?? "aborted";
  conversation.toolResult({
    id: asText(value.call),
    status,
    output_text,
    ...(status === "aborted" && { outcome: outcomeOf(value, output_text) }),
    payload: (call) => resultPayload(call, value, { output_text, succeeded: status === "success" }),
  });
}

/** The output as the model gets it, with the status that commands of the extension have. */
function textOf({ output }: JsonObject): string {
  return asArray(output)
    .map((item) => {
      const value = asObject(item);
      const status = asText(value?.status);
      const content = asString(value?.content) ?? "";
      return status === undefined ? content : `${content}\n[Status: ${status}]`;
    })
    .join("\n\n");
}

function outcomeOf({ status }: JsonObject, output_text: string): CallOutcome {
  if (output_text === "Permission denied by user") return { kind: "refused", by: "person" };
  if (output_text === "Command blocked by security policy")
    return { kind: "refused", by: "settings", reason: output_text };
  return { kind: status === "canceled" ? "stopped" : "unknown" };
}

/** How the command line version begins the result of a command that failed and wrote to its standard error. */
const FAILED = /^(?:Error executing tool Bash|Bash command failed): Error \(exit code (-?\d+)\)/;

/** The exit code of a command: in its status in the extension, in the text of failed ones in the command line version. */
function exitOf({ output }: JsonObject): number | undefined {
  const item = asObject(asArray(output)[0]);
  const status = asString(item?.status);
  if (status?.startsWith("Command completed") === true) return 0;
  const [, code] =
    status === undefined
      ? (FAILED.exec(asString(item?.content) ?? "") ?? [])
      : (/exit code:? (-?\d+)/.exec(status) ?? []);
  return code === undefined ? undefined : Number(code);
}

function resultPayload(
  call: UiExtra | undefined,
  value: JsonObject,
  { output_text, succeeded }: { output_text: string; succeeded: boolean },
): UiExtra | undefined {
  switch (call?.type) {
    case "shell":
      return withExit(call, { exit_code: exitOf(value) });
    case "diff": {
      if (!succeeded) return undefined;
      const created = asObject(value.created);
      const file = asText(created?.path);
      if (file !== undefined)
        return { ...call, files: [changeOf(file, undefined, asString(created?.content) ?? "")] };
      const [, path, diff] = /\nDiff:\nIndex: (.+)\n([\s\S]*)$/.exec(output_text) ?? [];
      const hunks = hunksOf(diff ?? "");
      return path === undefined ? call : { ...call, files: [fileDiff(path, "update", hunks)] };
    }
    case "read": {
      if (!succeeded) return undefined;
      // The command line version names the file above its content.
      const [header] = /^Content of [^\n]*:\n/.exec(output_text) ?? [];
      return header === undefined ? call : { ...call, output_start: header.length };
    }
    case "question": {
      const [, answer] = /^User [^"]*: "([\s\S]*)"$/.exec(output_text) ?? [];
      const [first, ...others] = call.questions;
      return answer === undefined || first === undefined
        ? call
        : { ...call, questions: [{ ...first, answer }, ...others] };
    }
    case "sub_agent": {
      const [, status] = /<task_metadata>\nstatus: (\w+)\n/.exec(output_text) ?? [];
      return status === undefined ? call : { ...call, status };
    }
    default:
      return succeeded ? call : ofFailure(call);
  }
}
