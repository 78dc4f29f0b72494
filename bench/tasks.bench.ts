import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { createHome, enter, openBrowser, startDaemon } from "../test/browser/harness.ts";
import { registerClaude } from "../test/claude-register.ts";
import { ClaudeSessionFile } from "../test/claude-session-file.ts";
import { uuidOf } from "../test/uuid-of.ts";
import { median, report, round } from "./measure.ts";

/**
 * Five tasks of an operator among 40 sessions, done with keys in Chromium: the number of keys and clicks, and the time from the first
 * key until the answer is on the page. `node bench/tasks.bench.ts`, after `npm run build`. Typing takes no time.
 */
const ROUNDS = 5;
const SESSIONS = 40;
/** Number of steps of the session in which something goes wrong, and number of its sub-agents. */
const STEPS = 300;
const RUNS = 6;

const home = await createHome();
const folder = join(home.claude, "projects/-home-ada-harbour");
await mkdir(folder, { recursive: true });
await mkdir(join(home.claude, "sessions"));
const started_at = Date.UTC(2026, 10, 20, 9);
const idOf = (name: string): string => uuidOf(`task ${name}`);
const save = (path: string, file: ClaudeSessionFile) => writeFile(join(folder, path), file.content());

for (let number = 0; number < SESSIONS - 2; number += 1) {
  const id = idOf(`session ${number}`);
  const file = new ClaudeSessionFile(id, started_at + number * 3_600_000);
  for (let turn = 0; turn < 5; turn += 1) {
    file.prompt(`Chart ${number}, sheet ${turn}`);
    for (let step = 0; step < 10; step += 1)
      file.call(
        "Bash",
        { command: `make sheet-${step}`, description: "Build a sheet" },
        `sheet ${step} built\n`.repeat(20),
      );
    file.text(number === 7 && turn === 2 ? "The lock gate opens with the code 4417." : "The sheet is built.");
  }
  await save(`${id}.jsonl`, file);
}

const wrong = idOf("wrong");
const main = new ClaudeSessionFile(wrong, started_at);
main.prompt("Survey the harbour");
await mkdir(join(folder, wrong, "subagents"), { recursive: true });
for (let step = 0, run = 0; step < STEPS - RUNS; step += 1) {
  main.call("Bash", { command: `sound ${step}`, description: "Sound a depth" }, `depth ${step}\n`.repeat(20));
  if (step % 45 !== 44 || run >= RUNS) continue;
  const agent_id = `a${run}`;
  const sub = new ClaudeSessionFile(wrong, started_at + step * 3_000, agent_id);
  sub.prompt(`Survey basin ${run}`);
  for (let sounding = 0; sounding < 10; sounding += 1) {
    const fails = run === 2 && sounding === 5;
    const command = { command: `cat basin-${run}-${sounding}.csv`, description: "Read soundings" };
    sub.call(
      "Bash",
      command,
      fails ? "cat: basin-2-5.csv: No such file" : "7.5\n",
      fails ? { is_error: true } : {},
    );
  }
  sub.text(`Basin ${run} is surveyed.`);
  await save(join(wrong, "subagents", `agent-${agent_id}.jsonl`), sub);
  const input = {
    description: `Basin ${run}`,
    prompt: `Survey basin ${run}`,
    subagent_type: "general-purpose",
  };
  main.call("Agent", input, `Basin ${run} is surveyed.`, {
    result: { status: "completed", agentId: agent_id },
  });
  run += 1;
}
main.call("Bash", { command: "plot harbour", description: "Plot" }, "plot: 1 basin is missing", {
  is_error: true,
});
main.text("The survey is done.");
main.prompt("Change the chart's scale");
const before = 'export const scale = 10_000;\nexport const datum = "mean low water";\n';
main.call(
  "Edit",
  { file_path: "/home/ada/harbour/chart.ts", old_string: "10_000", new_string: "5_000" },
  "The file has been updated.",
  {
    result: {
      filePath: "/home/ada/harbour/chart.ts",
      oldString: "10_000",
      newString: "5_000",
      originalFile: before,
      structuredPatch: [
        {
          oldStart: 1,
          oldLines: 2,
          newStart: 1,
          newLines: 2,
          lines: [
            "-export const scale = 10_000;",
            "+export const scale = 5_000;",
            ' export const datum = "mean low water";',
          ],
        },
      ],
    },
  },
);
main.text("The scale is changed.");
await save(`${wrong}.jsonl`, main);

const forgetful = idOf("forgetful");
const compacted = new ClaudeSessionFile(forgetful, started_at);
compacted.prompt("The keeper's name is Marion Vale. Note the depths.");
for (let step = 0; step < 20; step += 1)
  compacted.call("Bash", { command: `note ${step}`, description: "Note a depth" }, "noted");
compacted.text("The depths are noted.");
compacted.record("system", {
  subtype: "compact_boundary",
  content: "Conversation compacted",
  compactMetadata: { trigger: "auto", preTokens: 150_000 },
});
compacted.record("user", {
  message: { role: "user", content: "This session is being continued. Summary: depths were noted." },
  isCompactSummary: true,
  isVisibleInTranscriptOnly: true,
});
compacted.prompt("Who is the keeper?");
// Longer than the viewport, because a session opens at its end.
compacted.text(`${"The record names no keeper.\n\n".repeat(60)}I do not know the keeper's name.`);
await save(`${forgetful}.jsonl`, compacted);

/** Placeholder processes for agents that wait in terminals. */
const agents: ChildProcess[] = [];
async function waits(id: string, minutes: number): Promise<void> {
  const agent = spawn("sleep", ["3600"], { stdio: "ignore" });
  agents.push(agent);
  const updatedAt = Date.now() - minutes * 60_000;
  const waiting = { status: "waiting", waitingFor: "permission prompt", updatedAt };
  await registerClaude(home.claude, id, waiting, agent.pid);
}
for (const [number, minutes] of [
  [3, 5],
  [21, 42],
  [30, 17],
] as const)
  await waits(idOf(`session ${number}`), minutes);

const daemon = await startDaemon(home, ["--no-samples"]);
const browser = await openBrowser();
const { page } = await enter(await browser.newContext({ viewport: { width: 1440, height: 900 } }), daemon);
const transcript = page.getByRole("region", { name: "Transcript", exact: true });

/** A key by Playwright's name, a click, or text that is typed once its field (`into`) has the focus; then waits for `result`. */
type Key = string | { click: Locator } | { text: string; into?: Locator; result?: Locator };

interface Task {
  name: string;
  /** The path of the page on which the task begins. */
  from: string;
  keys: readonly Key[];
  /** Waits until keys can be pressed. */
  ready(): Promise<void>;
  /** Waits until the answer is on the page. */
  answered(): Promise<void>;
}
/** Waits for the list, and until the searched text is indexed. */
async function list(): Promise<void> {
  await page.locator("[data-session]").first().waitFor();
  await page.waitForFunction(async () => {
    const reply = await fetch("/api/search?q=gate%20code", { headers: { "x-verbatim-client": "1" } });
    return (await reply.json()).hits?.length > 0;
  });
}
const transcriptShown = (): Promise<void> => transcript.locator("article").first().waitFor();
const shown = (text: string) => (): Promise<void> => page.getByText(text).first().waitFor();

const TASKS: Task[] = [
  {
    name: "find a session from a vague memory",
    from: "/",
    keys: [
      "Control+Shift+F",
      {
        text: "gate code",
        into: page.getByRole("combobox", { name: "Search" }),
        result: page.getByRole("option", { selected: true }).filter({ hasText: "4417" }),
      },
      "Enter",
    ],
    ready: list,
    answered: () => transcript.getByText("opens with the code 4417").waitFor(),
  },
  {
    name: "first thing that went wrong in 300 steps with 6 runs",
    from: `/session/${wrong}`,
    keys: ["g", "e", "e"],
    ready: transcriptShown,
    answered: shown("cat: basin-2-5.csv: No such file"),
  },
  {
    name: "what a turn changed",
    from: `/session/${wrong}`,
    keys: ["d"],
    ready: transcriptShown,
    answered: () => page.getByRole("dialog").getByText("export const scale = 5_000;").first().waitFor(),
  },
  {
    name: "why the model did not know a fact from before a compaction",
    from: `/session/${forgetful}`,
    keys: ["i", { click: page.getByLabel("Find in this input") }, { text: "Marion" }, "Enter"],
    ready: transcriptShown,
    answered: shown("Not in this input. It was in an earlier one:"),
  },
  {
    name: "which of 40 sessions waits longest",
    from: "/",
    keys: ["w"],
    ready: async () => {
      await page.waitForFunction(() => document.title.startsWith("(3)"));
    },
    answered: () => page.waitForURL(new RegExp(idOf("session 21"))),
  },
];

/** The median time of a task, in milliseconds. */
async function measure(task: Task): Promise<number> {
  const took: number[] = [];
  // The first round loads scripts, and does not count.
  for (let number = 0; number <= ROUNDS; number += 1) {
    await page.goto(`${daemon.origin}${task.from}`);
    await task.ready();
    const began = performance.now();
    for (const key of task.keys) await press(key);
    await task.answered();
    if (number > 0) took.push(performance.now() - began);
  }
  return median(took);
}

async function press(key: Key): Promise<void> {
  if (typeof key === "string") await page.keyboard.press(key);
  else if ("click" in key) await key.click.click();
  else {
    await key.into?.and(page.locator(":focus")).waitFor();
    await page.keyboard.type(key.text);
    await key.result?.waitFor();
  }
}

const pressed = ({ keys }: Task): number =>
  keys.reduce((sum, key) => sum + (typeof key === "object" && "text" in key ? key.text.length : 1), 0);

try {
  const rows = [];
  for (const task of TASKS)
    rows.push({
      row: task.name,
      figures: { "keys and clicks": pressed(task), milliseconds: round(await measure(task)) },
    });
  report("tasks", rows, {});
} finally {
  await browser.close();
  await daemon.stop();
  for (const agent of agents) agent.kill();
  await home.remove();
}
