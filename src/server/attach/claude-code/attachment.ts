import type { AgentAttachment } from "../agent-attachment.ts";
import { type HookedAgent, hookAttachment } from "../hook-attachment.ts";

/** Seconds that Claude Code waits for the hook. The daemon releases requests earlier. */
const TIMEOUT_S = 3_600;

/** Claude Code: its bodies name their event, and open sessions load hooks within seconds. */
const claudeCode: HookedAgent = {
  agent: "claude-code",
  name: "Claude Code",
  answers: "requests",
  in_open_sessions: true,
  hooks: ({ own }) => ({
    PermissionRequest: { matcher: "*", hooks: [{ type: "command", command: own, timeout: TIMEOUT_S }] },
  }),
};

/** Attaches to Claude Code with a hook in the user's settings. */
export const claudeCodeAttachment = (options: { data_dir: string; config_dir: string }): AgentAttachment =>
  hookAttachment(claudeCode, options);
