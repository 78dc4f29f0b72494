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
  /** The command with which users log in. */
  login: string;
  /** Set if its program is installed but not its adapter. */
  missing?: Unavailable;
}

/**
 * Agents that support the protocol directly or through an adapter. The commands are those of the protocol's registry
 * (agentclientprotocol/registry, 2026-11). Those with npm packages were started; the others are marked. `program`: what users
 * install. `adapter`: the program to run instead, and its npm package. `login`: the command in a terminal with which users log
 * in, or in which they find the login.
 */
const KNOWN: readonly {
  id: string;
  title: string;
  program: string;
  args: string[];
  login: string;
  adapter?: { program: string; package: string };
}[] = [
  {
    id: "claude-code-acp",
    title: "Claude Code",
    program: "claude",
    args: [],
    login: "claude auth login",
    adapter: { program: "claude-agent-acp", package: "@agentclientprotocol/claude-agent-acp" },
  },
  {
    id: "codex-acp",
    title: "Codex",
    program: "codex",
    args: [],
    login: "codex login",
    adapter: { program: "codex-acp", package: "@agentclientprotocol/codex-acp" },
  },
  {
    id: "opencode-acp",
    title: "opencode",
    program: "opencode",
    args: ["acp"],
    login: "opencode auth login",
  },
  { id: "gemini-cli-acp", title: "Gemini CLI", program: "gemini", args: ["--acp"], login: "gemini" },
  { id: "qwen-code-acp", title: "Qwen Code", program: "qwen", args: ["--acp"], login: "qwen auth" },
  {
    id: "copilot-cli-acp",
    title: "Copilot CLI",
    program: "copilot",
    args: ["--acp"],
    login: "copilot login",
  },
  // Accepts only logins of its own, not a configured provider.
  { id: "cline-acp", title: "Cline", program: "cline", args: ["--acp"], login: "cline auth" },
  {
    id: "droid-acp",
    title: "Droid",
    program: "droid",
    args: ["exec", "--output-format", "acp-daemon"],
    login: "droid",
  },
  { id: "grok-acp", title: "Grok", program: "grok", args: ["agent", "stdio"], login: "grok login" },
  { id: "kilo-acp", title: "Kilo", program: "kilo", args: ["acp"], login: "kilo auth login" },
  { id: "auggie-acp", title: "Auggie", program: "auggie", args: ["--acp"], login: "auggie login" },
  {
    id: "pi-acp",
    title: "pi",
    program: "pi",
    args: [],
    login: "pi",
    adapter: { program: "pi-acp", package: "pi-acp" },
  },
  // Not started: they are not in the npm registry.
  {
    id: "cursor-acp",
    title: "Cursor",
    program: "cursor-agent",
    args: ["acp"],
    login: "cursor-agent login",
  },
  { id: "goose-acp", title: "goose", program: "goose", args: ["acp"], login: "goose configure" },
  { id: "kimi-acp", title: "Kimi", program: "kimi", args: ["acp"], login: "kimi login" },
  { id: "kiro-acp", title: "Kiro CLI", program: "kiro-cli", args: ["acp"], login: "kiro-cli login" },
  { id: "vibe-acp", title: "Mistral Vibe", program: "vibe-acp", args: [], login: "vibe --setup" },
];

/** The known agents whose programs are in a folder of `PATH`. */
export function installedAgents(path: string | undefined): InstalledAgent[] {
  const folders = (path ?? "").split(delimiter).filter(isAbsolute);
  const find = (program: string) =>
    folders.flatMap((folder) => namesOf(program).map((name) => join(folder, name))).find(isProgram);
  return KNOWN.flatMap(({ id, title, program, args, login, adapter }): InstalledAgent[] => {
    const command = find(adapter?.program ?? program);
    if (command !== undefined) return [{ id, title, command, args, login }];
    if (adapter === undefined || find(program) === undefined) return [];
    const missing = {
      ...textFields("message", daemonText("needs_adapter", { agent: title })),
      ...textFields("remedy", daemonText("install_adapter", { package: adapter.package })),
    };
    return [{ id, title, command: adapter.program, args, login, missing }];
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
