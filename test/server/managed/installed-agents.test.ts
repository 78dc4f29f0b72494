import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readConfig } from "../../../src/server/config.ts";
import { configuredAgents } from "../../../src/server/managed/configured-agents.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "installed-"));
  mkdirSync(join(folder, "bin"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, mode = 0o755): void {
  writeFileSync(join(folder, "bin", name), "#!/bin/sh\n");
  chmodSync(join(folder, "bin", name), mode);
}
/** The agents other than providers that are offered for the programs on the PATH. */
const offered = () =>
  configuredAgents({
    config: readConfig(folder),
    keys: new Map(),
    environment: { PATH: [join(folder, "nowhere"), "bin", join(folder, "bin")].join(delimiter) },
    cwd: folder,
    playground: join(folder, "playground"),
    folder,
  })
    .list()
    .flatMap(({ entry }) => (entry.kind === "acp" ? [entry] : []));

it("offers the agents whose programs are on the PATH, ready to be started", () => {
  expect(offered()).toEqual([]);
  program("opencode");
  program("qwen");
  program("gemini", 0o644);
  mkdirSync(join(folder, "bin/copilot"));
  expect(offered()).toMatchObject([
    { id: "opencode-acp", title: "opencode" },
    { id: "qwen-code-acp", title: "Qwen Code" },
  ]);
  expect(offered().every(({ unavailable }) => unavailable === undefined)).toBe(true);
});

it("offers every agent that supports the protocol, each with its own id and title", () => {
  const programs = ["opencode", "gemini", "qwen", "copilot", "cline", "droid", "grok", "kilo", "auggie"];
  for (const name of [...programs, "cursor-agent", "goose", "kimi", "kiro-cli", "vibe-acp"]) program(name);
  for (const name of ["claude-agent-acp", "codex-acp", "pi-acp"]) program(name);
  const titles = offered().map(({ title }) => title);
  expect(titles.toSorted()).toEqual(
    [
      ...["Auggie", "Claude Code", "Cline", "Codex", "Copilot CLI", "Cursor", "Droid", "Gemini CLI"],
      ...["Grok", "Kilo", "Kimi", "Kiro CLI", "Mistral Vibe", "Qwen Code", "goose", "opencode", "pi"],
    ].toSorted(),
  );
  expect(new Set(offered().map(({ id }) => id)).size).toBe(titles.length);
});

it("reports a missing adapter, and offers the agent once it is installed", () => {
  program("claude");
  expect(offered()).toMatchObject([
    {
      id: "claude-code-acp",
      unavailable: {
        message: "Claude Code needs an adapter.",
        remedy: expect.stringContaining("npm install -g @agentclientprotocol/claude-agent-acp"),
      },
    },
  ]);
  program("claude-agent-acp");
  expect(offered()[0]?.unavailable).toBeUndefined();
});

it("offers a program once if it is configured", () => {
  program("opencode");
  const agents = { mine: { title: "My opencode", command: "opencode", args: ["acp", "--cwd", "/w"] } };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ agents }));
  expect(offered()).toMatchObject([{ id: "mine", title: "My opencode" }]);
});
