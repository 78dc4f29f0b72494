import { describe, expect, it } from "vitest";
import { qwenCode } from "../../src/sources/qwen-code/format.ts";
import { accountOf } from "./account.ts";
import { orderOf } from "./record-laws.ts";

const ID = "6b7c8d9e-0f1a-4b2c-9d3e-4f5061728394";
const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 };

/** Reads records, each the child of the one before it. */
function read(path: string, common: object, records: readonly object[]) {
  return accountOf(
    qwenCode,
    path,
    records.map((record, index) => ({
      uuid: `u${index}`,
      parentUuid: index === 0 ? null : `u${index - 1}`,
      sessionId: ID,
      timestamp: `2026-11-20T10:00:${String(index).padStart(2, "0")}.000Z`,
      cwd: "/home/mara/tide",
      version: "0.24.4",
      ...common,
      ...record,
    })),
  );
}
const chat = (...records: object[]) => read(`projects/-home-mara-tide/chats/${ID}.jsonl`, {}, records);
const run = (...records: object[]) =>
  read(
    `projects/-home-mara-tide/subagents/${ID}/agent-helper-c5.jsonl`,
    { agentId: "helper-c5", agentName: "helper", isSidechain: true },
    records,
  );

const user = (text: string, fields: object = {}) => ({
  type: "user",
  message: { role: "user", parts: [{ text }] },
  ...fields,
});
const model = (parts: object[], fields: object = {}) => ({
  type: "assistant",
  message: { role: "model", parts },
  ...fields,
});
const system = (subtype: string, systemPayload: object) => ({ type: "system", subtype, systemPayload });
const says = (text: string) => model([{ text }], { usageMetadata });

describe("a sub-agent's file", () => {
  it("shows a failed call as failed, although only its text says so", () => {
    const { parts } = run(
      user("Count"),
      model([{ functionCall: { id: "c1", name: "read_file", args: { path: "a" } } }]),
      {
        type: "tool_result",
        message: {
          role: "user",
          parts: [{ functionResponse: { id: "c1", name: "read_file", response: { error: "no such file" } } }],
        },
        toolCallResult: { callId: "c1", durationMs: 5 },
      },
      says("None."),
    );
    expect(orderOf(parts)).toBe("U c:read_file! | x");
  });

  it("shows what the agent was started with, its retry, and messages that it received", () => {
    const { parts } = run(
      system("agent_bootstrap", { kind: "fork", history: [{ role: "user", parts: [{ text: "Earlier" }] }] }),
      user("Count"),
      system("agent_launch_prompt", { displayText: "You are a fork. Count" }),
      system("agent_retry", { attempt: 2 }),
      system("agent_session_ready", { callId: "c1", subagentSessionReady: true }),
      says("None."),
      user("A task ended", { externalInputKind: "notification" }),
      says("Good."),
    );
    expect(orderOf(parts)).toBe("[context] U [context] [retry] x U x");
    expect(parts.flatMap((part) => (part.type === "prompt" ? [part.origin] : []))).toEqual([
      "agent",
      "notification",
    ]);
  });
});

describe("a chat", () => {
  it("does not take a spoken answer, which has no tokens, for one that was stopped", () => {
    const realtime = { subtype: "realtime_message" };
    const { parts, transcript } = chat(
      user("Count"),
      says("Seven."),
      user("And now?", realtime),
      model([{ text: "Eight." }], realtime),
    );
    expect(orderOf(parts)).toBe("U x U x");
    expect(transcript.turns.at(1)?.status).toBe("completed");
  });

  it("takes how a turn ended from its result", () => {
    const result = (state: string, fields: object = {}) =>
      system("turn_result", { promptId: "p", state, endedAt: 1_795_000_000_000, ...fields });
    const { parts, transcript } = chat(
      user("Count"),
      says("Seven."),
      result("completed", { stopReason: "end_turn" }),
      user("Again"),
      says("I am about to"),
      result("cancelled"),
      user("Again"),
      result("error", { error: { message: "The model is overloaded" } }),
    );
    expect(orderOf(parts)).toBe("U x U x U [error]");
    expect([0, 1, 2].map((index) => transcript.turns.at(index)?.status)).toEqual([
      "completed",
      "interrupted",
      "failed",
    ]);
  });

  it("shows changes of the approval mode", () => {
    const { parts } = chat(
      system("session_approval_mode", { mode: "auto-edit" }),
      system("session_execution_engine", { engine: "legacy" }),
      user("Count"),
      says("Seven."),
      system("session_approval_mode", { mode: "yolo" }),
    );
    expect(parts.flatMap((part) => (part.type === "marker" ? [part.title] : []))).toEqual([
      "Permission mode: auto-edit",
      "Permission mode: yolo",
    ]);
    expect(orderOf(parts)).toBe("[note] U x [note]");
  });
});
