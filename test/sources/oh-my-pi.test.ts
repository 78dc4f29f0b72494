import { join } from "node:path";
import { expect, it } from "vitest";
import { formats } from "../../src/sources/index.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { ohMyPi } from "../../src/sources/oh-my-pi/format.ts";
import { pi } from "../../src/sources/pi/format.ts";
import { bytesOf, orderOf, type ReadSession, readSession } from "./record-laws.ts";

const ID = "019aa1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b";
const RUN = "019aa1b2-d4e5-7f60-9b7c-8d9e0f1a2b3c";
const MAIN = join(import.meta.dirname, `../fixtures/oh-my-pi/-tide/2026-11-20T10-00-00-000Z_${ID}.jsonl`);
const SUB = MAIN.replace(/\.jsonl$/, "/Reef.jsonl");

const bytes = (lines: readonly object[]) =>
  new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
const readLines = (lines: readonly object[], path = MAIN) => readSession(ohMyPi, path, [bytes(lines)]);
const readFile = (path: string) => readSession(ohMyPi, path, [bytesOf(path)]);

/** The session's facts, from all of its frames. */
const factsIn = ({ records }: ReadSession): Record<string, unknown> =>
  Object.assign(
    {},
    ...records.flatMap(({ frames }) =>
      frames.flatMap((each) => (each.type === "session.update" ? [each.patch] : [])),
    ),
  );
const titlesIn = ({ parts }: ReadSession) =>
  parts.flatMap((part) => ("title" in part && part.title !== undefined ? [part.title] : []));

const slot = (title: string) => ({
  type: "title",
  v: 1,
  title,
  updatedAt: "2026-11-20T10:00:00.000Z",
  pad: "",
});
const header = (fields: object = {}) => ({
  type: "session",
  version: 3,
  id: ID,
  timestamp: "2026-11-20T10:00:00.000Z",
  cwd: "/home/mara/tide",
  ...fields,
});
const entry = (type: string, id: string, parentId: string | null, fields: object) => ({
  type,
  id,
  parentId,
  timestamp: "2026-11-20T10:00:05.000Z",
  ...fields,
});
const answered = (id: string, parentId: string | null, fields: object) =>
  said(id, parentId, { role: "assistant", model: "m", stopReason: "stop", ...fields });
const called = (id: string, parentId: string | null, name: string, args: object) =>
  answered(id, parentId, {
    content: [{ type: "toolCall", id: `call ${id}`, name, arguments: args }],
    stopReason: "toolUse",
  });
const resulted = (id: string, parentId: string, toolName: string, fields: object) =>
  said(id, parentId, {
    role: "toolResult",
    toolCallId: `call ${parentId}`,
    toolName,
    isError: false,
    ...fields,
  });
const text = (words: string) => [{ type: "text", text: words }];
const said = (id: string, parentId: string | null, message: object) =>
  entry("message", id, parentId, { message });

it("leaves pi's sessions to pi, and recognizes its own by their content, with and without a title before the header", () => {
  const detected = (lines: readonly object[]) => formats.find((format) => format.detect(bytes(lines)))?.id;
  const modelOf = (fields: object) => entry("model_change", "a", null, fields);
  expect(detected([header(), modelOf({ provider: "x", modelId: "m" })])).toBe("pi");
  expect(detected([slot(""), header()])).toBe("oh-my-pi");
  expect(detected([header(), modelOf({ model: "x/m" })])).toBe("oh-my-pi");
  expect(detected([header({ title: "T", titleSource: "auto" })])).toBe("oh-my-pi");
});

it("tells sessions from runs by their folder, and skips backups", () => {
  const kindOf = (path: string) => ohMyPi.classify(`sessions/-tide/${path}`)?.kind;
  const name = `2026-11-20T10-00-00-000Z_${ID}`;
  expect(kindOf(`${name}.jsonl`)).toBe("session");
  expect(kindOf(`${name}/Reef.jsonl`)).toBe("run");
  expect(kindOf(`${name}/Reef/__advisor.jsonl`)).toBe("run");
  expect(kindOf(`${name}/1.bash.log`)).toBeUndefined();
  expect(kindOf(`${name}.bak.jsonl`)).toBeUndefined();
});

it("takes the title from the start of the file, from a longer one in the header, and from changes", () => {
  expect(factsIn(readLines([slot("Tides"), header()])).title).toBe("Tides");
  expect(factsIn(readLines([slot("Tides"), header({ title: "Tides of the bay" })])).title).toBe(
    "Tides of the bay",
  );
  expect(factsIn(readLines([slot("Bay"), header({ title: "Tides" })])).title).toBe("Bay");
  const change = entry("title_change", "a", null, { title: "Reef", source: "user" });
  expect(factsIn(readLines([slot("Bay"), header(), change])).title).toBe("Reef");
});

it("recognizes every entry", () => {
  for (const path of [MAIN, SUB]) {
    const { records } = readFile(path);
    expect(records.filter(({ disposition }) => /^un/.test(disposition.kind))).toEqual([]);
  }
  expect(titlesIn(readFile(MAIN))).toEqual([
    "Thinking level: auto (high)",
    "Service tier: anthropic priority",
    "Files that the prompt mentions",
    "Model changed: m-large → m-next",
    "Plan mode entered",
    "Skill: tides",
    "Back to the usual mode",
    "Rules added to the context: no-any, short",
    "Interrupted by user",
    "Context compacted: 900 tokens before",
    "Shell output: exit 0",
    "Context from oh-my-pi",
    "Context cleared",
    "Model changed: m-large → m-other",
    "The agent's process ended: SIGTERM",
  ]);
});

it("shows the model without its provider, and images that are kept in files", () => {
  const session = readFile(MAIN);
  expect(factsIn(session)).toMatchObject({
    agent: "oh-my-pi",
    model: "m-other",
    provider: "openai",
    title: "Tide tables",
  });
  const [prompt] = session.parts.filter(({ type }) => type === "prompt");
  const sha256 = "ab".repeat(32);
  expect(prompt).toMatchObject({
    parts: [
      { type: "text", text: "Look at @tides.txt" },
      { type: "image_file", file_path: `blobs/${sha256}`, sha256, mime_type: "image/png" },
    ],
  });
});

it("counts the tokens and the cost of steps and of other model calls, which start no branch", () => {
  const session = readFile(MAIN);
  expect(session.transcripts[0]?.usage).toEqual({
    input: 57,
    output: 26,
    cache_read: 500,
    cache_write: 100,
    reasoning: 3,
    cost: 1.75,
  });
  expect(orderOf(session.parts)).not.toContain("[rewind]");
});

it("shows what people and the agent wrote in other ways than as a prompt", () => {
  const prompts = readFile(MAIN).parts.flatMap((part) => (part.type === "prompt" ? [part] : []));
  const textOf = ({ parts }: (typeof prompts)[number]) => (parts[0]?.type === "text" ? parts[0].text : "");
  expect(prompts.map((part) => [part.origin ?? "person", textOf(part)])).toEqual([
    ["person", "Look at @tides.txt"],
    ["notification", "Reef is done"],
    ["command", "/skill:tides today"],
    ["agent", "Continue"],
    ["command", "$ 1 + 1"],
    ["person", "Again"],
  ]);
});

it("shows exit codes, durations and diffs of results, and searches that the provider ran", () => {
  const extras = readFile(MAIN).parts.flatMap((part) => (part.type === "tool_result" ? [part.ui_extra] : []));
  expect(extras).toMatchObject([
    { type: "web_search", query: "tides", results: [{ title: "Tides", url: "https://example.org/tides" }] },
    { type: "shell", exit_code: 2, duration_ms: 40 },
    {
      type: "diff",
      files: [{ path: "/home/mara/tide/tides.txt", hunks: [{ old_start: 1, lines: [" a", "-b", "+c"] }] }],
    },
    { type: "sub_agent" },
  ]);
});

it("links sub-agents to the call that started them, also those of a sub-agent", () => {
  const crab = readLines(
    [slot(""), header({ id: "019aa1b2-e5f6-7061-8c7d-9e0f1a2b3c4d", parentSession: SUB })],
    SUB.replace("Reef.jsonl", "Reef.Crab.jsonl"),
  );
  const [main, reef] = [readFile(MAIN), readFile(SUB)];
  expect(factsIn(reef)).toMatchObject({
    parent: { session_id: ID },
    run: { name: "Reef", task: "Look at the reef" },
  });
  expect(factsIn(reef).forked_from).toBeUndefined();
  expect(linkRuns([main, reef, crab].flatMap(({ facts }) => facts))).toEqual([
    { session_id: RUN, parent_session_id: ID, tool_call_id: "c3" },
    {
      session_id: "019aa1b2-e5f6-7061-8c7d-9e0f1a2b3c4d",
      parent_session_id: RUN,
      tool_call_id: "d1",
    },
  ]);
});

it("links a sub-agent whose call has no result yet, by its name or its task", () => {
  const started = (task: object) =>
    readLines([
      header(),
      said("a", null, {
        role: "assistant",
        model: "m",
        content: [{ type: "toolCall", id: "c1", name: "task", arguments: task }],
        stopReason: "toolUse",
      }),
    ]).facts;
  const run = readFile(SUB).facts;
  const link = { session_id: RUN, parent_session_id: ID };
  expect(linkRuns([...started({ name: "Reef", task: "?" }), ...run])).toEqual([
    { ...link, tool_call_id: "c1" },
  ]);
  expect(linkRuns([...started({ task: "Look at the reef" }), ...run])).toEqual([
    { ...link, tool_call_id: "c1" },
  ]);
  expect(linkRuns([...started({ task: "Look at the bay" }), ...run])).toEqual([link]);
});

it("shows a failed answer that was sent again as an attempt, and only the last failure as an error", () => {
  const failed = { content: [], stopReason: "error", errorMessage: "Overloaded" };
  const retryRecovery = { kind: "auto-retry", status: "recovered", attempt: 1, note: "error; retried" };
  const attempt = [
    header(),
    said("a", null, { role: "user", content: "Hi" }),
    answered("b", "a", { ...failed, retryRecovery }),
  ];
  const recovered = readLines([...attempt, answered("c", "b", { content: text("Hello") })]);
  expect(recovered.parts.filter(({ type }) => !type.startsWith("step"))).toMatchObject([
    { type: "prompt" },
    { type: "marker", kind: "retry", title: "Overloaded", data: retryRecovery },
    { type: "text", text: "Hello" },
  ]);
  expect(recovered.transcripts[0]?.turns.at(0)?.status).toBe("completed");
  const failedAgain = readLines([...attempt, answered("c", "b", failed)]);
  expect(failedAgain.parts).toMatchObject([{}, { kind: "retry" }, { kind: "error" }]);
  expect(failedAgain.transcripts[0]?.turns.at(0)?.status).toBe("failed");
});

it("keeps a failed answer when the next one answers something else", () => {
  const { parts } = readLines([
    header(),
    said("a", null, { role: "user", content: "Hi" }),
    answered("b", "a", { content: text("Half of"), stopReason: "error", errorMessage: "Overloaded" }),
    entry("custom_message", "c", "b", {
      customType: "async-result",
      content: "Reef is done",
      display: true,
      attribution: "agent",
    }),
    answered("d", "c", { content: text("Good") }),
  ]);
  expect(parts.filter(({ retracted }) => retracted !== undefined)).toEqual([]);
  expect(parts.find(({ type }) => type === "text")).toMatchObject({ text: "Half of" });
});

it("tells calls that did not run, and calls that were stopped for a message, from failed ones", () => {
  const endOf = (words: string, details: object) => {
    const { parts } = readLines([
      header(),
      called("a", null, "bash", { command: "ls" }),
      resulted("b", "a", "bash", { content: text(words), details, isError: true }),
    ]);
    const result = parts.find((part) => part.type === "tool_result");
    const isStopped = result?.outcome?.kind === "stopped" ? true : undefined;
    expect(result?.ui_extra).toMatchObject({ type: "shell" });
    expect(result?.ui_extra?.type === "shell" && result.ui_extra.interrupted).toBe(isStopped);
    return [result?.status, result?.outcome];
  };
  const synthetic = { __synthetic: true, executed: false };
  const skipped = { ...synthetic, source: "assistant_stop_skipped" };
  expect(endOf("Tool call was not executed", skipped)).toEqual([
    "aborted",
    { kind: "refused", by: "program" },
  ]);
  expect(endOf("Tool execution was aborted.", { ...synthetic, source: "assistant_stop_aborted" })).toEqual([
    "aborted",
    { kind: "refused" },
  ]);
  expect(endOf("Skipped", { __interrupted: true, source: "interrupt_skipped" })).toEqual([
    "aborted",
    { kind: "stopped", by: "program" },
  ]);
  expect(endOf("Tool was not executed because the run was aborted: x.", {})).toEqual([
    "aborted",
    { kind: "refused" },
  ]);
  expect(endOf("Command aborted", {})).toEqual(["aborted", { kind: "stopped", by: "person" }]);
  expect(endOf("Command exited with code 1", {})).toEqual(["error", undefined]);
});

it("shows to-do lists, tools that write ran, and where a long output was saved", () => {
  const extraOf = (name: string, args: object, details: object) => {
    const { parts } = readLines([
      header(),
      called("a", null, name, args),
      resulted("b", "a", name, { content: text("done"), details }),
    ]);
    return parts.find((part) => part.type === "tool_result")?.ui_extra;
  };
  const tasks = [
    { content: "Look", status: "completed" },
    { content: "Draw", status: "blocked" },
    { content: "Sing", status: "abandoned" },
  ];
  const todos = {
    type: "todos",
    todos: [
      { text: "Look", status: "completed" },
      { text: "Draw", status: "pending" },
    ],
  };
  const list = { op: "done", phases: [{ name: "One", tasks }] };
  expect(extraOf("todo", { op: "done", task: "Look" }, list)).toEqual(todos);
  const device = { path: "xd://todo", content: "{}" };
  expect(extraOf("write", device, { xdev: { tool: "todo", args: {}, inner: list } })).toEqual(todos);
  const search = { xdev: { tool: "web_search", args: { query: "tides" }, inner: {} } };
  expect(extraOf("write", device, search)).toEqual({ type: "web_search", query: "tides", results: [] });
});

it("names the session that a fork continues, and marks the entries that it copied", () => {
  const other = "019aa1b2-0000-7000-8000-000000000001";
  const copied = {
    ...said("a", null, { role: "user", content: "Hi" }),
    timestamp: "2026-11-20T09:00:00.000Z",
  };
  const fork = readLines([
    slot(""),
    header({ parentSession: other }),
    copied,
    entry("model_usage", "b", "a", { model: "m", usage: { input: 1, output: 1 } }),
  ]);
  expect(factsIn(fork).forked_from).toEqual({ session_id: other });
  expect(titlesIn(fork)[0]).toMatch(/^Copied from the session/);
});

it("marks what an advisor wrote as a run of the session", () => {
  const path = MAIN.replace(/\.jsonl$/, "/__advisor.reviewer.jsonl");
  const advisor = readLines(
    [
      slot(""),
      header({ id: RUN }),
      said("a", null, { role: "user", content: "Update", synthetic: true, attribution: "agent" }),
    ],
    path,
  );
  expect(factsIn(advisor)).toMatchObject({ parent: { session_id: ID }, run: { name: "advisor: reviewer" } });
  expect(advisor.parts).toMatchObject([{ type: "prompt", origin: "agent" }]);
  expect(linkRuns(advisor.facts)).toEqual([{ session_id: RUN, parent_session_id: ID }]);
});

it("keeps reading pi's own sessions as before", () => {
  const session = readSession(pi, "a.jsonl", [
    bytes([header(), said("a", null, { role: "user", content: "Hi" })]),
  ]);
  expect(factsIn(session).agent).toBe("pi");
  expect(orderOf(session.parts)).toBe("U");
});
