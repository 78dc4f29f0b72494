import { copilotCli } from "./copilot-cli/hooks.ts";
import { geminiCli } from "./gemini-cli/hooks.ts";
import type { HookedAgent } from "./hook-attachment.ts";
import type { HookReader } from "./hook-event.ts";
import { qwenCode } from "./qwen-code/hooks.ts";

/** The agents whose hook commands name agent and event. Claude Code is not one of them: its bodies name the event. */
export const hookedAgents: readonly (HookedAgent & HookReader)[] = [geminiCli, qwenCode, copilotCli];
