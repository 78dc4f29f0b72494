import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentAttachment } from "../../../src/server/attach/agent-attachment.ts";
import { agentAttachments } from "../../../src/server/attach/attach.ts";
import { claudeCodeAttachment } from "../../../src/server/attach/claude-code/attachment.ts";
import { UsageError } from "../../../src/server/usage-error.ts";

let folder: string;
let file: string;
let attachment: AgentAttachment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "attach-"));
  mkdirSync(join(folder, "claude"));
  file = join(folder, "claude/settings.json");
  attachment = claudeCodeAttachment({ data_dir: join(folder, "data"), config_dir: join(folder, "claude") });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const settings = () => JSON.parse(readFileSync(file, "utf8"));

describe.each([
  ["none", undefined],
  ["an empty one", ""],
  ["one with four blanks", '{\n    "theme": "dark",\n    "hooks": {}\n}\n'],
  ["one with tabs and without a last line feed", '{\n\t"permissions": { "allow": ["Read"] }\n}'],
  ["one on one line", '{"theme":"dark"}'],
  [
    "one with hooks of its own",
    '{\r\n  "hooks": {\r\n    "PermissionRequest": [\r\n      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine" }] }\r\n    ],\r\n    "Stop": []\r\n  }\r\n}\r\n',
  ],
])("a settings file: %s", (_name, text) => {
  beforeEach(() => {
    if (text !== undefined) writeFileSync(file, text, { mode: 0o640 });
  });

  it("gets the hook in addition to its content, and is restored byte for byte", () => {
    const before = text?.trim() ? JSON.parse(text) : {};
    expect(attachment.describe()).toMatchObject({ is_installed: false });
    attachment.install();
    expect(attachment.describe()).toMatchObject({ is_installed: true });
    const { hooks, ...others } = settings();
    const { hooks: own_hooks, ...own } = before;
    expect(others).toEqual(own);
    const { PermissionRequest, Elicitation, MessageDisplay, ...other_events } = hooks;
    expect(other_events).toEqual(
      Object.fromEntries(Object.entries(own_hooks ?? {}).filter(([name]) => name !== "PermissionRequest")),
    );
    expect(PermissionRequest.slice(0, -1)).toEqual(own_hooks?.PermissionRequest ?? []);
    expect(PermissionRequest.at(-1).hooks[0]).toMatchObject({ type: "command", timeout: 3_600 });
    expect(Elicitation[0].hooks[0]).toMatchObject({ type: "command", timeout: 30 });
    expect(MessageDisplay[0].hooks[0]).toMatchObject({ type: "command", async: true });
    if (text !== undefined) expect(statSync(file).mode & 0o777).toBe(0o640);
    attachment.remove();
    if (text === undefined) expect(existsSync(file)).toBe(false);
    else expect(readFileSync(file, "utf8")).toBe(text);
    expect(attachment.describe()).toMatchObject({ is_installed: false });
  });

  it("keeps what the agent wrote to it in the meantime", () => {
    attachment.install();
    writeFileSync(file, JSON.stringify({ ...settings(), model: "opus" }, null, 2));
    attachment.remove();
    const before = text?.trim() ? JSON.parse(text) : {};
    const { hooks: _, ...others } = settings();
    const { hooks: own_hooks, ...own } = before;
    expect(others).toEqual({ ...own, model: "opus" });
    expect(settings().hooks?.PermissionRequest).toEqual(own_hooks?.PermissionRequest);
  });

  it("is described with the planned change before it is changed", () => {
    const { diff } = attachment.describe();
    const added = diff.split("\n").filter((line) => line.startsWith("+"));
    expect(added.join("\n")).toContain("claude-code-hook.mjs");
    if (text !== undefined) expect(readFileSync(file, "utf8")).toBe(text);
  });
});

it("that cannot be read is named with a remedy, and nothing is changed", () => {
  mkdirSync(file);
  const problem = expect.stringMatching(/settings\.json could not be read: EISDIR.*Check that it is a file/);
  expect(attachment.describe()).toMatchObject({ is_installed: false, diff: "", problem });
  expect(() => attachment.isInstalled()).toThrow(UsageError);
  expect(() => attachment.install()).toThrow(UsageError);
});

it.each(["codex", "opencode"])("of %s that cannot be read is named with a remedy", (agent) => {
  const data_dir = join(folder, "data");
  const of = agentAttachments(data_dir, {
    claude_code: join(folder, "claude"),
    codex: join(folder, "codex"),
    opencode: join(folder, "opencode"),
    hooked: {},
  }).get(agent);
  const marker =
    agent === "codex" ? join(data_dir, "attach/codex.json") : join(folder, "opencode/plugin/verbatim.js");
  mkdirSync(dirname(marker), { recursive: true });
  symlinkSync(marker, marker);
  expect(of?.describe()).toMatchObject({
    is_installed: false,
    problem: expect.stringContaining(`${marker} could not be read: ELOOP`),
  });
  expect(() => of?.isInstalled()).toThrow("Check that it is a file");
});

it("gets the hook once, even if it is installed repeatedly", () => {
  attachment.install();
  const once = readFileSync(file, "utf8");
  attachment.install();
  expect(readFileSync(file, "utf8")).toBe(once);
});

it("of an earlier version gets no second hook, and is removed", () => {
  attachment.install();
  const { PermissionRequest } = settings().hooks;
  writeFileSync(file, JSON.stringify({ hooks: { PermissionRequest } }));
  expect(attachment.describe()).toMatchObject({ is_installed: true });
  attachment.install();
  expect(Object.keys(settings().hooks)).toEqual(["PermissionRequest"]);
  attachment.remove();
  expect(settings()).toEqual({});
});

it("stays a symbolic link", () => {
  writeFileSync(join(folder, "dotfile.json"), "{}\n");
  symlinkSync(join(folder, "dotfile.json"), file);
  attachment.install();
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, "dotfile.json"), "utf8")).toContain("PermissionRequest");
});

it.each([
  "{ broken",
  "[]",
  '{"hooks": []}',
  '{"hooks": {"MessageDisplay": {}}}',
  '{"hooks": {"PermissionRequest": {}}}',
])("does not change a file that is not a settings file: %s", (text) => {
  writeFileSync(file, text);
  expect(() => attachment.install()).toThrow("Fix it first");
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(attachment.describe()).toMatchObject({ is_installed: false, problem: expect.any(String) });
});

it("reports a data folder whose path is too long for a socket", () => {
  const config_dir = join(folder, "claude");
  const long = claudeCodeAttachment({ data_dir: join(folder, "x".repeat(100)), config_dir });
  expect(long.describe().problem).toContain("--data-dir");
  expect(() => long.install()).toThrow("too long for a socket");
});
