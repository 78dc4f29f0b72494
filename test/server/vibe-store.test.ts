import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { vibe } from "../../src/sources/vibe/format.ts";
import { eventually } from "../eventually.ts";

let home: string;
let sessions: Sessions | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "vibe-"));
});
afterEach(async () => {
  await sessions?.close();
  rmSync(home, { recursive: true, force: true });
});

const TOP = "1b2c3d4e-0001-4002-8003-aabbccddeeff";
const RUN = "5d6e7f80-0001-4002-8003-aabbccddeeff";

function save(folder: string, session_id: string, messages: readonly object[], more: object = {}): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "messages.jsonl"),
    messages.map((message) => `${JSON.stringify(message)}\n`).join(""),
  );
  const facts = {
    session_id,
    start_time: "2026-06-01T10:00:00+00:00",
    end_time: "2026-06-01T10:05:00+00:00",
  };
  const environment = { working_directory: "/home/mara/tide" };
  writeFileSync(join(folder, "meta.json"), JSON.stringify({ ...facts, environment, ...more }));
}

it("lists a session, links the sub-agent in its folder, and marks what a rewind removes", async () => {
  const top = join(home, "logs/session/session_20260601_100000_1b2c3d4e");
  const task = { function: { name: "task", arguments: '{"task":"Find the tides","agent":"explore"}' } };
  const start = [
    { role: "user", content: "Fix it", message_id: "u1" },
    { role: "assistant", content: "", tool_calls: [{ id: "c1", ...task }], message_id: "a1" },
    { role: "tool", content: "response: 3 m", tool_call_id: "c1" },
    { role: "assistant", content: "Fixed.", message_id: "a2" },
  ];
  const oslo = [
    { role: "user", content: "And Oslo?", message_id: "u2" },
    { role: "assistant", content: "Oslo.", message_id: "a3" },
  ];
  const children = { child_sessions: [{ session_id: RUN, tool_call_id: "c1", agent: "explore" }] };
  save(top, TOP, [...start, ...oslo], children);
  save(join(top, "agents/explore_20260601_100100_5d6e7f80"), RUN, [
    { role: "user", content: "Find the tides", message_id: "u1" },
    { role: "assistant", content: "3 m", message_id: "a1" },
  ]);
  const all = createSessions({
    formats: [vibe],
    roots: [{ format: vibe, path: home }],
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  sessions = all;
  await eventually(() => {
    const parents = Object.fromEntries(all.list().map(({ id, parent }) => [id, parent]));
    expect(parents).toEqual({ [TOP]: undefined, [RUN]: { session_id: TOP, tool_call_id: "c1" } });
  });
  const open = await all.open(TOP);
  const removed = () =>
    [...(open?.transcript.parts ?? [])].flatMap((part) =>
      part?.type === "text" && part.retracted !== undefined ? [part.text] : [],
    );
  expect(removed()).toEqual([]);
  save(top, TOP, start, children);
  await eventually(() => expect(removed()).toEqual(["Oslo."]));
});
