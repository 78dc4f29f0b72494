import { describe, expect, it } from "vitest";
import { geminiCli } from "../../src/sources/gemini-cli/format.ts";
import { type Account, accountOf } from "./account.ts";

const ID = "8f0e1d2c-3b4a-4958-8776-655443322110";
const CHATS = "/h/.gemini/tmp/tide/chats";
const at = (time: string): string => `2026-10-05T${time}.000Z`;
const header = { sessionId: ID, projectHash: "0123abcd", startTime: at("08:00:00"), kind: "main" };
const message = (id: string, type: string, time: string, content: unknown, more: object = {}) => ({
  id,
  timestamp: at(time),
  type,
  content,
  ...more,
});
const user = (id: string, time: string, text: string) => message(id, "user", time, [{ text }]);
const gemini = (id: string, time: string, text: string) => message(id, "gemini", time, text, { model: "m" });
const context = user(
  "ctx",
  "08:00:00",
  "<session_context>\nToday is Monday.\n- **Workspace Directories:**\n  - /home/mara/tide\n  - /home/mara/moon\n</session_context>",
);
const given = (...messages: object[]) => ({ $set: { messages, lastUpdated: at("08:30:00") } });
const read = (...lines: object[]): Account => accountOf(geminiCli, `${CHATS}/session-1.jsonl`, lines);
const turnsOf = ({ transcript }: Account) => transcript.turns.slice().filter((turn) => turn !== undefined);

describe("a file of Gemini CLI without a message of the conversation", () => {
  it("is not a session", () => {
    const reader = geminiCli.createReader({ path: `${CHATS}/session-1.jsonl` });
    const lines = [header, given(context), message("n", "info", "08:00:01", "An update is available.")];
    const records = reader.push(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
    expect(records.flatMap(({ frames }) => frames)).toEqual([]);
    expect(records.map(({ disposition }) => disposition.kind)).toEqual(["folded", "folded", "folded"]);
    expect(reader.linkFacts()).toEqual({ sessions: [] });
  });

  it("shows what preceded its first message with it, in order", () => {
    const { records, parts } = read(
      header,
      given(context),
      message("n", "info", "08:00:01", "An update is available."),
      user("u1", "08:00:02", "Fix the tide table"),
    );
    expect(records.map(({ frames }) => frames.length > 0)).toEqual([false, false, false, true]);
    expect(parts.map((part) => (part.type === "marker" ? part.kind : part.type))).toEqual([
      "context",
      "note",
      "prompt",
    ]);
  });

  it("takes its folder from the context for the model, which alone names it", () => {
    const { records } = read(header, given(context), user("u1", "08:00:02", "Hello"));
    const patches = records
      .flatMap(({ frames }) => frames)
      .flatMap((frame) => (frame.type === "session.update" ? frame.patch : []));
    expect(patches).toContainEqual({ cwd: "/home/mara/tide" });
  });
});

describe("a turn of Gemini CLI", () => {
  it("ends with its last record, not with the next prompt", () => {
    const turns = turnsOf(
      read(
        header,
        user("u1", "08:00:02", "Hello"),
        gemini("g1", "08:00:05", "Hello."),
        user("u2", "12:00:00", "Again"),
        gemini("g2", "12:00:01", "Again."),
      ),
    );
    expect(turns.map(({ started_at, ended_at }) => [started_at, ended_at])).toEqual([
      [Date.parse(at("08:00:02")), Date.parse(at("08:00:05"))],
      [Date.parse(at("12:00:00")), undefined],
    ]);
  });

  it("fails if it ended in an error, whatever follows", () => {
    const turns = turnsOf(
      read(
        header,
        user("u1", "08:00:02", "Hello"),
        gemini("g1", "08:00:03", "I look."),
        message("e1", "error", "08:00:04", "The quota is used up."),
        user("u2", "08:00:09", "Again"),
      ),
    );
    expect(turns[0]).toMatchObject({ status: "failed", ended_at: Date.parse(at("08:00:04")) });
  });
});

describe("tool output that Gemini CLI records as a message of the user", () => {
  const prompt = user("u1", "08:00:02", "Read a.ts and the picture");
  const answer = gemini("g1", "08:00:05", "I read them.");
  const kindsOf = ({ parts }: Account) =>
    parts.map(({ type }) => type).filter((type) => !type.startsWith("step_"));

  it("as a text is the result of a call without a record, in the same turn", () => {
    const sent = message(
      "u2",
      "user",
      "08:00:06",
      "[Function Response: read_file][Function Response: read_many_files]--- a.ts ---\n\nlet a;",
    );
    const account = read(header, prompt, answer, sent, gemini("g2", "08:00:08", "It is empty."));
    expect(kindsOf(account)).toEqual(["prompt", "text", "tool_result", "tool_result", "text"]);
    expect(account.parts.filter((part) => part.type === "tool_result")).toMatchObject([
      { tool_name: "read_file", output_text: "" },
      { tool_name: "read_many_files", output_text: "--- a.ts ---\n\nlet a;" },
    ]);
    expect(turnsOf(account)).toHaveLength(1);
  });

  it("with other content is the result of its call, and context for the model", () => {
    const call = { id: "read_file-1", name: "read_file", args: { path: "a.png" }, timestamp: at("08:00:05") };
    const response = { id: "read_file-1", name: "read_file", response: { output: "A picture" } };
    const sent = message("u2", "user", "08:00:06", [
      { functionResponse: response },
      { inlineData: { mimeType: "image/png", data: "aGk=" } },
    ]);
    const account = read(
      header,
      prompt,
      { ...answer, toolCalls: [call] },
      sent,
      gemini("g2", "08:00:08", "It is blue."),
    );
    expect(kindsOf(account)).toEqual(["prompt", "text", "tool_call", "tool_result", "marker", "text"]);
    expect(turnsOf(account)).toHaveLength(1);
  });

  it("is not a person's prompt that quotes such a text later", () => {
    const quoted = user("u2", "08:00:09", "What is [Function Response: read_file]?");
    expect(kindsOf(read(header, prompt, answer, quoted))).toEqual(["prompt", "text", "prompt"]);
  });
});

describe("an interrupt of Gemini CLI", () => {
  const cancelled = (name: string, time: string) => message(name, "info", time, "Request cancelled.");
  const interrupts = (...lines: object[]) => {
    const { parts, records } = read(header, user("u1", "08:00:02", "Hello"), ...lines);
    return {
      shown: parts.filter((part) => part.type === "marker" && part.kind === "interrupt").length,
      records: records.slice(2).map(({ disposition }) => disposition),
    };
  };

  it("that is recorded twice is shown and counted once", () => {
    expect(interrupts(cancelled("i1", "08:00:03"), cancelled("i2", "08:00:04"))).toEqual({
      shown: 1,
      records: [{ kind: "shown" }, { kind: "folded", into: "the interrupt before it" }],
    });
  });

  it("is another one if the agent has continued", () => {
    const again = gemini("g1", "08:00:04", "Hello.");
    expect(interrupts(cancelled("i1", "08:00:03"), again, cancelled("i2", "08:00:05"))).toEqual({
      shown: 2,
      records: [{ kind: "shown" }, { kind: "shown" }, { kind: "shown" }],
    });
  });
});

describe("a compression of Gemini CLI", () => {
  const answer = gemini("a", "08:20:00", "Got it. Thanks for the additional context!");
  const compressed = (text: string, ...kept: object[]) =>
    given(context, user("s", "08:20:00", text), answer, ...kept);
  const told = (...lines: object[]): string[] =>
    read(header, user("u1", "08:00:02", "Hello"), gemini("g1", "08:00:05", "Hello."), ...lines).parts.flatMap(
      (part) => (part.type === "marker" && part.kind === "compaction" ? (part.text ?? "") : []),
    );

  it("is shown if it keeps the newest messages", () => {
    const kept = [user("k1", "08:20:00", "Hello"), gemini("k2", "08:20:00", "Hello.")];
    expect(told(compressed("They greeted.", ...kept))).toEqual(["They greeted."]);
  });

  it("is shown once, however often its context is recorded", () => {
    const later = [user("u2", "08:25:00", "Again"), gemini("g2", "08:25:01", "Again.")];
    expect(
      told(
        compressed("They greeted."),
        compressed("They greeted.", ...later),
        compressed("They greeted twice."),
      ),
    ).toEqual(["They greeted.", "They greeted twice."]);
  });

  it("leaves no line without text for the sizes, which only its terminal shows", () => {
    const { parts, records } = read(
      header,
      user("u1", "08:00:02", "Hello"),
      message("n", "info", "08:20:00", ""),
    );
    expect(parts.map(({ type }) => type)).toEqual(["prompt"]);
    expect(records.at(-1)?.disposition).toEqual({ kind: "hidden", rule: "empty notice" });
  });
});

describe("media that Gemini CLI passes to the model after a call", () => {
  it("is shown, although it is recorded as a notice, and the answer made up for it is not", () => {
    const image = { inlineData: { mimeType: "image/png", data: "aGk=" } };
    const { parts, records } = read(
      header,
      user("u1", "08:00:02", "What is on the map?"),
      message("g1", "gemini", "08:00:03", [
        {
          text: "Binary content received. Proceeding with analysis.",
          thought: true,
          thoughtSignature: "skip_thought_signature_validator",
        },
      ]),
      message("i1", "info", "08:00:04", [image]),
      gemini("g2", "08:00:05", "Bergen."),
    );
    expect(parts.map(({ type }) => type)).toEqual(["prompt", "marker", "step_start", "text", "step_finish"]);
    expect(JSON.stringify(parts[1])).toContain("data:image/png;base64,aGk=");
    expect(records[2]?.disposition).toEqual({ kind: "hidden", rule: "answer that Gemini CLI made up" });
  });
});
