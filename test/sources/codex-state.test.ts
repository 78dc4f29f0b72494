import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_CHECKPOINT } from "../../src/sources/checkpoint.ts";
import { codex } from "../../src/sources/codex/format.ts";
import type { Reader, ReadRecord } from "../../src/sources/contract.ts";
import { LONG as IS_LONG } from "../long.ts";
import { sharedData } from "../shared-data.ts";
import {
  call,
  completed,
  event,
  fold,
  item,
  meta,
  output,
  partsOf,
  says,
  THREAD,
  user,
} from "./codex-support.ts";
import { lineEnds, readOn, readResumed } from "./resumed.ts";

const PATH = `rollout-2026-03-01T10-00-00-${THREAD}.jsonl`;
const encoder = new TextEncoder();
const bytesOf = (lines: readonly object[]): Uint8Array =>
  encoder.encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
const times = <Value>(count: number, make: (n: number) => Value): Value[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** Size of the reader's checkpoint in bytes of JSON; `undefined`: it makes none here. */
function stateBytes(reader: Reader): number | undefined {
  const saved = reader.checkpoint?.();
  return saved === undefined ? undefined : encoder.encode(saved.state).length;
}

/** The largest state while these lines are read, seven at a time. */
function largestState(lines: readonly object[]): number {
  const reader = codex.createReader({ path: PATH });
  let largest = 0;
  reader.push(bytesOf([meta()]));
  for (let at = 0; at < lines.length; at += 7) {
    reader.push(bytesOf(lines.slice(at, at + 7)));
    largest = Math.max(largest, stateBytes(reader) ?? Number.POSITIVE_INFINITY);
  }
  return largest;
}

const turn = (n: number) => event("task_started", { turn_id: `turn ${n}` });
const ended = (id: string, more: object = {}) =>
  event("exec_command_end", { call_id: id, command: ["ls"], exit_code: 0, ...more });
const LONG = '\u001b[31m日本\\"\n'.repeat(400);

describe("the state of a Codex session fits into a checkpoint", () => {
  it.each([
    {
      name: "calls",
      lines: times(700, (n) => [
        call("shell", { command: ["ls", LONG] }, `c${n}`),
        output(LONG, `c${n}`),
      ]).flat(),
    },
    {
      name: "calls without an output",
      lines: times(700, (n) => call("shell", { command: ["ls", String(n)] }, `c${n}`)),
    },
    {
      name: "large calls without an output",
      lines: times(300, (n) => call("shell", { command: ["ls", LONG] }, `c${n}`)),
    },
    { name: "calls with one id", lines: times(700, (n) => call("shell", { command: ["ls", String(n)] })) },
    {
      name: "calls with long ids",
      lines: times(200, (n) => [call("exec", "x", `${n}${LONG}`), output("y", `${n}${LONG}`)]).flat(),
    },
    { name: "outputs without a call", lines: times(700, (n) => output(LONG, `c${n}${LONG}`)) },
    {
      name: "commands in one code cell",
      lines: [call("exec", "x"), ...times(700, (n) => ended(`exec-${n}`, { command: ["ls", LONG] }))],
    },
    {
      name: "commands in the background",
      lines: times(600, (n) => [
        call("exec_command", { cmd: `ls ${LONG}` }, `c${n}`),
        output(`Process running with session ID ${n}\nOutput:\n`, `c${n}`),
      ]).flat(),
    },
    {
      name: "facts about one call",
      lines: [
        call("shell", { command: ["ls"] }),
        output("x"),
        ...times(700, () => ended("c", { aggregated_output: LONG })),
      ],
    },
    {
      name: "diffs of one call",
      lines: [
        call("apply_patch", "x"),
        ...times(300, (n) =>
          event("patch_apply_end", {
            call_id: "c",
            changes: { [`f${n}`]: { type: "add", content: "\n".repeat(300) } },
          }),
        ),
      ],
    },
    { name: "turns", lines: times(700, (n) => [turn(n), user(`Go ${n}`), says("Done")]).flat() },
    {
      name: "consecutive prompts",
      lines: times(600, (n) => event("user_message", { message: `${n} ${LONG}` })),
    },
    { name: "texts in one turn", lines: times(600, (n) => says(`${n} ${LONG}`)) },
    {
      name: "plans in one turn",
      lines: times(600, (n) => completed("Plan", { id: LONG, text: `${n} ${LONG}` })),
    },
    {
      name: "pieces of a thought",
      lines: times(700, (n) => event("agent_reasoning", { text: `${n} ${LONG}` })),
    },
    {
      name: "runs",
      lines: times(600, (n) => [
        call("spawn_agent", { message: `${n} ${LONG}` }, `c${n}`),
        output(JSON.stringify({ agent_id: `t${n}`, nickname: LONG }), `c${n}`),
      ]).flat(),
    },
    {
      name: "session names",
      lines: times(200, (n) => event("thread_name_updated", { thread_name: `${n} ${LONG}` })),
    },
    {
      name: "models",
      lines: times(200, (n) => ({
        type: "turn_context",
        payload: { model: `${n} ${LONG}`, approval_policy: LONG, turn_id: LONG },
      })),
    },
    { name: "errors", lines: times(200, (n) => event("error", { message: `${n} ${LONG}` })) },
    {
      name: "messages between the person and the person's shell",
      lines: times(300, (n) =>
        user(`<user_shell_command><command>ls ${n} ${LONG}</command></user_shell_command>`),
      ),
    },
  ])("with many $name", ({ lines }) => {
    expect(largestState(lines)).toBeLessThanOrEqual(MAX_CHECKPOINT);
  });

  it("with all of them together", () => {
    const together = times(150, (n) => [
      turn(n),
      event("user_message", { message: `${n} ${LONG}` }),
      call("spawn_agent", { message: `${n} ${LONG}` }, `s${n}`),
      output(JSON.stringify({ agent_id: `t${n}`, nickname: "Ada" }), `s${n}`),
      ...times(8, (k) => call("exec_command", { cmd: `ls ${LONG}` }, `c${n}-${k}`)),
      ...times(8, (k) => output(`Process running with session ID ${n}${k}\nOutput:\n${LONG}`, `c${n}-${k}`)),
      ...times(4, (k) => says(`${n} ${k} ${LONG.slice(0, 200)}`)),
      ...times(4, (k) => event("agent_reasoning", { text: `${n} ${k} ${LONG.slice(0, 300)}` })),
      ...times(4, (k) => event("user_message", { message: `${n} ${k} ${LONG.slice(0, 900)}` })),
    ]).flat();
    expect(largestState(together)).toBeLessThanOrEqual(MAX_CHECKPOINT);
  });
});

describe("a call that alone is too large for a checkpoint", () => {
  const HUGE = `${"line\n".repeat(80_000)}end`;
  const cut = `Exit code: 0\nOutput:\nline\n…900 tokens truncated…\nend`;
  const before = [meta(), user("Go"), call("shell", { command: ["ls"] })];

  it("keeps its whole output until it is shown, then drops it", () => {
    const reader = codex.createReader({ path: PATH });
    const records: ReadRecord[] = reader.push(bytesOf([...before, ended("c", { aggregated_output: HUGE })]));
    expect(stateBytes(reader)).toBeUndefined();
    records.push(...reader.push(bytesOf([output(cut)])));
    expect(stateBytes(reader)).toBeLessThanOrEqual(MAX_CHECKPOINT);
    const result = partsOf(fold(records)).find(({ type }) => type === "tool_result");
    expect(result).toMatchObject({ parts: [{ filename: "output.txt" }] });
    expect(JSON.stringify(result)).toContain(encodeURIComponent(HUGE));
  });

  it("drops it after eight other calls, and still gets its result", () => {
    const reader = codex.createReader({ path: PATH });
    const records = reader.push(bytesOf([...before, ended("c", { aggregated_output: HUGE })]));
    const others = times(8, (n) => [call("shell", { command: ["ls"] }, `o${n}`), output("x", `o${n}`)]);
    for (const other of others) {
      expect(stateBytes(reader)).toBeUndefined();
      records.push(...reader.push(bytesOf(other)));
    }
    expect(stateBytes(reader)).toBeLessThanOrEqual(MAX_CHECKPOINT);
    records.push(...reader.push(bytesOf([output(cut)])));
    const parts = partsOf(fold(records));
    expect(parts.filter(({ type }) => type === "tool_result")).toHaveLength(9);
    expect(parts.find((part) => part.type === "tool_call" && part.tool_call_id === "c")).toMatchObject({
      state: { status: "completed" },
    });
  });
});

describe("an evicted call", () => {
  const others = times(200, (n) => [
    call("shell", { command: ["ls", String(n)] }, `o${n}`),
    output(`file ${n}\n${"x".repeat(2_000)}`, `o${n}`),
  ]).flat();
  const read = (...lines: object[]) => {
    const reader = codex.createReader({ path: PATH });
    return [...reader.push(bytesOf([meta(), user("Go"), ...lines])), ...reader.close()];
  };
  const first = [call("shell", { command: ["make"] }), output("made")];

  it("keeps its result when a late event or output names it, and is not shown twice", () => {
    const records = read(...first, ...others, ended("c", { exit_code: 3 }), output("another"));
    const told = records.slice(-3, -1).map(({ disposition, frames }) => ({ disposition, frames }));
    expect(told).toEqual([
      { disposition: { kind: "folded", into: "call c" }, frames: [] },
      { disposition: { kind: "folded", into: "call c" }, frames: [] },
    ]);
  });

  it("keeps its id reserved", () => {
    const records = read(...first, ...others, call("shell", { command: ["test"] }), output("passed"));
    const ids = partsOf(fold(records)).flatMap((part) =>
      part.type === "tool_call" ? part.tool_call_id : [],
    );
    expect(ids[0]).toBe("c");
    expect(ids.at(-1)).toMatch(/^c@\d+$/);
  });

  it("is not evicted while its command runs in the background", () => {
    const background = [
      call("exec_command", { cmd: "make" }),
      output("Process running with session ID 7\nOutput:\n"),
    ];
    const records = read(...background, ...others, ended("c", { exit_code: 3 }));
    const result = records.at(-2)?.frames[0];
    expect(result).toMatchObject({ tool_call_id: "c", ui_extra: { type: "shell", exit_code: 3 } });
  });
});

describe("interrupted reading", () => {
  it("continues to count the steps of a turn", () => {
    const lines = [
      meta(),
      turn(1),
      user("Go"),
      ...times(6, (n) => [call("shell", { command: ["ls"] }, `c${n}`), output("x", `c${n}`)]).flat(),
    ];
    const bytes = bytesOf(lines);
    const ids = (records: readonly ReadRecord[]) =>
      records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "message.start" ? frame.message_id : [])),
      );
    const whole = ids(readOn(codex, PATH, bytes, []).records);
    expect(new Set(whole).size).toBe(6);
    expect(ids(readResumed(codex, PATH, bytes, lineEnds(bytes)).records)).toEqual(whole);
  });

  const text = fc.constantFrom("a", "b", "<plan>a</plan>", "x".repeat(3_000), "日本".repeat(900));
  const id = fc.constantFrom("c1", "c2", "c3", "exec-1", "exec-2");
  const line: fc.Arbitrary<object> = fc.oneof(
    text.map(says),
    text.map(user),
    text.map((message) => event("user_message", { message })),
    text.map((message) => event("agent_message", { message })),
    text.map((words) => event("agent_reasoning", { text: words })),
    text.map((words) => completed("Plan", { text: words })),
    text.map((words) => item({ type: "reasoning", summary: [{ type: "summary_text", text: words }] })),
    fc
      .tuple(fc.constantFrom("shell", "exec", "spawn_agent", "apply_patch"), text, id)
      .map(([name, message, call_id]) => call(name, { command: ["sh", message], message }, call_id)),
    fc.tuple(text, id).map(([words, call_id]) => output(words, call_id)),
    fc
      .tuple(fc.constantFrom("t1", "t2"), id)
      .map(([thread, call_id]) => output(JSON.stringify({ agent_id: thread }), call_id)),
    id.map((call_id) => output("Script running with cell ID 4\nOutput:\n", call_id)),
    fc
      .tuple(text, id)
      .map(([aggregated_output, call_id]) => ended(call_id, { aggregated_output, command: ["sh", "x"] })),
    id.map((call_id) => event("web_search_end", { call_id, query: "q" })),
    id.map((call_id) => item({ type: "web_search_call", id: call_id, action: { query: "q" } })),
    id.map((call_id) =>
      event("patch_apply_end", { call_id, changes: { f: { type: "add", content: "a\n" } } }),
    ),
    fc.nat(3).map(turn),
    fc.constantFrom(
      event("task_complete"),
      event("turn_aborted", { reason: "interrupted" }),
      event("context_compacted"),
      { type: "compacted", payload: {} },
      { type: "turn_context", payload: { model: "m1", turn_id: "turn 1" } },
      event("token_count", {
        info: { last_token_usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
      }),
      event("thread_rolled_back", { num_turns: 1 }),
      event("error", { message: "e" }),
    ),
  );

  it("reads any records as without an interruption", () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 5, maxLength: 120 }), fc.boolean(), (lines, settle) => {
        const bytes = bytesOf([meta(), ...lines]);
        const cuts = lineEnds(bytes);
        const { records, facts } = readResumed(codex, PATH, bytes, cuts, settle);
        expect({ records, facts }).toEqual(readOn(codex, PATH, bytes, settle ? cuts : [], settle));
      }),
      { numRuns: 60 },
    );
  });
});

const corpus = sharedData("corpus", "codex", "sessions");
const MEGABYTES = IS_LONG ? 100 : 25;

/** The longest sessions, repeated with other ids of calls and turns, as one session of about `total` bytes. */
function* scaled(folder: string, total: number): Generator<Uint8Array> {
  const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .sort((one, other) => other.length - one.length)
    .slice(0, 4);
  let bytes = 0;
  for (let round = 0; bytes < total; round += 1) {
    for (const text of texts) {
      const lines = round === 0 ? text : text.replace(/^.*"type":"session_meta".*\n/gm, "");
      const fresh = lines
        .replaceAll(/"(call_id|id)":"((?:call|exec)[^"]*)"/g, `"$1":"$2-${round}"`)
        .replaceAll(
          /"turn_id":"([0-9a-f-]{28})[0-9a-f]{8}"/g,
          `"turn_id":"$1${round.toString(16).padStart(8, "0")}"`,
        );
      const piece = encoder.encode(fresh.endsWith("\n") ? fresh : `${fresh}\n`);
      bytes += piece.length;
      yield piece;
    }
  }
}

describe.skipIf(!corpus)("the longest available sessions (skipped without the shared data)", () => {
  it(`scaled to ${MEGABYTES} MB, fit into a checkpoint at every point`, () => {
    const reader = codex.createReader({ path: PATH });
    let largest = 0;
    let count = 0;
    for (const piece of scaled(corpus ?? "", MEGABYTES * 1024 * 1024)) {
      for (let at = 0; at < piece.length; at += 200_000) {
        reader.push(piece.subarray(at, at + 200_000));
        largest = Math.max(largest, stateBytes(reader) ?? Number.POSITIVE_INFINITY);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(5 * MEGABYTES);
    expect(largest).toBeLessThanOrEqual(MAX_CHECKPOINT);
  }, 120_000);

  it("scaled to 12 MB, are read equally with 150 interruptions", () => {
    const pieces = [...scaled(corpus ?? "", 12 * 1024 * 1024)];
    const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    const cuts = lineEnds(bytes, 150);
    const { records, facts, resumes } = readResumed(codex, PATH, bytes, cuts);
    expect({ records, facts }).toEqual(readOn(codex, PATH, bytes, []));
    expect(resumes).toBe(cuts.length);
  }, 120_000);
});
