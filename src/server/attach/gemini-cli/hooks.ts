import { asObject, type JsonObject } from "../../../model/narrow.ts";
import type { HookedAgent } from "../hook-attachment.ts";
import { type HookReader, type HookReport, sessionIdOf } from "../hook-event.ts";

/** Milliseconds that Gemini CLI waits for a hook, whose shell ends at once. */
const TIMEOUT_MS = 5_000;

/**
 * Gemini CLI (0.61): hooks report the state. A hook cannot skip the dialog, so nothing is answered. Hooks for single calls and
 * for parts of answers are not installed, because each would start a process.
 */
export const geminiCli: HookedAgent & HookReader = {
  agent: "gemini-cli",
  name: "Gemini CLI",
  answers: "none",
  in_open_sessions: false,
  hooks({ reporting }) {
    const hook = (event: string) => ({
      hooks: [{ type: "command", command: reporting(event), timeout: TIMEOUT_MS }],
    });
    const events = ["SessionStart", "BeforeAgent", "Notification", "AfterAgent", "SessionEnd"];
    return Object.fromEntries(events.map((event) => [event, hook(event)]));
  },
  readReport(event, body) {
    const session_id = sessionIdOf(body);
    return session_id === undefined ? undefined : reportOf(event, body, session_id);
  },
};

function reportOf(event: string, body: JsonObject, session_id: string): HookReport | undefined {
  switch (event) {
    case "SessionStart":
    case "AfterAgent":
      return { session_id, state: "idle" };
    case "BeforeAgent":
      return { session_id, state: "busy" };
    case "Notification": {
      // Sent when the dialog opens.
      if (body.notification_type !== "ToolPermission") return undefined;
      const is_question = asObject(body.details)?.type === "ask_user";
      return { session_id, state: "waiting", for: is_question ? "input needed" : "permission prompt" };
    }
    case "SessionEnd":
      return { session_id, state: "ended" };
    default:
      return undefined;
  }
}
