import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { StoredAlert } from "../../src/model/rules/alert.ts";
import type { Rule, RuleBody, RuleCondition } from "../../src/model/rules/rule.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { type Rules, withRules } from "../../src/server/sessions/rules.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { openRuleStore } from "../../src/store/rules/sqlite.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions, type MemorySessions } from "./memory-sessions.ts";
import { storedIn } from "./stored-in.ts";

const TIDES = uuidOf("tides");
const RULE = uuidOf("rule");
const MINUTE = 60_000;

let folder: string;
let clock: number;
const now = () => clock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-rules-"));
  clock = Date.parse("2026-11-27T06:00:00Z");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const body = (when: RuleCondition, more: Partial<RuleBody> = {}): RuleBody => ({
  name: "A rule",
  is_on: true,
  when,
  ...more,
});
const event = (query: string, more: Partial<RuleBody> = {}) => body({ type: "event", query }, more);

describe("the rule store", () => {
  const rule = (name: string, more: Partial<Rule> = {}): Rule => ({
    ...event("kind:call", { name }),
    id: uuidOf(name),
    changed_at: clock,
    ...more,
  });
  const alert = (name: string, session_id: string, more: Partial<StoredAlert> = {}): StoredAlert => ({
    rule_id: uuidOf(name),
    session_id,
    key: "key",
    since: 1,
    at: 2,
    count: 3,
    is_done: false,
    ...more,
  });
  function open(read_only = false) {
    const opened = openRuleStore({ folder, now, read_only });
    if (!opened.store) throw new Error("The store did not open");
    return { ...opened, store: opened.store };
  }

  it("returns rules sorted by name with their alerts, and deletes a rule's alerts with the rule", () => {
    const first = open().store;
    for (const name of ["beta", "alpha", "gamma"]) {
      first.putRule(rule(name), false);
      first.putAlerts([alert(name, TIDES), alert(name, uuidOf("moon"))], []);
    }
    first.putRule(rule("beta", { is_on: false }), true);
    first.removeRule(uuidOf("gamma"));
    first.putAlerts([alert("alpha", TIDES, { is_done: true })], [alert("alpha", uuidOf("moon"))]);
    first.close();
    const again = open().store;
    expect(again.load()).toEqual({
      rules: [rule("alpha"), rule("beta", { is_on: false })],
      alerts: [alert("alpha", TIDES, { is_done: true })],
    });
    again.close();
  });

  it("is read by a second daemon, and quarantined if damaged", () => {
    const first = open();
    first.store.putRule(rule("alpha"), false);
    const second = open();
    expect(second.store.load().rules).toEqual([rule("alpha")]);
    expect(() => second.store.putRule(rule("beta"), false)).toThrow();
    expect(second.notices[0]?.text).toContain("Rules cannot be changed here.");
    second.store.close();
    first.store.close();
    writeFileSync(join(folder, "rules.db"), "not a database");
    const again = open();
    expect(again.store.load().rules).toEqual([]);
    expect(again.notices[0]?.remedy).toBe("Earlier rules are only in the quarantined file.");
    expect(readdirSync(folder).some((name) => name.startsWith("rules.db.broken-"))).toBe(true);
    again.store.close();
  });
});

describe("rules over sessions", () => {
  let memory: MemorySessions;
  /** Overrides for fields of the rows. */
  let facts: Record<string, Partial<SessionSummary>>;
  let opened: { sessions: Sessions; rules: Rules; close(): Promise<void> } | undefined;
  let errors: unknown[];
  beforeEach(() => {
    facts = {};
    errors = [];
    memory = createMemorySessions();
    const { list, get, subscribe } = memory;
    const full = (row: SessionSummary): SessionSummary => ({
      ...row,
      last_activity_at: clock,
      ...facts[row.id],
    });
    Object.assign(memory, {
      list: () => list().map(full),
      get: (id: string) => {
        const row = get(id);
        return row && full(row);
      },
      subscribe: (listener: Parameters<typeof subscribe>[0]) =>
        subscribe((change) => listener({ ...change, changed: change.changed.map(full) })),
    });
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
    expect(errors).toEqual([]);
  });

  async function start(): Promise<{ sessions: Sessions; rules: Rules }> {
    await opened?.close();
    const { store } = openRuleStore({ folder, now, read_only: false });
    if (!store) throw new Error("The store did not open");
    const ruled = withRules({
      sessions: memory,
      kept: store.load(),
      store,
      now,
      report: (error) => errors.push(error),
      tick: 5,
    });
    opened = {
      ...ruled,
      async close() {
        await ruled.sessions.close();
        store.close();
      },
    };
    return ruled;
  }

  let calls = 0;
  function call(command: string, output?: { text: string; is_error: boolean }): Frame[] {
    calls += 1;
    const common = { session_id: TIDES, at: clock };
    const id = `call ${calls}`;
    return [
      { ...common, type: "message.start", message_id: uuidOf(`message ${calls}`) },
      {
        ...common,
        type: "message.tool_call",
        tool_call_id: id,
        part_id: uuidOf(id),
        tool_name: "Bash",
        arguments_json: JSON.stringify({ command }),
      },
      ...(output === undefined
        ? []
        : [
            {
              ...common,
              type: "message.tool_result",
              tool_call_id: id,
              part_id: uuidOf(`result ${calls}`),
              is_error: output.is_error,
              status: output.is_error ? "error" : "success",
              output_text: output.text,
              parts: [],
            } satisfies Frame,
          ]),
      { ...common, type: "message.end", message_id: uuidOf(`message ${calls}`), stop_reason: "tool_use" },
    ];
  }
  const alertsOf = (id = TIDES) => opened?.sessions.get(id)?.alerts;

  it("add an alert with the matching part, count further matches, and start a new alert after dismissal", async () => {
    const { rules, sessions } = await start();
    memory.add(TIDES, call("rm -rf build"));
    rules.put(RULE, event('kind:call tool:Bash "rm -rf"', { name: "Deletes" }));
    const published: (SessionSummary | undefined)[] = [];
    sessions.subscribe(({ changed }) => published.push(...changed));
    clock += 1_000;
    memory.push(TIDES, [...call("ls"), ...call("rm -rf dist")]);
    const part_id = uuidOf(`call ${calls}`);
    expect(alertsOf()).toMatchObject([{ rule_id: RULE, name: "Deletes", count: 1, part_id, since: clock }]);
    expect(alertsOf()?.[0]?.text).toContain("rm -rf dist");
    await eventually(() => expect(published.at(-1)?.alerts).toHaveLength(1));
    const since = clock;
    clock += 1_000;
    memory.push(TIDES, call("rm -rf out"));
    expect(alertsOf()).toMatchObject([{ count: 2, since, at: clock }]);
    rules.done(RULE, TIDES);
    expect(alertsOf()).toBeUndefined();
    clock += 1_000;
    memory.push(TIDES, call("rm -rf tmp"));
    expect(alertsOf()).toMatchObject([{ count: 1, since: clock }]);
  });

  it("count a call once, when it is made, not when it or a concurrent call ends", async () => {
    const { rules } = await start();
    memory.add(TIDES);
    rules.put(RULE, event("kind:call rm"));
    clock += 1;
    memory.push(TIDES, [...call("rm a"), ...call("rm b")]);
    for (const number of [calls - 1, calls])
      memory.push(TIDES, [
        {
          session_id: TIDES,
          at: clock,
          type: "message.tool_result",
          tool_call_id: `call ${number}`,
          part_id: uuidOf(`result ${number}`),
          is_error: false,
          status: "success",
          output_text: "",
          parts: [],
        },
      ]);
    expect(alertsOf()).toMatchObject([{ count: 2 }]);
  });

  it("do not repeat alerts when a session is read again, in the same daemon or after a restart", async () => {
    const { rules } = await start();
    rules.put(RULE, event("kind:output status:failed"));
    clock += 1;
    const frames = [
      ...call("make", { text: "no rule", is_error: true }),
      ...call("ls", { text: "a", is_error: false }),
    ];
    memory.add(TIDES, frames);
    expect(alertsOf()).toMatchObject([{ count: 1 }]);
    memory.rewrite(TIDES, frames);
    expect(alertsOf()).toMatchObject([{ count: 1 }]);
    rules.done(RULE, TIDES);
    await start();
    memory.rewrite(TIDES, frames);
    expect(alertsOf()).toBeUndefined();
    clock += 1_000;
    memory.push(TIDES, call("make", { text: "no rule", is_error: true }));
    expect(alertsOf()).toMatchObject([{ count: 1 }]);
    await start();
    expect(alertsOf()).toMatchObject([{ count: 1 }]);
  });

  it("add silence and waiting alerts after a delay, and clear them when the condition ends", async () => {
    const { rules } = await start();
    memory.add(TIDES);
    const active = clock;
    facts[TIDES] = { status: "running", last_activity_at: active };
    rules.put(RULE, body({ type: "silence", minutes: 10 }, { name: "Stuck" }));
    rules.put(uuidOf("waits"), body({ type: "status", status: "waiting", minutes: 5 }));
    expect(alertsOf()).toBeUndefined();
    clock += 10 * MINUTE;
    await eventually(() => expect(alertsOf()).toMatchObject([{ name: "Stuck", since: active }]));
    facts[TIDES] = { status: "running", last_activity_at: clock };
    memory.push(TIDES, []);
    expect(alertsOf()).toBeUndefined();
    const requests = [
      { request_id: uuidOf("ask"), kind: "approval" as const, title: "rm?", asked_at: clock },
    ];
    facts[TIDES] = { status: "running", last_activity_at: clock, requests };
    memory.push(TIDES, []);
    clock += 30 * MINUTE;
    await eventually(() => expect(alertsOf()).toMatchObject([{ rule_id: uuidOf("waits"), text: "rm?" }]));
    facts[TIDES] = { status: "completed", last_activity_at: clock };
    memory.push(TIDES, []);
    expect(alertsOf()).toBeUndefined();
  });

  it("alert once per exceeded budget and once per failed turn", async () => {
    const { rules } = await start();
    memory.add(TIDES);
    rules.put(RULE, body({ type: "budget", of: "session", measure: "tokens", above: 100 }));
    rules.put(uuidOf("failed"), body({ type: "status", status: "failed" }, { name: "Broken" }));
    clock += 1;
    facts[TIDES] = { usage: { input: 101, output: 0 }, status: "failed", turns: 1 };
    memory.push(TIDES, []);
    expect(alertsOf()?.map(({ count, text }) => [count, text])).toEqual([
      [1, "101 tokens"],
      [1, undefined],
    ]);
    rules.done(RULE, TIDES);
    clock += 1;
    facts[TIDES] = { usage: { input: 200, output: 0 }, status: "failed", turns: 2 };
    memory.push(TIDES, []);
    expect(alertsOf()).toMatchObject([{ name: "Broken", count: 2 }]);
  });

  it("clear alerts when a rule is disabled, changed or deleted, but not when it is renamed", async () => {
    const { rules } = await start();
    memory.add(TIDES);
    const fire = () => {
      clock += 1;
      memory.push(TIDES, call("rm"));
      return alertsOf();
    };
    rules.put(RULE, event("kind:call"));
    expect(fire()).toHaveLength(1);
    rules.put(RULE, event("kind:call", { name: "Another name" }));
    expect(alertsOf()).toMatchObject([{ name: "Another name" }]);
    rules.put(RULE, event("kind:call", { is_on: false }));
    expect(alertsOf()).toBeUndefined();
    expect(fire()).toBeUndefined();
    rules.put(RULE, event("kind:call"));
    expect(alertsOf()).toBeUndefined();
    expect(fire()).toHaveLength(1);
    rules.put(RULE, event("kind:output"));
    expect(alertsOf()).toBeUndefined();
    rules.remove(RULE);
    rules.remove(RULE);
    expect(fire()).toBeUndefined();
    expect(rules.list()).toEqual([]);
  });

  it("disable a rule whose expression times out, with the reason, and keep evaluating the others", async () => {
    const { rules } = await start();
    memory.add(TIDES);
    rules.put(RULE, event("/^(\\w+\\s?)*$/"));
    rules.put(uuidOf("other"), event("kind:output", { name: "Other" }));
    clock += 1;
    const text = `${"many words ".repeat(20)}!`;
    memory.push(TIDES, [...call("ls", { text, is_error: false }), ...call("ls", { text, is_error: false })]);
    expect(rules.list()).toMatchObject([
      { id: RULE, is_on: false, problem: /took longer than 100 ms/ },
      { name: "Other", is_on: true },
    ]);
    expect(alertsOf()).toMatchObject([{ name: "Other", count: 2 }]);
    expect((await start()).rules.list()[0]).toMatchObject({ is_on: false, problem: /Use a simpler one/ });
    expect(opened?.rules.put(RULE, event("/words/"))).not.toHaveProperty("problem");
  });

  it("are added, listed and validated over HTTP, and survive a restart", async () => {
    const { sessions, rules } = await start();
    const access = newAccess();
    const origin = "http://127.0.0.1:1";
    const guard = createGuard({ access, origins: [origin] });
    const app = createApp({ sessions, rules, guard, version: "1.0.0" });
    const ask = async (path: string, given?: unknown) => {
      const reply = await app.request(`${origin}/api/rules${path}`, {
        headers: {
          authorization: `Bearer ${access.api_token}`,
          host: "127.0.0.1:1",
          "content-type": "application/json",
        },
        ...(given !== undefined && { method: "POST", body: JSON.stringify(given) }),
      });
      return { status: reply.status, body: await reply.json() };
    };
    const added = await ask(`/${RULE}`, event("kind:call"));
    expect(added).toEqual({
      status: 200,
      body: { rule: { ...event("kind:call"), id: RULE, changed_at: clock } },
    });
    clock += 1;
    // Sent again after a lost reply.
    expect(await ask(`/${RULE}`, event("kind:call"))).toEqual(added);
    const refusals = [
      [`/${RULE}`, event("kind:calls"), /kind:calls is unknown/],
      [`/${RULE}`, event(""), /query is empty/],
      [`/${RULE}`, event("x", { name: " " }), /`name`/],
      [`/${RULE}`, body({ type: "silence", minutes: 0 }), /`when.minutes`/],
      [`/${RULE}`, { ...event("x"), when: { type: "moon" } }, /`when.type`/],
      ["/no-id", event("x"), /UUID/],
    ] as const;
    for (const [path, given, message] of refusals)
      expect(await ask(path, given)).toMatchObject({ status: 400, body: { error: { message } } });
    expect(await ask("")).toEqual({ status: 200, body: { rules: [added.body.rule] } });
    expect(opened?.rules.list()).toEqual((await start()).rules.list());
    expect(opened?.rules.list()).toHaveLength(1);
  });

  it("stay unchanged if the store rejects the write", () => {
    const fail = () => {
      throw new Error("The disk is full");
    };
    const kept = { rules: [], alerts: [] };
    const store = { putRule: fail, removeRule: fail, putAlerts: fail };
    const full = withRules({ sessions: memory, kept, store, now, report() {} });
    expect(() => full.rules.put(RULE, event("kind:call"))).toThrow("The disk is full");
    expect(full.rules.list()).toEqual([]);
    const without = withRules({ sessions: memory, kept, now, report() {} });
    expect(() => without.rules.put(RULE, event("kind:call"))).toThrow("Rules cannot be changed");
  });
});

describe("rules over files", () => {
  it("match each record appended to a long file once, even if a viewer causes a full read", async () => {
    const { session_id, lines } = generateClaudeSession({ parts: 2_000, turns: 10, seed: 5 });
    const projects = join(folder, "projects/-home-ada-rules");
    mkdirSync(projects, { recursive: true });
    const path = join(projects, `${session_id}.jsonl`);
    writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
    expect(statSync(path).size).toBeGreaterThan(512 * 1024);
    const { message, ...last } = JSON.parse(lines.at(-1) ?? "{}");
    let written = 0;
    const append = (words: string) => {
      written += 1;
      const answer = {
        ...last,
        uuid: `dddddddd-0000-4000-8000-${String(written).padStart(12, "0")}`,
        timestamp: new Date().toISOString(),
        message: {
          ...message,
          id: `msg_rule_${written}`,
          usage: { input_tokens: 1_000, output_tokens: 0 },
          content: [{ type: "text", text: words }],
        },
      };
      appendFileSync(path, `${JSON.stringify(answer)}\n`);
    };
    const files = createSessions({
      formats,
      roots: [],
      paths: [join(folder, "projects")],
      ...storedIn(join(folder, "data")),
      timing: { hot: 20, list: 20, last_line: 20, publish: 5, tick: 50, persist: 50 },
    });
    const store = { putRule() {}, removeRule() {}, putAlerts() {} };
    const kept = { rules: [], alerts: [] };
    const { sessions, rules } = withRules({
      sessions: files,
      kept,
      store,
      now: Date.now,
      report: expect.fail,
    });
    try {
      await eventually(() => expect(sessions.status().index.done).toBe(true));
      await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(1_000));
      rules.put(RULE, event('"no space left"'));
      rules.put(uuidOf("turn"), body({ type: "budget", of: "turn", measure: "tokens", above: 2_500 }));
      const alerts = () =>
        new Map(sessions.get(session_id)?.alerts?.map(({ rule_id, count }) => [rule_id, count]));
      append("There is no space left.");
      await eventually(() => expect(alerts().get(RULE)).toBe(1));
      append("Still no space left.");
      await eventually(() => expect(alerts().get(RULE)).toBe(2));
      // A new viewer causes a full read of the file.
      const open = await sessions.open(session_id);
      expect(open?.transcript.parts.length).toBeGreaterThan(1_000);
      expect(alerts()).toEqual(new Map([[RULE, 2]]));
      append("And no space left.");
      await eventually(() =>
        expect(alerts()).toEqual(
          new Map([
            [RULE, 3],
            [uuidOf("turn"), 1],
          ]),
        ),
      );
    } finally {
      await sessions.close();
    }
  });
});
