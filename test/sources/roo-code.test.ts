import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { formats } from "../../src/sources/index.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { clineTasks, rooCode } from "../../src/sources/roo-code/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-roo-code-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const START = Date.UTC(2026, 2, 1, 10);
const DETAILS = [
  "<environment_details>",
  "# Current Mode",
  "<model>tide-1</model>",
  "# Current Workspace Directory (/home/mara/tide) Files",
  "bergen.csv",
  "</environment_details>",
].join("\n");

const text = (words: string) => ({ type: "text", text: words });
const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const result = (tool_use_id: string, content: string) => ({ type: "tool_result", tool_use_id, content });
const say = (seconds: number, kind: string, words: unknown, more: object = {}) => ({
  ts: START + seconds * 1_000,
  type: "say",
  say: kind,
  text: typeof words === "string" ? words : JSON.stringify(words),
  ...more,
});
const ask = (seconds: number, kind: string, words: string) => ({
  ts: START + seconds * 1_000,
  type: "ask",
  ask: kind,
  text: words,
});
const message = (seconds: number, role: string, content: unknown, more: object = {}) => ({
  role,
  content,
  ts: START + seconds * 1_000,
  ...more,
});
const request = (seconds: number, more: object = {}) =>
  say(seconds, "api_req_started", { apiProtocol: "anthropic", ...more });

/** Writes the files of a task, by their names without `.json`. */
function task(name: string, files: Record<string, unknown>): string {
  const path = join(folder, "rooveterinaryinc.roo-cline/tasks", name);
  mkdirSync(path, { recursive: true });
  for (const [file, value] of Object.entries(files))
    writeFileSync(join(path, `${file}.json`), JSON.stringify(value));
  return path;
}

function only(sessions: Map<string, FollowedSession>): FollowedSession {
  const [session, ...others] = sessions.values();
  if (session === undefined || others.length > 0) throw new Error(`${sessions.size} sessions`);
  return session;
}

const fates = ({ records }: FollowedSession) =>
  records.map(({ disposition }) => (disposition.kind === "hidden" ? disposition.rule : disposition.kind));

const TASK = "0f1e2d3c-4b5a-4968-8776-655443322110";
const said = [
  say(0, "text", "Fix the tide table"),
  request(1, { tokensIn: 1_100, tokensOut: 40, cacheReads: 800, cacheWrites: 200, cost: 0.02 }),
  say(2, "reasoning", "Look first."),
  say(2.5, "text", "I look."),
  ask(3, "tool", JSON.stringify({ tool: "readFile", path: "bergen.csv" })),
  say(3.5, "diff_error", "No match found"),
];
const conversation = [
  message(0.5, "user", [text("<task>\nFix the tide table\n</task>"), text(DETAILS)]),
  message(4, "assistant", [
    { type: "reasoning", text: "Look first." },
    text("I look."),
    use("c1", "read_file", { path: "bergen.csv" }),
    use("c2", "execute_command", { command: "rm bergen.csv" }),
  ]),
];

describe("a task of Roo Code", () => {
  it("merges both lists by time, and counts tokens without cached ones", () => {
    const path = task(TASK, {
      ui_messages: said,
      api_conversation_history: conversation,
      history_item: { id: TASK, task: "Fix the tide table", workspace: "/home/mara/tide", ts: START },
    });
    const store = openStore(path);
    expect(rooCode.snapshots?.recognizes(store)).toBe(true);
    const sessions = look(rooCode, store);
    expect(only(sessions).records.at(-1)?.disposition.kind).toBe("shown");
    const more_said = [
      ...said,
      request(6, { tokensIn: 1_200, tokensOut: 10, cacheReads: 1_000, cacheWrites: 0 }),
      say(7, "checkpoint_saved", "abc"),
      say(7.5, "text", "half of", { partial: true }),
      say(8, "never_seen", "?"),
    ];
    const more = [
      ...conversation,
      message(5, "user", [
        result("c1", "1;2"),
        result("c2", "The user denied this operation."),
        text(DETAILS),
      ]),
      message(8.5, "assistant", [use("c3", "attempt_completion", { result: "Fixed." })]),
    ];
    task(TASK, { ui_messages: more_said, api_conversation_history: more });
    look(rooCode, store, sessions);
    const feedback = "The user has provided feedback.\n<user_message>\nAnd Oslo?\n</user_message>";
    task(TASK, { api_conversation_history: [...more, message(20, "user", [result("c3", feedback)])] });
    look(rooCode, store, sessions);
    const session = only(sessions);
    const { transcript, parts } = closed(session);
    expect(transcript.session_id).toBe(TASK);
    expect(orderOf(parts)).toBe(
      "[context] U [note] T x c:read_file c:execute_command- [context] ?? | c:attempt_completion U",
    );
    expect([...transcript.turns].map((turn) => `${turn?.title} ${turn?.status}`)).toEqual([
      "Fix the tide table completed",
      "And Oslo? failed",
    ]);
    expect(transcript.usage).toEqual({
      input: 300,
      output: 50,
      cache_read: 1_800,
      cache_write: 200,
      cost: 0.02,
    });
    expect(fates(session)).toContain("also in the conversation with the model");
    const models = session.records.flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "message.start" ? [frame.model] : [])),
    );
    expect(models).toEqual(["tide-1", "tide-1"]);
  });

  it("adds the tokens of a step even if they follow its answer", () => {
    const first = conversation.slice(0, 1);
    const path = task("late", { ui_messages: [request(1)], api_conversation_history: first });
    const sessions = look(rooCode, openStore(path));
    const both = [...first, message(4, "assistant", [text("Done.")])];
    task("late", { ui_messages: [request(1)], api_conversation_history: both });
    look(rooCode, openStore(path), sessions);
    task("late", {
      ui_messages: [request(1, { tokensIn: 7, tokensOut: 3 })],
      api_conversation_history: both,
    });
    look(rooCode, openStore(path), sessions);
    const { transcript, parts } = closed(only(sessions));
    expect(orderOf(parts)).toBe("[context] U x");
    expect(transcript.usage).toEqual({ input: 7, output: 3 });
  });

  it("reads calls that the model wrote as text, and pairs each with its result", () => {
    const path = task("written", {
      ui_messages: [say(0, "text", "List")],
      api_conversation_history: [
        message(1, "user", [text("<task>\nList\n</task>"), text(DETAILS)]),
        message(2, "assistant", [
          text(
            "<thinking>\nls will do\n</thinking>\n\nI look.\n\n<execute_command>\n<command>ls <b></command>\n</execute_command>",
          ),
        ]),
        message(3, "user", [
          text("[execute_command for 'ls <b>'] Result:"),
          text("Command executed.\nbergen.csv"),
          text(DETAILS),
        ]),
        message(4, "assistant", [text("Done: `<read_file>` was not needed.")]),
        message(5, "user", [text("[ERROR] You did not use a tool in your previous response!")]),
        message(6, "assistant", [
          text("<attempt_completion>\n<result>\nListed.\n</result>\n</attempt_completion>"),
        ]),
      ],
    });
    const { transcript, parts } = closed(only(look(rooCode, openStore(path))));
    expect(orderOf(parts)).toBe(
      "[context] U T x c:execute_command [context] | x [context] | c:attempt_completion?",
    );
    expect(parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments_json] : []))).toEqual([
      '{"command":"ls <b>"}',
      '{"result":"Listed."}',
    ]);
    expect(parts.flatMap((part) => (part.type === "tool_result" ? [part.output_text] : []))).toEqual([
      "Command executed.\nbergen.csv",
    ]);
    expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed"]);
  });

  it("shows a stop, a failure and a summary in their places", () => {
    const path = task("stopped", {
      ui_messages: [
        request(1),
        ask(3, "api_req_failed", "Overloaded"),
        say(5, "condense_context", "", {
          contextCondense: { summary: "All was read.", prevContextTokens: 9, newContextTokens: 3, cost: 0 },
        }),
      ],
      api_conversation_history: {
        version: 2,
        messages: [
          message(0, "user", "Read it all"),
          message(2, "assistant", [
            { type: "tool-call", toolCallId: "c1", toolName: "read_file", input: { path: "a" } },
          ]),
          message(2.5, "tool", [
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "read_file",
              output: { type: "text", value: "A" },
            },
          ]),
          message(5.5, "user", [text("All was read.")], { isSummary: true }),
          message(6, "user", "And now?"),
          message(7, "assistant", [text("I thi\n\n[Response interrupted by user]")]),
        ],
      },
    });
    const { transcript, parts } = closed(only(look(rooCode, openStore(path))));
    expect(orderOf(parts)).toBe("U c:read_file [error] [compaction] [context] U x [interrupt]");
    expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["failed", "interrupted"]);
  });

  it("links a task to the call of the task that started it", () => {
    const parent = task("11111111-1111-4111-8111-111111111111", {
      ui_messages: [say(0, "text", "Split it")],
      api_conversation_history: [
        message(0, "user", "Split it"),
        message(1, "assistant", [use("n1", "new_task", { mode: "code", message: "Do the first half" })]),
      ],
    });
    const child = task("22222222-2222-4222-8222-222222222222", {
      ui_messages: [say(3, "text", "Do the first half")],
      api_conversation_history: [
        message(3, "user", [text("<user_message>\nDo the first half\n</user_message>")]),
      ],
      history_item: { parentTaskId: "11111111-1111-4111-8111-111111111111" },
    });
    const sessions = [parent, child].map((path) => only(look(rooCode, openStore(path))));
    expect(sessions.map(({ kind }) => kind)).toEqual(["session", "run"]);
    expect(linkRuns(sessions.flatMap(({ reader }) => reader.linkFacts().sessions))).toEqual([
      {
        session_id: "22222222-2222-4222-8222-222222222222",
        parent_session_id: "11111111-1111-4111-8111-111111111111",
        tool_call_id: "n1",
      },
    ]);
  });

  it("is read from the shown messages if the conversation is lost, but not before it is written", () => {
    const path = task("alone", { ui_messages: [say(0, "text", "Fix it"), request(1)] });
    expect([...look(rooCode, openStore(path)).values()]).toEqual([]);
    task("alone", {
      ui_messages: [
        say(0, "text", "Fix it"),
        request(1, { tokensIn: 5, tokensOut: 2 }),
        say(2, "reasoning", "Hm."),
        say(2, "text", "I look."),
        ask(3, "command", "ls"),
        say(4, "command_output", "a.csv"),
        request(5, { tokensIn: 6, tokensOut: 2 }),
        say(6, "completion_result", "Fixed."),
        ask(7, "completion_result", ""),
      ],
    });
    const { transcript, parts } = closed(only(look(rooCode, openStore(path))));
    expect(orderOf(parts)).toBe("U T x c:execute_command | x");
    expect(transcript.usage).toEqual({ input: 11, output: 4 });
    expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed"]);
  });

  it("marks retracted messages, and shows their replacements", () => {
    const first = [message(0, "user", "One"), message(1, "assistant", [text("1")])];
    const path = task("back", {
      ui_messages: [say(0, "text", "One")],
      api_conversation_history: [...first, message(2, "user", "Two"), message(3, "assistant", [text("2")])],
    });
    const sessions = look(rooCode, openStore(path));
    task("back", {
      api_conversation_history: [
        ...first,
        message(9, "user", "Three"),
        message(10, "assistant", [text("3")]),
      ],
    });
    look(rooCode, openStore(path), sessions);
    const { parts } = closed(only(sessions));
    const texts = parts.flatMap((part) =>
      part.type === "text" ? [`${part.text} ${part.retracted ?? ""}`] : [],
    );
    expect(texts).toEqual(["1 ", "2 undone", "3 "]);
  });
});

describe("a task of Cline's extension", () => {
  it("has the tokens of each answer if its messages have no times", () => {
    const path = join(folder, "saoudrizwan.claude-dev/tasks/1767261600000");
    mkdirSync(path, { recursive: true });
    const request_text = (tokensIn: number) => ({ request: "…", tokensIn, tokensOut: 1, cacheReads: 90 });
    writeFileSync(
      join(path, "ui_messages.json"),
      JSON.stringify([
        say(0, "text", "Go"),
        say(1, "api_req_started", request_text(10)),
        say(3, "checkpoint_created", ""),
        say(4, "error", "The file is open"),
        say(5, "api_req_started", request_text(20)),
      ]),
    );
    writeFileSync(
      join(path, "api_conversation_history.json"),
      JSON.stringify([
        { role: "user", content: [text("<task>\nGo\n</task>")] },
        { role: "assistant", content: [use("c1", "read_file", { path: "a" })] },
        { role: "user", content: [result("c1", "A")] },
        { role: "assistant", content: [text("Done.")], modelInfo: { modelId: "tide-2" } },
      ]),
    );
    const named = openStore(join(path, "ui_messages.json"));
    expect(clineTasks.snapshots?.recognizes(named)).toBe(true);
    expect(rooCode.snapshots?.recognizes(named)).toBe(false);
    const session = only(look(clineTasks, named));
    const { transcript, parts } = closed(session);
    expect(orderOf(parts)).toBe("U c:read_file [note] | x");
    expect(transcript.usage).toEqual({ input: 30, output: 2, cache_read: 180 });
    const models = session.records.flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "message.start" ? [frame.model ?? "unknown"] : [])),
    );
    expect(models).toEqual(["unknown", "tide-2"]);
  });

  it("knows the messages of 2026, with or without the conversation", () => {
    const ui = [
      say(0, "task", "Go"),
      say(1, "conditional_rules_applied", { rules: [{ name: "a" }] }),
      say(2, "api_req_started", { tokensIn: 1, tokensOut: 1 }),
      say(3, "command_permission_denied", "rm is not allowed"),
      say(4, "subagent_usage", { tokensIn: 5 }),
      say(5, "compaction", "Compacted"),
      say(6, "plan_completion_result", "The plan"),
    ];
    const read = (name: string, files: Record<string, unknown>) => {
      const path = join(folder, "saoudrizwan.claude-dev/tasks", name);
      mkdirSync(path, { recursive: true });
      for (const [file, value] of Object.entries(files))
        writeFileSync(join(path, `${file}.json`), JSON.stringify(value));
      const session = only(look(clineTasks, openStore(join(path, "ui_messages.json"))));
      return { fates: fates(session), parts: closed(session).parts };
    };
    const alone = read("1", { ui_messages: ui });
    expect(alone.fates).not.toContain("unknown");
    expect(orderOf(alone.parts)).toBe("U [note] [note] [compaction] x");
    const titles = alone.parts.flatMap((part) => (part.type === "marker" ? [part.title] : []));
    expect(titles.slice(0, 2)).toEqual(["conditional rules applied", "rm is not allowed"]);
    const whole = read("2", {
      ui_messages: ui,
      api_conversation_history: [
        message(0.5, "user", [text("<task>\nGo\n</task>")]),
        message(6, "assistant", [text("The plan")]),
      ],
    });
    expect(whole.fates).not.toContain("unknown");
    expect(orderOf(whole.parts)).toBe("U [note] [note] [compaction] x");
  });
});

it("is recognized by file names and content, unlike any other document", () => {
  expect(rooCode.snapshots?.storeOf("x/tasks/1/ui_messages.json")).toBe("x/tasks/1");
  expect(rooCode.snapshots?.storeOf("x/tasks/1/checkpoints/package.json")).toBeUndefined();
  const detected = (value: unknown) =>
    formats.find(({ detect }) => detect(new TextEncoder().encode(JSON.stringify(value))))?.id;
  expect(detected([say(0, "text", "a")])).toBe("roo-code");
  expect(detected([{ role: "user", content: "a" }])).toBe("chat-messages");
  const damaged = task("damaged", { ui_messages: { not: "a list" } });
  expect(() => rooCode.snapshots?.recognizes(openStore(damaged))).toThrow("contains JSON, but not a list");
});
