import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { claudeCode } from "../../sources/claude-code/format.ts";
import { codex } from "../../sources/codex/format.ts";
import type { Format } from "../../sources/contract.ts";
import { copilotCli } from "../../sources/copilot-cli/format.ts";
import { geminiCli } from "../../sources/gemini-cli/format.ts";
import { qwenCode } from "../../sources/qwen-code/format.ts";
import type { AgentFolders } from "../attach/attach.ts";
import type { WatchRoot } from "../import/watch/found-file.ts";

/** An agent's own folder: from its environment variable, or the default. */
export const agentFolder = ({ variable, home }: NonNullable<Format["root"]>): string =>
  process.env[variable] || join(homedir(), home);

/** The places where an agent stores its sessions on this machine. */
export function sessionRoots(format: Format): WatchRoot[] {
  const { root } = format;
  if (root === undefined) return [];
  const others = (root.others ?? []).flatMap(({ folders, ...place }): WatchRoot[] => {
    if ("variable" in place) {
      const path = process.env[place.variable];
      return path ? [{ format, path, folders }] : [];
    }
    const path = join(homedir(), place.home);
    return existsSync(path) ? [{ format, path, folders }] : [];
  });
  return [{ format, path: agentFolder(root) }, ...others];
}

/** The store that an agent's environment variable names, if it exists. It may have any name and be anywhere. */
export function namedStores({ root }: Format): string[] {
  const path = root?.store === undefined ? undefined : process.env[root.store];
  if (root === undefined || !path) return [];
  const store = resolve(agentFolder(root), root.folders[0] ?? ".", path);
  return existsSync(store) ? [store] : [];
}

const folderOf = ({ root }: Format, home: string): string =>
  root ? agentFolder(root) : join(homedir(), home);

/** The folders of the agents that can be attached. */
export const agentFolders = (): AgentFolders => ({
  claude_code: folderOf(claudeCode, ".claude"),
  codex: folderOf(codex, ".codex"),
  hooked: {
    // The folder of this source is the parent of `.gemini`.
    "gemini-cli": join(folderOf(geminiCli, "."), ".gemini"),
    "qwen-code": folderOf(qwenCode, ".qwen"),
    "copilot-cli": folderOf(copilotCli, ".copilot"),
  },
  opencode: join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "opencode"),
});
