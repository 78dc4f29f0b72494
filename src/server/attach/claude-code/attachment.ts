import type { AgentAttachment } from "../agent-attachment.ts";
import { HOLD_TIMEOUT_S } from "../held-requests.ts";
import { type HookedAgent, hookAttachment } from "../hook-attachment.ts";

/** Seconds that Claude Code waits for the hook. The daemon releases requests earlier. */
const TIMEOUT_S = 3_600;
const DISPLAY_TIMEOUT_S = 10;

/** Claude Code: the bodies of its hooks name the event, and open sessions load new hooks within seconds. */
const claudeCode: HookedAgent = {
  agent: "claude-code",
  name: "Claude Code",
  answers: "requests",
  in_open_sessions: true,
  hooks: ({ own }) => ({
    PermissionRequest: { matcher: "*", hooks: [{ type: "command", command: own, timeout: TIMEOUT_S }] },
    Elicitation: { hooks: [{ type: "command", command: own, timeout: HOLD_TIMEOUT_S }] },
    // Claude Code does not wait for it: the terminal shows the lines at the same time.
    MessageDisplay: {
      hooks: [{ type: "command", command: own, timeout: DISPLAY_TIMEOUT_S, async: true }],
    },
  }),
};

/** Attaches to Claude Code with hooks in the user's settings. */
export const claudeCodeAttachment = (options: { data_dir: string; config_dir: string }): AgentAttachment =>
  hookAttachment(claudeCode, options);
