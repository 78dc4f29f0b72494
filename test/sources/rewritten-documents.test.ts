import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { amp } from "../../src/sources/amp/format.ts";
import { ampReader } from "../../src/sources/amp/reader.ts";
import { continueDev } from "../../src/sources/continue/format.ts";
import { continueReader } from "../../src/sources/continue/reader.ts";
import type { Format, RecordReader } from "../../src/sources/contract.ts";
import { copilotChat } from "../../src/sources/copilot-chat/format.ts";
import { chatReader } from "../../src/sources/copilot-chat/reader.ts";
import { createLineReader } from "../../src/sources/lines/lines.ts";
import { headerLine, parseLogLine } from "../../src/sources/record-log/log-line.ts";
import { clineTasks, kiloCode, rooCode } from "../../src/sources/roo-code/format.ts";
import { taskReader } from "../../src/sources/roo-code/reader.ts";
import { damaged, damages } from "../fuzz/damage.ts";
import { expectRead } from "../fuzz/readers.ts";
import { answer, continueFolder, item, prompt, shell, withCalls } from "./continue-support.ts";
import { invocation, request, session } from "./copilot-chat-support.ts";
import { look, openStore } from "./store-reading.ts";

// Properties of agents whose sessions are rewritten documents and of which there is no real file.

const folder = mkdtempSync(join(tmpdir(), "verbatim-documents-laws-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = (words: string) => ({ type: "text", text: words });

/** A conversation in blocks of the Anthropic API, with the fields that `more` adds to each message. */
const conversation = (more: (index: number) => object) =>
  [
    { role: "user", content: [text("<task>\nFix the tide table\n</task>")] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Look first." },
        text("I look.\n<read_file>\n<path>a</path>\n</read_file>"),
        { type: "tool_use", id: "c1", name: "execute_command", input: { command: "ls", n: 1.0 } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "c1",
          toolUseID: "c1",
          content: "a",
          run: { status: "done", result: { output: "a", exitCode: 0 } },
        },
        text("[read_file for 'a'] Result:\nA"),
        text("<environment_details>\n# Current Mode\n</environment_details>"),
      ],
    },
    { role: "assistant", content: [text("Done.")], state: { type: "cancelled" } },
    { role: "user", content: [text("And Oslo?")] },
  ].map((message, index) => ({ ...message, ...more(index) }));

function taskFolder(extension: string): string {
  const path = join(folder, extension, "tasks/1");
  mkdirSync(path, { recursive: true });
  const say = (ts: number, kind: string, words: string) => ({ ts, type: "say", say: kind, text: words });
  const request = JSON.stringify({ tokensIn: 9, tokensOut: 2, cacheReads: 3, cost: 0.1 });
  const ui = [
    say(1, "text", "Fix"),
    say(2, "api_req_started", request),
    say(4, "error", "It is open"),
    say(5, "api_req_started", request),
    { ts: 6, type: "ask", ask: "api_req_failed", text: "Overloaded" },
  ];
  writeFileSync(join(path, "ui_messages.json"), JSON.stringify(ui));
  const messages = conversation((index) => ({ ts: index * 2 }));
  writeFileSync(join(path, "api_conversation_history.json"), JSON.stringify(messages));
  return path;
}

function threadFile(): string {
  const path = join(folder, "threads/T-1.json");
  mkdirSync(join(path, ".."), { recursive: true });
  const messages = conversation((messageId) => ({
    messageId,
    usage: { model: "m", inputTokens: 1, outputTokens: 1 },
  }));
  const info = {
    role: "info",
    messageId: 9,
    content: [{ type: "manual_bash_invocation", args: { cmd: "ls" } }],
  };
  const relationships = [{ threadID: "T-2", type: "fork" }];
  writeFileSync(
    path,
    JSON.stringify({ id: "T-1", created: 1, messages: [...messages, info], relationships }),
  );
  return path;
}

function continueFile(): string {
  const { path, save } = continueFolder(join(folder, "continue"));
  const call = { id: "c1", name: "Bash", input: { command: "ls", n: 1.0 } };
  save(
    [
      prompt("Fix the tide table", [{ name: "a.csv", description: "a.csv", content: "A" }]),
      answer("I look.", [
        { ...call, status: "done", output: ["a"] },
        { ...call, id: "c2", status: "canceled" },
      ]),
      shell("ls", "errored", "Bash command failed: Error (exit code 1): no"),
      item("t1", "thinking", "Look first."),
      withCalls("a1", "I look.", [{ ...call, status: "done" }]),
      item("r1", "tool", "a", {}, { toolCallId: "c1" }),
      item("a2", "assistant", "Done.", { conversationSummary: "It is done." }),
      item("u2", "user", "And Oslo?"),
      item("x1", "oracle", "Beware"),
    ],
    { mode: "plan" },
  );
  return path;
}

function chatFile(): string {
  const path = join(folder, "chat.json");
  const call = {
    requestId: "1",
    toolCallRounds: [{ toolCalls: [{ id: "c1", name: "bash", arguments: "{}" }] }],
  };
  const requests = [
    request(
      "1",
      "Fix the tide table",
      [
        { kind: "thinking", value: "Look first." },
        invocation("c1", "run_in_terminal", { pastTenseMessage: "Ran it" }),
        invocation("c2", "runSubagent", {
          toolSpecificData: { kind: "subagent", prompt: "Go", result: "Went" },
        }),
        invocation("c3", "copilot_readFile", { subAgentInvocationId: "c2" }),
        { kind: "textEditGroup", uri: { scheme: "file", path: "/a" }, edits: [[{ text: "a" }]] },
        { kind: "warning", content: { value: "Slow" } },
        { value: "Done." },
      ],
      { result: { metadata: call } },
    ),
    request("2", "And Oslo?", [{ value: "Oslo" }], { modelState: { value: 2 }, promptTokens: 3 }),
    request("3", "Go on", [invocation("c4", "bash")], { modelState: { value: 0 } }),
  ];
  writeFileSync(path, JSON.stringify(session(requests)));
  return path;
}

const agents: { format: Format; reader: RecordReader<never>; store: string }[] = [
  {
    format: rooCode,
    reader: taskReader("roo-code") as RecordReader<never>,
    store: taskFolder("rooveterinaryinc.roo-cline"),
  },
  {
    format: clineTasks,
    reader: taskReader("cline-vscode") as RecordReader<never>,
    store: taskFolder("saoudrizwan.claude-dev"),
  },
  {
    format: kiloCode,
    reader: taskReader("kilo-code") as RecordReader<never>,
    store: taskFolder("kilocode.kilo-code"),
  },
  { format: amp, reader: ampReader as RecordReader<never>, store: threadFile() },
  { format: continueDev, reader: continueReader as RecordReader<never>, store: continueFile() },
  { format: copilotChat, reader: chatReader as RecordReader<never>, store: chatFile() },
];

/** The lines of the log of its only session, without newlines. */
function logOf(format: Format, store: string): string[] {
  const [session] = look(format, openStore(store)).values();
  if (session === undefined) throw new Error(`${format.id} has no session`);
  const header = headerLine({ agent: format.id, session: session.name, file: store });
  return [header, ...session.lines].map((line) => line.trimEnd());
}

describe.each(agents)("$format.id", ({ format, reader, store }) => {
  const lines = logOf(format, store);

  it("accounts for every record of a damaged or split log", () => {
    const cuts = fc.array(fc.nat(20_000), { maxLength: 4 });
    fc.assert(
      fc.property(damages, cuts, fc.shuffledSubarray(lines.slice(1)), (damage, at, others) => {
        const log = damaged([...lines, ...others], damage);
        expectRead(format, new TextEncoder().encode(log), at);
      }),
      { numRuns: 150 },
    );
  });

  it("resumes from its JSON state, saved after any record", () => {
    const read = (isSaved: boolean): unknown[] => {
      let state = reader.initialState({ path: "logs/a.records.jsonl", isInside: false });
      const records = createLineReader().push(new TextEncoder().encode(`${lines.join("\n")}\n`));
      return records.flatMap((line) => {
        const entry = line.value === undefined ? undefined : parseLogLine(line);
        if (entry?.kind !== "record") return [];
        // Parsed JSON has the state's type.
        if (isSaved) state = JSON.parse(JSON.stringify(state)) as never;
        return [reader.read(state, entry.record)];
      });
    };
    const whole = read(false);
    expect(whole.length).toBeGreaterThan(5);
    expect(read(true)).toEqual(whole);
  });
});
