import { describe, expect, it } from "vitest";
import { idOf, sessionsOf } from "./document-reading.ts";

describe("Inspect evaluation logs", () => {
  const user = {
    id: "u",
    role: "user",
    content: "attachment://0123456789abcdef0123456789abcdef",
    source: "input",
  };
  const system = { id: "s", role: "system", content: "You solve tasks" };
  const answer = {
    id: "a1",
    role: "assistant",
    content: [
      { type: "reasoning", reasoning: "run it", signature: "x" },
      { type: "text", text: "I run it." },
    ],
    tool_calls: [{ id: "c1", function: "bash", arguments: { cmd: "ls" } }],
  };
  const result = {
    id: "r1",
    role: "tool",
    tool_call_id: "c1",
    function: "bash",
    content: "",
    error: { type: "timeout", message: "took too long" },
  };
  const last = { id: "a2", role: "assistant", content: "It is 3." };
  const document = { type: "document", document: "data:application/pdf;base64,QQ==", filename: "a.pdf" };
  const model = (input: object[], message: object, stop_reason: string) => ({
    event: "model",
    timestamp: "2026-10-05T08:00:00Z",
    input,
    output: {
      model: "openai/gpt-6",
      choices: [{ message, stop_reason }],
      usage: { input_tokens: 10, output_tokens: 2, input_tokens_cache_read: 4 },
    },
  });

  it("makes a session of each sample: every message once, tokens of each call, scores at the end", () => {
    const { format, sessions } = sessionsOf("log.json", {
      version: 2,
      status: "success",
      eval: { task: "arithmetic", model: "openai/gpt-6", packages: { inspect_ai: "0.4.1" } },
      samples: [
        {
          id: "one",
          epoch: 1,
          target: "3",
          attachments: { "0123456789abcdef0123456789abcdef": "How many files?" },
          events: [
            { event: "sample_init" },
            model([system, user], answer, "tool_calls"),
            { event: "tool", id: "c1", function: "bash" },
            { event: "info", source: "solver", data: "half way" },
            model([system, user, answer, result], last, "stop"),
            { event: "telepathy" },
          ],
          messages: [system, user, answer, result, last],
          scores: { match: { value: "C", answer: "3", explanation: "as expected" } },
        },
        {
          id: "two",
          epoch: 2,
          input: "?",
          messages: [
            { role: "user", content: "go on" },
            { role: "assistant", content: "a" },
            { role: "user", content: "go on" },
            { role: "assistant", content: "a" },
          ],
          error: { message: "the sandbox broke" },
        },
      ],
    });
    expect(idOf(format)).toBe("inspect");
    const [one, two] = sessions;
    expect(one?.order).toBe("[note] [context] U T x c:bash! [note] | x ?? [note]");
    expect(one?.usage).toEqual({ input: 20, output: 4, cache_read: 8 });
    expect(one?.facts).toMatchObject({
      title: "arithmetic · one",
      model: "openai/gpt-6",
      agent_version: "0.4.1",
    });
    expect(JSON.stringify(one?.parts)).toContain("How many files?");
    expect(one?.statuses).toBe("completed");
    expect(two?.order).toBe("U x U x [error]");
    expect(two?.statuses).toBe("completed failed");
  });

  it("shows what else an event says: failed calls, interrupts, edits of scores, results without a message", () => {
    const request = (content: string, id: string) => ({ id, role: "user", content, source: "operator" });
    const { sessions } = sessionsOf("events.json", {
      version: 2,
      eval: { task: "arithmetic", model: "m" },
      samples: [
        {
          id: "one",
          epoch: 1,
          error_retries: [{ message: "the sandbox broke", traceback: "at line 1" }],
          events: [
            { event: "checkpoint", checkpoint_id: 1 },
            {
              event: "model",
              input: [{ ...user, content: [{ type: "text", text: "Hi" }, document] }],
              output: {},
              error: "HTTP 500",
            },
            model([user], answer, "tool_calls"),
            { event: "approval", stage: "result", decision: "approve", approver: "auto" },
            {
              event: "tool",
              id: "c1",
              function: "bash",
              result: "half",
              error: { type: "cancelled", message: "cancelled" },
              failed: true,
              completed: "2026-10-05T08:00:00Z",
            },
            { event: "interrupt", source: "user_cancel", interrupted: "tool_call" },
            model([user, answer, request("Stop that", "o")], last, "stop"),
            { event: "compaction", tokens_before: 900, tokens_after: 90 },
            {
              event: "score_edit",
              score_name: "match",
              edit: { value: "I", provenance: { author: "mara", reason: "wrong key" } },
            },
          ],
        },
      ],
    });
    const [one] = sessions;
    expect(one?.order).toBe("[note] U [error] T x c:bash! [note] [interrupt] U x [compaction] [note]");
    const all = JSON.stringify(one?.parts);
    for (const shown of ["half", "wrong key", "900", "the sandbox broke", "a.pdf"])
      expect(all).toContain(shown);
  });
});
