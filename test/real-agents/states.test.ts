import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  BROKEN_CONNECTION,
  createHome,
  type Daemon,
  enter,
  type Home,
  openBrowser,
  startDaemon,
} from "../browser/harness.ts";
import { configureAgents, openAiEnvironment } from "./environment.ts";
import { installAgents } from "./installed-agents.ts";
import { endLeftoverProcesses } from "./leftover-processes.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { SCENARIOS, type ScriptedAgent } from "./scenarios.ts";
import { missingTmux, openTerminal, type Terminal } from "./terminal.ts";

// Many real agents in terminals at once, in different states, and what the list of sessions says about each.

const agents = installAgents();
const missing = "missing" in agents ? agents.missing : missingTmux();
const skipped = missing === undefined ? "" : ` (skipped: ${missing})`;
const root = resolve(import.meta.dirname, "../..");
const path = "missing" in agents ? { claude: "", codex: "", opencode: "", qwen: "", copilot: "" } : agents;

const COMMANDS: Record<ScriptedAgent, (prompt: string) => string[]> = {
  "claude-code": (prompt) => [path.claude, "--permission-mode", "default", prompt],
  codex: (prompt) => [path.codex, prompt],
  opencode: (prompt) => [path.opencode, "--prompt", prompt],
  "qwen-code": (prompt) => [path.qwen, "--auth-type", "openai", "-i", prompt],
  "copilot-cli": (prompt) => [path.copilot, "-i", prompt],
};
const NAMES = Object.keys(COMMANDS) as ScriptedAgent[];

/** Agents that find their model by the variables of OpenAI clients. */
const OPENAI_CLIENTS: readonly ScriptedAgent[] = ["qwen-code", "copilot-cli"];

interface Case {
  agent: ScriptedAgent;
  scenario: string;
  /** The prompt after the name of the scenario: the session's title. */
  prompt: string;
  /** The state of its row. */
  state: "waiting" | "running" | "ok" | "failed" | "stopped";
  /** What the terminal shows, and the keys pressed then. */
  steps: [RegExp, ...string[]][];
}

/** Copilot asks at its first start in a folder. */
const TRUST: [RegExp, string] = [/Do you trust the files/, "Enter"];

const CASES: Case[] = [
  {
    agent: "claude-code",
    scenario: "touch",
    prompt: "Claude asks to run a command",
    state: "waiting",
    steps: [[/Do you want to proceed\?/]],
  },
  {
    agent: "claude-code",
    scenario: "question",
    prompt: "Claude asks a question",
    state: "waiting",
    steps: [[/Which colours\?/]],
  },
  {
    agent: "claude-code",
    scenario: "slow",
    prompt: "Claude is writing",
    state: "running",
    steps: [[/It takes long/]],
  },
  {
    agent: "claude-code",
    scenario: "greeting",
    prompt: "Claude has answered",
    state: "ok",
    steps: [[/Hello\./]],
  },
  {
    agent: "codex",
    scenario: "touch",
    prompt: "Codex asks to run a command",
    state: "waiting",
    steps: [[/Would you like to run/]],
  },
  {
    agent: "codex",
    scenario: "slow",
    prompt: "Codex was interrupted",
    state: "stopped",
    steps: [[/It takes long/, "Escape"]],
  },
  {
    agent: "opencode",
    scenario: "touch",
    prompt: "opencode asks to run a command",
    state: "waiting",
    steps: [[/Permission required/]],
  },
  {
    agent: "opencode",
    scenario: "slow",
    prompt: "opencode is writing",
    state: "running",
    steps: [[/It takes long/]],
  },
  {
    agent: "qwen-code",
    scenario: "failure",
    prompt: "Qwen has failed",
    state: "failed",
    steps: [[/Allow execution/, "Enter"]],
  },
  {
    agent: "qwen-code",
    scenario: "touch",
    prompt: "Qwen asks to run a command",
    state: "waiting",
    steps: [[/Allow execution/]],
  },
  {
    agent: "copilot-cli",
    scenario: "touch",
    prompt: "Copilot asks to run a command",
    state: "waiting",
    steps: [TRUST, [/Do you want to run/]],
  },
  {
    agent: "copilot-cli",
    scenario: "greeting",
    prompt: "Copilot has answered",
    state: "ok",
    steps: [TRUST, [/Hello\./]],
  },
];

describe.skipIf(missing !== undefined)(`sessions of real agents in the list${skipped}`, () => {
  let home: Home;
  let model: ModelServer;
  let daemon: Daemon;
  let browser: Browser;
  let page: Page;
  const terminals = new Map<Case, Terminal>();

  beforeAll(async () => {
    home = await createHome();
    model = await startModelServer(
      Object.fromEntries(
        NAMES.flatMap((agent) =>
          Object.entries(SCENARIOS(agent)).map(([name, scenario]) => [`${agent}-${name}`, scenario]),
        ),
      ),
    );
    const env = {
      ...configureAgents(home, model.origin, ...CASES.map(folderOf)),
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
    };
    for (const agent of NAMES) {
      const attach = ["src/server/cli/main.ts", "attach", agent, "--data-dir", home.data];
      const attached = spawnSync(process.execPath, attach, { cwd: root, env, encoding: "utf8" });
      expect(attached.status, attached.stderr).toBe(0);
    }
    daemon = await startDaemon(home, ["--no-samples"]);
    browser = await openBrowser();
    ({ page } = await enter(
      await browser.newContext({ viewport: { width: 1440, height: 900 } }),
      daemon,
      BROKEN_CONNECTION,
    ));
    page.setDefaultTimeout(30_000);
    // By time, each row names its folder. The agents make their own titles.
    await page.getByRole("button", { name: "Time", exact: true }).click();
    for (const each of CASES) {
      mkdirSync(folderOf(each), { recursive: true });
      const command = COMMANDS[each.agent](`[[scenario:${each.agent}-${each.scenario}]] ${each.prompt}`);
      const terminal = openTerminal(command, folderOf(each), {
        ...env,
        ...(OPENAI_CLIENTS.includes(each.agent) && openAiEnvironment(model.origin)),
      });
      terminals.set(each, terminal);
      for (const [pattern, ...keys] of each.steps) {
        await terminal.shows(pattern);
        if (keys.length > 0) terminal.press(...keys);
      }
    }
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    for (const terminal of terminals.values()) terminal.close();
    await daemon?.stop();
    endLeftoverProcesses(home.codex);
    model?.close();
    await home.remove();
  });
  const folderOf = (each: Case) => join(home.path, folderName(each));

  it.each(CASES)("$agent: $prompt", async (each) => {
    const row = page.locator("[data-session]").filter({ hasText: folderName(each) });
    const badge = row.locator(".session-state").first();
    await expect.poll(() => badge.innerText()).toMatch(BADGES[each.state]);
  });

  it("are counted by state, and can be looked at in a picture", async () => {
    const waiting = CASES.filter(({ state }) => state === "waiting").length;
    await expect.poll(() => page.title()).toMatch(new RegExp(`^\\(${waiting}\\) `));
    const { VERBATIM_SCREENSHOTS } = process.env;
    if (VERBATIM_SCREENSHOTS !== undefined)
      await page.screenshot({ path: join(VERBATIM_SCREENSHOTS, "states.png"), fullPage: true });
  });
});

const folderName = ({ prompt }: Case) => prompt.replaceAll(" ", "-").toLowerCase();

const BADGES = {
  waiting: /WAITING/i,
  running: /RUNNING/,
  ok: /OK/,
  failed: /FAILED/,
  stopped: /STOPPED/i,
} as const;
