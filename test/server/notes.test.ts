import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { Note } from "../../src/model/note.ts";
import { MAX_NOTE_TEXT } from "../../src/model/note-limits.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { type Notes, withNotes } from "../../src/server/sessions/notes.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { verbatim } from "../../src/sources/verbatim/format.ts";
import { openNoteStore } from "../../src/store/notes/sqlite.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions, type MemorySessions } from "./memory-sessions.ts";

const TIDES = uuidOf("tides");
const TEXT = uuidOf("text");
const CALL = uuidOf("call");
const RESULT = uuidOf("result");
const NOW = Date.parse("2026-11-27T06:00:00Z");
const at = NOW - 60_000;

const FRAMES: Frame[] = [
  {
    session_id: TIDES,
    at,
    type: "user.message",
    message_id: uuidOf("prompt message"),
    part_id: uuidOf("prompt"),
    parts: [{ type: "text", text: "When is high water?" }],
  },
  { session_id: TIDES, at, type: "message.start", message_id: uuidOf("message") },
  { session_id: TIDES, at, type: "message.part_start", part_id: TEXT, kind: "text" },
  { session_id: TIDES, at, type: "message.part_end", part_id: TEXT, text: "I look it\nup." },
  {
    session_id: TIDES,
    at,
    type: "message.tool_call",
    tool_call_id: "call-1",
    part_id: CALL,
    tool_name: "shell",
    arguments_json: '{"command":"tides"}',
  },
  {
    session_id: TIDES,
    at,
    type: "message.tool_result",
    tool_call_id: "call-1",
    part_id: RESULT,
    is_error: false,
    status: "success",
    output_text: "09:12",
    parts: [],
  },
  { session_id: TIDES, at, type: "message.end", message_id: uuidOf("message"), stop_reason: "stop" },
];

let folder: string;
let memory: MemorySessions;
let clock: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-notes-"));
  memory = createMemorySessions();
  memory.add(TIDES, FRAMES);
  clock = NOW;
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const now = () => clock;
const note = (name: string, more: Partial<Note> = {}): Note => ({
  id: uuidOf(name),
  session_id: TIDES,
  text: name,
  created_at: NOW,
  changed_at: NOW,
  ...more,
});

describe("the note store", () => {
  function open(read_only = false) {
    const opened = openNoteStore({ folder, now, read_only });
    if (!opened.store) throw new Error("The store did not open");
    return { ...opened, store: opened.store };
  }

  it("returns notes in the order in which they were written, without removed ones", () => {
    const first = open().store;
    const [one, two, three] = [
      note("one", { created_at: NOW + 1 }),
      note("two", { part: { id: TEXT, kind: "text", excerpt: "I look", at } }),
      note("three", { created_at: NOW + 2, session_id: uuidOf("other") }),
    ];
    for (const each of [one, two, three]) first.put(each);
    first.put({ ...one, text: "edited", changed_at: NOW + 9 });
    first.remove(three.id);
    first.remove(uuidOf("nothing"));
    first.close();
    const again = open().store;
    expect(again.load()).toEqual([two, { ...one, text: "edited", changed_at: NOW + 9 }]);
    again.close();
  });

  it("is opened read-only by a second daemon", () => {
    const first = open();
    first.store.put(note("one"));
    const second = open();
    expect(first.read_only).toBe(false);
    expect(second.read_only).toBe(true);
    expect(second.store.load()).toEqual([note("one")]);
    expect(() => second.store.put(note("two"))).toThrow();
    expect(second.notices[0]?.text).toContain("Notes cannot be written here.");
    second.store.close();
    first.store.close();
  });

  it("is quarantined if damaged, and reports where the earlier notes are", () => {
    const first = open();
    first.store.put(note("one"));
    first.store.close();
    writeFileSync(join(folder, "notes.db"), "not a database");
    const again = open();
    expect(again.store.load()).toEqual([]);
    expect(again.notices[0]?.remedy).toBe("Earlier notes are only in the quarantined file.");
    expect(readdirSync(folder).some((name) => name.startsWith("notes.db.broken-"))).toBe(true);
    again.store.close();
  });
});

describe("notes over HTTP", () => {
  let opened: { sessions: Sessions; notes: Notes; close(): void } | undefined;
  let post: (path: string, body: unknown) => Promise<{ status: number; body: Record<string, unknown> }>;
  let get: (path: string) => Promise<Response>;
  function start(): { sessions: Sessions; notes: Notes } {
    opened?.close();
    const { store } = openNoteStore({ folder, now, read_only: false });
    if (!store) throw new Error("The store did not open");
    const { sessions, notes } = withNotes({ sessions: memory, kept: store.load(), store, now });
    const access = newAccess();
    const origin = "http://127.0.0.1:1";
    const guard = createGuard({ access, origins: [origin] });
    const app = createApp({ sessions, notes, guard, version: "1.0.0" });
    const headers = {
      authorization: `Bearer ${access.api_token}`,
      host: "127.0.0.1:1",
      "content-type": "application/json",
    };
    post = async (path, body) => {
      const reply = await app.request(origin + path, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return { status: reply.status, body: await reply.json() };
    };
    get = async (path) => await app.request(origin + path, { headers });
    opened = { sessions, notes, close: store.close };
    return opened;
  }
  beforeEach(() => {
    start();
  });
  afterEach(() => {
    opened?.close();
    opened = undefined;
  });
  const notesOf = async (id = TIDES): Promise<Note[]> =>
    (await (await get(`/api/sessions/${id}/notes`)).json()).notes;

  it("are added to parts and sessions once, with an excerpt of the part, and survive a restart", async () => {
    const changes: (SessionSummary | undefined)[] = [];
    opened?.sessions.subscribe(({ changed }) => changes.push(...changed));
    const given = { note_id: uuidOf("first"), part_id: CALL, text: "Wrong harbour" };
    const added = await post(`/api/sessions/${TIDES}/notes`, given);
    expect(added).toMatchObject({
      status: 200,
      body: {
        note: {
          session_id: TIDES,
          text: "Wrong harbour",
          part: { id: CALL, kind: "call", tool: "shell", excerpt: '{"command":"tides"}', at },
          created_at: NOW,
          changed_at: NOW,
        },
      },
    });
    expect(await post(`/api/sessions/${TIDES}/notes`, given)).toEqual(added);
    await post(`/api/sessions/${TIDES}/notes`, { note_id: uuidOf("second"), text: "Ask again" });
    expect(changes.map((row) => row?.notes?.count)).toEqual([1, 2]);
    expect(changes[1]?.notes?.revision).toBeGreaterThan(changes[0]?.notes?.revision ?? 0);
    const before = opened?.sessions.get(TIDES)?.notes?.revision ?? 0;
    clock += 1_000;
    start();
    expect((await notesOf()).map(({ text }) => text).sort()).toEqual(["Ask again", "Wrong harbour"]);
    expect(opened?.sessions.list()[0]?.notes?.count).toBe(2);
    expect(opened?.sessions.get(TIDES)?.notes?.revision).toBeGreaterThan(before);
  });

  it("can be changed and deleted, but not over a concurrent change by another browser", async () => {
    const id = uuidOf("first");
    await post(`/api/sessions/${TIDES}/notes`, { note_id: id, text: "One" });
    clock += 5;
    const changed = await post(`/api/notes/${id}`, { text: "Two", changed_at: NOW });
    expect(changed.body).toMatchObject({ note: { text: "Two", created_at: NOW, changed_at: NOW + 5 } });
    // Sent again, because its reply was lost.
    expect(await post(`/api/notes/${id}`, { text: "Two", changed_at: NOW })).toEqual(changed);
    expect(await post(`/api/notes/${id}`, { text: "Three", changed_at: NOW })).toMatchObject({
      status: 409,
      body: { error: { code: "changed" } },
    });
    expect((await notesOf()).map(({ text }) => text)).toEqual(["Two"]);
    for (let time = 0; time < 2; time++)
      expect(await post(`/api/notes/${id}/delete`, {})).toMatchObject({ status: 200 });
    expect(opened?.sessions.get(TIDES)).not.toHaveProperty("notes");
    expect(await post(`/api/notes/${id}`, { text: "Four", changed_at: NOW })).toMatchObject({ status: 404 });
    start();
    expect(await notesOf()).toEqual([]);
  });

  it("are still listed after their part and session are gone", async () => {
    await post(`/api/sessions/${TIDES}/notes`, { note_id: uuidOf("first"), part_id: TEXT, text: "Kept" });
    memory.rewrite(TIDES, FRAMES.slice(0, 1));
    expect(await notesOf()).toMatchObject([{ text: "Kept", part: { id: TEXT, excerpt: "I look it up." } }]);
    memory.remove(TIDES);
    start();
    expect(await notesOf()).toMatchObject([{ text: "Kept" }]);
  });

  it("are rejected with a reason if they are invalid or their target does not exist", async () => {
    const refusals = [
      [TIDES, { note_id: uuidOf("a"), text: " \n" }, 400, "body"],
      [TIDES, { note_id: uuidOf("a"), text: "x".repeat(MAX_NOTE_TEXT + 1) }, 400, "body"],
      [TIDES, { note_id: "a", text: "One" }, 400, "body"],
      [TIDES, { note_id: uuidOf("a"), part_id: uuidOf("no part"), text: "One" }, 404, "no_part"],
      [uuidOf("nobody"), { note_id: uuidOf("a"), text: "One" }, 404, "no_session"],
    ] as const;
    for (const [id, body, status, code] of refusals)
      expect(await post(`/api/sessions/${id}/notes`, body)).toMatchObject({
        status,
        body: { error: { code } },
      });
    expect(await notesOf()).toEqual([]);
  });

  it("are not shown if they could not be stored", async () => {
    const put = () => {
      throw new Error("The disk is full");
    };
    const { sessions, notes } = withNotes({ sessions: memory, kept: [], store: { put, remove: put }, now });
    await expect(notes.add(TIDES, { note_id: uuidOf("a"), text: "One" })).rejects.toMatchObject({
      code: "disk",
      message: /The disk is full/,
    });
    expect(notes.of(TIDES)).toEqual([]);
    expect(sessions.get(TIDES)).not.toHaveProperty("notes");
    const without = withNotes({ sessions: memory, kept: [], now }).notes;
    await expect(without.add(TIDES, { note_id: uuidOf("a"), text: "One" })).rejects.toMatchObject({
      code: "read_only",
    });
  });

  it("are exported in Markdown after their part, and in JSONL without changing the parts", async () => {
    const plain = await (await get(`/api/sessions/${TIDES}/export?format=jsonl`)).text();
    await post(`/api/sessions/${TIDES}/notes`, {
      note_id: uuidOf("a"),
      part_id: RESULT,
      text: "Late\n# tide",
    });
    await post(`/api/sessions/${TIDES}/notes`, { note_id: uuidOf("b"), text: "On all of it" });
    const markdown = await (await get(`/api/sessions/${TIDES}/export?format=md`)).text();
    const places = ["On all of it", "## Turn 1", "**Shell**", "> Late\n> # tide"].map((text) =>
      markdown.indexOf(text),
    );
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);

    const noted = await (await get(`/api/sessions/${TIDES}/export?format=jsonl`)).text();
    const [head = "", ...events] = noted.split("\n");
    expect(JSON.parse(head).notes).toMatchObject([{ text: "Late\n# tide" }, { text: "On all of it" }]);
    expect(events).toEqual(plain.split("\n").slice(1));
    const frames = (text: string) => {
      const reader = verbatim.createReader({ path: "export.jsonl" });
      const records = [...reader.push(Buffer.from(text)), ...reader.close()];
      return records.flatMap((record) => record.frames.map(({ source: _, ...frame }) => frame));
    };
    expect(frames(noted)).toEqual(frames(plain));
  });
});
