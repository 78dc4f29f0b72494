import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** An agent that speaks the Agent Client Protocol and is installed here, or lacks only its adapter. */
export interface InstalledAgent {
  id: string;
  title: string;
  command: string;
  args: string[];
  /** Its program is here, and what translates for it is not. */
  missing?: { message: string; remedy: string };
}

/**
 * Agents whose programs speak the protocol, or have an adapter that does; by the protocol's own registry and by trying them, 2026-11.
 * `program`: what people install. `adapter`: the program to run instead, and its npm package.
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

/** Those of the known agents whose programs are in the folders of `PATH`. */
export function installedAgents(path: string | undefined): InstalledAgent[] {
  const folders = (path ?? "").split(delimiter).filter(isAbsolute);
  const find = (program: string) =>
    folders.flatMap((folder) => namesOf(program).map((name) => join(folder, name))).find(isProgram);
  return KNOWN.flatMap(({ id, title, program, args, adapter }): InstalledAgent[] => {
    const command = find(adapter?.program ?? program);
    if (command !== undefined) return [{ id, title, command, args }];
    if (adapter === undefined || find(program) === undefined) return [];
    const missing = {
      message: `${title} needs an adapter.`,
      remedy: `Run \`npm install -g ${adapter.package}\`, then start Verbatim again.`,
    };
    return [{ id, title, command: adapter.program, args, missing }];
  });
}

/** As a program's file is called on this system. */
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
