import { execFileSync } from "node:child_process";
import fs, { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ToolInputError } from "../../../src/agent/tool.ts";
import { createShellTool } from "../../../src/agent/tools/shell.ts";
import { eventually } from "../../eventually.ts";
import { times } from "../../long.ts";
import { call, createTestHost, type TestHost } from "../host.ts";

/** The length of a long output, of which at most 200 MiB may be in memory. */
const MEGABYTES = times(400, 1_000);

const environment = { PATH: process.env.PATH, HOME: "/nowhere" };
const shell = createShellTool({ environment, grace_ms: 200 });

let host: TestHost;
beforeEach(() => {
  host = createTestHost();
});
afterEach(() => host.remove());

const run = (command: string, more: Record<string, unknown> = {}, options = {}) =>
  call(shell, host, { command, ...more }, options);

/** Whether a process still runs: one that has ended and waits for its parent does not. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Reads the process ids that a command writes into files of its folder. */
async function pidIn(name: string): Promise<number> {
  return await eventually(() => {
    const pid = Number(readFileSync(join(host.cwd, name), "utf8"));
    expect(pid).toBeGreaterThan(1);
    return pid;
  });
}

describe("a command", () => {
  it("runs in the session's folder and returns its output and exit code", async () => {
    expect(await run("pwd")).toMatchObject({
      status: "success",
      output_text: `${host.cwd}\n`,
      ui_extra: { type: "shell", command: "pwd", cwd: host.cwd, exit_code: 0 },
    });
    expect(await run("echo no; exit 3")).toMatchObject({
      status: "error",
      output_text: "no\n[Exit code 3]",
      ui_extra: { exit_code: 3 },
    });
    expect(await run("true")).toMatchObject({ status: "success", output_text: "[No output.]" });
  });

  it("has its two outputs in the order in which they were written, and can write to /dev/stderr", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => index);
    const command = lines.map((index) => `echo ${index}${index % 2 ? " >&2" : ""}`).join("; ");
    expect((await run(command)).output_text).toBe(lines.map((index) => `${index}\n`).join(""));
    expect((await run("echo a > /dev/stderr; echo b; echo c > /dev/stdout")).output_text).toBe("a\nb\nc\n");
  });

  it("shows its output while it runs", async () => {
    const seen: string[] = [];
    const controller = new AbortController();
    const done = run(
      "echo first; sleep 60",
      {},
      {
        signal: controller.signal,
        onProgress: (text: string) => seen.push(text),
      },
    );
    await eventually(() => expect(seen.join("")).toBe("first\n"));
    controller.abort();
    await done;
  });

  it("has an empty standard input", async () => {
    expect((await run("cat; wc -c < /dev/stdin")).output_text.trim()).toBe("0");
  });

  it("gets neither provider keys nor Verbatim's own variables", async () => {
    const tool = createShellTool({
      environment: {
        ...environment,
        ANTHROPIC_API_KEY: "secret-1",
        OPENAI_API_KEY: "secret-2",
        MY_GATEWAY_API_KEY: "secret-3",
        ANTHROPIC_AUTH_TOKEN: "secret-4",
        VERBATIM_TOKEN: "secret-5",
        DATABASE_URL: "secret-6",
        EDITOR: "kept",
      },
    });
    const { output_text } = await call(tool, host, { command: "env" });
    expect(output_text).not.toContain("secret");
    expect(output_text).toContain("EDITOR=kept");
  });

  it("keeps control characters and colours in the record", async () => {
    expect((await run("printf '\\033[31mred\\007\\r\\n'")).output_text).toBe("\u001b[31mred\u0007\r\n");
  });

  it("that is empty or invalid is rejected before it is shown", () => {
    const prepare = (command: unknown) => () => shell.prepare({ command }, host);
    expect(prepare("echo \0")).toThrow(/NUL/);
    expect(prepare("echo \ud800")).toThrow(/surrogate/);
    expect(prepare("  ")).toThrow(ToolInputError);
    expect(prepare(7)).toThrow(/command/);
    expect(prepare(`: ${"x".repeat(140_000)}`)).toThrow(/longer than/);
  });
});

describe("a command that cannot be started", () => {
  it("reports why, and leaves nothing open", async () => {
    const before = readdirSync("/proc/self/fd").length;
    const missing = createShellTool({ environment, shell: "/nowhere/sh" });
    expect((await call(missing, host, { command: "true" })).output_text).toMatch(
      /Could not be started: .*ENOENT/,
    );
    const large = createShellTool({ environment: { ...environment, LARGE: "x".repeat(200_000) } });
    expect((await call(large, host, { command: "true" })).output_text).toMatch(
      /Could not be started: .*E2BIG/,
    );
    const elsewhere = { ...host, files: join(host.files, "nowhere") };
    expect(await call(shell, elsewhere, { command: "sleep 1000" })).toMatchObject({
      status: "error",
      output_text: expect.stringContaining("could not be stored"),
    });
    await eventually(() => expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before));
  });
});

describe("the text of a command", () => {
  it("is never interpreted as an option of the shell", async () => {
    expect((await run("-e echo no")).output_text).not.toBe("no\n");
    expect((await run("-x")).output_text).toMatch(/-x/);
    expect((await run("echo one\necho two")).output_text).toBe("one\ntwo\n");
  });
});

describe("a long output", () => {
  it("is stored completely and truncated in the middle for the model, at whole characters", async () => {
    const output = await run("seq 1 200000; printf 'é%.0s' $(seq 1 20001)");
    expect(output.ui_extra).toMatchObject({ type: "shell" });
    const path = output.ui_extra?.type === "shell" ? output.ui_extra.persisted_path : undefined;
    const whole = readFileSync(path ?? "", "utf8");
    expect(whole.startsWith("1\n2\n")).toBe(true);
    expect(whole.split("\n")).toHaveLength(200_001);
    expect(output.output_text.length).toBeLessThan(31_000);
    expect(output.output_text).toMatch(/^1\n2\n/);
    expect(output.output_text).toContain(`the complete output is in ${path}`);
    expect(output.output_text).not.toContain("\ufffd");
    expect(output.output_text.endsWith("éé")).toBe(true);
  });

  it(`of ${MEGABYTES} MB neither fills the memory nor hangs`, { timeout: 300_000 }, async () => {
    const bytes = MEGABYTES * 1_000_000;
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const output = await run(`head -c ${bytes} /dev/zero | tr '\\0' x`);
    clearInterval(timer);
    const extra = output.ui_extra?.type === "shell" ? output.ui_extra : undefined;
    expect(extra?.exit_code).toBe(0);
    expect(extra?.persisted_bytes).toBe(bytes);
    expect(statSync(extra?.persisted_path ?? "").size).toBe(bytes);
    expect(peak - before).toBeLessThan(200 * 1024 ** 2);
    rmSync(extra?.persisted_path ?? "");
  });

  it("that would fill the disk stops the command", async () => {
    const tool = createShellTool({ environment, max_output_bytes: 1_000_000, grace_ms: 100 });
    const output = await call(tool, host, { command: "yes" });
    expect(output.status).toBe("error");
    expect(output.output_text).toContain("longer than 1000000 bytes");
  });
});

describe.skipIf(process.platform !== "linux")("a command that is stopped", () => {
  /** Starts a command, waits until it says that it is ready, and stops it. */
  async function stopWhenReady(command: string) {
    const controller = new AbortController();
    const done = run(command, {}, { signal: controller.signal });
    await eventually(() => expect(existsSync(join(host.cwd, "ready"))).toBe(true));
    controller.abort();
    return await done;
  }

  it("is killed with everything it started: in the background, ignoring TERM, and in its own session", async () => {
    const deaf = "trap '' TERM HUP INT; while :; do sleep 0.05; done";
    const output = await stopWhenReady(`
      sh -c 'echo $$ > one; ${deaf.replaceAll("'", "'\\''")}' &
      setsid sh -c 'echo $$ > two; ${deaf.replaceAll("'", "'\\''")}' &
      (setsid sh -c 'echo $$ > three; sleep 1000' > /dev/null 2>&1 &)
      while [ ! -s one ] || [ ! -s two ] || [ ! -s three ]; do sleep 0.01; done
      touch ready; sleep 1000`);
    expect(output).toMatchObject({ status: "error", ui_extra: { interrupted: true } });
    expect(output.output_text).toContain("Stopped.");
    for (const name of ["one", "two", "three"]) expect(isRunning(await pidIn(name))).toBe(false);
  });

  it("keeps its output", async () => {
    const output = await stopWhenReady("echo so far; touch ready; sleep 1000");
    expect(output.output_text).toBe("so far\n[Stopped.]");
  });

  it("can clean up after TERM", async () => {
    const output = await stopWhenReady(
      "trap 'echo tidied; exit' TERM; touch ready; while :; do sleep 0.01; done",
    );
    expect(output.output_text).toContain("tidied");
  });

  it("before it began is not started", async () => {
    const output = await run("touch ready", {}, { signal: AbortSignal.abort() });
    expect(output.status).toBe("error");
    expect(readdirSync(host.cwd)).toEqual([]);
  });

  it("by its time limit says so", async () => {
    const output = await run("echo $$ > pid; sleep 1000", { timeout_ms: 300 });
    expect(output).toMatchObject({ status: "error", ui_extra: { interrupted: true } });
    expect(output.output_text).toContain("time limit of 0.3 s");
    expect(isRunning(await pidIn("pid"))).toBe(false);
  });
});

/** Makes each list of the running processes take this long, as on a machine without a free core. */
function slowDownProcessLists(milliseconds: number): void {
  const { readdirSync: list } = fs;
  vi.spyOn(fs, "readdirSync").mockImplementation((...of: Parameters<typeof list>) => {
    const started = performance.now();
    while (of[0] === "/proc" && performance.now() - started < milliseconds);
    return list(...of);
  });
  syncBuiltinESMExports();
}

it.skipIf(process.platform !== "linux")(
  "commands that end while the daemon is busy keep their output",
  { timeout: 120_000 },
  async () => {
    slowDownProcessLists(300);
    try {
      const outputs = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          run(`sleep 0.${10 + index * 3}; echo ${index}`, {}, { call_id: `call_${index}` }),
        ),
      );
      expect(outputs.map(({ output_text }) => output_text)).toEqual(outputs.map((_, index) => `${index}\n`));
    } finally {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    }
  },
);

describe.skipIf(process.platform !== "linux")("a command's background process", () => {
  it("is killed with it, and its output is not waited for", async () => {
    const output = await run("sleep 1000 & echo $! > pid; echo done");
    expect(output).toMatchObject({ status: "success", output_text: "done\n" });
    expect(isRunning(await pidIn("pid"))).toBe(false);
  });

  it("is not waited for if it has its own session and still holds the output", async () => {
    const output = await run(
      "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while [ ! -s pid ]; do sleep 0.01; done; echo done",
    );
    expect(output).toMatchObject({ status: "success", output_text: "done\n" });
    execFileSync("kill", ["-KILL", String(await pidIn("pid"))]);
  });

  it("continues if it was started in its own session", async () => {
    await run(
      "setsid sh -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.01; done",
    );
    const pid = await pidIn("pid");
    expect(isRunning(pid)).toBe(true);
    execFileSync("kill", ["-KILL", String(pid)]);
  });
});
