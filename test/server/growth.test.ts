import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SessionSummary } from "../../src/model/session.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { HUGE_FILE_BYTES } from "../../src/server/import/large-files/segments.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import type { Format } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";

function formatOf(name: string): Format {
  const format = formats.find(({ id }) => id === name);
  if (!format) throw new Error(`There is no format ${name}`);
  return format;
}
const claude = formatOf("claude-code");

let folder: string;
let running: Sessions[];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "growth-")));
  running = [];
});
afterEach(async () => {
  for (const sessions of running) await sessions.close();
  rmSync(folder, { recursive: true });
});

/** `idle`: time after which a file's reader is evicted, in milliseconds. */
function start(idle: number, format = claude): Sessions {
  const sessions = createSessions({
    formats: [format],
    roots: [{ format, path: join(folder, "agent") }],
    indexer: createIndexer(),
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, tick: 10, idle },
  });
  running.push(sessions);
  return sessions;
}

const figures = (row: SessionSummary | undefined) =>
  row && {
    turns: row.turns,
    steps: row.steps,
    tool_calls: row.tool_calls,
    errors: row.errors,
    parts: row.parts,
    usage: row.usage,
    first_prompt: row.first_prompt,
    last_activity_at: row.last_activity_at,
  };

it.each([0, 60_000])(
  "counts a session that grows while its reader is evicted like one that is read completely (idle %d)",
  async (idle) => {
    const { session_id, lines } = generateClaudeSession({ parts: 2_000, turns: 40 });
    const project = join(folder, "agent", "projects", "-home-ada");
    mkdirSync(project, { recursive: true });
    const file = join(project, `${session_id}.jsonl`);
    const known = Math.floor(lines.length * 0.7);
    writeFileSync(file, `${lines.slice(0, known).join("\n")}\n`);
    const sessions = start(idle);
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    const size = Math.ceil((lines.length - known) / 7);
    for (let at = known; at < lines.length; at += size) {
      const before = sessions.get(session_id)?.parts ?? 0;
      appendFileSync(file, `${lines.slice(at, at + size).join("\n")}\n`);
      await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
    }
    const whole = start(60_000);
    await eventually(() => expect(whole.status().index.done).toBe(true));
    await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
  },
);

it("counts a half-written line once it is complete", async () => {
  const { session_id, lines } = generateClaudeSession({ parts: 2_000, turns: 40 });
  const project = join(folder, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const file = join(project, `${session_id}.jsonl`);
  const known = Math.floor(lines.length * 0.7);
  const [torn = "", ...others] = lines.slice(known, known + 40);
  writeFileSync(file, `${lines.slice(0, known).join("\n")}\n${torn.slice(0, 100)}`);
  const sessions = start(0);
  await eventually(() => expect(sessions.status().index.done).toBe(true));
  const before = sessions.get(session_id)?.parts ?? 0;
  appendFileSync(file, `${torn.slice(100)}\n${others.join("\n")}\n`);
  await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
  const whole = start(60_000);
  await eventually(() => expect(whole.status().index.done).toBe(true));
  await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
});

it("counts nothing twice for a session that is resumed long after its end was counted", async () => {
  const { session_id, lines } = generateClaudeSession({ parts: 2_000, turns: 40 });
  const project = join(folder, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const file = join(project, `${session_id}.jsonl`);
  // Within a step, whose end was counted at the end of the file.
  const known = lines.findIndex(
    (line, index) => index > lines.length * 0.7 && line.includes('"stop_reason":"tool_use"'),
  );
  writeFileSync(file, `${lines.slice(0, known + 1).join("\n")}\n`);
  const long_ago = Date.now() / 1000 - 7_200;
  utimesSync(file, long_ago, long_ago);
  const sessions = start(0);
  await eventually(() => expect(sessions.get(session_id)?.turns).toBe(29));
  const before = sessions.get(session_id)?.parts ?? 0;
  appendFileSync(file, `${lines.slice(known + 1, known + 41).join("\n")}\n`);
  await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
  const whole = start(60_000);
  await eventually(() => expect(whole.status().index.done).toBe(true));
  await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
});

/** A new Claude Code file, and functions that append lines. */
function claudeSession() {
  const session_id = "11111111-1111-4111-8111-111111111111";
  const project = join(folder, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const file = join(project, `${session_id}.jsonl`);
  let count = 0;
  const write = (type: string, fields: object) => {
    count += 1;
    const uuid = `${String(count).padStart(8, "0")}-0000-4000-8000-000000000000`;
    const timestamp = new Date(Date.UTC(2026, 2, 1, 10, 0, count)).toISOString();
    appendFileSync(file, `${JSON.stringify({ type, uuid, sessionId: session_id, timestamp, ...fields })}\n`);
  };
  const user = (content: unknown) => write("user", { message: { role: "user", content } });
  const answer = (id: string, stop_reason: string, block: object) => {
    const usage = { input_tokens: 5, output_tokens: 50, cache_read_input_tokens: 40_000 };
    write("assistant", {
      message: { id, role: "assistant", model: "m", content: [block], stop_reason, usage },
    });
  };
  return { session_id, file, write, user, answer };
}
const words = (count: number) => ({ type: "text", text: "word ".repeat(count) });
const call = (id: string) => ({ type: "tool_use", id, name: "Read", input: { file_path: `/${id}` } });
const result = (id: string, content: string) => [{ type: "tool_result", tool_use_id: id, content }];

it.each([0, 60_000])(
  "counts the tokens of a model call far before the end, without a new turn (idle %d)",
  async (idle) => {
    const { session_id, file, write, user, answer } = claudeSession();
    user("Tell a story");
    for (let page = 0; page < 4; page += 1) answer(`story-${page}`, "end_turn", words(30_000));
    user("Read them");
    for (const id of ["a", "b", "c", "d"]) answer("reads", "tool_use", call(id));
    for (const id of ["a", "b", "c", "d"]) user(result(id, "word ".repeat(30_000)));
    const sessions = start(idle);
    await eventually(() => expect(sessions.get(session_id)?.turns).toBe(2));
    // Records without a part are read first, and the reader may be kept from there.
    write("mode", { mode: "default" });
    await eventually(() => expect(sessions.get(session_id)?.byte_size).toBe(statSync(file).size));
    const before = sessions.get(session_id)?.parts ?? 0;
    answer("last", "end_turn", words(3));
    await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
    const whole = start(60_000);
    await eventually(() => expect(whole.status().index.done).toBe(true));
    await eventually(() => expect(whole.get(session_id)?.turns).toBe(2));
    await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
  },
);

it("counts nothing twice for a huge session that is resumed long after its end was counted", async () => {
  const { session_id, file, user, answer } = claudeSession();
  user("Tell a story");
  for (let page = 0; page < 85; page += 1) answer(`story-${page}`, "end_turn", words(120_000));
  expect(statSync(file).size).toBeGreaterThan(HUGE_FILE_BYTES);
  user("Read it");
  answer("reads", "tool_use", call("a"));
  const long_ago = Date.now() / 1000 - 7_200;
  utimesSync(file, long_ago, long_ago);
  const sessions = start(0);
  await eventually(() => expect(sessions.get(session_id)?.tool_calls).toBe(1));
  await eventually(() => expect(sessions.get(session_id)?.status).toBe("failed"));
  const before = sessions.get(session_id)?.parts ?? 0;
  user(result("a", "read"));
  answer("last", "end_turn", words(3));
  await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
  const whole = start(60_000);
  await eventually(() => expect(whole.status().index.done).toBe(true));
  await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
});

it("ends a turn whose end is the only new line", async () => {
  const { session_id, lines } = generateClaudeSession({ parts: 2_000, turns: 40 });
  const project = join(folder, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const file = join(project, `${session_id}.jsonl`);
  writeFileSync(file, `${lines.slice(0, -1).join("\n")}\n`);
  const sessions = start(60_000);
  await eventually(() => expect(sessions.get(session_id)?.turns).toBe(40));
  const before = sessions.get(session_id)?.parts ?? 0;
  appendFileSync(file, `${lines.at(-1)}\n`);
  await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
  await eventually(() => expect(sessions.get(session_id)?.status).toBe("completed"));
});

/** A new Codex file, and a function that appends records. */
function codexThread() {
  const session_id = "01a00000-0000-7000-8000-000000000001";
  const day = join(folder, "agent", "sessions", "2026", "03", "01");
  mkdirSync(day, { recursive: true });
  const file = join(day, `rollout-2026-03-01T10-00-00-${session_id}.jsonl`);
  const write = (...records: [string, object][]) => {
    const timestamp = new Date().toISOString();
    appendFileSync(
      file,
      records.map(([type, payload]) => `${JSON.stringify({ timestamp, type, payload })}\n`).join(""),
    );
  };
  write(["session_meta", { id: session_id }]);
  return { session_id, file, write };
}
const begin = (turn_id: string): [string, object] => ["event_msg", { type: "task_started", turn_id }];
const prompt = (message: string): [string, object] => ["event_msg", { type: "user_message", message }];

it("has one turn for a turn that was opened before its prompt", async () => {
  const { session_id, write } = codexThread();
  write(begin("one"), prompt("one"));
  for (let count = 0; count < 100; count += 1)
    write(["event_msg", { type: "agent_message", message: `${count} ${"word ".repeat(2_000)}` }]);
  write(["event_msg", { type: "task_complete", turn_id: "one" }], begin("two"));
  const sessions = start(0, formatOf("codex"));
  await eventually(() => expect(sessions.status().index.done).toBe(true));
  await eventually(() => expect(sessions.get(session_id)?.turns).toBe(2));
  const before = sessions.get(session_id)?.parts ?? 0;
  write(prompt("two"));
  await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
  expect(sessions.get(session_id)?.turns).toBe(2);
});

it("opens no turn for a prompt queued in a turn that began far above", async () => {
  const { session_id, write } = codexThread();
  const internal_chat_message_metadata_passthrough = { turn_id: "one" };
  const item = (payload: object): [string, object] => [
    "response_item",
    { ...payload, internal_chat_message_metadata_passthrough },
  ];
  write(begin("one"), prompt("one"));
  for (let count = 0; count < 100; count += 1) {
    const call_id = `call-${count}`;
    write(
      item({ type: "function_call", call_id, name: "exec_command", arguments: "{}" }),
      item({ type: "function_call_output", call_id, output: "word ".repeat(2_000) }),
    );
  }
  const sessions = start(0, formatOf("codex"));
  await eventually(() => expect(sessions.get(session_id)?.tool_calls).toBe(100));
  const before = sessions.get(session_id)?.parts ?? 0;
  write(
    item({ type: "message", role: "user", content: [{ type: "input_text", text: "and this" }] }),
    prompt("and this"),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "It is done." }] }),
    ["event_msg", { type: "task_complete", turn_id: "one" }],
  );
  await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
  await eventually(() => expect(sessions.get(session_id)).toMatchObject({ turns: 1, status: "completed" }));
});

/** Records of steps with one tool call each: the call, its tokens and the total so far, and the result. */
const named: [string, object] = ["turn_context", { turn_id: "one" }];
const asks = (step: number): [string, object] => [
  "response_item",
  { type: "function_call", call_id: `call-${step}`, name: "exec_command", arguments: "{}" },
];
const counts = (step: number): [string, object] => {
  const last_token_usage = { input_tokens: 3, output_tokens: 2 };
  const total_token_usage = { input_tokens: 3 * step, output_tokens: 2 * step };
  return ["event_msg", { type: "token_count", info: { last_token_usage, total_token_usage } }];
};
const answers = (step: number): [string, object] => [
  "response_item",
  { type: "function_call_output", call_id: `call-${step}`, output: "word ".repeat(260_000) },
];

it("counts all steps of a huge thread's turn that is read in pieces", async () => {
  const { session_id, file, write } = codexThread();
  write(begin("one"), prompt("one"));
  for (let step = 1; step <= 50; step += 1) write(named, asks(step), counts(step), answers(step));
  expect(statSync(file).size).toBeGreaterThan(HUGE_FILE_BYTES);
  const sessions = start(60_000, formatOf("codex"));
  await eventually(() => expect(sessions.status().index.done).toBe(true));
  await eventually(() =>
    expect(sessions.get(session_id)).toMatchObject({
      turns: 1,
      steps: 50,
      tool_calls: 50,
      usage: { input: 150, output: 100 },
    }),
  );
});

it("counts the end of an open step in a huge thread that continues long after its end", async () => {
  const { session_id, file, write } = codexThread();
  write(begin("one"), prompt("one"));
  for (let step = 1; step <= 40; step += 1) write(named, asks(step), counts(step), answers(step));
  write(asks(41));
  expect(statSync(file).size).toBeGreaterThan(HUGE_FILE_BYTES);
  const long_ago = Date.now() / 1000 - 7_200;
  utimesSync(file, long_ago, long_ago);
  const sessions = start(0, formatOf("codex"));
  await eventually(() => expect(sessions.get(session_id)?.tool_calls).toBe(41));
  await eventually(() => expect(sessions.get(session_id)?.status).toBe("failed"));
  write(counts(41), answers(41), named, asks(42), counts(42));
  await eventually(() =>
    expect(sessions.get(session_id)).toMatchObject({
      steps: 42,
      tool_calls: 42,
      usage: { input: 126, output: 84 },
    }),
  );
  const whole = start(60_000, formatOf("codex"));
  await eventually(() => expect(whole.status().index.done).toBe(true));
  await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
});
