import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOpenList, createProcessRegistry } from "../../src/server/import/process-registry.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { codex } from "../../src/sources/codex/format.ts";
import { eventually } from "../eventually.ts";

const SESSION = "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72";
const OTHER = "8e2a3d55-1c1f-4a1b-8d4a-2e3e7a6a4b83";

let root: string;
let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "registry-"));
  folder = join(root, "sessions");
  mkdirSync(folder);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

/**
 * A process that registers itself as Claude Code 2.1.332 does: it writes `sessions/<pid>.json` in place, with its own start time
 * and PID namespace, and the fields of each input line.
 */
const AGENT = `
  const fs = require("node:fs");
  const path = process.argv[1] + "/" + process.pid + ".json";
  const stat = fs.readFileSync("/proc/self/stat", "utf8");
  const entry = {
    pid: process.pid, cwd: "/w/app", version: "2.1.332", kind: "interactive", entrypoint: "cli",
    procStart: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19],
    pidDomain: "linux:0123456789abcdef0123456789abcdef:" + fs.readlinkSync("/proc/self/ns/pid"),
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    Object.assign(entry, JSON.parse(line));
    fs.writeFileSync(path, JSON.stringify(entry));
    console.log("written");
  }).on("close", () => { fs.rmSync(path, { force: true }); process.exit(); });
`;

async function startAgent() {
  const child = spawn(process.execPath, ["-e", AGENT, folder], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const path = join(folder, `${child.pid}.json`);
  return {
    path,
    async register(fields: object) {
      const written = once(lines, "line");
      child.stdin.write(`${JSON.stringify({ sessionId: SESSION, ...fields })}\n`);
      await written;
    },
    edit(change: (entry: Record<string, unknown>) => object) {
      writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")))));
    },
    async end(how: "exit" | "kill -9") {
      const ended = once(child, "exit");
      if (how === "exit") child.stdin.end();
      else child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The registry without terminals, which are found with a delay. */
function registry() {
  const { read } = createProcessRegistry([{ format: claudeCode, path: root }]);
  return {
    async read() {
      const found = await read();
      return new Map([...found].map(([id, { terminal: _, ...state }]) => [id, state]));
    },
  };
}
const isLinux = existsSync("/proc/self/stat");

describe.skipIf(!isLinux)("the registry of Claude Code's live processes", () => {
  it("reports whether a session is open in a process", async () => {
    const agent = await startAgent();
    const readOpen = createOpenList([{ format: claudeCode, path: root }]);
    await agent.register({ status: "idle" });
    expect((await readOpen()).has(SESSION)).toBe(true);
    expect((await readOpen()).has(OTHER)).toBe(false);
    await agent.end("kill -9");
    expect((await readOpen()).has(SESSION)).toBe(false);
  });

  it("finds the terminal of a waiting process", async () => {
    const agent = await startAgent();
    const { read } = createProcessRegistry([{ format: claudeCode, path: root }]);
    await agent.register({ status: "waiting", waitingFor: "permission prompt" });
    const pid = Number(basename(agent.path, ".json"));
    await eventually(async () => expect((await read()).get(SESSION)).toMatchObject({ terminal: { pid } }));
    await agent.register({ status: "busy", waitingFor: null });
    expect((await read()).get(SESSION)).not.toHaveProperty("terminal");
  });

  it("reports every status, with the reason and time of waiting", async () => {
    const agent = await startAgent();
    const { read } = registry();
    const seen = async (fields: object) => {
      await agent.register({ waitingFor: null, ...fields });
      return (await read()).get(SESSION);
    };
    expect(await seen({})).toEqual({});
    expect(await seen({ status: "idle", statusUpdatedAt: 5 })).toEqual({ busy: false, since: 5 });
    expect(await seen({ status: "busy", statusUpdatedAt: 6 })).toEqual({ busy: true, since: 6 });
    expect(await seen({ status: "shell", statusUpdatedAt: 7 })).toEqual({
      busy: false,
      background: true,
      since: 7,
    });
    for (const [n, waitingFor] of [
      "permission prompt",
      "input needed",
      "sandbox request",
      "worker request",
    ].entries())
      expect(await seen({ status: "waiting", waitingFor, statusUpdatedAt: n })).toEqual({
        busy: true,
        waiting: { for: waitingFor },
        since: n,
      });
    expect(await seen({ status: "waiting", waitingFor: "dialog open", statusUpdatedAt: 8 })).toEqual({
      waiting: { for: "dialog open" },
      since: 8,
    });
    expect(await seen({ status: "waiting", statusUpdatedAt: null, updatedAt: 9 })).toEqual({
      waiting: {},
      since: 9,
    });
    // A later version may report an unknown status. The status then comes from the session file alone.
    expect(await seen({ status: "dreaming" })).toEqual({});
  });

  it("follows a process into another session, and drops it when it exits", async () => {
    const agent = await startAgent();
    const { read } = registry();
    await agent.register({ status: "busy" });
    await agent.register({ sessionId: OTHER, status: "idle" });
    expect([...(await read()).keys()]).toEqual([OTHER]);
    await agent.end("exit");
    expect(await read()).toEqual(new Map());
  });

  it("ignores entries of a killed process", async () => {
    const agent = await startAgent();
    const { read } = registry();
    await agent.register({ status: "waiting", waitingFor: "permission prompt" });
    expect((await read()).get(SESSION)?.waiting).toEqual({ for: "permission prompt" });
    await agent.end("kill -9");
    expect(existsSync(agent.path)).toBe(true);
    expect(await read()).toEqual(new Map());
  });

  it("ignores a process that reused a pid", async () => {
    const agent = await startAgent();
    await agent.register({ status: "busy" });
    agent.edit((entry) => ({ ...entry, procStart: String(Number(entry.procStart) - 1) }));
    expect(await registry().read()).toEqual(new Map());
  });

  it("ignores a process of another PID namespace", async () => {
    const agent = await startAgent();
    await agent.register({ status: "busy" });
    agent.edit((entry) => ({ ...entry, pidDomain: "linux:0123:pid:[1]" }));
    expect(await registry().read()).toEqual(new Map());
    // A namespace in another form is ignored: pid and start time decide.
    agent.edit((entry) => ({ ...entry, pidDomain: "other" }));
    expect([...(await registry().read()).keys()]).toEqual([SESSION]);
  });

  it("keeps the last entry while the file is truncated, and reads it again", async () => {
    const agent = await startAgent();
    const { read } = registry();
    await agent.register({ status: "waiting", waitingFor: "input needed", statusUpdatedAt: 5 });
    const before = await read();
    const whole = readFileSync(agent.path, "utf8");
    for (const length of [0, 1, whole.length >> 1, whole.length - 1]) {
      writeFileSync(agent.path, whole.slice(0, length));
      expect(await read()).toEqual(before);
    }
    // The file is completed during the read.
    writeFileSync(agent.path, whole.slice(0, 20));
    const reading = read();
    writeFileSync(agent.path, whole.replace("input needed", "permission prompt"));
    expect((await reading).get(SESSION)?.waiting).toEqual({ for: "permission prompt" });
    // A truncated file of an ended process does not keep its entry.
    writeFileSync(agent.path, whole.slice(0, 20));
    await agent.end("kill -9");
    expect(await read()).toEqual(new Map());
  });

  it("prefers a waiting process, then a busy one, if two have the same session open", async () => {
    const [one, other] = [await startAgent(), await startAgent()];
    const { read } = registry();
    await one.register({ status: "idle", statusUpdatedAt: 10 });
    await other.register({ status: "busy", statusUpdatedAt: 20 });
    expect((await read()).get(SESSION)).toEqual({ busy: true, since: 20 });
    await one.register({ status: "waiting", waitingFor: "permission prompt", statusUpdatedAt: 30 });
    expect((await read()).get(SESSION)).toMatchObject({ waiting: { for: "permission prompt" }, since: 30 });
    await other.register({ status: "waiting", waitingFor: "permission prompt", statusUpdatedAt: 25 });
    expect((await read()).get(SESSION)?.since).toBe(25);
    await one.end("exit");
    await other.register({ status: "idle", waitingFor: null, statusUpdatedAt: 40 });
    expect((await read()).get(SESSION)).toEqual({ busy: false, since: 40 });
  });

  it("ignores invalid entries", async () => {
    // A secret file next to the entries.
    const secret = JSON.stringify({ pid: process.pid, sessionId: SESSION, status: "busy" });
    writeFileSync(join(folder, `${process.pid}.0a2b.key`), secret);
    writeFileSync(join(folder, "2.json"), "[]");
    writeFileSync(join(folder, "0.json"), JSON.stringify({ pid: 0, sessionId: SESSION, status: "busy" }));
    writeFileSync(join(folder, "-1.json"), JSON.stringify({ pid: -1, sessionId: SESSION, status: "busy" }));
    mkdirSync(join(folder, "3.json"));
    expect(await registry().read()).toEqual(new Map());
  });
});

describe("locks of Codex", () => {
  it("do not apply to a thread that no process holds", async () => {
    const locks = join(root, "thread-writer-locks");
    mkdirSync(locks);
    writeFileSync(join(locks, `${SESSION}.lock`), "");
    const { read } = createProcessRegistry([{ format: codex, path: root }]);
    expect(await read()).toEqual(new Map());
  });
});
