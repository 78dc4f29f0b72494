import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { asNumber, asObject } from "../src/model/narrow.ts";
import { claudeCodeAttachment } from "../src/server/attach/claude-code/attachment.ts";
import { hookSocketPath } from "../src/server/attach/hook-socket.ts";
import { BUILT_DAEMON, buildDaemon, NODE_ENVIRONMENT, NODE_FLAGS } from "../test/built-daemon.ts";
import { installAgents } from "../test/real-agents/installed-agents.ts";
import { type Scenario, startModelServer } from "../test/real-agents/model-server.ts";
import { shellCall } from "../test/real-agents/scenarios.ts";
import { commandIn } from "../test/server/attach/hook-shell.ts";
import { median, type Row, report, round } from "./measure.ts";

/**
 * The cost of attaching for Claude Code: the time of a turn of 50 tool calls that its settings allow, with and without attaching,
 * side by side; and the time of its hook when no page shows the session. `node bench/attach.bench.ts [--rounds 5]`. Claude Code is
 * installed from npm, as for the tests with real agents; if that fails, this is skipped.
 */
const { values: flags } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });
const CALLS = 50;
const HOOKS = 20;
/** The calls of the turn, one per answer of the model. */
const TURN: Scenario = Array.from({ length: CALLS }, () => [shellCall("claude-code", "true")]);

const agents = installAgents();
if ("missing" in agents) {
  console.error(`Skipped: ${agents.missing}`);
  report("attach", [{ row: "turn of Claude Code, attached", figures: { skipped: agents.missing } }], {});
} else await measure(agents.claude);

async function measure(program: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "attach-bench-"));
  const model = await startModelServer({ turn: TURN });
  let daemon: ChildProcess | undefined;
  try {
    const data_dir = join(folder, "data");
    const homes = { attached: join(folder, "attached"), plain: join(folder, "plain") };
    for (const home of Object.values(homes)) mkdirSync(join(home, ".claude"), { recursive: true });
    mkdirSync(join(folder, "project"));
    buildDaemon();
    daemon = await startDaemon(homes.attached, data_dir);
    const config_dir = join(homes.attached, ".claude");
    claudeCodeAttachment({ data_dir, config_dir }).install();

    const turn = (home: string) =>
      turnOf({ program, home, origin: model.origin, cwd: join(folder, "project") });
    // The first run in a home writes its settings.
    await turn(homes.plain);
    await turn(homes.attached);
    const times: Record<keyof typeof homes, number[]> = { attached: [], plain: [] };
    const cpu: typeof times = { attached: [], plain: [] };
    // Both at the same time, so that other load slows both equally.
    for (let n = 0; n < Number(flags.rounds); n++) {
      const [attached, plain] = await Promise.all([turn(homes.attached), turn(homes.plain)]);
      times.attached.push(attached.ms);
      times.plain.push(plain.ms);
      cpu.attached.push(attached.cpu_ms);
      cpu.plain.push(plain.cpu_ms);
    }
    const hook = hookTimes(commandIn(join(config_dir, "settings.json"), "PermissionRequest"));
    const ratios = times.attached.map((time, n) => time / (times.plain[n] ?? Number.NaN));
    const rows: Row[] = [
      {
        row: `Claude Code, a turn of ${CALLS} calls: attached / not, at the same time`,
        figures: {
          ratio: round(median(ratios)),
          lowest: round(Math.min(...ratios)),
          highest: round(Math.max(...ratios)),
          attached_ms: round(median(times.attached)),
          plain_ms: round(median(times.plain)),
        },
        goal: "≤ 1.05",
      },
      {
        // Hooks run in the background. Without an idle core they slow down both turns above.
        row: "CPU time of all its processes",
        figures: {
          ratio: round(median(cpu.attached) / median(cpu.plain)),
          attached_ms: round(median(cpu.attached)),
          plain_ms: round(median(cpu.plain)),
        },
      },
      {
        row: "its hook, when no page shows the session",
        figures: { ms: round(median(hook)), longest_ms: round(Math.max(...hook)) },
      },
    ];
    report("attach", rows, {
      version: execFileSync(program, ["--version"], { encoding: "utf8" }).trim(),
      times,
      cpu,
      hook,
    });
  } finally {
    daemon?.kill();
    model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts the daemon for the sessions of a home, and waits until hooks can reach it. */
async function startDaemon(home: string, data_dir: string): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, BUILT_DAEMON, "--port", "0", "--no-samples", "--no-open", "--data-dir", data_dir],
    { env: { ...process.env, ...NODE_ENVIRONMENT, HOME: home }, stdio: ["ignore", "ignore", "inherit"] },
  );
  for (let n = 0; !existsSync(hookSocketPath(data_dir)); n++) {
    if (child.exitCode !== null || n > 600) throw new Error("The daemon did not start.");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return child;
}

/**
 * Runs one turn. `ms`: its duration as measured by Claude Code, without the program's start; `cpu_ms`: CPU time of the program,
 * including its start, and of all processes that it has waited for.
 */
async function turnOf(options: {
  program: string;
  home: string;
  origin: string;
  cwd: string;
}): Promise<{ ms: number; cpu_ms: number }> {
  const { program, home, origin, cwd } = options;
  const child = spawn(
    "sh",
    [
      "-c",
      '"$@"; times',
      "sh",
      program,
      "-p",
      "[[scenario:turn]] Do it",
      "--output-format",
      "json",
      "--allowedTools",
      "Bash",
      "--model",
      "claude-sonnet-4-5",
    ],
    {
      cwd,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) output += chunk;
  // The shell adds its own times and those of its descendants, as `1m2.34s 0m0.56s`.
  const lines = output.trim().split("\n");
  const cpu_ms = [...(lines.pop() ?? "").matchAll(/(\d+)m([\d.]+)s/g)]
    .map(([, minutes, seconds]) => Number(minutes) * 60_000 + Number(seconds) * 1_000)
    .reduce((sum, each) => sum + each, 0);
  const result = asObject(JSON.parse(lines[0] ?? ""));
  const time = asNumber(result?.duration_ms);
  if (result?.is_error === true || time === undefined || asNumber(result?.num_turns) !== CALLS + 1)
    throw new Error(`Claude Code did not finish the turn: ${output.slice(0, 500)}`);
  return { ms: time, cpu_ms };
}

/** Times of the hook's whole command, in milliseconds. */
function hookTimes(command: string): number[] {
  const input = JSON.stringify({
    session_id: "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72",
    hook_event_name: "PermissionRequest",
    agent_id: "a1",
    tool_name: "Bash",
    tool_input: { command: "true" },
  });
  return Array.from({ length: HOOKS }, () => {
    const start = performance.now();
    const { status, stdout } = spawnSync("sh", ["-c", command], { input, encoding: "utf8" });
    if (status !== 0 || stdout !== "") throw new Error("The hook did not leave the request to the terminal.");
    return performance.now() - start;
  });
}
