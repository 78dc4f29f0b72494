import { readFileSync } from "node:fs";
import { asObject, asText } from "../../../model/narrow.ts";
import { callRequest } from "../call-request.ts";
import { HOLD_TIMEOUT_S } from "../held-requests.ts";
import type { HookedAgent } from "../hook-attachment.ts";
import type { HookReader } from "../hook-event.ts";

/** Command-line options of Copilot that allow every command. */
const ALLOWS_ALL: ReadonlySet<string> = new Set(["--allow-all", "--allow-all-tools", "--yolo"]);

/** Whether a Copilot was started with one of these options. `false` if the system does not reveal it. */
function allowsAll(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .split("\0")
      .some((word) => ALLOWS_ALL.has(word));
  } catch {
    return false;
  }
}

/**
 * Copilot CLI (1.0.102): one hook for approvals. The state comes from its lock and its records. The hook runs before every
 * command and file change, including those that rules or `--allow-all-tools` allow; the body does not say which these are.
 */
export const copilotCli: HookedAgent & HookReader = {
  agent: "copilot-cli",
  name: "Copilot CLI",
  answers: "commands",
  in_open_sessions: false,
  hooks: ({ answering }) => ({
    permissionRequest: {
      type: "command",
      bash: answering("permissionRequest"),
      timeoutSec: HOLD_TIMEOUT_S,
    },
  }),
  readRequest(event, body, pid) {
    const session_id = asText(body.sessionId)?.toLowerCase();
    const tool_name = asText(body.toolName);
    const input = asObject(body.toolInput);
    if (event !== "permissionRequest" || session_id === undefined) return undefined;
    if (tool_name === undefined || input === undefined || allowsAll(pid)) return undefined;
    return callRequest({
      agent: "copilot-cli",
      session_id,
      cwd: asText(body.cwd),
      tool_name,
      input,
      replyOf: (decision) => decision,
    });
  },
};
