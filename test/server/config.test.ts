import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig, readKeys } from "../../src/server/config.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (value: unknown) =>
  writeFileSync(join(folder, "config.json"), typeof value === "string" ? value : JSON.stringify(value));
const noticesText = () =>
  readConfig(folder)
    .notices.map(({ text }) => text.replace(`${folder}/config.json: `, ""))
    .join("\n");

describe("config.json", () => {
  it("configures nothing if it is missing", () => {
    const config = readConfig(folder);
    expect(config.notices).toEqual([]);
    expect(config.rules).toEqual([]);
    expect(config.agents.size).toBe(0);
  });

  it("reports an invalid field and uses the rest", () => {
    write({
      providers: {
        mine: { wire: "telegraph", base_url: "http://127.0.0.1:1234/v1" },
        deepseek: { base_url: "https://proxy.example/deepseek" },
      },
      agents: { good: { command: "good-agent", args: ["acp"] }, bad: { args: ["acp"] }, "no name": {} },
      mcp_servers: {
        files: { command: "files" },
        web: { type: "http", url: "https://mcp.example/", headers: { authorization: "Bearer x" } },
        typed: { comand: "files" },
        old: { type: "sse", url: "https://mcp.example/" },
        number: { url: "https://mcp.example/", headers: { retries: 3 } },
      },
      rules: [{ tool: "shell", pattern: "git status*", decision: "allow" }],
      answer_within_minutes: 30,
      prices: [
        { model: "qwen3-coder", from: "2026-05-01", input: 0.3, output: 1.2, cache_read: 0.03 },
        { model: "dear", input: 1, output: 2, long: { above: 200_000, input: 2, output: 3 } },
        { model: "undated", from: "last week", input: 1, output: 1 },
        { model: "half", input: 1 },
      ],
      colour: "blue",
    });
    const config = readConfig(folder);
    expect([...config.providers.keys()]).toEqual(["deepseek"]);
    expect([...config.agents]).toEqual([["good", { command: "good-agent", args: ["acp"], env: {} }]]);
    expect([...config.mcp_servers.keys()]).toEqual(["files", "web"]);
    expect(config.rules).toHaveLength(1);
    expect(config.answer_within_minutes).toBe(30);
    expect(config.prices.map(({ model }) => model)).toEqual(["qwen3-coder", "dear"]);
    for (const field of [
      ...["colour", "providers.mine.wire", "agents.bad.command", "agents.no name"],
      ...["mcp_servers.typed.command", "mcp_servers.old.type", "mcp_servers.number.headers.retries"],
      ...["prices.2.from", "prices.3.output"],
    ]) {
      expect(noticesText()).toContain(`${field}: `);
    }
    expect(noticesText()).toContain('mcp_servers.typed: Unrecognized key: "comand"');
    expect(config.notices).toHaveLength(10);
  });

  it("rejects an agent with a provider's name", () => {
    const one = { command: "some-agent" };
    write({
      providers: { mine: { base_url: "http://127.0.0.1:1234/v1" }, scripted: {} },
      agents: { anthropic: one, mine: one, scripted: one, other: one },
    });
    const config = readConfig(folder);
    expect([...config.agents.keys()]).toEqual(["other"]);
    expect([...config.providers.keys()]).toEqual(["mine"]);
    for (const field of ["agents.anthropic", "agents.mine", "agents.scripted", "providers.scripted"]) {
      expect(noticesText()).toContain(`${field}: a provider already has this name. Choose another one`);
    }
  });

  it("allows nothing if its rules are invalid", () => {
    write({ rules: [{ tool: "shell", decision: "perhaps" }] });
    expect(readConfig(folder).rules).toBeUndefined();
    expect(noticesText()).toContain("rules.0.decision: ");
    write({ rules: [{ tool: "shell", patern: "git status*", decision: "allow" }] });
    expect(readConfig(folder).rules).toBeUndefined();
    expect(noticesText()).toMatch(/rules\.0: .*patern/);
    write({ rules: null });
    expect(readConfig(folder).rules).toBeUndefined();
    expect(noticesText()).toContain("rules: ");
    write("{");
    expect(readConfig(folder).rules).toBeUndefined();
    expect(noticesText()).toContain("invalid JSON");
    write("[]");
    expect(noticesText()).toContain("not a JSON object");
  });
});

describe("keys.json", () => {
  const file = () => join(folder, "keys.json");

  it("contains keys by provider, and reports invalid ones", () => {
    expect(readKeys(folder)).toEqual({ keys: new Map(), notices: [] });
    writeFileSync(file(), '{"anthropic": " sk-1 ", "openai": 7}', { mode: 0o600 });
    const { keys, notices } = readKeys(folder);
    expect([...keys]).toEqual([["anthropic", "sk-1"]]);
    expect(notices[0]?.text).toContain("openai");
  });

  it.skipIf(process.platform === "win32")(
    "is rejected if other users can read it, without quoting it",
    () => {
      writeFileSync(file(), '{"anthropic": "sk-secret"}');
      chmodSync(file(), 0o640);
      expect(readKeys(folder).keys.size).toBe(0);
      expect(readKeys(folder).notices[0]?.remedy).toContain("chmod 600");
      writeFileSync(file(), '{"anthropic": "sk-secret"');
      chmodSync(file(), 0o600);
      const { keys, notices } = readKeys(folder);
      expect(keys.size).toBe(0);
      expect(JSON.stringify(notices)).not.toContain("sk-secret");
    },
  );
});
