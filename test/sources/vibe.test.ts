import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { vibe } from "../../src/sources/vibe/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const root = mkdtempSync(join(tmpdir(), "verbatim-vibe-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ID = "1b2c3d4e-0001-4002-8003-aabbccddeeff";
let changes = 0;

/** Writes a file with a new time of change. */
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  changes += 1;
  utimesSync(path, changes, changes);
}

const lines = (messages: readonly object[]) =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join("");

function metaOf(facts: object = {}): object {
  return {
    session_id: ID,
    parent_session_id: null,
    start_time: "2026-06-01T10:00:00+00:00",
    end_time: "2026-06-01T10:05:00+00:00",
    git_branch: "main",
    environment: { working_directory: "/home/mara/tide" },
    title: "Fix the tide table",
    stats: { session_prompt_tokens: 1200, session_completion_tokens: 90, session_cached_tokens: 800 },
    config: { active_model: "devstral-2", providers: [{ api_key: "secret" }] },
    system_prompt: { role: "system", content: "You are Vibe." },
    ...facts,
  };
}

/** Writes a session in a folder of its own. */
function save(folder: string, messages: readonly object[], facts?: object): void {
  write(join(folder, "messages.jsonl"), lines(messages));
  write(join(folder, "meta.json"), JSON.stringify(metaOf(facts)));
}

function onlyOne(sessions: Map<string, FollowedSession>): FollowedSession {
  const [session] = sessions.values();
  if (session === undefined || sessions.size > 1) throw new Error(`${sessions.size} sessions`);
  return session;
}

const call = (id: string, name: string, input: object) => ({
  id,
  index: 0,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});
const user = (id: string, content: string, more: object = {}) => ({
  role: "user",
  content,
  message_id: id,
  ...more,
});
const answer = (id: string, content: string, more: object = {}) => ({
  role: "assistant",
  content,
  message_id: id,
  ...more,
});
const result = (tool_call_id: string, content: string, more: object = {}) => ({
  role: "tool",
  tool_call_id,
  content,
  ...more,
});

it("finds sessions by the names of their files", () => {
  const { snapshots } = vibe;
  const name = "logs/session/session_20260601_100000_1b2c3d4e";
  expect(snapshots?.storeOf(`${name}/messages.jsonl`)).toBe(name);
  expect(snapshots?.storeOf(`${name}/agents/explore_20260601_100000_5d/meta.json`)).toBe(
    `${name}/agents/explore_20260601_100000_5d`,
  );
  expect(snapshots?.storeOf(`${name}.json`)).toBe(`${name}.json`);
  expect(snapshots?.storeOf("logs/session/notes/messages.jsonl")).toBeUndefined();
  const other = join(root, "other_20260601_100000_1");
  write(join(other, "messages.jsonl"), lines([user("u1", "Hello")]));
  expect(snapshots?.recognizes(openStore(other))).toBe(false);
});

it("reads turns, thoughts, calls, results, attached and injected content, and the session's figures", () => {
  const folder = join(root, "a/session_20260601_100000_1b2c3d4e");
  save(
    folder,
    [
      user("u1", "Fix it", {
        resources: [{ kind: "text", uri: "a.csv", text: "06:00,1.2" }],
        images: [{ source: { kind: "file", path: "images/1.png" }, alias: "1", mime_type: "image/png" }],
      }),
      answer("a1", "I look.", {
        reasoning_content: "Look first",
        tool_calls: [
          call("c1", "bash", { command: "ls" }),
          call("c2", "bash", { command: "make" }),
          call("c3", "write_file", { path: "b.csv", content: "" }),
          call("c4", "bash", { command: "sleep 99" }),
        ],
      }),
      result("c1", "stdout: bergen.csv\nreturncode: 0", {
        tool_result: { output: { stdout: "bergen.csv", returncode: 0 }, duration: 1.5 },
      }),
      result("c2", "<tool_error>make failed\nReturn code: 2</tool_error>"),
      result("c3", "<user_cancellation>Use another name</user_cancellation>"),
      result("c4", "<user_cancellation>Tool execution interrupted by user.</user_cancellation>"),
      user("i1", "The plan mode is active.", { injected: true }),
      answer("a2", "Fixed.", { reasoning_payloads: [{ encrypted_content: "x" }] }),
      user("s1", "The user ran git status", {
        injected: true,
        manual_shell: { command: "git status", output_text: "clean\n", exit_code: 0 },
      }),
      user("b1", "<compaction_summary>\nThe table is fixed.\n</compaction_summary>", {
        injected: true,
        context_boundary: "compaction",
      }),
      user("u2", "And Oslo?"),
      answer("a3", "Done."),
    ],
    { stats: { session_prompt_tokens: 1200, session_completion_tokens: 90, session_cost: 0.5 } },
  );
  const session = onlyOne(look(vibe, openStore(folder)));
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe(
    "[context] [context] U T x c:bash c:bash! c:write_file- c:bash- [context] | T x U [note] [compaction] U x |",
  );
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed", "completed", "completed"]);
  const results = parts.filter((part) => part.type === "tool_result");
  expect(results.map(({ outcome, ui_extra }) => ({ outcome, ui_extra }))).toEqual([
    {
      outcome: undefined,
      ui_extra: { type: "shell", command: "ls", exit_code: 0, duration_ms: 1500 },
    },
    { outcome: undefined, ui_extra: { type: "shell", command: "make", exit_code: 2 } },
    { outcome: { kind: "refused", by: "person", reason: "Use another name" }, ui_extra: undefined },
    { outcome: { kind: "stopped", by: "person" }, ui_extra: { type: "shell", command: "sleep 99" } },
  ]);
  expect(parts.filter((part) => part.type === "step_finish").at(-1)).toMatchObject({
    tokens: { input: 1200, output: 90 },
  });
  // Only the start and the last change have a time.
  const times = parts.flatMap((part) =>
    part.type === "prompt" ? [new Date(part.at ?? 0).toISOString()] : [],
  );
  expect(times).toEqual(["2026-06-01T10:00:00.000Z", "2026-06-01T10:00:00.000Z", "2026-06-01T10:05:00.000Z"]);
  const patches = session.records.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
  );
  expect(Object.assign({}, ...patches)).toMatchObject({
    agent: "vibe",
    title: "Fix the tide table",
    cwd: "/home/mara/tide",
    git_branch: "main",
    model: "devstral-2",
    agent_cost: { usd: 0.5 },
  });
  expect(session.lines.join("")).not.toContain("secret");
  expect(parts.every(({ session_id }) => session_id === ID)).toBe(true);
});

it("reads messages as they are appended, and counts the session's tokens once", () => {
  const folder = join(root, "b/session_20260601_100000_1b2c3d4e");
  save(folder, [user("u1", "Fix it")], {
    stats: { session_prompt_tokens: 10, session_completion_tokens: 1 },
  });
  const store = openStore(folder);
  const sessions = look(vibe, store);
  appendFileSync(
    join(folder, "messages.jsonl"),
    `${lines([answer("a1", "", { tool_calls: [call("c1", "bash", { command: "ls" })] })])}{"role": "to`,
  );
  write(
    join(folder, "meta.json"),
    JSON.stringify(metaOf({ stats: { session_prompt_tokens: 20, session_completion_tokens: 2 } })),
  );
  look(vibe, store, sessions);
  expect(onlyOne(sessions).records.some(({ disposition }) => disposition.kind === "unknown")).toBe(false);
  save(
    folder,
    [
      user("u1", "Fix it"),
      answer("a1", "", { tool_calls: [call("c1", "bash", { command: "ls" })] }),
      result("c1", "returncode: 0"),
      answer("a2", "Fixed."),
    ],
    { stats: { session_prompt_tokens: 30, session_completion_tokens: 3 } },
  );
  const { parts, transcript } = closed(onlyOne(look(vibe, store, sessions)));
  expect(parts.filter((part) => part.type === "tool_result")).toHaveLength(1);
  expect(transcript.turns.at(0)).toMatchObject({ status: "completed" });
  const usage = parts.flatMap((part) => (part.type === "step_finish" && part.tokens ? [part.tokens] : []));
  expect(usage).toEqual([{ input: 30, output: 3 }]);
});

it("marks messages that a rewind removed", () => {
  const folder = join(root, "c/session_20260601_100000_1b2c3d4e");
  save(folder, [user("u1", "Fix it"), answer("a1", "Fixed."), user("u2", "And Oslo?"), answer("a2", "Oslo")]);
  const store = openStore(folder);
  const sessions = look(vibe, store);
  save(folder, [user("u1", "Fix it"), answer("a1", "Fixed.")]);
  look(vibe, store, sessions);
  save(folder, [user("u1", "Fix it"), answer("a1", "Fixed."), user("u3", "And Bodø?"), answer("a3", "Bodø")]);
  const { parts } = closed(onlyOne(look(vibe, store, sessions)));
  const shown = parts.flatMap((part) =>
    part.type === "text" ? [`${part.text}${part.retracted === undefined ? "" : " (rewound)"}`] : [],
  );
  expect(shown).toEqual(["Fixed.", "Oslo (rewound)", "Bodø"]);
});

it("reads the single document of older versions, also after its migration to a folder", () => {
  const path = join(root, "d/session_20251201_100000_1b2c3d4e.json");
  const messages = [
    { role: "system", content: "You are Vibe." },
    { role: "user", content: "Fix it" },
    { role: "assistant", content: "Fixed." },
  ];
  const metadata = { ...metaOf({ system_prompt: undefined }), agent_config: { active_model: "devstral" } };
  write(path, JSON.stringify({ metadata, messages }));
  const sessions = look(vibe, openStore(path));
  const { length } = onlyOne(sessions).records;
  expect(length).toBeGreaterThan(0);
  const folder = path.slice(0, -".json".length);
  write(join(folder, "messages.jsonl"), lines(messages));
  write(join(folder, "meta.json"), JSON.stringify(metadata));
  const { parts } = closed(onlyOne(look(vibe, openStore(folder), sessions)));
  expect(orderOf(parts)).toBe("[context] U x |");
  expect(onlyOne(sessions).lines.filter((line) => line.includes('"line:'))).toHaveLength(3);
});

it("links a sub-agent to its call by its id or by its task", () => {
  const folder = join(root, "e/session_20260601_100000_1b2c3d4e");
  const run = (name: string, id: string, task: string) => {
    save(
      join(folder, "agents", `${name}_20260601_100100_${id.slice(0, 8)}`),
      [user("u1", task), answer("a1", "3 m")],
      {
        session_id: id,
        start_time: "2026-06-01T10:01:00+00:00",
        end_time: "2026-06-01T10:02:00+00:00",
        system_prompt: null,
      },
    );
  };
  const ids = ["5d6e7f80-0001-4002-8003-aabbccddeeff", "6d6e7f80-0001-4002-8003-aabbccddeeff"];
  run("explore", ids[0] ?? "", "Find the tides");
  run(
    "explore",
    ids[1] ?? "",
    "Scratchpad directory: /tmp/s\nYou can read and write files here without permission prompts.\n\nFind the moon",
  );
  save(
    folder,
    [
      user("u1", "Fix it"),
      answer("a1", "", {
        tool_calls: [
          call("c1", "task", { task: "Something else", agent: "explore" }),
          call("c2", "task", { task: "Find the moon", agent: "explore" }),
        ],
      }),
    ],
    { child_sessions: [{ session_id: ids[0], tool_call_id: "c1", agent: "explore" }] },
  );
  const names = [
    folder,
    ...["5d6e7f80", "6d6e7f80"].map((id) => join(folder, `agents/explore_20260601_100100_${id}`)),
  ];
  const read = names.map((name) => onlyOne(look(vibe, openStore(name))));
  expect(read.map(({ kind }) => kind)).toEqual(["session", "run", "run"]);
  const facts = read.flatMap(({ reader }) => reader.linkFacts().sessions);
  expect(linkRuns(facts)).toEqual([
    { session_id: ids[0], parent_session_id: ID, tool_call_id: "c1" },
    { session_id: ids[1], parent_session_id: ID, tool_call_id: "c2" },
  ]);
  const [, , moon] = read;
  if (moon === undefined) throw new Error("No run");
  expect(orderOf(closed(moon).parts)).toBe("[context] U x |");
});

it("shows damaged lines and unknown messages", () => {
  const folder = join(root, "f/session_20260601_100000_1b2c3d4e");
  save(folder, [user("u1", "Fix it")]);
  appendFileSync(join(folder, "messages.jsonl"), `{"role":\n{"role":"critic","content":"No"}\n`);
  expect(readFileSync(join(folder, "messages.jsonl"), "utf8")).toContain("critic");
  const session = onlyOne(look(vibe, openStore(folder)));
  const unknown = closed(session).parts.flatMap((part) => (part.type === "unknown" ? [part.raw] : []));
  expect(unknown).toEqual(['{"role":', { role: "critic", content: "No" }]);
});

it("takes the exit code of a managed shell from its own member, and the model that was assigned", () => {
  const folder = join(root, "managed/session_20260815_090512_1b2c3d4e");
  const shell = (exit_code: number | null, status: string) => ({
    tool_result: { output: { command: "make", status, exit_code, output: "", returncode: exit_code ?? 0 } },
  });
  save(
    folder,
    [
      user("u1", "Build"),
      answer("a1", "", {
        tool_calls: [call("c1", "bash", { command: "make" }), call("c2", "bash", { command: "make" })],
      }),
      result("c1", "status: running\nreturncode: 0", shell(null, "running")),
      result("c2", "status: completed\nexit_code: 2\nreturncode: 2", shell(2, "completed")),
    ],
    { config: { active_model: "", routed_default_model: "medium" } },
  );
  const session = onlyOne(look(vibe, openStore(folder)));
  const { parts } = closed(session);
  expect(parts.flatMap((part) => (part.type === "tool_result" ? [part.ui_extra] : []))).toEqual([
    { type: "shell", command: "make" },
    { type: "shell", command: "make", exit_code: 2 },
  ]);
  expect(JSON.stringify(session.records.map(({ frames }) => frames))).toContain('"model":"medium"');
});
