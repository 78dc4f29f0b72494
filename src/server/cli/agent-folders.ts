import { homedir } from "node:os";
import { join } from "node:path";
import { claudeCode } from "../../sources/claude-code/format.ts";
import { codex } from "../../sources/codex/format.ts";
import type { Format } from "../../sources/contract.ts";
import type { AgentFolders } from "../attach/attach.ts";

/** An agent's own folder: from its environment variable, or the default. */
export const agentFolder = ({ variable, home }: NonNullable<Format["root"]>): string =>
  process.env[variable] || join(homedir(), home);

/** The folders of the agents that can be attached. */
export const agentFolders = (): AgentFolders => ({
  claude_code: claudeCode.root ? agentFolder(claudeCode.root) : join(homedir(), ".claude"),
  codex: codex.root ? agentFolder(codex.root) : join(homedir(), ".codex"),
  opencode: join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "opencode"),
});
