import { type ChildProcess, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { messageOf } from "../../../src/model/narrow.ts";
import { type Attach, createAttach } from "../../../src/server/attach/attach.ts";
import { hookSocketPath } from "../../../src/server/attach/hook-socket.ts";
import { eventually } from "../../eventually.ts";
import { mountable, mountSmall } from "../small-disk.ts";
import { bash } from "./hook-process.ts";
import { commandIn, type HookEnd, startHookShell } from "./hook-shell.ts";

// On any failure in Verbatim, the hook exits with 0 and prints nothing, so that the agent shows its own dialog.

const SESSION = "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72";
const SILENT: HookEnd = { code: 0, output: "" };

/** Approval requests of the attached agents. The hook hides the dialog of each of these calls. */
const APPROVALS = {
  "claude-code": {
    event: "PermissionRequest",
    body: {
      session_id: SESSION,
      hook_event_name: "PermissionRequest",
      agent_id: "a1",
      agent_type: "general-purpose",
      ...bash("touch made.txt"),
    },
  },
  "qwen-code": {
    event: "PermissionRequest",
    body: {
      session_id: SESSION,
      hook_event_name: "PermissionRequest",
      tool_name: "run_shell_command",
      tool_input: { command: "touch made.txt" },
    },
  },
  "copilot-cli": {
    event: "permissionRequest",
    body: { sessionId: SESSION, toolName: "bash", toolInput: { command: "touch made.txt" } },
  },
} as const;
type Agent = keyof typeof APPROVALS;
const AGENTS = Object.keys(APPROVALS) as Agent[];
const HOOKED = ["gemini-cli", ...AGENTS] as const;

let folder: string;
let data: string;
let attach: Attach | undefined;
let is_watched: boolean;
let reported: string[];
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "open-"));
  data = join(folder, "data");
  mkdirSync(data);
  is_watched = true;
  reported = [];
});
afterEach(async () => {
  await attach?.close();
  attach = undefined;
  for (const child of children.splice(0)) child.kill("SIGKILL");
  spawnSync("umount", [data]);
  rmSync(folder, { recursive: true, force: true });
});

const homeOf = (agent: string) => join(folder, "home", agent);

async function start(): Promise<Attach> {
  attach = createAttach({
    data_dir: data,
    folders: {
      claude_code: homeOf("claude-code"),
      codex: homeOf("codex"),
      opencode: homeOf("opencode"),
      hooked: Object.fromEntries(HOOKED.map((agent) => [agent, homeOf(agent)])),
    },
    readProcesses: async () => new Map(),
    isWatched: () => is_watched,
    report: (error) => reported.push(messageOf(error)),
  });
  await attach.listen();
  return attach;
}
function run(agent: string, event: string, body: unknown): Promise<HookEnd> {
  const shell = startHookShell();
  children.push(shell.child);
  return shell.run(commandIn(join(homeOf(agent), "settings.json"), event), body as object);
}
const ask = (agent: Agent) => run(agent, APPROVALS[agent].event, APPROVALS[agent].body);
const open = (daemon: Attach) =>
  eventually(() => {
    const [request] = daemon.held.openOf(SESSION);
    if (request === undefined) throw new Error("nothing is held");
    return request.request_id;
  });
function allow(daemon: Attach, request_id: string) {
  const request = daemon.held.get(request_id);
  daemon.held.answer(request_id, {
    ...(request?.digest !== undefined && { digest: request.digest }),
    answer: { option_ids: ["allow"] },
  });
}
/** Fills the disk of the data folder. */
function fill() {
  const chunk = Buffer.alloc(4_096, "x");
  for (let n = 0; ; n++) {
    try {
      writeFileSync(join(data, `filler-${n}`), chunk);
    } catch {
      return;
    }
  }
}
function empty() {
  for (let n = 0; existsSync(join(data, `filler-${n}`)); n++) rmSync(join(data, `filler-${n}`));
}

describe.each(AGENTS)("an approval of %s", (agent) => {
  beforeEach(async () => {
    (await start()).change(agent, "install");
  });

  it("is left to the terminal when the browser closes during the request", async () => {
    const daemon = attach as Attach;
    const ended = ask(agent);
    await open(daemon);
    is_watched = false;
    expect(await ended).toEqual(SILENT);
    expect(daemon.held.openOf(SESSION)).toEqual([]);
  });

  it("is left to the terminal when the daemon ends during the request", async () => {
    const ended = ask(agent);
    await open(attach as Attach);
    await attach?.close();
    expect(await ended).toEqual(SILENT);
  });

  it("is left to the terminal if no daemon is running, one was killed, or the hook script is missing", async () => {
    await attach?.close();
    expect(await ask(agent)).toEqual(SILENT);
    // A killed daemon does not remove its socket.
    const killed = startHookShell();
    children.push(killed.child);
    const path = hookSocketPath(data);
    const listening = `${JSON.stringify(process.execPath)} -e 'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))' ${path}`;
    await killed.run(listening, {});
    expect(existsSync(path)).toBe(true);
    expect(await ask(agent)).toEqual(SILENT);
    rmSync(join(data, "attach", `${agent}-hook.mjs`));
    expect(await ask(agent)).toEqual(SILENT);
  });

  it.each([
    ["without a session", { tool_name: "x", toolName: "x" }],
    [
      "with arguments that are not an object",
      { ...APPROVALS[agent].body, tool_input: "ls", toolInput: "ls" },
    ],
    ["without a tool", { ...APPROVALS[agent].body, tool_name: 7, toolName: 7 }],
    ["that is a list", []],
    ["that is a text", "touch made.txt"],
  ])("of an unknown version, %s, is left to the terminal", async (_name, body) => {
    expect(await run(agent, APPROVALS[agent].event, body)).toEqual(SILENT);
    expect((attach as Attach).held.openOf(SESSION)).toEqual([]);
  });
});

it.each(["BeforeAgent", "Notification", "AfterAgent", "SessionEnd"])(
  "the hook %s of Gemini CLI is silent without a daemon, and with a body of an unknown version",
  async (event) => {
    const daemon = await start();
    daemon.change("gemini-cli", "install");
    expect(await run("gemini-cli", event, { new_format: { session: SESSION } })).toEqual(SILENT);
    await daemon.close();
    expect(await run("gemini-cli", event, { session_id: SESSION })).toEqual(SILENT);
  },
);

it("a hung daemon does not block hooks that only report", async () => {
  const daemon = await start();
  daemon.change("qwen-code", "install");
  await daemon.close();
  const hung = createServer(() => {});
  await new Promise<void>((done) => hung.listen(hookSocketPath(data), done));
  expect(await run("qwen-code", "Stop", { session_id: SESSION })).toEqual(SILENT);
  hung.close();
});

describe.skipIf(!mountable)("on a full disk (skipped where none can be mounted)", () => {
  beforeEach(() => {
    mountSmall(data, 512 * 1_024);
  });

  it.each(AGENTS)(
    "an answer to %s that cannot be logged is not sent, and the request is left to the terminal",
    async (agent) => {
      const daemon = await start();
      daemon.change(agent, "install");
      fill();
      const ended = ask(agent);
      const request_id = await open(daemon);
      expect(() => allow(daemon, request_id)).toThrow("could not be logged, so it was not given");
      expect(daemon.held.openOf(SESSION)).toHaveLength(1);
      is_watched = false;
      expect(await ended).toEqual(SILENT);
      // The log does not contain a partial line.
      const log = join(data, "attach/answers.jsonl");
      expect(existsSync(log) ? readFileSync(log, "utf8") : "").toBe("");
    },
  );

  it("an answer is sent once there is space again", async () => {
    const daemon = await start();
    daemon.change("qwen-code", "install");
    fill();
    const ended = ask("qwen-code");
    const request_id = await open(daemon);
    expect(() => allow(daemon, request_id)).toThrow("could not be logged");
    empty();
    allow(daemon, request_id);
    expect((await ended).output).toContain('"behavior":"allow"');
  });

  it("a session still counts as waiting", async () => {
    const daemon = await start();
    daemon.change("qwen-code", "install");
    fill();
    const shell = startHookShell();
    children.push(shell.child);
    const command = commandIn(join(homeOf("qwen-code"), "settings.json"), "Notification");
    const body = { session_id: SESSION, notification_type: "permission_prompt" };
    expect(await shell.run(command, body)).toEqual(SILENT);
    await eventually(() => expect(daemon.stateOf(SESSION)).toHaveProperty("waiting"));
  });

  it.each(HOOKED)("attaching %s changes nothing and reports the reason", async (agent) => {
    const daemon = await start();
    mkdirSync(homeOf(agent), { recursive: true });
    const file = join(homeOf(agent), "settings.json");
    writeFileSync(file, "{}\n");
    fill();
    expect(() => daemon.change(agent, "install")).toThrow(/no space left/i);
    expect(readFileSync(file, "utf8")).toBe("{}\n");
    empty();
    daemon.change(agent, "install");
    daemon.change(agent, "remove");
    expect(readFileSync(file, "utf8")).toBe("{}\n");
  });

  it.each(["codex", "opencode"])(
    "attaching %s leaves no partial file and reports the reason",
    async (agent) => {
      // The agent's configuration is on the same disk.
      symlinkSync(data, join(folder, "home"));
      const daemon = await start();
      fill();
      expect(() => daemon.change(agent, "install")).toThrow(/no space left/i);
      expect(daemon.attachments.get(agent)?.describe().is_installed).toBe(false);
      empty();
      expect(daemon.change(agent, "install")?.describe().is_installed).toBe(true);
    },
  );
});
