import { expect, it } from "vitest";
import { fold, ndjson, partsOf, readStream, sse, summary } from "./read.ts";

const run = { threadId: "thread", runId: "run-1" };
const turn = [
  {
    type: "RUN_STARTED",
    ...run,
    timestamp: 5000,
    input: {
      ...run,
      messages: [{ id: "u1", role: "user", content: "What is the weather?" }],
      tools: [],
      context: [],
    },
  },
  { type: "STEP_STARTED", stepName: "plan" },
  { type: "REASONING_START", messageId: "r1" },
  { type: "REASONING_MESSAGE_START", messageId: "r1", role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "r1", delta: "I look first." },
  { type: "REASONING_MESSAGE_END", messageId: "r1" },
  { type: "REASONING_END", messageId: "r1" },
  { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "r1", encryptedValue: "c2ln" },
  { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "API " },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "types." },
  { type: "TEXT_MESSAGE_END", messageId: "m1" },
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "getWeather", parentMessageId: "m1" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"city": ' },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '"Oslo"}' },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
  { type: "TOOL_CALL_RESULT", messageId: "t1", toolCallId: "c1", content: "snow", role: "tool" },
  { type: "STEP_FINISHED", stepName: "plan" },
  { type: "TEXT_MESSAGE_CHUNK", messageId: "m2", delta: "Let me " },
  { type: "TEXT_MESSAGE_CHUNK", delta: "read" },
  { type: "TOOL_CALL_CHUNK", toolCallId: "c2", toolCallName: "getTime", delta: "{}" },
  { type: "TOOL_CALL_RESULT", messageId: "t2", toolCallId: "c2", content: [{ type: "text", text: "noon" }] },
  { type: "STATE_SNAPSHOT", snapshot: { city: "Oslo" } },
  { type: "STATE_DELTA", delta: [{ op: "replace", path: "/city", value: "Bergen" }] },
  { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "PLAN", content: { done: 0 } },
  { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "PLAN", content: { done: 1 } },
  { type: "CUSTOM", name: "confetti", value: 3 },
  { type: "RAW", event: { foreign: true }, source: "elsewhere" },
  { type: "RUN_FINISHED", ...run, usage: [{ inputTokens: 100, outputTokens: 9, cachedInputTokens: 40 }] },
];

it("shows the parts of a run in order, under its prompt", () => {
  const transcript = fold(readStream("ag-ui", [sse(turn)]));
  const parts = partsOf(transcript);
  expect(summary(parts)).toEqual([
    "prompt What is the weather?",
    "note Step: plan",
    "step_start",
    "thinking I look first.",
    "text API types.",
    'call getWeather {"city": "Oslo"} completed',
    "result success snow",
    "end tool_use",
    "step_start",
    "text Let me read",
    "call getTime {} completed",
    "result success noon",
    "note State",
    "note State changed",
    "note PLAN",
    "note confetti",
    "unknown RAW",
    "end stop",
  ]);
  expect(parts[3]).toMatchObject({ signature: "c2ln", format: "ag-ui" });
  expect(parts[14]).toMatchObject({ data: { done: 1 } });
  expect(parts[0]).toMatchObject({ at: 5000 });
  expect(parts.at(-1)).toMatchObject({ tokens: { input: 60, output: 9, cache_read: 40 } });
  expect(transcript.turns.at(0)).toMatchObject({ status: "completed", title: "What is the weather?" });
});

it("reads JSON lines like an event stream", () => {
  expect(readStream("ag-ui", [ndjson(turn)])).toEqual(readStream("ag-ui", [sse(turn)]));
});

it("opens a turn for a second run, or continues the first without a new prompt", () => {
  const again = (runId: string, messages: object[]) => [
    { type: "RUN_STARTED", threadId: "thread", runId, input: { messages } },
    { type: "TEXT_MESSAGE_CHUNK", messageId: `of-${runId}`, delta: "More." },
    { type: "RUN_FINISHED", threadId: "thread", runId },
  ];
  const answer = { id: "t", role: "tool", toolCallId: "c1", content: "x" };
  const goesOn = readStream("ag-ui", [sse(again("run-2", [answer]))], "two");
  let transcript = fold([...readStream("ag-ui", [sse(turn)]), ...goesOn]);
  expect(transcript.turns.length).toBe(1);
  const prompt = { id: "u2", role: "user", content: "And tomorrow?" };
  transcript = fold(readStream("ag-ui", [sse(again("run-3", [prompt]))], "three"), transcript);
  expect(transcript.turns.length).toBe(2);
  expect(transcript.turns.at(1)).toMatchObject({ title: "And tomorrow?", status: "completed" });
});

it("reads the older names of thinking events", () => {
  const frames = readStream("ag-ui", [
    sse([
      { type: "RUN_STARTED", ...run },
      { type: "THINKING_START" },
      { type: "THINKING_TEXT_MESSAGE_START" },
      { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "Hm." },
      { type: "THINKING_TEXT_MESSAGE_END" },
      { type: "THINKING_END" },
      { type: "RUN_FINISHED", ...run },
    ]),
  ]);
  expect(summary(partsOf(fold(frames)))).toEqual(["step_start", "thinking Hm.", "end stop"]);
});

it("corrects streamed messages by a message snapshot, and adds missing ones", () => {
  const frames = readStream("ag-ui", [
    sse([
      { type: "RUN_STARTED", ...run },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m1", delta: "Ths is it" },
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { id: "u1", role: "user", content: "Long ago" },
          { id: "m1", role: "assistant", content: "This is it" },
          {
            id: "m2",
            role: "assistant",
            content: "And a call",
            toolCalls: [{ id: "c9", type: "function", function: { name: "look", arguments: '{"at": 1}' } }],
          },
          { id: "t9", role: "tool", toolCallId: "c9", content: "seen", error: "blurred" },
        ],
      },
      { type: "RUN_FINISHED", ...run },
    ]),
  ]);
  expect(summary(partsOf(fold(frames)))).toEqual([
    "step_start",
    "text This is it",
    "end stop",
    "step_start",
    "text And a call",
    'call look {"at": 1} error',
    "result error seen\nblurred",
    "note All 4 messages, as the source has them",
    "end stop",
  ]);
});

it("reads the result of a front-end tool from the next run's input, also before a new prompt", () => {
  const user = { id: "u1", role: "user", content: "Which file is open?" };
  const asked = (id: string) => [
    { type: "RUN_STARTED", ...run, input: { messages: [user] } },
    ...called(id, "m1"),
    { type: "RUN_FINISHED", ...run },
  ];
  const answering = (id: string, ...behind: object[]) => [
    {
      type: "RUN_STARTED",
      ...run,
      runId: "run-2",
      input: {
        messages: [
          user,
          { id: "m1", role: "assistant", toolCalls: [] },
          { id: "t1", role: "tool", toolCallId: id, content: "main.ts" },
          ...behind,
        ],
      },
    },
    { type: "RUN_FINISHED", ...run },
  ];
  const shown = (id: string, ...behind: object[]) => {
    const first = readStream("ag-ui", [sse(asked(id))]);
    const second = readStream("ag-ui", [sse(answering(id, ...behind))], "two");
    return summary(partsOf(fold([...first, ...second])));
  };
  const answeredRun = [
    "prompt Which file is open?",
    "step_start",
    "call open {} completed",
    "end stop",
    "result success main.ts",
  ];
  expect(shown("open")).toEqual(answeredRun);
  expect(shown("open", { id: "u2", role: "user", content: "And now?" })).toEqual([
    ...answeredRun,
    "prompt And now?",
  ]);
  // Parts that the stream has already ended stay unchanged.
  const told = [...called("c", "m1"), answered("c"), ...answering("c")];
  expect(shownOf(...told)).toContain("result success c");
  expect(shownOf(...told)).not.toContain("result success main.ts");
});

it("keeps messages of several parts in a message snapshot, and adds missing parts", () => {
  const text = (messageId: string, delta: string) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
  const list = (...contents: string[]) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: contents.map((content, index) => ({ id: `m${index + 1}`, role: "assistant", content })),
  });
  const textsOf = (...events: object[]) => shownOf(...events).filter((part) => part.startsWith("text"));
  const around = [text("m1", "I look."), ...called("c", "m1"), text("m1", " More."), answered("c")];
  expect(textsOf(...around, list("I look. More."))).toEqual(["text I look.", "text  More."]);
  expect(textsOf(...around, list("I look. More and more."))).toEqual([
    "text I look.",
    "text  More and more.",
  ]);
  expect(textsOf(...around, list("All anew."))).toEqual(["text ", "text All anew."]);
  const both = [text("m1", "A "), text("m2", "B "), text("m1", "a"), text("m2", "b")];
  expect(textsOf(...both, list("A a", "B b"))).toEqual(["text A ", "text B ", "text a", "text b"]);
});

it("distinguishes a thought from a text with the same id in a message snapshot", () => {
  const thought = (delta: string) => ({ type: "REASONING_MESSAGE_CONTENT", messageId: "m1", delta });
  const said = (delta: string) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta });
  const list = (...messages: object[]) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: messages.map((message) => ({ id: "m1", ...message })),
  });
  const textOf = (...events: object[]) =>
    shownOf(...events).filter((part) => part.startsWith("text") || part.startsWith("thinking"));
  const answer = { role: "assistant", content: "Yes." };
  expect(textOf(thought("I think so."), said("Yes."), list(answer))).toEqual([
    "thinking I think so.",
    "text Yes.",
  ]);
  expect(
    textOf(thought("I think"), said("Ye"), list({ role: "reasoning", content: "I know." }, answer)),
  ).toEqual(["thinking I know.", "text Yes."]);
  expect(textOf(thought("I think so."), list(answer))).toEqual(["thinking I think so.", "text Yes."]);
});

it("attributes a signature to the thought if a text has the same id", () => {
  const frames = readStream("ag-ui", [
    sse([
      { type: "REASONING_MESSAGE_CONTENT", messageId: "m1", delta: "Hm" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "Yes." },
      { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "m1", encryptedValue: "c2ln" },
    ]),
  ]);
  const parts = partsOf(fold(frames));
  expect(parts.find(({ type }) => type === "thinking")).toMatchObject({ signature: "c2ln" });
  expect(parts.find(({ type }) => type === "text")).not.toHaveProperty("signature");
});

it("separates a sub-agent's text from its parent's", () => {
  const helper = { subagentRunId: "s1" };
  const frames = readStream("ag-ui", [
    sse([
      { type: "RUN_STARTED", ...run },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m1", delta: "I ask a helper." },
      { type: "SUBAGENT_STARTED", ...helper, name: "Counter" },
      { type: "TEXT_MESSAGE_START", ...helper, messageId: "h1" },
      { type: "TEXT_MESSAGE_CONTENT", ...helper, messageId: "h1", delta: "One line." },
      { type: "SUBAGENT_FINISHED", ...helper },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m1", delta: " It counted." },
      { type: "RUN_FINISHED", ...run },
    ]),
  ]);
  const parts = partsOf(fold(frames));
  expect(parts.filter((part) => part.type === "text").map(({ text }) => text)).toEqual([
    "I ask a helper.",
    " It counted.",
  ]);
  expect(parts.find((part) => part.type === "marker")).toMatchObject({
    title: "Counter ended",
    text: "One line.",
  });
});

it("reports failed, cancelled and truncated runs", () => {
  const started = [
    { type: "RUN_STARTED", ...run },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "wait" },
  ];
  const failed = fold(
    readStream("ag-ui", [sse([...started, { type: "RUN_ERROR", message: "No quota", code: "429" }])]),
  );
  expect(summary(partsOf(failed)).at(-1)).toBe("error No quota (429)");
  expect(failed.turns.at(0)?.status).toBe("failed");
  const cancelled = fold(
    readStream("ag-ui", [
      sse([...started, { type: "RUN_FINISHED", ...run, outcome: { type: "cancelled" } }]),
    ]),
  );
  expect(summary(partsOf(cancelled))).toContain("call wait  aborted");
  expect(cancelled.turns.at(0)?.status).toBe("interrupted");
  const cut = fold(readStream("ag-ui", [sse(started)]));
  expect(cut.turns.at(0)?.status).toBe("failed");
});

it("does not split a text at a state change", () => {
  const frames = readStream("ag-ui", [
    sse([
      { type: "RUN_STARTED", ...run },
      { type: "TEXT_MESSAGE_START", messageId: "m1" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "One sen" },
      { type: "STATE_DELTA", delta: [] },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "tence." },
      { type: "TEXT_MESSAGE_END", messageId: "m1" },
      { type: "RUN_FINISHED", ...run },
    ]),
  ]);
  expect(summary(partsOf(fold(frames)))).toEqual([
    "step_start",
    "text One sentence.",
    "note State changed",
    "end stop",
  ]);
});

const called = (id: string, parentMessageId?: string) => [
  {
    type: "TOOL_CALL_START",
    toolCallId: id,
    toolCallName: id,
    ...(parentMessageId === undefined ? {} : { parentMessageId }),
  },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: "{}" },
  { type: "TOOL_CALL_END", toolCallId: id },
];
const answered = (id: string) => ({
  type: "TOOL_CALL_RESULT",
  messageId: `t-${id}`,
  toolCallId: id,
  content: id,
});
/** The parts of a run with these events, without the prompt. */
const shownOf = (...events: object[]) =>
  summary(
    partsOf(
      fold(
        readStream("ag-ui", [
          sse([{ type: "RUN_STARTED", ...run }, ...events, { type: "RUN_FINISHED", ...run }]),
        ]),
      ),
    ),
  );

it("opens a step per message for calls, even without text between them", () => {
  const two = ["step_start", "call a {} completed", "end tool_use", "step_start", "call b {} completed"];
  const results = ["result success a", "result success b", "end stop"];
  expect(shownOf(...called("a", "m1"), ...called("b", "m2"), answered("a"), answered("b"))).toEqual([
    ...two,
    ...results,
  ]);
  const chunk = (id: string, parentMessageId: string) => ({
    type: "TOOL_CALL_CHUNK",
    toolCallId: id,
    toolCallName: id,
    parentMessageId,
    delta: "{}",
  });
  expect(shownOf(chunk("a", "m1"), chunk("b", "m2"), answered("a"), answered("b"))).toEqual([
    ...two,
    ...results,
  ]);
});

it("opens one step for the calls of one message, named or not", () => {
  const steps = (...events: object[]) => shownOf(...events).filter((part) => part === "step_start").length;
  const text = { type: "TEXT_MESSAGE_CHUNK", messageId: "m1", delta: "I look." };
  const results = [answered("a"), answered("b")];
  expect(steps(...called("a", "m1"), ...called("b", "m1"), ...results)).toBe(1);
  expect(steps(...called("a"), ...called("b"), ...results)).toBe(1);
  expect(steps(text, ...called("a", "m1"), ...called("b"), ...results)).toBe(1);
  expect(steps({ ...text, type: "REASONING_MESSAGE_CHUNK", messageId: "r1" }, ...called("a", "m1"))).toBe(1);
  // A call that begins after all earlier ones have ended belongs to a new model call.
  expect(steps(...called("a"), answered("a"), ...called("b"), answered("b"))).toBe(2);
  expect(steps(text, ...called("a", "m2"))).toBe(2);
});

it("keeps a call in place if its arguments continue after the next message begins", () => {
  const [start, args, end] = called("a", "m1");
  const events = [start, ...called("b", "m2"), args, end].filter((event) => event !== undefined);
  expect(shownOf(...events, answered("a"), answered("b"))).toEqual([
    "step_start",
    "call a {} completed",
    "end tool_use",
    "step_start",
    "call b {} completed",
    "result success a",
    "result success b",
    "end stop",
  ]);
});

it("opens steps for calls that only a message snapshot contains", () => {
  const message = (id: string, call: string) => ({
    id,
    role: "assistant",
    toolCalls: [{ id: call, type: "function", function: { name: call, arguments: "{}" } }],
  });
  const result = (call: string) => ({ id: `t-${call}`, role: "tool", toolCallId: call, content: call });
  const messages = [message("m1", "a"), result("a"), message("m2", "b"), result("b")];
  expect(shownOf({ type: "MESSAGES_SNAPSHOT", messages })).toEqual([
    "step_start",
    "call a {} completed",
    "result success a",
    "end tool_use",
    "step_start",
    "call b {} completed",
    "result success b",
    expect.stringMatching(/^note /),
    "end stop",
  ]);
});
