import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenState, OpenStateReader } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";

/** Tools whose call is open until the user has answered in the terminal (observed with 1.0.102: they write no request). */
const ASKING_TOOLS: ReadonlySet<string> = new Set(["ask_user", "exit_plan_mode"]);
/** Reasons to wait, in the wording of Claude Code's process registry, which is used for all agents. */
const APPROVAL = "permission prompt";
const ANSWER = "input needed";

/**
 * Reads the state of an open session from the records of `events.jsonl` (schema `session-events.schema.json` of 1.0.102).
 * Copilot's turn is a step: the user's turn is over when a step ends whose message called no tool. A `permission.requested` is
 * open until its `permission.completed`, unless a hook resolved it.
 */
export function createOpenStateReader(): OpenStateReader {
  let busy: boolean | undefined;
  let since: number | undefined;
  /** The current step's message has called tools, so that another step follows. */
  let calls_tools = false;
  /** Open requests and questions by id, with the time at which each was opened. */
  const open = new Map<string, { for: string; since: number | undefined }>();

  function begin(at: number | undefined) {
    if (busy !== true) since = at;
    busy = true;
  }
  function end(at: number | undefined) {
    busy = false;
    since = at;
  }

  function read(record: JsonObject): void {
    const data = asObject(record.data) ?? {};
    const at = timeOf(record.timestamp);
    const is_main = asText(record.agentId) === undefined && asText(data.parentToolCallId) === undefined;
    switch (asString(record.type)) {
      case "user.message":
        if (is_main) begin(at);
        break;
      case "assistant.turn_start":
        if (!is_main) break;
        begin(at);
        calls_tools = false;
        break;
      case "assistant.message":
        if (is_main) calls_tools ||= asArray(data.toolRequests).length > 0;
        break;
      case "assistant.turn_end":
        if (is_main && !calls_tools) end(at);
        break;
      case "session.error":
        if (is_main) end(at);
        break;
      case "abort":
        if (!is_main) break;
        end(at);
        open.clear();
        break;
      // Requests and questions of an earlier process end with it.
      case "session.start":
      case "session.resume":
      case "session.shutdown":
        end(at);
        open.clear();
        break;
      case "permission.requested":
        if (data.resolvedByHook !== true) ask(asText(data.requestId), APPROVAL, at);
        break;
      case "permission.completed":
        open.delete(asText(data.requestId) ?? "");
        break;
      case "tool.execution_start":
        if (ASKING_TOOLS.has(asString(data.toolName) ?? "")) ask(asText(data.toolCallId), ANSWER, at);
        break;
      case "tool.execution_complete":
        open.delete(asText(data.toolCallId) ?? "");
        break;
    }
  }
  function ask(id: string | undefined, reason: string, at: number | undefined) {
    if (id !== undefined) open.set(id, { for: reason, since: at });
  }

  return {
    read,
    get state(): OpenState {
      const [first] = open.values();
      const start = first === undefined ? since : first.since;
      return {
        ...(busy !== undefined && { busy }),
        ...(first !== undefined && { busy: true, waiting: { for: first.for } }),
        ...(start !== undefined && { since: start }),
      };
    },
  };
}
