import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  answerWith,
  BROKEN_CONNECTION,
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
import { endLeftoverProcesses } from "./leftover-processes.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { type AgentName, SCENARIOS } from "./scenarios.ts";
import { missingTmux, openTerminal, type Terminal } from "./terminal.ts";

// The real agents in terminals, the real daemon, the real page. Only the model is scripted.

const agents = installAgents();
const missing = "missing" in agents ? agents.missing : missingTmux();
const skipped = missing === undefined ? "" : ` (skipped: ${missing})`;
const root = resolve(import.meta.dirname, "../..");

interface Driven {
  name: AgentName;
  /** The command line that starts it with a prompt. */
  command(prompt: string, mode?: string): string[];
  /** Its own dialog about the command `touch made.txt`. */
  dialog: RegExp;
  /** The keys that allow the command in that dialog. */
  allow: string[];
}

const path = "missing" in agents ? { claude: "", codex: "", opencode: "" } : agents;
const CLAUDE: Driven = {
  name: "claude-code",
  command: (prompt, mode = "default") => [path.claude, "--permission-mode", mode, prompt],
  dialog: /Do you want to proceed\?/,
  allow: ["Enter"],
};
const CODEX: Driven = {
  name: "codex",
  command: (prompt) => [path.codex, prompt],
  dialog: /Would you like to run the following command\?/,
  allow: ["y"],
};
const OPENCODE: Driven = {
  name: "opencode",
  command: (prompt) => [path.opencode, "--prompt", prompt],
  dialog: /Permission required/,
  allow: ["Enter"],
};
const ALL = [CLAUDE, CODEX, OPENCODE];

describe.skipIf(missing !== undefined)(`agents in terminals, answered from anywhere${skipped}`, () => {
  let home: Home;
  let project: string;
  let model: ModelServer;
  let env: NodeJS.ProcessEnv;
  let daemon: Daemon;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let terminal: Terminal;

  beforeEach(async () => {
    home = await createHome();
    project = join(home.path, "project");
    mkdirSync(project);
    browser = await openBrowser();
  });
  afterEach(async ({ task }) => {
    try {
      if (task.result?.state === "fail") {
        console.error(`The page at the end:\n${await page.locator("body").innerText()}`);
        console.error(`The terminal at the end:\n${terminal.screen()}`);
      }
    } finally {
      await browser.close();
      terminal.close();
      await daemon.stop();
      endLeftoverProcesses(home.codex);
      model.close();
      await home.remove();
    }
  });

  /** Attaches an agent, starts it in a terminal with a prompt, and opens its session in the page. */
  async function begin(agent: Driven, prompt: string, mode?: string): Promise<void> {
    model = await startModelServer(SCENARIOS(agent.name));
    env = { ...configureAgents(home, model.origin, project), TERM: "xterm-256color", LANG: "C.UTF-8" };
    const attach = ["src/server/cli/main.ts", "attach", agent.name, "--data-dir", home.data];
    const attached = spawnSync(process.execPath, attach, { cwd: root, env, encoding: "utf8" });
    expect(attached.status, attached.stderr).toBe(0);
    daemon = await startDaemon(home, ["--no-samples"]);
    await openPage();
    terminal = openTerminal(agent.command(prompt, mode), project, env);
    await openSession();
  }
  async function openPage(): Promise<void> {
    ({ page, complaints } = await enter(
      await browser.newContext({ viewport: { width: 1300, height: 1400 } }),
      daemon,
      BROKEN_CONNECTION,
    ));
    // opencode fetches a package at its first start.
    page.setDefaultTimeout(90_000);
  }
  const openSession = () => page.locator("[data-session]").first().click();
  const card = () => page.getByRole("region", { name: "Asked in a terminal" });
  const transcript = () => page.getByRole("region", { name: "Transcript", exact: true });
  const made = () => existsSync(join(project, "made.txt"));
  const helped = () => existsSync(join(project, "helped.txt"));
  const openRun = () => page.getByRole("link", { name: /open run/i }).click();
  const expandAll = () => page.getByRole("button", { name: "Expand all" }).click();
  const allow = () => answerWith(card().getByRole("button", { name: /^Allow/ }));

  /** The turn ends with this text, the card is gone, and the session looks the same after a reload. */
  async function endsWith(text: string): Promise<void> {
    await transcript().getByText(text).first().waitFor();
    await card().waitFor({ state: "detached" });
    await page
      .getByRole("region", { name: "Being written, not recorded yet" })
      .waitFor({ state: "detached" });
    await transcript().locator(".turn-heading").last().getByText("[OK]").waitFor();
    const live = await readTranscript(page);
    await page.reload();
    await expect.poll(() => readTranscript(page)).toEqual(live);
    expect(complaints).toEqual([]);
  }

  describe.each(ALL)("$name", (agent) => {
    it("an approval from the page runs the command, and the terminal continues", async () => {
      await begin(agent, "[[scenario:touch]] Make a file");
      await card().getByText("touch made.txt").first().waitFor();
      expect(made()).toBe(false);
      await terminal.shows(agent.dialog);
      await allow();
      await expect.poll(made).toBe(true);
      await terminal.shows(/That was it\./);
      expect(terminal.screen()).not.toMatch(agent.dialog);
      const log = readFileSync(join(home.data, "attach/answers.jsonl"), "utf8").trim().split("\n");
      expect(log).toHaveLength(1);
      expect(log[0]).toContain("touch made.txt");
      await endsWith("That was it.");
    });

    it("an approval in the terminal removes the card", async () => {
      await begin(agent, "[[scenario:touch]] Make a file");
      await card().getByText("touch made.txt").first().waitFor();
      await terminal.shows(agent.dialog);
      terminal.press(...agent.allow);
      await card().waitFor({ state: "detached" });
      await page.getByText("The request was answered in the terminal.").waitFor();
      await expect.poll(made).toBe(true);
      await endsWith("That was it.");
      expect(existsSync(join(home.data, "attach/answers.jsonl"))).toBe(false);
    });

    it("a command that the page denies does not run", async () => {
      await begin(agent, "[[scenario:touch]] Make a file");
      await card().getByText("touch made.txt").first().waitFor();
      const reason = card().getByRole("textbox", { name: /Reason/ });
      const hasReason = (await reason.count()) > 0;
      if (hasReason) await reason.fill("Not in this folder");
      await card()
        .getByRole("button", { name: /^(Deny|Reject)/ })
        .first()
        .click();
      await card().waitFor({ state: "detached" });
      if (hasReason) {
        await terminal.shows(/That was it\./);
        await expandAll();
        await transcript().getByText("Not in this folder").first().waitFor();
      }
      expect(made()).toBe(false);
    });

    it("closing the browser during a request leaves the terminal's dialog", async () => {
      await begin(agent, "[[scenario:touch]] Make a file");
      await card().getByText("touch made.txt").first().waitFor();
      await page.context().close();
      await terminal.shows(agent.dialog);
      terminal.press(...agent.allow);
      await expect.poll(made).toBe(true);
      await terminal.shows(/That was it\./);
    });

    it("killing the daemon during a request leaves the terminal's dialog, and the next daemon shows the whole turn", async () => {
      await begin(agent, "[[scenario:touch]] Make a file");
      await card().getByText("touch made.txt").first().waitFor();
      await daemon.stop("SIGKILL");
      await terminal.shows(agent.dialog);
      terminal.press(...agent.allow);
      await expect.poll(made).toBe(true);
      await terminal.shows(/That was it\./);
      daemon = await startDaemon(home, ["--no-samples"]);
      await openPage();
      await openSession();
      await endsWith("That was it.");
    });

    it("an interrupt in the terminal is shown in the page", async () => {
      await begin(agent, "[[scenario:slow]] Take your time");
      await terminal.shows(/I begin\./);
      terminal.press("Escape");
      if (agent === OPENCODE) {
        await terminal.shows(/again to interrupt/);
        terminal.press("Escape");
      }
      await transcript()
        .getByText(/stopped|interrupted/i)
        .first()
        .waitFor();
    });
  });

  it.each([CODEX, OPENCODE])("$name is stopped from the page", async (agent) => {
    await begin(agent, "[[scenario:slow]] Take your time");
    await terminal.shows(/I begin\./);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await transcript()
      .getByText(/stopped|interrupted/i)
      .first()
      .waitFor();
  });

  it.each([CLAUDE, OPENCODE])("two options of a question of $name are chosen in the page", async (agent) => {
    await begin(agent, "[[scenario:question]] Ask me");
    await card().getByText("Which colours?").first().waitFor();
    await card().getByRole("checkbox", { name: /Red/ }).check();
    await card().getByRole("checkbox", { name: /Green/ }).check();
    await card().getByRole("button", { name: "Answer" }).click();
    await terminal.shows(/Thank you\./);
    await terminal.shows(/Red, ?Green/);
    await endsWith("Thank you.");
  });

  it("a plan of Claude Code is sent back with a change", async () => {
    await begin(CLAUDE, "[[scenario:plan]] Plan it", "plan");
    await card().getByText("Paint it").first().waitFor();
    await card().getByRole("textbox").fill("Paint it blue");
    await card().getByRole("button", { name: "Keep planning" }).click();
    await terminal.shows(/The answer to the plan has come\./);
    await endsWith("The answer to the plan has come.");
    await expandAll();
    await transcript().getByText("Paint it blue").first().waitFor();
  });

  it("a plan of Claude Code is approved in the page", async () => {
    await begin(CLAUDE, "[[scenario:plan]] Plan it", "plan");
    await card().getByText("Paint it").first().waitFor();
    await card().getByRole("button", { name: "Approve", exact: true }).click();
    await terminal.shows(/The answer to the plan has come\./);
    await endsWith("The answer to the plan has come.");
  });

  it("a form of an MCP server of Claude Code is answered in the page", async () => {
    // Claude Code opens its dialog only after the hook: the session must be shown first.
    await begin(CLAUDE, "[[scenario:greeting]] Hello");
    await transcript().getByText("Hello.", { exact: true }).first().waitFor();
    await terminal.submit("[[scenario:order]] Order it");
    await allow();
    await card().getByRole("radio", { name: "Blue" }).check();
    await card().getByRole("textbox").fill("Ada");
    const answer = card().getByRole("button", { name: "Answer" });
    await answer.first().click();
    await expect.poll(() => answer.count()).toBe(1);
    await answer.click();
    await terminal.shows(/It is ordered\./);
    await endsWith("It is ordered.");
    await expandAll();
    await transcript().getByText('{"colour":"b","name":"Ada"}').first().waitFor();
  });

  it("a form of an MCP server that is not answered in the page opens in the terminal of Claude Code", async () => {
    await begin(CLAUDE, "[[scenario:greeting]] Hello");
    await transcript().getByText("Hello.", { exact: true }).first().waitFor();
    await terminal.submit("[[scenario:order]] Order it");
    await allow();
    await card().getByRole("radio", { name: "Blue" }).waitFor();
    await terminal.shows(/Your order/);
    await card().waitFor({ state: "detached" });
  });

  it("a question of Codex in its plan mode is answered in the page", async () => {
    await begin(CODEX, "[[scenario:greeting]] Hello");
    await terminal.shows(/Hello\./);
    terminal.press("BTab");
    await terminal.shows(/Plan mode/);
    await terminal.submit("[[scenario:question]] Ask me");
    await card().getByText("Which colours?").first().waitFor();
    await card().getByRole("radio", { name: /Green/ }).check();
    await card().getByRole("button", { name: "Answer" }).click();
    await terminal.shows(/Thank you\./);
    await endsWith("Thank you.");
    await expandAll();
    await transcript().getByText("Green").first().waitFor();
  });

  it("interrupting a dialog of Claude Code in the terminal removes the card", async () => {
    await begin(CLAUDE, "[[scenario:touch]] Make a file");
    await card().getByText("touch made.txt").first().waitFor();
    await terminal.shows(CLAUDE.dialog);
    terminal.press("Escape");
    await card().waitFor({ state: "detached" });
    await transcript().getByText("Permission refused").first().waitFor();
    expect(made()).toBe(false);
  });

  it("a request of Codex is answered from the page after a restart of the daemon", async () => {
    await begin(CODEX, "[[scenario:touch]] Make a file");
    await card().getByText("touch made.txt").first().waitFor();
    await daemon.stop("SIGKILL");
    daemon = await startDaemon(home, ["--no-samples"]);
    await openPage();
    await openSession();
    await card().getByText("touch made.txt").first().waitFor();
    await allow();
    await expect.poll(made).toBe(true);
    await endsWith("That was it.");
  });

  it("after a restart of the daemon, the page sends the person to the terminal of Claude Code", async () => {
    await begin(CLAUDE, "[[scenario:touch]] Make a file");
    await card().getByText("touch made.txt").first().waitFor();
    await daemon.stop("SIGKILL");
    daemon = await startDaemon(home, ["--no-samples"]);
    await openPage();
    await openSession();
    await page.getByText(/answer in its terminal \(tmux/).waitFor();
    expect(await card().count()).toBe(0);
    await terminal.shows(CLAUDE.dialog);
    terminal.press(...CLAUDE.allow);
    await endsWith("That was it.");
  });

  it("an approval of a sub-agent of Claude Code is answered at its parent", async () => {
    // Claude Code's sub-agents are answered only while a page shows the session: it is opened first.
    await begin(CLAUDE, "[[scenario:greeting]] Hello");
    await transcript().getByText("Hello.", { exact: true }).first().waitFor();
    await terminal.submit("[[scenario:parent]] Let a helper do it");
    await card().getByText("touch helped.txt").first().waitFor();
    await allow();
    await expect.poll(helped).toBe(true);
    await card().waitFor({ state: "detached" });
    await openRun();
    await page.getByText("It helped.").first().waitFor();
  });

  it.each([CODEX, OPENCODE])(
    "an approval of a sub-agent of $name is answered at the sub-agent",
    async (agent) => {
      await begin(agent, "[[scenario:parent]] Let a helper do it");
      await page
        .getByText(/^Waiting for you/)
        .first()
        .waitFor();
      await openRun();
      await card().getByText("touch helped.txt").first().waitFor();
      await allow();
      await expect.poll(helped).toBe(true);
      await card().waitFor({ state: "detached" });
      await page.getByText("It helped.").first().waitFor();
      await page.goBack();
      await endsWith("The helper is done.");
    },
  );
});
