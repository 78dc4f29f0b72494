import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/narrow.ts";
import { type Attach, createAttach } from "../../../src/server/attach/attach.ts";
import { eventually } from "../../eventually.ts";
import { commandIn, type HookEnd, startHookShell } from "./hook-shell.ts";

// Runs the commands that attaching writes into the settings in a shell, as the agents do.

const SESSION = "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72";
const AGENTS = ["gemini-cli", "qwen-code", "copilot-cli"] as const;
type Agent = (typeof AGENTS)[number];

let folder: string;
let data: string;
let attach: Attach;
let is_watched: boolean;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "attach-"));
  data = join(folder, "it's data");
  mkdirSync(data);
  is_watched = true;
  attach = start();
  await attach.listen();
});
afterEach(async () => {
  await attach.close();
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const start = () =>
  createAttach({
    data_dir: data,
    folders: {
      claude_code: join(folder, "claude"),
      codex: join(folder, "codex"),
      opencode: join(folder, "opencode"),
      hooked: Object.fromEntries(AGENTS.map((agent) => [agent, join(folder, agent)])),
    },
    readProcesses: async () => new Map(),
    isWatched: () => is_watched,
    report: (error) => expect.fail(String(error)),
  });

function startAgent(agent: Agent, ...options: string[]) {
  const shell = startHookShell(options);
  children.push(shell.child);
  const base = agent === "copilot-cli" ? { sessionId: SESSION } : { session_id: SESSION };
  return {
    kill: shell.kill,
    /** Runs a hook of the agent; resolves once it has exited. */
    run(event: string, fields: object = {}): Promise<HookEnd> {
      const body = { ...base, cwd: "/w/tide", hook_event_name: event, ...fields };
      return shell.run(commandIn(join(folder, agent, "settings.json"), event), body);
    },
  };
}

const state = () => attach.stateOf(SESSION);
const open = () =>
  eventually(() => {
    const [request, ...others] = attach.held.openOf(SESSION);
    if (request === undefined) throw new Error("nothing is held");
    expect(others).toEqual([]);
    return request;
  });
function answer(request_id: string, option: string, text?: string) {
  const request = attach.held.get(request_id);
  attach.held.answer(request_id, {
    ...(request?.digest !== undefined && { digest: request.digest }),
    answer: { option_ids: [option], ...(text !== undefined && { text }) },
  });
}
const SILENT = { code: 0, output: "" };
const decisionOf = ({ code, output }: HookEnd): JsonObject => {
  expect(code).toBe(0);
  return JSON.parse(output);
};

it("says that an agent's settings cannot be read, until they can be", async () => {
  await attach.close();
  const file = join(folder, "qwen-code/settings.json");
  mkdirSync(file, { recursive: true });
  attach = start();
  await attach.listen();
  expect(attach.notices).toEqual([
    {
      level: "warning",
      text: expect.stringMatching(
        /^Whether Qwen Code is attached cannot be determined: .*settings\.json could not be read/,
      ),
      text_code: expect.objectContaining({ code: "attach_unknown" }),
      remedy: "Until the file can be read, its sessions in terminals cannot be answered here.",
      remedy_code: { code: "attach_not_answered" },
      agent: "qwen-code",
    },
  ]);
  rmSync(file, { recursive: true });
  expect(attach.notices).toEqual([]);
});

describe.each(AGENTS)("the settings of %s", (agent) => {
  const file = () => join(folder, agent, "settings.json");

  it("get hooks beside those of the user, and are restored byte for byte", () => {
    const text = `{\n\t"theme": "dark",\n\t"hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "mine" }] }] }\n}`;
    mkdirSync(join(folder, agent));
    writeFileSync(file(), text);
    expect(attach.change(agent, "install")?.describe()).toMatchObject({ is_installed: true });
    const { theme, hooks } = JSON.parse(readFileSync(file(), "utf8"));
    expect(theme).toBe("dark");
    expect(hooks.Stop[0]).toEqual({ hooks: [{ type: "command", command: "mine" }] });
    attach.change(agent, "remove");
    expect(readFileSync(file(), "utf8")).toBe(text);
  });

  it("keep concurrent changes by the agent, and lose only the hooks when detaching", () => {
    attach.change(agent, "install");
    writeFileSync(file(), JSON.stringify({ ...JSON.parse(readFileSync(file(), "utf8")), model: "m" }));
    attach.change(agent, "remove");
    expect(JSON.parse(readFileSync(file(), "utf8"))).toEqual({ model: "m" });
    expect(existsSync(join(data, "attach", `${agent}-hook.mjs`))).toBe(false);
  });
});

it.each([
  ["gemini-cli", "BeforeAgent", "AfterAgent"],
  ["qwen-code", "UserPromptSubmit", "Stop"],
] as const)("the hooks of %s report the start and end of a turn", async (agent, begin, end) => {
  attach.change(agent, "install");
  const { run } = startAgent(agent);
  const before = Date.now();
  expect(await run(begin, { prompt: "Count" })).toEqual(SILENT);
  await eventually(() => expect(state()).toMatchObject({ by: "hook", busy: true }));
  expect(state()?.since).toBeGreaterThanOrEqual(before);
  expect(await run(end)).toEqual(SILENT);
  await eventually(() => expect(state()).toMatchObject({ busy: false }));
  expect(await run("SessionEnd")).toEqual(SILENT);
  await eventually(() => expect(state()).toBeUndefined());
});

it("Gemini CLI waits while its dialog is open, which is answered in the terminal", async () => {
  attach.change("gemini-cli", "install");
  const { run } = startAgent("gemini-cli");
  await run("Notification", {
    notification_type: "ToolPermission",
    details: { type: "exec", command: "ls" },
  });
  await eventually(() => expect(state()).toMatchObject({ waiting: { for: "permission prompt" } }));
  await run("Notification", { notification_type: "ToolPermission", details: { type: "ask_user" } });
  await eventually(() => expect(state()).toMatchObject({ waiting: { for: "input needed" } }));
  expect(attach.held.openOf(SESSION)).toEqual([]);
});

it("Qwen Code no longer waits once the call runs, and after Esc", async () => {
  attach.change("qwen-code", "install");
  const { run } = startAgent("qwen-code");
  const wait = async () => {
    await run("Notification", { notification_type: "permission_prompt" });
    await eventually(() => expect(state()).toMatchObject({ waiting: { for: "permission prompt" } }));
  };
  await wait();
  await run("PreToolUse", { tool_name: "run_shell_command" });
  await eventually(() => expect(state()).not.toHaveProperty("waiting"));
  expect(state()).toMatchObject({ busy: true });
  await wait();
  await run("Notification", { notification_type: "idle_prompt" });
  await eventually(() => expect(state()).toMatchObject({ busy: false }));
});

it("a session's state ends with its process", async () => {
  attach.change("qwen-code", "install");
  const { run, kill } = startAgent("qwen-code");
  await run("UserPromptSubmit");
  await eventually(() => expect(state()).toBeDefined());
  await kill();
  await eventually(() => expect(state()).toBeUndefined());
});

describe("an approval of Qwen Code", () => {
  const fields = {
    tool_name: "run_shell_command",
    tool_input: { command: "touch made.txt", is_background: false },
  };
  beforeEach(() => attach.change("qwen-code", "install"));

  it("is shown completely, allowed and logged", async () => {
    const ended = startAgent("qwen-code").run("PermissionRequest", fields);
    const { request_id, title, expires_at } = await open();
    expect(title).toBe("Allow run_shell_command: touch made.txt");
    expect(expires_at).toBeDefined();
    expect(attach.held.get(request_id)?.subject).toBe("command: touch made.txt\nis_background: false");
    answer(request_id, "allow");
    expect(decisionOf(await ended)).toEqual({
      hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } },
    });
    expect(readFileSync(join(data, "attach/answers.jsonl"), "utf8")).toContain('"agent":"qwen-code"');
  });

  it("is denied with the reason", async () => {
    const ended = startAgent("qwen-code").run("PermissionRequest", fields);
    answer((await open()).request_id, "deny", "Not on a Thursday.");
    expect(decisionOf(await ended)).toMatchObject({
      hookSpecificOutput: { decision: { behavior: "deny", message: "Not on a Thursday." } },
    });
  });

  it("is left to the terminal at once if no page shows the session", async () => {
    is_watched = false;
    expect(await startAgent("qwen-code").run("PermissionRequest", fields)).toEqual(SILENT);
  });

  it("is left to the terminal when the last page that shows the session is closed", async () => {
    const ended = startAgent("qwen-code").run("PermissionRequest", fields);
    await open();
    is_watched = false;
    expect(await ended).toEqual(SILENT);
    expect(attach.held.openOf(SESSION)).toEqual([]);
  });

  it.each(["ask_user_question", "exit_plan_mode"])(
    "is left to the terminal if it is %s",
    async (tool_name) => {
      const { run } = startAgent("qwen-code");
      expect(await run("PermissionRequest", { tool_name, tool_input: { questions: [] } })).toEqual(SILENT);
    },
  );
});

describe("an approval of Copilot CLI", () => {
  const fields = { toolName: "bash", toolInput: { command: "touch made.txt" }, permissionSuggestions: [] };
  beforeEach(() => attach.change("copilot-cli", "install"));

  it("shows the command that would run, and can be allowed", async () => {
    const ended = startAgent("copilot-cli").run("permissionRequest", fields);
    const { request_id, title } = await open();
    expect(title).toBe("Allow bash: touch made.txt");
    expect(attach.held.get(request_id)?.subject).toBe("touch made.txt");
    answer(request_id, "allow");
    expect(decisionOf(await ended)).toEqual({ behavior: "allow" });
  });

  it("is denied with the reason while another one of the same step is open", async () => {
    const edit = { toolName: "edit", toolInput: { file_path: "/w/a", diff: "+x" } };
    const first = startAgent("copilot-cli").run("permissionRequest", fields);
    const { request_id } = await open();
    const second = startAgent("copilot-cli").run("permissionRequest", edit);
    await eventually(() => expect(attach.held.openOf(SESSION)).toHaveLength(2));
    answer(request_id, "deny", "Not now.");
    expect(decisionOf(await first)).toEqual({ behavior: "deny", message: "Not now." });
    answer((await open()).request_id, "allow");
    expect(decisionOf(await second)).toEqual({ behavior: "allow" });
  });

  it.skipIf(!existsSync("/proc/self/cmdline"))(
    "is not held if Copilot was started with everything allowed",
    async () => {
      const { run } = startAgent("copilot-cli", "--", "--allow-all-tools");
      expect(await run("permissionRequest", fields)).toEqual(SILENT);
    },
  );
});

it("looks at a session also while opencode's plugin cannot be read", () => {
  mkdirSync(join(folder, "opencode/plugin/verbatim.js"), { recursive: true });
  expect(state()).toBeUndefined();
});
