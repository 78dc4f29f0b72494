import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { clineTasks, kiloCode, rooCode } from "../../src/sources/roo-code/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

// Kilo Code before version 7, a fork of Roo Code.

const folder = mkdtempSync(join(tmpdir(), "verbatim-kilo-code-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const kinds = [rooCode, clineTasks, kiloCode];
const START = Date.UTC(2026, 1, 3, 10);
const at = (seconds: number): number => START + seconds * 1_000;
const say = (seconds: number, kind: string, words: string) => ({
  ts: at(seconds),
  type: "say",
  say: kind,
  text: words,
});
const ask = (seconds: number, kind: string, words: string) => ({
  ts: at(seconds),
  type: "ask",
  ask: kind,
  text: words,
});
const request = (seconds: number, facts: object) =>
  say(seconds, "api_req_started", JSON.stringify({ apiProtocol: "openai", ...facts }));
const text = (words: string) => ({ type: "text", text: words });
const DETAILS = [
  "<environment_details>",
  "# Current Mode",
  "<slug>code</slug>",
  "<model>tide/tide-1</model>",
  "# Current Workspace Directory (/home/mara/tide) Files",
  "bergen.csv",
  "</environment_details>",
].join("\n");

/** Writes a task's files and opens it. */
function task(base: string, files: Record<string, unknown>) {
  const path = join(folder, base, "tasks/6d3c1a52-7f0e-4b1d-9a66-0c2f4e8b9d10");
  mkdirSync(path, { recursive: true });
  for (const [file, value] of Object.entries(files))
    writeFileSync(join(path, `${file}.json`), JSON.stringify(value));
  return openStore(path);
}

function only(sessions: Map<string, FollowedSession>): FollowedSession {
  const [session, ...others] = sessions.values();
  if (session === undefined || others.length > 0) throw new Error(`${sessions.size} sessions`);
  return session;
}

const files = {
  task_metadata: { files_in_context: [{ path: "bergen.csv", record_state: "active" }] },
  ui_messages: [
    say(0, "text", "Fix the tide table"),
    request(1, { tokensIn: 1_000, tokensOut: 20, cacheReads: 900, cacheWrites: 0, cost: 0.01 }),
    say(1.5, "api_req_rate_limit_wait", "5"),
    ask(3.5, "payment_required_prompt", JSON.stringify({ title: "Low credit", balance: "0" })),
    ask(3.6, "checkpoint_restore", ""),
    request(4, { tokensIn: 1_100, tokensOut: 10, cacheReads: 1_000, usageMissing: false }),
    say(5, "completion_result", "Fixed."),
  ],
  api_conversation_history: [
    { role: "user", content: [text("<task>\nFix the tide table\n</task>"), text(DETAILS)], ts: at(0.5) },
    {
      role: "assistant",
      content: [text("I look."), { type: "tool_use", id: "c1", name: "read_file", input: { path: "a.csv" } }],
      ts: at(2),
    },
    // The description of the environment is part of the result.
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c1", content: [text("1;2"), text(DETAILS)] }],
      ts: at(3),
    },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c2", name: "attempt_completion", input: { result: "Fixed." } }],
      ts: at(5),
    },
  ],
};

it("reads a task, with the environment apart from the result and tokens without cached ones", () => {
  const store = task(".config/Code/User/globalStorage/kilocode.kilo-code", files);
  expect(kinds.filter(({ snapshots }) => snapshots?.recognizes(store))).toEqual([kiloCode]);
  const session = only(look(kiloCode, store));
  const { transcript, parts } = closed(session);
  expect(orderOf(parts)).toBe("[context] U x c:read_file [context] [note] | c:attempt_completion?");
  expect(parts.flatMap((part) => (part.type === "tool_result" ? [part.output_text] : []))).toEqual(["1;2"]);
  expect(transcript.usage).toEqual({ input: 200, output: 30, cache_read: 1_900, cost: 0.01 });
  const patches = session.records.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
  );
  expect(Object.assign({}, ...patches)).toMatchObject({ agent: "kilo-code", cwd: "/home/mara/tide" });
  const titles = parts.flatMap((part) => ("title" in part ? [part.title] : []));
  expect(titles).toEqual(["Context from Kilo Code", "Context from Kilo Code", "payment required prompt"]);
  const fates = session.records.map(({ disposition }) => disposition);
  expect(fates).toContainEqual({ kind: "hidden", rule: "wait for the rate limit" });
  expect(fates).toContainEqual({ kind: "hidden", rule: "question whether to restore a checkpoint" });
});

it("is recognized in the folder of its command line version", () => {
  const store = task(".kilocode/cli/global", files);
  expect(kinds.filter(({ snapshots }) => snapshots?.recognizes(store))).toEqual([kiloCode]);
});
