import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openHands } from "../../src/sources/openhands/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-openhands-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONVERSATION = "3f0a1c520d6e4a779a106b1f2c3d4e5f";

it("reads a conversation's events in numeric order, and later ones as they are written", () => {
  const path = join(folder, "conversations", CONVERSATION);
  mkdirSync(join(path, "events"), { recursive: true });
  const state = {
    id: CONVERSATION,
    agent: { llm: { model: "tide-1", api_key: "sk-secret" } },
    workspace: { working_dir: "/w/tide" },
  };
  writeFileSync(join(path, "base_state.json"), JSON.stringify(state));
  let number = 0;
  const put = (kind: string, fields: object) => {
    const event = { kind, id: `e${number}`, timestamp: `2026-03-0${1 + (number % 9)}T10:00:00`, ...fields };
    const name = `event-${String(number).padStart(5, "0")}-e${number}.json`;
    writeFileSync(join(path, "events", name), JSON.stringify(event));
    number += 1;
  };
  const text = (words: string) => [{ type: "text", text: words }];
  const action = (tool_call_id: string, tool_name: string, args: object, fields: object = {}) =>
    put("ActionEvent", {
      source: "agent",
      thought: [],
      tool_name,
      tool_call_id,
      tool_call: { id: tool_call_id, name: tool_name, arguments: JSON.stringify(args) },
      llm_response_id: "r1",
      ...fields,
    });
  put("SystemPromptEvent", {
    source: "agent",
    system_prompt: { type: "text", text: "You are OpenHands" },
    tools: [],
  });
  put("MessageEvent", { source: "user", llm_message: { role: "user", content: text("Fix the table") } });
  put("ConversationStateUpdateEvent", { source: "environment", key: "status", value: "running" });
  action("c1", "terminal", { command: "ls" }, { thought: text("I look."), reasoning_content: "Look first." });
  action("c2", "file_editor", { command: "view", path: "none.csv" });
  action("c3", "terminal", { command: "rm -rf build" });
  const store = openStore(path);
  expect(openHands.snapshots?.storeOf(`conversations/${CONVERSATION}/events/event-00001-e1.json`)).toBe(
    `conversations/${CONVERSATION}`,
  );
  expect(openHands.snapshots?.recognizes(store)).toBe(true);
  const sessions = look(openHands, store);
  put("ObservationEvent", {
    source: "environment",
    tool_name: "terminal",
    tool_call_id: "c1",
    observation: { kind: "TerminalObservation", content: text("bergen.csv"), is_error: false, exit_code: 0 },
  });
  put("AgentErrorEvent", {
    source: "agent",
    tool_name: "file_editor",
    tool_call_id: "c2",
    error: "No such file",
  });
  put("UserRejectObservation", {
    source: "user",
    tool_name: "terminal",
    tool_call_id: "c3",
    rejection_reason: "Not the build",
  });
  put("MessageEvent", {
    source: "agent",
    llm_response_id: "r2",
    llm_message: { role: "assistant", content: text("Fixed.") },
  });
  put("Condensation", {
    source: "environment",
    summary: "The table was fixed.",
    forgotten_event_ids: ["e1"],
  });
  put("PauseEvent", { source: "user" });
  put("NeverSeenEvent", { source: "environment", value: 1 });
  look(openHands, store, sessions);
  const [session] = sessions.values();
  if (session === undefined) throw new Error("No session");
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe(
    "[context] U T x c:terminal c:file_editor! c:terminal- | x [compaction] [interrupt] ??",
  );
  expect([...transcript.turns].map((turn) => turn?.title)).toEqual(["Fix the table"]);
  expect(session.lines.join("\n")).not.toContain("sk-secret");
});

it("reads what newer versions add: interrupts, hooks, reasoning items, images, context, calls over ACP", () => {
  const path = join(folder, "conversations", "b");
  mkdirSync(join(path, "events"), { recursive: true });
  let number = 0;
  const put = (kind: string, fields: object) => {
    const event = { kind, id: `e${number}`, timestamp: "2026-11-01T10:00:00", ...fields };
    const name = `event-${String(number).padStart(5, "0")}-e${number}.json`;
    writeFileSync(join(path, "events", name), JSON.stringify(event));
    number += 1;
  };
  const text = (words: string) => ({ type: "text", text: words });
  put("SystemPromptEvent", {
    system_prompt: text("You are OpenHands"),
    dynamic_context: text("Host: tide.example"),
  });
  put("MessageEvent", {
    source: "user",
    llm_message: {
      role: "user",
      content: [
        text("Look"),
        { type: "image", image_urls: ["https://tide.example/a.png", "data:image/png;base64,QQ=="] },
      ],
    },
    extended_content: [text("The rule of the folder")],
  });
  put("HookExecutionEvent", {
    source: "hook",
    hook_event_type: "PreToolUse",
    hook_command: "check",
    tool_name: "terminal",
    success: true,
    blocked: true,
    reason: "Not here",
  });
  put("ActionEvent", {
    source: "agent",
    thought: [],
    responses_reasoning_item: { id: "rs", summary: ["List first"], encrypted_content: "x" },
    tool_name: "terminal",
    tool_call_id: "c1",
    tool_call: { id: "c1", name: "terminal", arguments: '{"command":"ls"}' },
    llm_response_id: "r1",
  });
  put("UserRejectObservation", {
    tool_name: "terminal",
    tool_call_id: "c1",
    rejection_reason: "Not here",
    rejection_source: "hook",
  });
  const call = { source: "agent", tool_call_id: "t1", title: "ls -a", tool_kind: "execute" };
  put("ACPToolCallEvent", { ...call, status: "pending" });
  put("ACPToolCallEvent", { ...call, status: "in_progress", raw_input: { command: "ls -a" } });
  put("ACPToolCallEvent", {
    ...call,
    status: "completed",
    raw_input: { command: "ls -a" },
    content: [{ type: "content", content: text("a.csv") }],
  });
  put("InterruptEvent", { source: "user", reason: "User requested interrupt" });
  const [session] = look(openHands, openStore(path)).values();
  if (session === undefined) throw new Error("No session");
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe("[context] [context] U [hook] T c:terminal- c:ls -a [interrupt]");
  const all = JSON.stringify(parts);
  for (const shown of [
    "Host: tide.example",
    "The rule of the folder",
    "a.png",
    "QQ==",
    "List first",
    "a.csv",
  ])
    expect(all).toContain(shown);
  expect(all).toContain('"by":"hook"');
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["interrupted"]);
});
