import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
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
import { configureAgents, openAiEnvironment } from "./environment.ts";
import { installAgents } from "./installed-agents.ts";
import { endLeftoverProcesses } from "./leftover-processes.ts";
import { type Block, type ModelServer, type Scenario, startModelServer } from "./model-server.ts";
import { shellCall } from "./scenarios.ts";

const agents = installAgents();
const missing = "missing" in agents ? agents.missing : undefined;
const path =
  "missing" in agents
    ? {
        claude: "",
        codex: "",
        opencode: "",
        qwen: "",
        copilot: "",
        pi: "",
        cline: "",
        kilo: "",
        grok: "",
        kimi: "",
      }
    : agents;

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

/** An agent that runs without a terminal and prints its answer. */
interface Watched {
  name: string;
  command: string;
  args(prompt: string): string[];
  /** Arguments of a run before the first session, which the model's address follows. */
  setUp?: string[];
  /** It finds its model by the variables of OpenAI clients. */
  isOpenAiClient?: true;
  shell(command: string): Block;
}

const WATCHED: Watched[] = [
  {
    name: "Codex",
    command: path.codex,
    args: (prompt) => ["exec", "--skip-git-repo-check", prompt],
    shell: (cmd) => ({ tool: "exec_command", input: { cmd } }),
  },
  {
    name: "opencode",
    command: path.opencode,
    args: (prompt) => ["run", "--auto", prompt],
    shell: (command) => shellCall("opencode", command),
  },
  {
    name: "Kilo",
    command: path.kilo,
    args: (prompt) => ["run", "--auto", prompt],
    shell: (command) => shellCall("opencode", command),
  },
  {
    name: "Grok",
    command: path.grok,
    args: (prompt) => ["--always-approve", "-p", prompt],
    shell: (command) => ({
      tool: "run_terminal_command",
      input: { command, description: "Run a command" },
    }),
  },
  {
    name: "Qwen Code",
    command: path.qwen,
    args: (prompt) => ["--auth-type", "openai", "--yolo", "-p", prompt],
    isOpenAiClient: true,
    shell: (command) => shellCall("qwen-code", command),
  },
  {
    name: "Kimi Code",
    command: path.kimi,
    args: (prompt) => ["-p", prompt],
    shell: (command) => ({ tool: "Bash", input: { command } }),
  },
  {
    name: "Copilot CLI",
    command: path.copilot,
    args: (prompt) => ["--allow-all-tools", "--allow-all-paths", "-p", prompt],
    isOpenAiClient: true,
    shell: (command) => shellCall("copilot-cli", command),
  },
  {
    name: "pi",
    command: path.pi,
    args: (prompt) => ["--provider", "local", "--model", "m", "--thinking", "high", "-p", prompt],
    shell: (command) => ({ tool: "bash", input: { command } }),
  },
  {
    name: "Cline CLI",
    command: path.cline,
    setUp: ["auth", "-p", "openai-compatible", "-k", "none", "-m", "m", "-b"],
    args: (prompt) => ["-P", "openai-compatible", "-m", "m", prompt],
    shell: (command) => ({ tool: "run_commands", input: { commands: [command] } }),
  },
];
const scenarios = (shell: Watched["shell"]): Record<string, Scenario> => ({
  look: [
    [
      { think: "**Looking**\n\nThe file comes first." },
      { text: "I read the file first." },
      shell("cat a.txt"),
    ],
    [{ text: "Now I write it down." }, shell("printf noted > notes.md")],
    [{ text: "| file | lines |\n|---|---|\n| a.txt | 1 |\n\nAll is done." }],
  ],
});

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
      endLeftoverProcesses(home.codex);
      model.close();
      await home.remove();
    });

    /** Runs an agent to its end. Returns its exit status and what it printed. */
    async function run(
      command: string,
      args: string[],
      env: NodeJS.ProcessEnv = {},
    ): Promise<{ code: number | null; output: string }> {
      const child = spawn(command, args, {
        cwd: project,
        env: { ...configureAgents(home, model.origin, project), ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      const [code] = await once(child, "close");
      return { code, output };
    }
    const open = async () =>
      enter(await browser.newContext({ viewport: { width: 1300, height: 4000 } }), daemon);
    /** Waits for the end of the turn. Returns its transcript, which is the same after a reload. */
    async function sameAfterReload(page: Page): Promise<Map<string, string>> {
      const transcript = page.getByRole("region", { name: "Transcript", exact: true });
      await transcript.getByText("All is done.").waitFor();
      await transcript.getByRole("table").waitFor();
      await transcript.locator(".turn-heading").getByText("[OK]").waitFor();
      const live = await readTranscript(page);
      await page.reload();
      await expect.poll(() => readTranscript(page)).toEqual(live);
      return live;
    }
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
      expect(await ended).toMatchObject({ code: 0 });
      const live = await sameAfterReload(page);
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

    it.each(WATCHED)(
      "$name: every part appears while it runs, and stays the same after a reload",
      async ({ name, command, args, setUp, isOpenAiClient, shell }) => {
        model = await startModelServer(scenarios(shell));
        const { page, complaints } = await open();
        if (setUp !== undefined)
          expect(await run(command, [...setUp, `${model.origin}/v1`])).toMatchObject({ code: 0 });
        const env = isOpenAiClient === true ? openAiEnvironment(model.origin) : {};
        const ended = run(command, args("[[scenario:look]] Look at a.txt"), env);
        await page.locator("[data-session]").first().click();
        const transcript = page.getByRole("region", { name: "Transcript", exact: true });
        await transcript.getByText("Now I write it down.").waitFor();
        const { code, output } = await ended;
        expect(code, output).toBe(0);
        const live = await sameAfterReload(page);
        expectInOrder(live, [
          "Looking",
          "I read the file first",
          "cat a.txt",
          "Now I write it down",
          "printf",
          "All is done",
        ]);
        expect(complaints).toEqual([]);
        const { VERBATIM_SCREENSHOTS } = process.env;
        if (VERBATIM_SCREENSHOTS === undefined) return;
        await page.getByRole("button", { name: "Expand all" }).click();
        await page.screenshot({ path: join(VERBATIM_SCREENSHOTS, `${name}.png`) });
        writeFileSync(join(VERBATIM_SCREENSHOTS, `${name}.txt`), output);
      },
    );
  },
);
