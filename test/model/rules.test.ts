import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { createEvaluator, firingOfRow } from "../../src/model/rules/evaluate.ts";
import { parseRule, type Rule, type RuleCondition } from "../../src/model/rules/rule.ts";
import { unwatched, watchFrame } from "../../src/model/rules/watch-frames.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { emptySummary } from "../../src/model/transcript/summarize.ts";
import { uuidOf } from "../uuid-of.ts";

const TIDES = uuidOf("tides");
const NOW = Date.parse("2026-11-27T06:00:00Z");
const MINUTE = 60_000;

const row = (more: Partial<SessionSummary> = {}): SessionSummary => ({
  ...emptySummary(TIDES, "codex", NOW),
  status: "running",
  cwd: "/home/ada/tides",
  turns: 1,
  ...more,
});
const ruleOf = (when: RuleCondition, more: Partial<Rule> = {}): Rule => ({
  id: uuidOf("rule"),
  name: "A rule",
  is_on: true,
  when,
  changed_at: NOW - 1,
  ...more,
});
const event = (query: string, more: Partial<Rule> = {}) => ruleOf({ type: "event", query }, more);
const common = { session_id: TIDES, at: NOW };

const say = (name: string, ...words: string[]): Frame[] => [
  { ...common, type: "message.part_start", part_id: uuidOf(name), kind: "text" },
  ...words.map((text): Frame => ({ ...common, type: "message.delta", kind: "text", text })),
  { ...common, type: "message.part_end", part_id: uuidOf(name), text: words.join("") },
];
const call = (name: string, command: string): Frame => ({
  ...common,
  type: "message.tool_call",
  tool_call_id: name,
  part_id: uuidOf(name),
  tool_name: "Bash",
  arguments_json: JSON.stringify({ command }),
});
const result = (name: string, output_text: string, is_error = false): Frame => ({
  ...common,
  type: "message.tool_result",
  tool_call_id: name,
  part_id: uuidOf(`result of ${name}`),
  is_error,
  status: is_error ? "error" : "success",
  output_text,
  parts: [],
});
const turn = (name: string): Frame => ({ ...common, type: "turn.start", turn_id: uuidOf(name) });
const step = (name: string): Frame => ({ ...common, type: "message.start", message_id: uuidOf(name) });

/** The ids of the parts that a rule matches, in order of matching. */
function fired(rule: Rule, frames: readonly Frame[]): (string | undefined)[] {
  const evaluator = createEvaluator(rule);
  let watched = unwatched(TIDES);
  return frames.flatMap((frame) => {
    const recorded = watchFrame(watched, frame);
    watched = recorded.watched;
    const partAt = (index: number) => watched.transcript.parts.at(index);
    return recorded.parts.flatMap((part) => evaluator.ofPart({ part, at: frame.at, partAt })?.part_id ?? []);
  });
}

describe("an event rule", () => {
  it("matches a text once, when it is complete", () => {
    const frames = [turn("one"), step("a"), ...say("text", "The disk ", "is full", "."), call("ls", "ls")];
    expect(fired(event('"disk is full"'), frames)).toEqual([uuidOf("text")]);
    expect(fired(event("kind:thought disk"), frames)).toEqual([]);
  });

  it("matches calls by kind, tool and words, and their ends", () => {
    const frames = [
      turn("one"),
      step("a"),
      call("rm", "rm -rf build"),
      call("ls", "ls"),
      result("ls", "build"),
      result("rm", "rm: no such file", true),
    ];
    expect([...new Set(fired(event("kind:call tool:bash rm"), frames))]).toEqual([uuidOf("rm")]);
    expect(fired(event("kind:call status:failed"), frames)).toEqual([uuidOf("rm")]);
    // A result has the tool of its call.
    expect(fired(event('kind:output tool:Bash "no such file"'), frames)).toEqual([uuidOf("result of rm")]);
    expect(fired(event("kind:output -status:failed"), frames)).toEqual([uuidOf("result of ls")]);
    expect(fired(event("/RM: .*file/"), frames)).toEqual([uuidOf("result of rm")]);
  });

  it("does not match earlier records", () => {
    const frames = [turn("one"), step("a"), call("rm", "rm -rf build")];
    expect(fired(event("kind:call", { changed_at: NOW + 1 }), frames)).toEqual([]);
  });

  it("needs memory and time only for the current turn, however long the session", () => {
    let watched = unwatched(TIDES);
    for (let number = 0; number < 50; number++) {
      const name = `turn ${number}`;
      for (const frame of [
        turn(name),
        step(name),
        ...say(`text ${number}`, "words"),
        { ...common, type: "turn.end", status: "completed" } satisfies Frame,
      ])
        watched = watchFrame(watched, frame).watched;
      expect(watched.transcript.turns.length).toBe(1);
    }
  });
});

describe("rules of a row", () => {
  const firing = (when: RuleCondition, of: SessionSummary, now = NOW, from = 0) =>
    firingOfRow(when, of, now, from)?.key;

  it("silence: a turn runs and nothing was recorded for the given time, unless it waits for a person", () => {
    const when: RuleCondition = { type: "silence", minutes: 10 };
    const silent = row({ last_activity_at: NOW - 10 * MINUTE });
    expect(firing(when, silent)).toBe(`silence ${NOW - 10 * MINUTE}`);
    expect(firing(when, silent, NOW - 1)).toBeUndefined();
    expect(firing(when, { ...silent, status: "completed" })).toBeUndefined();
    expect(firing(when, { ...silent, waiting: {} })).toBeUndefined();
    // Another silence is another reason.
    expect(firing(when, silent)).not.toBe(firing(when, row({ last_activity_at: NOW - 11 * MINUTE })));
  });

  it("budget of a session: tokens including cached ones, or the greater of the known costs", () => {
    const tokens: RuleCondition = { type: "budget", of: "session", measure: "tokens", above: 100 };
    const cost: RuleCondition = { ...tokens, measure: "cost", above: 2 };
    const spent = (usage: SessionSummary["usage"]) => row(usage && { usage });
    expect(firing(tokens, spent({ input: 50, output: 40, cache_read: 11 }))).toBe("budget");
    expect(firing(tokens, spent({ input: 50, output: 40, cache_read: 10 }))).toBeUndefined();
    expect(firing(tokens, spent(undefined))).toBeUndefined();
    expect(firing(cost, spent({ input: 1, output: 1, cost: 2.5 }))).toBe("budget");
    expect(firing(cost, { ...spent({ input: 1, output: 1 }), agent_cost: { usd: 3 } })).toBe("budget");
    expect(firing(cost, spent({ input: 1, output: 1 }))).toBeUndefined();
    // Usage before the rule was added does not count.
    expect(firing(tokens, spent({ input: 500, output: 0 }), NOW, NOW + 1)).toBeUndefined();
  });

  it("budget of a turn", () => {
    const rule = ruleOf({ type: "budget", of: "turn", measure: "tokens", above: 100 });
    const end = (name: string, input: number): Frame => ({
      ...common,
      type: "message.end",
      message_id: uuidOf(name),
      stop_reason: "stop",
      usage: { input, output: 0 },
    });
    let watched = unwatched(TIDES);
    const keys = [
      ...[turn("one"), step("a"), end("a", 60), step("b"), end("b", 60)],
      ...[
        { ...common, type: "turn.end", status: "completed" } satisfies Frame,
        turn("two"),
        step("c"),
        end("c", 60),
      ],
    ].map((frame) => {
      const recorded = watchFrame(watched, frame);
      watched = recorded.watched;
      return recorded.turn && createEvaluator(rule).ofTurn(recorded.turn)?.key;
    });
    expect(keys.filter((key) => key !== undefined)).toEqual(
      Array.from({ length: 2 }, () => `turn ${uuidOf("one")}`),
    );
  });

  it("status: ends after the rule was added, and waits that last long enough", () => {
    const failed: RuleCondition = { type: "status", status: "failed" };
    expect(firing(failed, row({ status: "failed", turns: 3 }))).toBe("failed 3");
    expect(firing(failed, row({ status: "failed" }), NOW, NOW + 1)).toBeUndefined();
    expect(firing(failed, row({ status: "interrupted" }))).toBeUndefined();
    const waits: RuleCondition = { type: "status", status: "waiting", minutes: 5 };
    const asked = row({
      requests: [{ request_id: uuidOf("request"), kind: "approval", title: "rm?", asked_at: NOW }],
    });
    expect(firing(waits, asked, NOW + 4 * MINUTE)).toBeUndefined();
    expect(firingOfRow(waits, asked, NOW + 5 * MINUTE, 0)).toMatchObject({
      part_id: uuidOf("request"),
      text: "rm?",
    });
  });

  it("match sessions in their scope; ends and silences of sub-agents count for their parents", () => {
    const inScope = (rule: Rule, of: SessionSummary) => createEvaluator(rule).isInScope(of);
    const silence: RuleCondition = { type: "silence", minutes: 1 };
    expect(inScope(ruleOf(silence, { scope: "project:tides agent:codex" }), row())).toBe(true);
    expect(inScope(ruleOf(silence, { scope: "-project:tides" }), row())).toBe(false);
    expect(inScope(event("agent:pi kind:call"), row())).toBe(false);
    expect(inScope(ruleOf(silence), row({ sample: true }))).toBe(false);
    const run = row({ parent: { session_id: uuidOf("parent") } });
    expect(inScope(ruleOf(silence), run)).toBe(false);
    expect(inScope(event("kind:call"), run)).toBe(true);
    expect(inScope(event("is:mine"), run)).toBe(false);
  });
});

describe("an invalid rule is refused with a reason", () => {
  it.each([
    ["", undefined, /query is empty/],
    ["kind:calls", undefined, /kind:calls is unknown/],
    ["/[/", undefined, /is not a regular expression/],
    ["after:7d x", undefined, /query cannot have after: or before:/],
    ["has:note", undefined, /cannot ask for notes/],
    ["kind:note", undefined, /cannot ask for notes/],
    ["x", "words", /can only be chosen by the filters/],
    ["x", "kind:call", /can only be chosen by the filters/],
    ["x", "is:ours", /is:ours is unknown/],
  ])("%s in %s", (query, scope, message) => {
    const when: RuleCondition = { type: "event", query };
    expect(() => parseRule({ when, ...(scope !== undefined && { scope }) })).toThrow(message);
  });
});
