import { aider } from "./aider/format.ts";
import { amp } from "./amp/format.ts";
import { antigravity } from "./antigravity/format.ts";
import { atif } from "./atif/format.ts";
import { chatMessages } from "./chat-messages/format.ts";
import { claudeCode } from "./claude-code/format.ts";
import { cline } from "./cline/format.ts";
import { codex } from "./codex/format.ts";
import { codexExec } from "./codex-exec/format.ts";
import { continueDev } from "./continue/format.ts";
import type { Format } from "./contract.ts";
import { copilotChat } from "./copilot-chat/format.ts";
import { copilotCli } from "./copilot-cli/format.ts";
import { crush } from "./crush/format.ts";
import { cursor } from "./cursor/format.ts";
import { cursorIde } from "./cursor-ide/format.ts";
import { droid } from "./droid/format.ts";
import { droidExec } from "./droid-exec/format.ts";
import { geminiCli } from "./gemini-cli/format.ts";
import { goose } from "./goose/format.ts";
import { grok } from "./grok/format.ts";
import { hermes } from "./hermes/format.ts";
import { iflow } from "./iflow/format.ts";
import { inspect } from "./inspect/format.ts";
import { kilo } from "./kilo/format.ts";
import { kimi } from "./kimi/format.ts";
import { kimiCli } from "./kimi-cli/format.ts";
import { kiro } from "./kiro/format.ts";
import { klaudeCode } from "./klaude-code/format.ts";
import { ohMyPi } from "./oh-my-pi/format.ts";
import { openclaw } from "./openclaw/format.ts";
import { openCode } from "./opencode/format.ts";
import { openHands } from "./openhands/format.ts";
import { pi } from "./pi/format.ts";
import { qwenCode } from "./qwen-code/format.ts";
import { clineTasks, kiloCode, rooCode } from "./roo-code/format.ts";
import { sweAgent } from "./swe-agent/format.ts";
import { verbatim } from "./verbatim/format.ts";
import { vibe } from "./vibe/format.ts";
import { zed } from "./zed/format.ts";

/**
 * All supported agents. To add one, create its folder and list it here. A file whose path identifies no agent belongs to the
 * first format that recognizes its content, so formats with lines similar to another agent's precede that agent. A format whose
 * folder is inside that of another one precedes it too.
 */
export const formats: readonly Format[] = [
  iflow,
  qwenCode,
  droidExec,
  claudeCode,
  codex,
  codexExec,
  droid,
  grok,
  kimi,
  kimiCli,
  cursor,
  copilotCli,
  openclaw,
  ohMyPi,
  pi,
  klaudeCode,
  cline,
  rooCode,
  clineTasks,
  copilotChat,
  kiloCode,
  cursorIde,
  zed,
  kilo,
  openCode,
  amp,
  continueDev,
  goose,
  crush,
  kiro,
  hermes,
  aider,
  openHands,
  vibe,
  antigravity,
  geminiCli,
  verbatim,
  atif,
  sweAgent,
  inspect,
  chatMessages,
];
