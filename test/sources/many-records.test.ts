import { expect, it } from "vitest";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { codex } from "../../src/sources/codex/format.ts";
import { times } from "../long.ts";
import * as claude from "./claude-support.ts";
import * as rollout from "./codex-support.ts";

const CLAUDE_CODE = { format: claudeCode, path: `${claude.SESSION}.jsonl` };
const CODEX = { format: codex, path: `rollout-2026-03-01T10-00-00-${rollout.THREAD}.jsonl` };
const COUNT = times(2_000, 4_000);
/** Claude Code's lines are written one second apart. */
const LATER = { timestamp: "2026-03-02T10:00:00.000Z" };

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const says = (count: number, text: (n: number) => string) => {
  const { user, assistant } = claude.writer();
  return [
    user("Look"),
    assistant(
      "m",
      numbers(count).map((n) => claude.say(text(n))),
    ),
  ];
};

it.each([
  {
    name: "calls of one answer with one id, in Claude Code's files",
    ...CLAUDE_CODE,
    lines(count: number) {
      const { user, assistant } = claude.writer();
      return [
        user("Look"),
        ...numbers(count).map((n) => assistant("m", [claude.call("toolu_0", { command: `ls ${n}` })])),
        ...numbers(count).map((n) => user([claude.result("toolu_0", `file ${n}`)])),
      ];
    },
    made: (count: number) => ({ "message.tool_result": count }),
  },
  {
    name: "calls of one answer with one id, in Codex's files",
    ...CODEX,
    lines: (count: number) => [
      ...[rollout.meta(), rollout.user("Look")],
      ...numbers(count).map((n) => rollout.call("shell", { command: ["ls", String(n)] })),
      ...numbers(count).map((n) => rollout.output(`file ${n}`)),
    ],
    made: (count: number) => ({ "message.tool_result": count }),
  },
  {
    name: "consecutive prompts, in Codex's files",
    ...CODEX,
    lines: (count: number) => [
      rollout.meta(),
      ...numbers(count).map(() => rollout.event("user_message", { message: "Look" })),
    ],
    made: (count: number) => ({ "user.message": count }),
  },
  {
    name: "plans in one turn, in Codex's files",
    ...CODEX,
    lines: (count: number) => [
      ...[rollout.meta(), rollout.event("task_started", { turn_id: "t" }), rollout.user("Look")],
      ...numbers(count).map((n) => rollout.completed("Plan", { id: `plan-${n}`, text: `Plan ${n}` })),
    ],
    made: (count: number) => ({ "message.part_end": count }),
  },
  {
    name: "pieces of one output, in Codex's files",
    ...CODEX,
    lines: (count: number) => [
      ...[rollout.meta(), rollout.user("Look"), rollout.call("shell", { command: ["ls"] })],
      rollout.output(numbers(count).map((n) => ({ type: "input_text", text: `file ${n}` }))),
    ],
    made: () => ({ "message.tool_result": 1 }),
  },
  {
    name: "ends of commands with one id, in reverse order",
    ...CODEX,
    lines: (count: number) => [
      ...[rollout.meta(), rollout.user("Look")],
      ...numbers(count).map((n) => rollout.call("shell", { command: ["ls", String(n)] })),
      ...numbers(count).map((n) =>
        rollout.event("exec_command_end", {
          call_id: "c",
          command: ["ls", String(count - 1 - n)],
          exit_code: 0,
        }),
      ),
      ...numbers(count).map((n) => rollout.output(`file ${n}`)),
    ],
    made: (count: number) => ({ "message.tool_result": count }),
  },
  {
    name: "calls in one line, separated by blanks",
    ...CLAUDE_CODE,
    lines(count: number) {
      const { user, assistant } = claude.writer();
      const calls = numbers(count).map((n) => claude.call(`toolu_${n}`, { command: `ls ${n}` }));
      return [
        user("Look"),
        JSON.stringify(assistant("m", calls)).replaceAll('{"command":"', '{"command": "'),
      ];
    },
    made: (count: number) => ({ "message.tool_call": count }),
  },
  {
    name: "texts in one line",
    ...CLAUDE_CODE,
    lines: (count: number) => says(count, String),
    made: (count: number) => ({ "message.part_end": count }),
  },
  {
    name: "equal texts in one line",
    ...CLAUDE_CODE,
    lines: (count: number) => says(count, () => "So"),
    made: (count: number) => ({ "message.part_end": count }),
  },
  {
    name: "interrupts in one line, with text between them",
    ...CLAUDE_CODE,
    lines(count: number) {
      const { user } = claude.writer();
      return [user(numbers(count).map((n) => claude.say(n % 2 ? "[Request interrupted by user]" : "Stop")))];
    },
    made: (count: number) => ({ interrupt: count / 2 }),
  },
  {
    name: "prompts with one parent",
    ...CLAUDE_CODE,
    lines(count: number) {
      const { user } = claude.writer();
      return numbers(count).map((n) => user(`Look ${n}`, { parentUuid: null }));
    },
    made: (count: number) => ({ "turn.retract": count - 1 }),
  },
  {
    name: "equal prompts after a compaction",
    ...CLAUDE_CODE,
    lines(count: number) {
      const { user, line } = claude.writer();
      return [
        line("system", { subtype: "compact_boundary", content: "Conversation compacted", ...LATER }),
        ...numbers(count).map(() => user("Look")),
      ];
    },
    made: (count: number) => ({ "user.message": count }),
  },
])("reads in less than quadratic time: $name", ({ format, path, lines, made }) => {
  /** Milliseconds of CPU, which other load on the machine does not affect. */
  const cpuOf = (count: number): number => {
    const bytes = new TextEncoder().encode(
      lines(count)
        .map((line: unknown) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`)
        .join(""),
    );
    const before = process.cpuUsage();
    const reader = format.createReader({ path });
    const frames = [...reader.push(bytes), ...reader.close()].flatMap((record) => record.frames);
    const cpu = process.cpuUsage(before).user / 1_000;
    for (const [type, expected] of Object.entries(made(count))) {
      expect(frames.filter((frame) => frame.type === type).length).toBe(expected);
    }
    return cpu;
  };
  cpuOf(500);
  const once = cpuOf(COUNT);
  expect(cpuOf(8 * COUNT)).toBeLessThan(16 * once + 200);
});

// More than a function call accepts as arguments.
const VERY_MANY = 150_000;
it.each([CLAUDE_CODE, CODEX])(
  "$format.id: reads very many records at once, on separate lines and on one line",
  ({ format, path }) => {
    for (const record of ['{"a":1}\n', '{"a":1}']) {
      const reader = format.createReader({ path });
      const read = [...reader.push(new TextEncoder().encode(record.repeat(VERY_MANY))), ...reader.close()];
      expect(read.length).toBeGreaterThanOrEqual(VERY_MANY);
    }
  },
);
