import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { sessionsReply } from "../../src/protocol.ts";
import { mergeSessions } from "../../src/server/sessions/merge-sessions.ts";
import { eventually } from "../eventually.ts";
import { uuidOf } from "../uuid-of.ts";
import { startDaemon } from "./managed/daemon.ts";
import { createMemorySessions } from "./memory-sessions.ts";

const prompt = (session_id: string, text: string) => ({
  type: "user.message" as const,
  session_id,
  at: 0,
  message_id: uuidOf(text),
  parts: [{ type: "text" as const, text }],
});

it("merges sources into one list with one sequence of changes", async () => {
  const [one, other] = [createMemorySessions(), createMemorySessions()];
  const [first, second] = [uuidOf("first"), uuidOf("second")];
  one.add(first, [prompt(first, "One")]);
  const merged = mergeSessions([one, other]);
  const told: [number, string[]][] = [];
  const end = merged.subscribe(({ seq, changed }) => {
    told.push([seq, changed.map(({ id }) => id)]);
    // When a change is published, the list already contains it and has its sequence number.
    expect(merged.seq).toBe(seq);
    expect(merged.list().map(({ id }) => id)).toEqual(expect.arrayContaining(changed.map(({ id }) => id)));
  });
  other.add(second, [prompt(second, "Other")]);
  one.push(first, [prompt(first, "More")]);
  end();
  other.push(second, [prompt(second, "Unheard")]);
  expect(told).toEqual([
    [1, [second]],
    [2, [first]],
  ]);
  expect(merged.list().map(({ id }) => id)).toEqual([first, second].toSorted());
  expect((await merged.open(second))?.transcript.parts.length).toBe(2);
  expect(await merged.open(uuidOf("nobody"))).toBeUndefined();
  expect(merged.status().index).toMatchObject({ files_found: 2, done: true });
});

it("prefers the earlier source for sessions with the same id", () => {
  const [one, other] = [createMemorySessions(), createMemorySessions()];
  const id = uuidOf("both");
  one.add(id, [prompt(id, "One"), prompt(id, "Two")]);
  const merged = mergeSessions([one, other]);
  const changes: number[] = [];
  merged.subscribe(({ changed }) => changes.push(...changed.map(({ parts }) => parts)));
  other.add(id, [prompt(id, "Other")]);
  expect(merged.list()).toHaveLength(1);
  expect(merged.get(id)?.parts).toBe(2);
  expect(changes).toEqual([]);
});

it("merges equal notices, and can restart only if all sources can", () => {
  const sourceThat = (retry: () => boolean, ...texts: string[]) => {
    const source = createMemorySessions();
    const notices = texts.map((text) => ({ level: "error" as const, text }));
    return { ...source, retry, status: () => ({ ...source.status(), notices }) };
  };
  let room = false;
  const merged = mergeSessions([
    sourceThat(() => true, "The disk is full."),
    sourceThat(() => room, "The disk is full.", "A key is missing."),
    createMemorySessions(),
  ]);
  expect(merged.status().notices.map(({ text }) => text)).toEqual(["The disk is full.", "A key is missing."]);
  expect(merged.retry?.()).toBe(false);
  room = true;
  expect(merged.retry?.()).toBe(true);
  expect(mergeSessions([createMemorySessions()]).retry).toBeUndefined();
});

it("never hides a session with the same id: the daemon creates none, and lists a file's under another id", async () => {
  const home = mkdtempSync(join(tmpdir(), "verbatim-ids-"));
  const [found, pushed] = [randomUUID(), randomUUID()];
  const writeFile = (sessionId: string, content: string) => {
    const path = join(home, ".claude", "projects", "-work", `${sessionId}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const message = { role: "user", content };
    const timestamp = new Date().toISOString();
    const line = { type: "user", sessionId, uuid: randomUUID(), parentUuid: null, timestamp, message };
    writeFileSync(path, `${JSON.stringify(line)}\n`);
  };
  writeFile(found, "Delete the customer table");
  const daemon = await startDaemon(home);
  const push = async (id: string) => {
    const { session_id: _, ...frame } = prompt(id, "Say hello");
    return (await daemon.post(`/api/ingest/${id}`, frame)).status;
  };
  const listed = async () =>
    sessionsReply
      .parse(await daemon.get("/api/sessions"))
      .sessions.map(({ first_prompt }) => first_prompt)
      .toSorted();
  await eventually(async () => expect(await listed()).toEqual(["Delete the customer table"]));
  expect(await push(found)).toBe(409);
  expect(await push(pushed)).toBe(200);
  writeFile(pushed, "Say nothing");
  await eventually(async () =>
    expect(await listed()).toEqual(["Delete the customer table", "Say hello", "Say nothing"]),
  );
  await daemon.kill("SIGTERM");
  rmSync(home, { recursive: true });
});
