import { expect, it } from "vitest";
import { pi } from "../../src/sources/pi/format.ts";
import { expectAccounted, orderOf, readSession } from "./record-laws.ts";

const header = {
  type: "session",
  version: 3,
  id: "0a1b2c3d-4e5f-4a6b-8c7d-8e9f00112244",
  timestamp: "2026-11-20T10:00:00.000Z",
  cwd: "/home/mara/tide",
};
const message = (id: string, parentId: string | null, content: object) => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-11-20T10:00:05.000Z",
  message: content,
});

function read(nestedCalls: unknown) {
  const call = { type: "toolCall", id: "c1", name: "codemode", arguments: { code: "await tools.bash()" } };
  const lines = [
    header,
    message("a", null, { role: "user", content: "Go" }),
    message("b", "a", { role: "assistant", model: "m", content: [call], stopReason: "toolUse" }),
    message("c", "b", {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "codemode",
      content: [{ type: "text", text: "7" }],
      isError: false,
      nestedCalls,
    }),
    message("d", "c", {
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "Done" }],
      stopReason: "stop",
    }),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const session = readSession(pi, "a.jsonl", [new TextEncoder().encode(text)]);
  expectAccounted(session, text);
  return session;
}

it("shows the calls that a tool made, how they ended, and that their output is not recorded", () => {
  const { parts, transcripts } = read({
    calls: [
      { id: "c1/1", name: "bash", arguments: { command: "ls" }, status: "ok", durationMs: 30 },
      {
        id: "c1/2",
        name: "edit",
        arguments: { path: "a.txt", edits: [] },
        status: "error",
        error: "no such text",
      },
      { id: "c1/3", name: "write", argumentsBytes: 9000, status: "unfinished" },
    ],
    complete: false,
  });
  expect(orderOf(parts)).toBe("U c:codemode [note] c:bash c:edit! c:write- | x");
  expect(parts.find(({ type }) => type === "marker")).toMatchObject({
    title: "3 calls that the tool made, without their output (incomplete record)",
    data: { omitted_arguments: [{ tool_call_id: "c1/3", bytes: 9000 }] },
  });
  const calls = parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments_json] : []));
  expect(calls.slice(1)).toEqual(['{"command":"ls"}', '{"path":"a.txt","edits":[]}', "{}"]);
  const results = parts.flatMap((part) => (part.type === "tool_result" ? [part] : []));
  expect(results.map(({ output_text }) => output_text)).toEqual(["", "no such text", "", "7"]);
  expect(results[0]?.ui_extra).toMatchObject({ type: "shell", command: "ls", duration_ms: 30 });
  expect([...(transcripts[0]?.turns ?? [])].map((turn) => turn?.status)).toEqual(["completed"]);
});

it("shows nothing for a tool that made no calls", () => {
  expect(orderOf(read(undefined).parts)).toBe("U c:codemode | x");
  expect(orderOf(read({ calls: [], complete: true }).parts)).toBe("U c:codemode | x");
});

it("begins a turn of a fork only with its own prompt", () => {
  const copied = (id: string, parentId: string | null, content: object) => ({
    ...message(id, parentId, content),
    timestamp: "2026-11-20T09:00:00.000Z",
  });
  const lines = [
    { ...header, parentSession: "2026-11-20T09-00-00-000Z_0a1b2c3d-4e5f-4a6b-8c7d-8e9f00112255.jsonl" },
    copied("a", null, { role: "user", content: "Go" }),
    copied("b", "a", {
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "Done" }],
      stopReason: "stop",
    }),
    {
      type: "thinking_level_change",
      id: "c",
      parentId: "b",
      timestamp: "2026-11-20T10:00:01.000Z",
      thinkingLevel: "off",
    },
  ];
  const turnsOf = (records: object[]) => {
    const text = records.map((line) => `${JSON.stringify(line)}\n`).join("");
    const session = readSession(pi, "a.jsonl", [new TextEncoder().encode(text)]);
    expectAccounted(session, text);
    const turns = [...(session.transcripts[0]?.turns ?? [])].flatMap((turn) => turn ?? []);
    return turns
      .map(({ first_part, part_count }) => orderOf(session.parts.slice(first_part, first_part + part_count)))
      .join(" | ");
  };
  expect(turnsOf(lines)).toBe("[note] U x [note] [note]");
  expect(turnsOf([...lines, message("d", "c", { role: "user", content: "Again" })])).toBe(
    "[note] U x [note] [note] | U",
  );
  expect(turnsOf([...lines.slice(0, 3), message("d", "b", { role: "user", content: "Again" })])).toBe(
    "[note] U x | [note] U",
  );
});
