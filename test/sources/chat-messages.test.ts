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

  const hermes = [
    { from: "system", value: "You are a function calling AI model." },
    { from: "human", value: "Add 1 and 2, and 3 and 4" },
    {
      from: "gpt",
      value: [
        "<think>\nUse the tool twice.\n</think>\nI add them.",
        '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 12345678901234567890}}\n</tool_call>',
        '<tool_call>\n{"name": "add", "arguments": {"a": 3, "b": 4}}\n</tool_call>',
      ].join("\n"),
    },
    {
      from: "tool",
      value:
        '<tool_response>\n{"name": "add", "content": {"sum": 3}}\n</tool_response>\n<tool_response>\nseven\n</tool_response>',
    },
    { from: "gpt", value: "3 and 7" },
  ];

  it("reads calls and results that are tags in texts", () => {
    const { sessions } = sessionsOf("hermes.json", { conversations: hermes });
    expect(sessions.map(({ order }) => order)).toEqual(["[context] U T x c:add c:add | x"]);
    const parts = sessions[0]?.parts ?? [];
    expect(parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments_json] : []))).toEqual([
      '{"a": 1, "b": 12345678901234567890}',
      '{"a": 3, "b": 4}',
    ]);
    expect(parts.flatMap((part) => (part.type === "tool_result" ? [part.output_text] : []))).toEqual([
      '{\n  "sum": 3\n}',
      "seven",
    ]);
    expect(JSON.stringify(parts)).not.toContain("<tool_");
  });

  it("reads results that are tags in a message of the user", () => {
    const { sessions } = sessionsOf("qwen.json", [
      { role: "user", content: "Look" },
      { role: "assistant", content: '<tool_call>{"name":"look","arguments":{}}</tool_call>' },
      { role: "user", content: "<tool_response>\nseen\n</tool_response>" },
      { role: "assistant", content: "Seen." },
    ]);
    expect(sessions.map(({ order }) => order)).toEqual(["U c:look | x"]);
  });

  it("keeps texts that only mention the tags, and calls that are not valid JSON", () => {
    const text = "Write <tool_call>{'name': 'add'}</tool_call>, then <tool_response> follows.";
    const { sessions } = sessionsOf("mention.json", [
      { role: "user", content: "How do I use <tool_response>x</tool_response> here?" },
      { role: "assistant", content: text },
    ]);
    expect(sessions.map(({ order }) => order)).toEqual(["U x"]);
    expect(JSON.stringify(sessions[0]?.parts)).toContain("Write <tool_call>{'name': 'add'}</tool_call>");
  });

  it.each(["messages", "conversations"])("reads a list that is stored as JSON text in %s", (member) => {
    const record = { id: 7, [member]: JSON.stringify(member === "messages" ? chat : hermes) };
    const order = member === "messages" ? "[context] U T c:add | x" : "[context] U T x c:add c:add | x";
    const { format, sessions } = sessionsOf("text.json", [record]);
    expect(idOf(format)).toBe("chat-messages");
    expect(sessions.map((session) => session.order)).toEqual([order]);
    const lines = read("text.jsonl", `${JSON.stringify(record)}\n`);
    const { parts } = readSession(lines.format, lines.path, [lines.head]);
    expect(orderOf(parts)).toBe(order);
  });

  it("recognizes a line with such a text by its start", () => {
    const long = [...chat, { role: "assistant", content: "3".repeat(70_000) }];
    const { format } = read("long.jsonl", `${JSON.stringify({ messages: JSON.stringify(long) })}\n`);
    expect(idOf(format)).toBe("chat-messages");
  });
});
