import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentEnvironment, findAgents, startModel } from "./agents.ts";
import {
  createHome,
  type Daemon,
  enter,
  type Home,
  openBrowser,
  readTranscript,
  startDaemon,
} from "./harness.ts";

const agents = findAgents();
const missing = "missing" in agents ? agents.missing : undefined;

describe.skipIf(missing !== undefined)(
  `the real agents, watched live${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    let home: Home;
    let daemon: Daemon;
    let browser: Browser;
    let model: { port: number; stop(): void };
    let project: string;
    beforeEach(async () => {
      if ("missing" in agents) return;
      home = await createHome();
      project = join(home.path, "project");
      await mkdir(project);
      await writeFile(join(project, "a.txt"), "hello world\n");
      model = await startModel(agents.modelServer, project, 120);
      daemon = await startDaemon(home, ["--no-samples"]);
      browser = await openBrowser();
    });
    afterEach(async () => {
      await browser.close();
      await daemon.stop();
      model.stop();
      await home.remove();
    });

    function run(command: string, args: string[]): { child: ChildProcess; ended: Promise<number | null> } {
      const child = spawn(command, args, {
        cwd: project,
        env: agentEnvironment(home, model.port),
        stdio: ["ignore", "pipe", "pipe"],
      });
      return { child, ended: new Promise((resolve) => child.once("exit", resolve)) };
    }

    it("Claude Code with two sub-agents: every part appears while it runs, and stays the same after a reload", async () => {
      if ("missing" in agents) return;
      const context = await browser.newContext({ viewport: { width: 1300, height: 4000 } });
      const { page, complaints } = await enter(context, daemon);
      const { ended } = run(agents.claude, [
        "-p",
        "[[scenario:claude-discovery]] Look at a.txt",
        "--allowedTools",
        "Bash,Read,Agent",
      ]);
      await page.getByRole("link", { name: /claude-discovery/ }).click();
      const transcript = page.getByRole("region", { name: "Transcript", exact: true });
      await transcript.getByText("Let me read the key files to understand the schema.").waitFor();
      await transcript.getByText("Now two helpers look at the parts.").waitFor();
      expect(await ended).toBe(0);
      await transcript.getByText("Now I have a complete picture. Let me write it down.").waitFor();
      await transcript.getByRole("table").waitFor();
      // The agent's end is seen a moment after its last word.
      await transcript.locator(".turn-heading").getByText("[OK]").waitFor();

      const live = await readTranscript(page);
      await page.reload();
      await expect.poll(() => readTranscript(page)).toEqual(live);

      // What the model played, in its order.
      const text = [...live.values()].join("\n");
      const order = [
        "I should read the key files first",
        "Let me read the key files",
        "Two helpers can look at this",
        "Now two helpers look",
        "Count lines",
        "Summarise",
        "Now I have a complete picture",
        "notes.md",
        "does-not-exist.txt",
        "One file was missing",
        "Done. I wrote",
      ].map((words) => text.indexOf(words));
      expect(order.every((position) => position >= 0)).toBe(true);
      expect(order).toEqual(order.toSorted((left, right) => left - right));

      // Into a run and back to the call that started it.
      await page
        .getByRole("link", { name: /Count lines/ })
        .first()
        .click();
      await page.waitForURL((url) => !url.pathname.includes("claude-discovery"));
      await page.getByText("a.txt has one line.").first().waitFor();
      await page
        .getByRole("link", { name: /claude-discovery/ })
        .first()
        .click();
      await transcript.getByText("Now two helpers look at the parts.").waitFor();
      expect(complaints).toEqual([]);
    });

    it("Codex: every part appears while it runs, and stays the same after a reload", async () => {
      if ("missing" in agents) return;
      const context = await browser.newContext({ viewport: { width: 1300, height: 4000 } });
      const { page, complaints } = await enter(context, daemon);
      const { ended } = run(agents.codex, [
        "exec",
        "--skip-git-repo-check",
        "[[scenario:codex-discovery]] Look at a.txt",
      ]);
      await page.getByRole("link", { name: /codex-discovery/ }).click();
      const transcript = page.getByRole("region", { name: "Transcript", exact: true });
      await transcript.getByText("Let me read the key files.").waitFor();
      await transcript.getByText("Now I write it down.").waitFor();
      expect(await ended).toBe(0);
      await transcript.getByText("Done. I wrote").waitFor();
      await transcript.locator(".turn-heading").getByText("[OK]").waitFor();
      const live = await readTranscript(page);
      await page.reload();
      await expect.poll(() => readTranscript(page)).toEqual(live);
      const text = [...live.values()].join("\n");
      const order = [
        "Let me read the key files",
        "cat a.txt",
        "ls -la",
        "Now I write it down",
        "printf",
        "Done. I wrote",
      ].map((words) => text.indexOf(words));
      expect(order.every((position) => position >= 0)).toBe(true);
      expect(order).toEqual(order.toSorted((left, right) => left - right));
      expect(complaints).toEqual([]);
    });
  },
);
