import { describe, expect, it } from "vitest";
import { antigravity } from "../../src/sources/antigravity/format.ts";
import { formats } from "../../src/sources/index.ts";
import { accountOf } from "./account.ts";

const ID = "3c4d5e6f-7081-4a2b-8c3d-4e5f60718293";
const PATH = `antigravity-cli/brain/${ID}/.system_generated/logs/transcript.jsonl`;

let step = 0;
/** A record with the next number, unless `fields` has one. */
const record = (type: string, fields: object = {}) => {
  step += 1;
  return { step_index: step, source: "MODEL", type, status: "DONE", ...fields };
};
const ask = (content: string) => record("USER_INPUT", { source: "USER_EXPLICIT", content });
const answer = (...tool_calls: object[]) => record("PLANNER_RESPONSE", { tool_calls });
const tool = (name: string, args: object = {}) => ({ name, args });
const read = (...records: object[]) => accountOf(antigravity, PATH, records);
/** Each result: its call, by the arguments, and its text. */
const results = ({ parts }: ReturnType<typeof read>): string[] =>
  parts.flatMap((part) => {
    if (part.type !== "tool_result") return [];
    const call = parts.find((each) => each.type === "tool_call" && each.tool_call_id === part.tool_call_id);
    const args = call?.type === "tool_call" ? call.arguments_json : "no call";
    return [`${args} ${part.status} ${part.output_text}`];
  });

describe("an Antigravity session", () => {
  it("takes its id from its folder, otherwise from its path", () => {
    expect(read(ask("a")).transcript.session_id).toBe(ID);
    const id = (path: string) => accountOf(antigravity, path, [ask("a")]).transcript.session_id;
    expect(id("/one/transcript.jsonl")).not.toBe(id("/two/transcript.jsonl"));
    expect(id(`/x/brain/${ID}/.system_generated/logs/transcript_full.jsonl`)).toBe(ID);
  });

  it("is recognized by path and content; its copy with full texts by content only", () => {
    expect(antigravity.classify(PATH)).toEqual({ kind: "session" });
    expect(antigravity.classify(PATH.replace("transcript", "transcript_full"))).toBeUndefined();
    expect(antigravity.classify(`antigravity/brain/${ID}/task.md`)).toBeUndefined();
    const detected = (line: object) =>
      formats.find(({ detect }) => detect(new TextEncoder().encode(`${JSON.stringify(line)}\n`)))?.id;
    expect(detected(ask("a"))).toBe("antigravity");
    expect(detected({ type: "USER_INPUT", step_index: 0, status: "DONE" })).toBe("antigravity");
    expect(detected({ type: "USER_INPUT", content: "a" })).toBeUndefined();
    expect(detected({ type: "user_input", step_index: 0, status: "done" })).toBeUndefined();
  });

  it.each([
    ["plain", "plain"],
    ["<USER_REQUEST>\nin tags\n</USER_REQUEST>", "in tags"],
    [
      "<USER_REQUEST>of </USER_REQUEST> tags</USER_REQUEST>\n<ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>",
      "of </USER_REQUEST> tags",
    ],
    ["without<ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>", "without"],
    ["<USER_REQUEST>never closed", "<USER_REQUEST>never closed"],
  ])("extracts the person's text: %s", (content, own) => {
    const prompts = read(ask(content)).parts.flatMap((part) => (part.type === "prompt" ? part.parts : []));
    expect(prompts).toEqual([{ type: "text", text: own }]);
  });

  it("takes the model from the settings, not from a person's text", () => {
    const setting = (name: string) =>
      `<USER_SETTINGS_CHANGE>\nThe user changed setting \`Model Selection\` from None to ${name}. No need to comment.\n</USER_SETTINGS_CHANGE>`;
    const models = (content: string) =>
      read(ask(content), record("PLANNER_RESPONSE", { content: "a" })).records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "message.start" ? [frame.model] : [])),
      );
    expect(models(`<USER_REQUEST>a</USER_REQUEST>\n${setting("Model A 3.5 (High)")}`)).toEqual([
      "Model A 3.5 (High)",
    ]);
    expect(models(`<USER_REQUEST>${setting("B")} is in the log</USER_REQUEST>`)).toEqual([undefined]);
  });

  it("pairs results of the type GENERIC, which newer versions write for every tool, in order", () => {
    const account = read(
      ask("Go"),
      answer(tool("run_command", { CommandLine: "make" }), tool("write_to_file", { TargetFile: "/a" })),
      record("GENERIC", { content: "The command exited with code 2.\nOutput:\nno rule" }),
      record("GENERIC", { content: "Edited the file." }),
    );
    expect(results(account)).toEqual([
      '{"CommandLine":"make"} success The command exited with code 2.\nOutput:\nno rule',
      '{"TargetFile":"/a"} success Edited the file.',
    ]);
    expect(account.parts.find((part) => part.type === "tool_result")).toMatchObject({
      ui_extra: { type: "shell", command: "make", exit_code: 2 },
    });
    expect(account.parts.some(({ type }) => type === "unknown")).toBe(false);
  });

  it("shows a result of the type GENERIC without a call as a result", () => {
    const account = read(ask("Go"), record("GENERIC", { content: "Task: a\nStatus: RUNNING" }));
    expect(results(account)).toEqual(["no call success Task: a\nStatus: RUNNING"]);
  });

  it("shows a message to the agent without the sentence before it", () => {
    const content =
      "The following is a <SYSTEM_MESSAGE> not actually sent by the user. It is important.\n\n" +
      "<SYSTEM_MESSAGE>\n[Message] sender=system content=[Notice] Stopped\n</SYSTEM_MESSAGE>";
    const { parts } = read(ask("Go"), record("SYSTEM_MESSAGE", { source: "SYSTEM", content }));
    expect(parts.at(-1)).toMatchObject({ text: "[Message] sender=system content=[Notice] Stopped" });
  });

  it("pairs each result with the oldest call of a tool with results of that type", () => {
    const paths = ["a", "b"].map((path) => tool("view_file", { AbsolutePath: path }));
    const outcomes = read(
      ask("a"),
      answer(...paths, tool("send_message"), tool("list_dir", { DirectoryPath: "d" })),
      record("LIST_DIRECTORY", { content: "of d" }),
      record("VIEW_FILE", { content: "of a" }),
      record("GENERIC", { content: "sent" }),
      record("VIEW_FILE", { content: "of b" }),
      record("VIEW_FILE", { content: "of none" }),
    );
    expect(results(outcomes)).toEqual([
      '{"DirectoryPath":"d"} success of d',
      '{"AbsolutePath":"a"} success of a',
      "{} success sent",
      '{"AbsolutePath":"b"} success of b',
      "no call success of none",
    ]);
  });

  it("does not pair a result with a call of an earlier answer", () => {
    const outcomes = read(
      ask("a"),
      answer(tool("view_file")),
      answer(tool("list_dir")),
      record("VIEW_FILE", { content: "x" }),
    );
    expect(results(outcomes)).toEqual(["no call success x"]);
  });

  it("pairs a record of unknown type with the only waiting call, and shows others unchanged", () => {
    const next = { content: "drawn" };
    expect(results(read(ask("a"), answer(tool("draw_map")), record("MAP_DRAWN", next)))).toEqual([
      "{} success drawn",
    ]);
    for (const others of [
      [answer(tool("draw_map"), tool("send_message")), record("MAP_DRAWN", next)],
      [answer(tool("draw_map")), record("TELEMETRY"), record("MAP_DRAWN", next)],
      [answer(tool("view_file")), record("CHECKPOINT", next), record("MAP_DRAWN", next)],
    ]) {
      const { outcomes, parts } = read(ask("a"), ...others);
      expect(outcomes.at(-2)).toMatch(/^unknown · unknown Step of type MAP_DRAWN/);
      expect(parts.filter(({ type }) => type === "tool_result")).toEqual([]);
    }
  });

  it("keeps the call of a running command open until a record with the same number ends it", () => {
    const begun = [
      ask("a"),
      answer(tool("run_command", { CommandLine: "make" }), tool("run_command", { CommandLine: "ls" })),
    ];
    const running = record("RUN_COMMAND", { status: "RUNNING", content: "in the background" });
    const other = record("RUN_COMMAND", { content: "a.csv" });
    const outcomes = read(...begun, running, other, answer(tool("run_command", { CommandLine: "pwd" })), {
      ...running,
      status: "ERROR",
      content: "failed at last",
    });
    expect(outcomes.outcomes[2]).toBe('shown · [note] run_command is still running "in the background"');
    expect(results(outcomes)).toEqual([
      '{"CommandLine":"ls"} success a.csv',
      '{"CommandLine":"make"} error failed at last',
    ]);
  });

  it("merges a repeated result or answer with the first one", () => {
    const said = record("PLANNER_RESPONSE", { content: "Once.", tool_calls: [tool("list_dir")] });
    const listed = record("LIST_DIRECTORY", { content: "a" });
    const outcomes = read(ask("a"), said, said, listed, { ...listed, content: "a b" });
    expect(outcomes.outcomes[2]).toBe("folded into the same answer before it");
    expect(outcomes.outcomes[4]).toBe("folded into the result before it");
    expect(results(outcomes)).toEqual(["{} success a b"]);
  });

  it("decodes JSON-encoded string arguments, and keeps other strings unchanged", () => {
    const args = (value: string) => {
      const line = JSON.stringify(answer({ name: "view_file", args: 0 })).replace(
        '"args":0',
        `"args":${value}`,
      );
      return accountOf(
        antigravity,
        PATH,
        [ask("a"), line].map((each) => each),
      ).parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments_json] : []));
    };
    expect(args('{"AbsolutePath":"\\"/w/a b\\"","n":1}')).toEqual(['{"AbsolutePath":"/w/a b","n":1}']);
    expect(args('{"a": "b", "n": 1.00}')).toEqual(['{"a": "b", "n": 1.00}']);
    expect(args('{"a":"\\"half"}')).toEqual(['{"a":"\\"half"}']);
    expect(args('{"__proto__":"\\"x\\""}')).toEqual(['{"__proto__":"x"}']);
    expect(args("null")).toEqual(["{}"]);
  });

  it("shows the diff of a file change, and the session of a sub-agent", () => {
    const extras = (name: string, args: object, type: string, content: string) =>
      read(ask("a"), answer(tool(name, args)), record(type, { content })).parts.flatMap((part) =>
        part.type === "tool_result" ? [part.ui_extra] : [],
      );
    const diff =
      "Changed.\n[diff_block_start]\n@@ -1 +1,2 @@\n a\n+b\n[diff_block_end]\n[diff_block_start]\nnever closed";
    expect(extras("replace_file_content", { TargetFile: "/w/a" }, "CODE_ACTION", diff)).toMatchObject([
      { type: "diff", files: [{ path: "/w/a", change: "update", additions: 1, deletions: 0 }] },
    ]);
    expect(
      extras(
        "write_to_file",
        { TargetFile: "/w/a" },
        "CODE_ACTION",
        "Created file file:///w/a with requested content.",
      ),
    ).toMatchObject([{ type: "diff", files: [{ change: "create" }] }]);
    expect(extras("invoke_subagent", {}, "INVOKE_SUBAGENT", `{"conversationId": "${ID}"}`)).toEqual([
      { type: "sub_agent", agent_key: ID },
    ]);
  });

  it("distinguishes a call's error from a turn's, from which the agent recovers if it continues", () => {
    const wrong = record("ERROR_MESSAGE", {
      error: "invalid tool call",
      content: "Error invalid tool call: denied",
    });
    const refused = read(ask("a"), answer(tool("view_file")), wrong);
    expect(results(refused)).toEqual(["{} error invalid tool call\n\nError invalid tool call: denied"]);
    const broken = record("ERROR_MESSAGE", { content: "The stream was interrupted." });
    expect(read(ask("a"), broken).transcript.turns.at(0)?.status).toBe("failed");
    const goesOn = read(ask("a"), broken, record("PLANNER_RESPONSE", { content: "Again." }));
    expect(goesOn.transcript.turns.at(0)?.status).toBe("completed");
    const stopped = read(
      ask("a"),
      answer(tool("run_command")),
      record("RUN_COMMAND", { status: "CANCELED", content: "" }),
    );
    expect(results(stopped)).toEqual(["{} aborted "]);
  });

  it("hides records without content by a named rule, and accepts unknown ones", () => {
    const { outcomes } = read(
      ask(" "),
      record("PLANNER_RESPONSE"),
      record("SYSTEM_MESSAGE", { content: "<SYSTEM_MESSAGE>\n</SYSTEM_MESSAGE>" }),
      record("CONVERSATION_HISTORY"),
    );
    expect(outcomes.slice(0, 4)).toEqual([
      "hidden: empty message",
      "hidden: empty message",
      "hidden: empty notice",
      "hidden: empty notice",
    ]);
    const odd = [
      {},
      { type: 7 },
      { type: "constructor", step_index: "x" },
      { type: "PLANNER_RESPONSE", tool_calls: [null, 3, { name: 4, args: "text" }], thinking: {} },
      { type: "VIEW_FILE", content: { text: 3 }, status: [] },
      { type: "ERROR_MESSAGE" },
      { type: "CHECKPOINT", content: ["x"] },
      { type: "RUN_COMMAND", status: "RUNNING" },
      { type: "TOOL_EXECUTION", tool_calls: [{ tool_name: "run_command", status: "running" }] },
    ];
    const kinds = read(...odd).records.map(({ disposition }) => disposition.kind);
    expect(kinds.slice(0, 9)).toEqual([
      "unknown",
      "unknown",
      "unknown",
      "shown",
      "unknown",
      "shown",
      "shown",
      "unknown",
      "shown",
    ]);
  });
});
