import type { ToolStatus } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome, Permission } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { SessionRecord } from "../contract.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { noteCall, type StartedRuns } from "../conversation/runs.ts";
import { inputOf, ofFailure, payloadOf } from "../conversation/tool-payload.ts";
import { filesOfArguments, filesOfEdits } from "./edits.ts";
import { isEditTool, similarTool, toolName } from "./tool-names.ts";
import { outputOf } from "./tool-output.ts";
import { markdownText, pathOf } from "./values.ts";

/** The arguments of a call as JSON text: those that the model wrote, or what VS Code showed of them. */
function argumentsOf({ item, call }: { item: JsonObject; call: JsonObject | undefined }): string {
  const written = asText(call?.arguments);
  if (written !== undefined) return written;
  const data = asObject(item.toolSpecificData) ?? {};
  const given = asText(asObject(item.resultDetails)?.input);
  if (given !== undefined) return given;
  return JSON.stringify(inputOfData(data) ?? {});
}

function inputOfData(data: JsonObject): unknown {
  switch (data.kind) {
    case "terminal":
      return { command: commandOf(data) };
    case "input":
      return data.rawInput;
    case "simpleToolInvocation":
      return { input: data.input };
    case "todoList":
      return { todoList: data.todoList };
    case "subagent":
      return { description: data.description, prompt: data.prompt, agentName: data.agentName };
    default:
      return undefined;
  }
}

/** The command that ran. */
function commandOf(data: JsonObject): string | undefined {
  const line = asObject(data.commandLine);
  const edited = asText(line?.userEdited) ?? asText(line?.toolEdited);
  return edited ?? asText(line?.original) ?? asText(data.command);
}

/** The typed payload of a call: from what VS Code knows about it, and from its arguments. */
function callPayload(name: string, item: JsonObject, input: JsonObject | undefined): UiExtra | undefined {
  const data = asObject(item.toolSpecificData) ?? {};
  const source = asObject(item.source);
  switch (data.kind) {
    case "terminal": {
      const command = commandOf(data) ?? asText(input?.command);
      const cwd = pathOf(data.cwd);
      return { type: "shell", ...(command !== undefined && { command }), ...(cwd !== undefined && { cwd }) };
    }
    case "todoList":
      return payloadOf("todowrite", { todos: data.todoList });
    case "subagent": {
      const agent = asText(data.agentName) ?? asText(data.agentDisplayName);
      const task = asText(data.description) ?? asText(data.prompt);
      return {
        type: "sub_agent",
        ...(agent !== undefined && { name: agent }),
        ...(task !== undefined && { task }),
      };
    }
    default:
      break;
  }
  if (source?.type === "mcp") {
    const server = asText(source.serverLabel) ?? asText(source.label) ?? asText(source.definitionId) ?? "mcp";
    return { type: "mcp", server, tool: name };
  }
  return inputPayload(name, item, input ?? {});
}

function inputPayload(name: string, item: JsonObject, input: JsonObject): UiExtra | undefined {
  switch (name) {
    case "read_file": {
      const start_line =
        asNumber(input.startLine) ?? asNumber(input.startLineNumberBaseOne) ?? asNumber(input.offset);
      const end = asNumber(input.endLine) ?? asNumber(input.endLineNumberBaseOne);
      const count = end === undefined || start_line === undefined ? undefined : end - start_line + 1;
      const payload = payloadOf("read", { path: input.filePath, limit: count ?? input.limit });
      return payload?.type === "read" && start_line !== undefined ? { ...payload, start_line } : payload;
    }
    case "fetch_webpage":
      return payloadOf("webfetch", { url: asArray(input.urls)[0] });
    case "manage_todo_list":
      return payloadOf("todowrite", { todos: input.todoList });
    case "file_search":
    case "grep_search": {
      if (!Array.isArray(item.resultDetails)) return undefined;
      const paths = item.resultDetails.flatMap((place) => pathOf(place) ?? []);
      const query = asText(input.query);
      const files = [...new Set(paths)];
      return { type: "search", match_count: paths.length, files, ...(query !== undefined && { query }) };
    }
    default:
      return isEditTool(name) ? { type: "diff", files: [] } : payloadOf(similarTool(name), input);
  }
}

/** Reasons for which a call ran or did not (`ToolConfirmKind`). Versions before 1.104 record whether it was allowed. */
const DENIED = 0;
const SKIPPED = 5;

function permissionOf(confirmed: unknown): Permission | undefined {
  const { type, id, scope } = asObject(confirmed) ?? {};
  const name = asText(id);
  const valid = asText(scope);
  if (type === 2) return { by: "settings", ...(name !== undefined && { name }) };
  if (type === 3) return { by: "person", ...(valid !== undefined && { scope: valid }) };
  return type === 4 ? { by: "person" } : undefined;
}

const exitOf = (item: JsonObject): number | undefined =>
  asNumber(asObject(asObject(item.toolSpecificData)?.terminalCommandState)?.exitCode);

interface Ending {
  status: ToolStatus;
  outcome?: CallOutcome;
}

function endingOf(item: JsonObject, hasOutput: boolean): Ending {
  const type = asObject(item.isConfirmed)?.type;
  // Who refused it is not recorded: the user, a hook, or that the request was stopped.
  if (type === DENIED || type === SKIPPED || item.isConfirmed === false)
    return { status: "aborted", outcome: { kind: "refused" } };
  const { resultError } = item;
  const failed = asObject(item.resultDetails)?.isError === true || (exitOf(item) ?? 0) !== 0;
  if (failed || resultError === true || asText(resultError) !== undefined) return { status: "error" };
  if (item.isComplete === false && !hasOutput) return { status: "aborted", outcome: { kind: "stopped" } };
  if (item.isConfirmed === undefined && !hasOutput)
    return { status: "aborted", outcome: { kind: "unknown" } };
  return { status: "success" };
}

/**
 * Emits a call: `{item?, edits?, call?, result?, running?}`, the invocation that VS Code shows, the edits that it made, the
 * model's call and result. One that is running has no result yet.
 */
export function emitTool(
  conversation: Conversation,
  record: SessionRecord,
  runs: StartedRuns,
  at: number,
): void {
  const { value } = record;
  const item = asObject(value.item) ?? {};
  const call = asObject(value.call);
  const name = asText(call?.name) ?? toolName(item) ?? "(unnamed tool)";
  const arguments_json = argumentsOf({ item, call });
  const input = inputOf(arguments_json);
  const payload = callPayload(name, item, input);
  const id = asText(item.toolCallId) ?? asText(call?.id);
  const frame_id = conversation.toolCall({ id, tool_name: name, arguments_json, payload });
  const isStart = payload?.type === "sub_agent";
  noteCall(runs, { id: frame_id, name: isStart ? "task" : similarTool(name), input }, at);
  const output = outputOf(item, value.result);
  if (value.running === true && output === undefined) return;
  const ending = endingOf(item, output !== undefined);
  const edits = asArray(value.edits);
  conversation.toolResult({
    id: frame_id,
    status: ending.status,
    // The message says what a call does whose arguments are not recorded.
    output_text: output?.output_text ?? (arguments_json === "{}" ? markdownText(item.invocationMessage) : ""),
    parts: output?.parts ?? [],
    outcome: ending.outcome,
    permission: ending.status === "aborted" ? undefined : permissionOf(item.isConfirmed),
    payload: () => resultPayload(payload, { item, input, edits, isFailure: ending.status !== "success" }),
  });
}

function resultPayload(
  payload: UiExtra | undefined,
  {
    item,
    input,
    edits,
    isFailure,
  }: { item: JsonObject; input: JsonObject | undefined; edits: unknown[]; isFailure: boolean },
): UiExtra | undefined {
  if (isFailure && payload?.type !== "shell") return ofFailure(payload);
  if (payload?.type === "diff") {
    const files = filesOfArguments(input);
    return { type: "diff", files: files.length > 0 ? files : filesOfEdits(edits) };
  }
  if (payload?.type !== "shell") return payload;
  const state = asObject(asObject(item.toolSpecificData)?.terminalCommandState);
  const exit_code = exitOf(item);
  const duration_ms = asNumber(state?.duration);
  return {
    ...payload,
    ...(exit_code !== undefined && { exit_code }),
    ...(duration_ms !== undefined && { duration_ms }),
  };
}

/** Emits edits that no tool made: in the modes without tools, the answer itself contains them. */
export function emitEdits(conversation: Conversation, record: SessionRecord): void {
  const raw = new RawJson(record);
  const item = asObject(record.value.item) ?? {};
  const groups = [item];
  const path = pathOf(item.uri) ?? "";
  const edits = raw.of(item.edits ?? [], ["item", "edits"]);
  const id = conversation.toolCall({
    id: `edits@${record.key}`,
    tool_name: asString(item.kind) ?? "textEditGroup",
    arguments_json: `{"filePath":${JSON.stringify(path)},"edits":${edits}}`,
    by_server: true,
  });
  conversation.toolResult({
    id,
    status: "success",
    output_text: path,
    payload: () => ({ type: "diff", files: filesOfEdits(groups) }),
  });
}
