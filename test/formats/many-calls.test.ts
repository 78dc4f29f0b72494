import { expect, it } from "vitest";
import { claudeCode } from "../../src/formats/claude-code/format.ts";
import { codex } from "../../src/formats/codex/format.ts";
import type { Format } from "../../src/formats/format.ts";
import * as claude from "./claude-support.ts";
import * as rollout from "./codex-support.ts";

const CALLS = 8_000;
const FORMATS: { format: Format; path: string; lines(numbers: readonly number[]): object[] }[] = [
  {
    format: claudeCode,
    path: `${claude.SESSION}.jsonl`,
    lines(numbers) {
      const { user, assistant } = claude.writer();
      return [
        user("Look"),
        ...numbers.map((n) => assistant("m", [claude.call("toolu_0", { command: `ls ${n}` })])),
        ...numbers.map((n) => user([claude.result("toolu_0", `file ${n}`)])),
      ];
    },
  },
  {
    format: codex,
    path: `rollout-2026-03-01T10-00-00-${rollout.THREAD}.jsonl`,
    lines: (numbers) => [
      ...[rollout.meta(), rollout.user("Look")],
      ...numbers.map((n) => rollout.call("shell", { command: ["ls", String(n)] })),
      ...numbers.map((n) => rollout.output(`file ${n}`)),
    ],
  },
];

it.each(FORMATS)(
  "calls of one answer under one id take no square of the time: $format.id",
  ({ format, path, lines }) => {
    /** Milliseconds of CPU: a machine that does other work too does not add to it. */
    const cpuOf = (count: number): number => {
      const numbers = Array.from({ length: count }, (_, n) => n);
      const bytes = new TextEncoder().encode(
        lines(numbers)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(""),
      );
      const before = process.cpuUsage();
      const reader = format.createReader({ path });
      const frames = [...reader.push(bytes), ...reader.close()].flatMap((record) => record.frames);
      const cpu = process.cpuUsage(before).user / 1_000;
      const answered = frames.flatMap((frame) => (frame.type === "message.tool_result" ? [frame] : []));
      expect(new Set(answered.map(({ tool_call_id }) => tool_call_id)).size).toBe(count);
      return cpu;
    };
    cpuOf(500);
    const once = cpuOf(CALLS);
    expect(cpuOf(4 * CALLS)).toBeLessThan(7 * once + 100);
  },
);
