import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createHome,
  type Daemon,
  enter,
  type Home,
  openBrowser,
  readTranscript,
  startDaemon,
} from "../browser/harness.ts";
import { configureAgents } from "./environment.ts";
import { installAgents } from "./installed-agents.ts";
import { type ModelServer, type Scenario, startModelServer } from "./model-server.ts";

const agents = installAgents();
const missing = "missing" in agents ? agents.missing : undefined;
const path = "missing" in agents ? { claude: "", codex: "", opencode: "" } : agents;

const helper = (description: string, scenario: string) => ({
  tool: "Agent",
  input: {
    description,
    prompt: `[[scenario:${scenario}]] ${description}`,
    subagent_type: "general-purpose",
  },
});

/** Claude Code's scenario: two concurrent sub-agents, a written file, and a missing file. */
const claudeScenarios = (cwd: string): Record<string, Scenario> => ({
  helpers: [
    [
      { think: "The file comes first." },
      { text: "I read the file first." },
      { tool: "Read", input: { file_path: join(cwd, "a.txt") } },
    ],
    [{ text: "Now two helpers look at it." }, helper("Count its lines", "count"), helper("Sum it up", "sum")],
    [
      { text: "I have what I need." },
      { tool: "Bash", input: { command: "echo noted > notes.md", description: "Write notes" } },
      { tool: "Read", input: { file_path: join(cwd, "nowhere.txt") } },
    ],
    [{ text: "One file was missing.\n\n| file | lines |\n|---|---|\n| a.txt | 1 |\n\nAll is done." }],
  ],
  count: [[{ text: "It has one line." }]],
  sum: [[{ text: "It greets the world." }]],
});
const codexScenarios: Record<string, Scenario> = {
  look: [
    [
      { think: "**Looking**\n\nThe file comes first." },
      { text: "I read the file first." },
      { tool: "exec_command", input: { cmd: "cat a.txt" } },
    ],
    [{ text: "Now I write it down." }, { tool: "exec_command", input: { cmd: "printf noted > notes.md" } }],
    [{ text: "All is done." }],
  ],
};

describe.skipIf(missing !== undefined)(
  `agents that are watched while they run${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    let home: Home;
    let daemon: Daemon;
    let browser: Browser;
    let model: ModelServer;
    let project: string;
    beforeEach(async () => {
      home = await createHome();
      project = join(home.path, "project");
      mkdirSync(project);
      writeFileSync(join(project, "a.txt"), "hello world\n");
      daemon = await startDaemon(home, ["--no-samples"]);
      browser = await openBrowser();
    });
    afterEach(async () => {
      await browser.close();
      await daemon.stop();
      model.close();
      await home.remove();
    });

    /** Runs an agent to its end. Returns its exit status. */
    function run(command: string, args: string[]): Promise<number | null> {
      const env = configureAgents(home, model.origin, project);
      const child = spawn(command, args, { cwd: project, env, stdio: ["ignore", "ignore", "inherit"] });
      return new Promise((resolve) => child.once("exit", resolve));
    }
    const open = async () =>
      enter(await browser.newContext({ viewport: { width: 1300, height: 4000 } }), daemon);
    function expectInOrder(transcript: Map<string, string>, words: string[]): void {
      const text = [...transcript.values()].join("\n");
      const positions = words.map((word) => text.indexOf(word));
      expect(positions).not.toContain(-1);
      expect(positions).toEqual(positions.toSorted((left, right) => left - right));
    }

    it("Claude Code with two sub-agents: every part appears while it runs, and stays the same after a reload", async () => {
      model = await startModelServer(claudeScenarios(project));
      const { page, complaints } = await open();
      const tools = ["--allowedTools", "Bash,Read,Agent"];
      const ended = run(path.claude, ["-p", "[[scenario:helpers]] Look at a.txt", ...tools]);
      await page.getByRole("link", { name: /Look at a\.txt/ }).click();
      const transcript = page.getByRole("region", { name: "Transcript", exact: true });
      await transcript.getByText("Now two helpers look at it.").waitFor();
      expect(await ended).toBe(0);
      await transcript.getByText("All is done.").waitFor();
      await transcript.getByRole("table").waitFor();
      await transcript.locator(".turn-heading").getByText("[OK]").waitFor();
      const live = await readTranscript(page);
      await page.reload();
      await expect.poll(() => readTranscript(page)).toEqual(live);
      expectInOrder(live, [
        "The file comes first",
        "I read the file first",
        "Now two helpers",
        "Count its lines",
        "Sum it up",
        "I have what I need",
        "notes.md",
        "nowhere.txt",
        "One file was missing",
      ]);

      // Into a run, and back to the call that started it.
      await page
        .getByRole("link", { name: /Count its lines/ })
        .first()
        .click();
      await page.getByText("It has one line.").first().waitFor();
      await page
        .getByRole("link", { name: /Look at a\.txt/ })
        .first()
        .click();
      await transcript.getByText("Now two helpers look at it.").waitFor();
      expect(complaints).toEqual([]);
    });

    it("Codex: every part appears while it runs, and stays the same after a reload", async () => {
      model = await startModelServer(codexScenarios);
      const { page, complaints } = await open();
      const ended = run(path.codex, ["exec", "--skip-git-repo-check", "[[scenario:look]] Look at a.txt"]);
      await page.getByRole("link", { name: /Look at a\.txt/ }).click();
      const transcript = page.getByRole("region", { name: "Transcript", exact: true });
      await transcript.getByText("Now I write it down.").waitFor();
      expect(await ended).toBe(0);
      await transcript.getByText("All is done.").waitFor();
      await transcript.locator(".turn-heading").getByText("[OK]").waitFor();
      const live = await readTranscript(page);
      await page.reload();
      await expect.poll(() => readTranscript(page)).toEqual(live);
      expectInOrder(live, [
        "I read the file first",
        "cat a.txt",
        "Now I write it down",
        "printf",
        "All is done",
      ]);
      expect(complaints).toEqual([]);
    });
  },
);
