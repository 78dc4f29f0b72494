import { describe, expect, it } from "vitest";
import { idOf, read, sessionsOf } from "./document-reading.ts";
import { orderOf, readSession } from "./record-laws.ts";

describe("lists of chat messages", () => {
  const chat = [
    { role: "system", content: "Be brief" },
    { role: "user", content: "Add 1 and 2" },
    {
      role: "assistant",
      content: null,
      reasoning_content: "Use the tool",
      tool_calls: [{ id: "t", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } }],
    },
    { role: "tool", tool_call_id: "t", content: "3" },
    { role: "assistant", content: "3" },
  ];
  const sharegpt = {
    conversations: [
      { from: "human", value: "Hi" },
      { from: "function_call", value: '{"name":"look","arguments":{"at":"a"}}' },
      { from: "observation", value: "seen" },
      { from: "gpt", value: "Hello" },
    ],
  };

  it.each([
    ["a list", "list.json", chat, ["[context] U T c:add | x"]],
    ["an object with a list", "messages.json", { id: 1, messages: chat }, ["[context] U T c:add | x"]],
    [
      "several in one document",
      "several.json",
      [sharegpt, { messages: chat }],
      ["U c:look | x", "[context] U T c:add | x"],
    ],
  ])("reads %s", (_, name, document, orders) => {
    const { format, sessions } = sessionsOf(name, document);
    expect(idOf(format)).toBe("chat-messages");
    expect(sessions.map(({ order }) => order)).toEqual(orders);
    expect(sessions.every(({ statuses }) => statuses === "completed")).toBe(true);
  });

  it("reads items of the Responses API between messages", () => {
    const items = [
      { role: "user", content: [{ type: "input_text", text: "Add 1 and 2" }] },
      { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "Use the tool" }] },
      { type: "function_call", call_id: "t", name: "add", arguments: '{"a":1,"b":2}' },
      { type: "function_call_output", call_id: "t", output: "3" },
      { type: "reasoning", id: "rs2", summary: [], encrypted_content: "x" },
      { type: "web_search_call", id: "w", status: "completed", action: { type: "search", query: "sum" } },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "3" }] },
    ];
    const { format, sessions } = sessionsOf("items.json", { messages: items });
    expect(idOf(format)).toBe("chat-messages");
    expect(sessions.map(({ order }) => order)).toEqual(["U T c:add | T c:web_search | x"]);
    const lines = read("items.jsonl", items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    expect(idOf(lines.format)).toBe("chat-messages");
  });

  it("keeps reasoning, refusals and calls in the shapes of other providers and data sets", () => {
    const call = { name: "add", arguments: { a: 1 } };
    const { sessions } = sessionsOf("shapes.json", {
      trajectory: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hear" },
            { type: "input_audio", input_audio: { data: "QQ==", format: "mp3" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          thinking: "one",
          tool_calls: JSON.stringify([{ id: "t", function: call }]),
        },
        { role: "tool", tool_call_id: "t", content: { sum: 3 } },
        { role: "assistant", content: "", reasoning_details: [{ type: "reasoning.text", text: "two" }] },
        { role: "tool_call", content: JSON.stringify([call, call]) },
        { role: "tool_response", content: "3" },
        { role: "tool_call", content: "not JSON" },
        { role: "assistant", content: null, refusal: "I will not." },
      ],
    });
    expect(sessions.map(({ order }) => order)).toEqual([
      "U T c:add | T | c:add c:add? | c:(unnamed tool)? | x",
    ]);
    const all = JSON.stringify(sessions[0]?.parts);
    for (const shown of ["one", "two", "not JSON", "I will not.", "audio/mp3"]) expect(all).toContain(shown);
  });

  it("separates the agent's additions from a prompt, so that the title has only the person's text", () => {
    const content = [
      { type: "text", text: "<system-reminder>\nToday is Monday.\n</system-reminder>" },
      { type: "text", text: "Which tide is next?" },
    ];
    const { sessions } = sessionsOf("reminded.json", [
      { role: "user", content },
      { role: "assistant", content: "High tide." },
    ]);
    expect(sessions.map(({ order }) => order)).toEqual(["[context] U x"]);
  });

  it("reads lines that each contain a conversation, and lines that are messages", () => {
    const several = read(
      "data.jsonl",
      `${JSON.stringify(sharegpt)}\n${JSON.stringify({ messages: chat })}\n`,
    );
    expect(idOf(several.format)).toBe("chat-messages");
    const { transcripts } = readSession(several.format, several.path, [several.head]);
    expect(
      transcripts.map(({ parts }) => orderOf(parts.slice().filter((part) => part !== undefined))),
    ).toEqual(["U c:look | x", "[context] U T c:add | x"]);
    const one = read("chat.jsonl", chat.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const { parts } = readSession(one.format, one.path, [one.head]);
    expect(orderOf(parts)).toBe("[context] U T c:add | x");
  });
});
