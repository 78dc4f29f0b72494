import { asObject, asText, type JsonObject } from "../../../model/narrow.ts";
import { callRequest } from "../call-request.ts";
import { HOLD_TIMEOUT_S } from "../held-requests.ts";
import type { HookedAgent } from "../hook-attachment.ts";
import { type HookReader, type HookReport, sessionIdOf } from "../hook-event.ts";

/** Milliseconds that Qwen Code waits for a hook whose shell ends at once. */
const TIMEOUT_MS = 5_000;
/** Tools that ask the user themselves. Allowing the call does not answer the question. */
const ASKING_TOOLS: ReadonlySet<string> = new Set(["ask_user_question", "exit_plan_mode"]);

/** Qwen Code (0.15): hooks in Claude Code's format. Its dialog opens only after the hook of a request has ended. */
export const qwenCode: HookedAgent & HookReader = {
  agent: "qwen-code",
  name: "Qwen Code",
  answers: "approvals",
  in_open_sessions: false,
  hooks({ answering, reporting, reportingWhileWaiting }) {
    const hook = (command: string, timeout = TIMEOUT_MS) => ({
      hooks: [{ type: "command", command, timeout }],
    });
    const events = ["SessionStart", "UserPromptSubmit", "Notification", "Stop", "StopFailure", "SessionEnd"];
    return {
      ...Object.fromEntries(events.map((event) => [event, hook(reporting(event))])),
      PermissionRequest: hook(answering("PermissionRequest"), HOLD_TIMEOUT_S * 1_000),
      // Runs after a request was allowed.
      PreToolUse: hook(reportingWhileWaiting("PreToolUse")),
    };
  },
  readReport(event, body) {
    const session_id = sessionIdOf(body);
    return session_id === undefined ? undefined : reportOf(event, body, session_id);
  },
  readRequest(event, body) {
    const session_id = sessionIdOf(body);
    const tool_name = asText(body.tool_name);
    const input = asObject(body.tool_input);
    if (event !== "PermissionRequest" || session_id === undefined) return undefined;
    if (tool_name === undefined || input === undefined || ASKING_TOOLS.has(tool_name)) return undefined;
    return callRequest({
      agent: "qwen-code",
      session_id,
      cwd: asText(body.cwd),
      tool_name,
      input,
      replyOf: (decision) => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } }),
    });
  },
};

function reportOf(event: string, body: JsonObject, session_id: string): HookReport | undefined {
  switch (event) {
    case "SessionStart":
    case "Stop":
    case "StopFailure":
      return { session_id, state: "idle" };
    case "UserPromptSubmit":
      return { session_id, state: "busy" };
    case "PreToolUse":
      return { session_id, state: "resumed" };
    case "Notification":
      switch (body.notification_type) {
        case "permission_prompt":
          return { session_id, state: "waiting", for: "permission prompt" };
        // Also sent after Esc, which sends no Stop.
        case "idle_prompt":
          return { session_id, state: "idle" };
        default:
          return undefined;
      }
    case "SessionEnd":
      return { session_id, state: "ended" };
    default:
      return undefined;
  }
}
