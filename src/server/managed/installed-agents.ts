import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { textFields } from "../../model/text/display-text.ts";
import type { Unavailable } from "../../protocol.ts";

/** An installed agent that supports the Agent Client Protocol, or would with an adapter that is missing. */
export interface InstalledAgent {
  id: string;
  title: string;
  command: string;
  args: string[];
  /** Set if its program is installed but not its adapter. */
  missing?: Unavailable;
}

/**
 * Agents that support the protocol directly or through an adapter, from the protocol's registry and tested in 2026-11. `program`:
 * what users install. `adapter`: the program to run instead, and its npm package.
 */
const KNOWN: readonly {
  id: string;
  title: string;
  program: string;
  args: string[];
  adapter?: { program: string; package: string };
}[] = [
  {
    id: "claude-code-acp",
    title: "Claude Code",
    program: "claude",
    args: [],
    adapter: { program: "claude-agent-acp", package: "@agentclientprotocol/claude-agent-acp" },
  },
  {
    id: "codex-acp",
    title: "Codex",
    program: "codex",
    args: [],
    adapter: { program: "codex-acp", package: "@agentclientprotocol/codex-acp" },
  },
  { id: "opencode-acp", title: "opencode", program: "opencode", args: ["acp"] },
  { id: "gemini-cli-acp", title: "Gemini CLI", program: "gemini", args: ["--acp"] },
  { id: "qwen-code-acp", title: "Qwen Code", program: "qwen", args: ["--acp"] },
  { id: "copilot-cli-acp", title: "Copilot CLI", program: "copilot", args: ["--acp"] },
];

/** The known agents whose programs are in a folder of `PATH`. */
export function installedAgents(path: string | undefined): InstalledAgent[] {
  const folders = (path ?? "").split(delimiter).filter(isAbsolute);
  const find = (program: string) =>
    folders.flatMap((folder) => namesOf(program).map((name) => join(folder, name))).find(isProgram);
  return KNOWN.flatMap(({ id, title, program, args, adapter }): InstalledAgent[] => {
    const command = find(adapter?.program ?? program);
    if (command !== undefined) return [{ id, title, command, args }];
    if (adapter === undefined || find(program) === undefined) return [];
    const missing = {
      ...textFields("message", daemonText("needs_adapter", { agent: title })),
      ...textFields("remedy", daemonText("install_adapter", { package: adapter.package })),
    };
    return [{ id, title, command: adapter.program, args, missing }];
  });
}

/** File names of a program on this system. */
const namesOf = (program: string): string[] =>
  process.platform === "win32" ? [`${program}.exe`, `${program}.cmd`] : [program];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
