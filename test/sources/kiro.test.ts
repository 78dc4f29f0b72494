import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ReadRecord } from "../../src/sources/contract.ts";
import { kiro } from "../../src/sources/kiro/format.ts";
import {
  calls,
  conversation,
  createDatabase,
  entry,
  history,
  prompt,
  results,
  says,
} from "./kiro-support.ts";
import { orderOf, readSession } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-kiro-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ID = "3f2b8c1e-9d7a-4e6b-b1c2-0a9f8e7d6c5b";
const FIXTURES = join(import.meta.dirname, "../fixtures/kiro");

const only = <Item>(items: Iterable<Item>): Item => {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) throw new Error("Expected one item");
  return item;
};

const patches = (records: readonly ReadRecord[]) =>
  Object.assign(
    {},
    ...records.flatMap(({ frames }) =>
      frames.map((frame) => (frame.type === "session.update" ? frame.patch : {})),
    ),
  );

it("reads a conversation of the database, with results, exit codes and stopped calls", () => {
  const path = join(folder, "one/kiro-cli/data.sqlite3");
  const { put } = createDatabase(path);
  put("/home/mara/tide", conversation(ID, history));
  expect(kiro.snapshots?.storeOf("kiro-cli/data.sqlite3-wal")).toBe("kiro-cli/data.sqlite3");
  const store = openStore(path);
  expect(kiro.snapshots?.recognizes(store)).toBe(true);
  const session = only(look(kiro, store).values());
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe(
    "[context] U x c:fs_read c:execute_bash! | x c:fs_write | x U c:github___create_release- U x",
  );
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual([
    "completed",
    "interrupted",
    "completed",
  ]);
  expect(patches(session.records)).toMatchObject({
    agent: "kiro",
    cwd: "/home/mara/tide",
    model: "claude-sonnet-4.5",
  });
  expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
    { output_text: "print(high)", ui_extra: { type: "read", path: "tide.py" } },
    { status: "error", output_text: "NameError: high", ui_extra: { type: "shell", exit_code: 1 } },
    { status: "success", ui_extra: { type: "diff" } },
    { status: "aborted", outcome: { kind: "stopped", by: "person" } },
  ]);
  expect(parts.find(({ type }) => type === "text")?.at).toBe(Date.parse("2026-02-11T09:00:01Z"));
});

it("follows a conversation: a prompt without an answer, and entries that a compaction removes", () => {
  const path = join(folder, "two/kiro-cli/data.sqlite3");
  const { put } = createDatabase(path);
  const first = entry(prompt("Measure", "2026-02-11T09:00:00Z"), 1, says("m1", "Done."));
  const next = prompt("Again", "2026-02-11T09:02:00Z");
  put("/tide", conversation(ID, [first], { next_message: next }));
  const store = openStore(path);
  const sessions = look(kiro, store);
  const answered = entry(next, 121, says("m2", "Done again."));
  put("/tide", conversation(ID, [first, answered]));
  look(kiro, store, sessions);
  put("/tide", conversation(ID, [answered], { latest_summary: ["Measured once.", { request_id: "r9" }] }));
  look(kiro, store, sessions);
  const { parts, transcript } = closed(only(sessions.values()));
  expect(orderOf(parts)).toBe("U x U x [compaction]");
  expect([...transcript.turns].map((turn) => turn?.retracted !== undefined)).toEqual([true, false]);
});

it("lists a conversation of both tables once, and one that is damaged", () => {
  const path = join(folder, "three/amazon-q/data.sqlite3");
  const { put, putOld, database } = createDatabase(path);
  const value = conversation(ID, [entry(prompt("Hi", "2026-02-11T09:00:00Z"), 1, says("m1", "Hello."))]);
  put("/tide", value);
  putOld("/tide", value);
  putOld("/other", { ...value, conversation_id: "c2", history: [["user?", "answer?"]] });
  database.prepare("INSERT INTO conversations VALUES ('/torn', '{\"history\": [')").run();
  const sessions = look(kiro, openStore(path));
  expect([...sessions.keys()]).toEqual([ID, "c2", "/torn"]);
  const kinds = (name: string) => sessions.get(name)?.records.map(({ disposition }) => disposition.kind);
  expect(kinds("c2")).toContain("unknown");
  expect(kinds("/torn")).toContain("unreadable");
});

it.each(["chat.json", "chat"])("recognizes a file of /save by its content, and reads images: %s", (name) => {
  const path = join(folder, name);
  const image = { format: "Png", source: { Bytes: [137, 80, 78, 71] } };
  const saved = conversation("c3", [
    entry(
      prompt("See", "2026-02-11T09:00:00Z", { images: [image] }),
      1,
      calls("m1", "", [
        { id: "t1", name: "fs_read", args: { operations: [{ mode: "Image", image_paths: ["a.png"] }] } },
      ]),
    ),
    entry(results([{ id: "t1", content: [{ Text: "See images data supplied" }] }]), 3, says("m2", "A tide.")),
  ]);
  writeFileSync(path, JSON.stringify(saved, undefined, 2));
  expect(kiro.detect(readFileSync(path).subarray(0, 200))).toBe(true);
  expect(kiro.snapshots?.recognizes(openStore(path))).toBe(true);
  const session = only(look(kiro, openStore(path)).values());
  const { parts } = closed(session);
  expect(orderOf(parts)).toBe("U c:fs_read | x");
  expect(parts[0]).toMatchObject({
    parts: [{ text: "See" }, { type: "image_url", url: "data:image/png;base64,iVBORw==" }],
    source: { kind: "document", pointer: "/history/0" },
  });
  expect(patches(session.records)).toMatchObject({ cwd: "/home/mara/tide" });
});

it("reads a log of the second engine with the file beside it", () => {
  const path = join(FIXTURES, `sessions/cli/8e247382-c779-440f-b1db-ed9bad1afaee.jsonl`);
  expect(kiro.classify("sessions/cli/a.jsonl")).toEqual({ kind: "session", side: "sessions/cli/a.json" });
  const { parts, transcripts } = readSession(kiro, path, [readFileSync(path)]);
  expect(orderOf(parts)).toBe("[context] U T c:write c:shell! | x [compaction] U c:shell- [note] U");
  expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
    { output_text: "Successfully created tide.sh (1 lines).", ui_extra: { type: "diff" } },
    {
      output_text: "high\nno such station",
      ui_extra: { type: "shell", command: "bash tide.sh", exit_code: 2 },
    },
    { status: "aborted" },
  ]);
  expect([...only(transcripts).turns].at(-1)?.retracted).toBeDefined();

  const reader = kiro.createReader({ path });
  const records = reader.push(readFileSync(path));
  const side = (more: object) =>
    reader.readSide(
      JSON.stringify({
        session_id: "8e247382-c779-440f-b1db-ed9bad1afaee",
        cwd: "/home/mara/tide",
        title: "Fix the tide",
        parent_session_id: ID,
        session_state: { version: "v1", rts_model_state: { model_info: { model_id: "auto" } } },
        ...more,
      }),
    );
  expect(patches([...records, ...side({})])).toMatchObject({
    cwd: "/home/mara/tide",
    title: "Fix the tide",
    model: "auto",
    parent: { session_id: ID },
  });
  expect(reader.linkFacts().sessions).toMatchObject([{ group: ID, run: { parent_session_id: ID } }]);
  expect(patches(side({ exported_from_v1: true })).forked_from).toBeDefined();
});

it("reads a log of the third engine", () => {
  const path = join(FIXTURES, "sessions/b550143462be8201/sess_9c1f4c2e/messages.jsonl");
  expect(kiro.classify("b550143462be8201/sess_9c1f4c2e/messages.jsonl")).toEqual({
    kind: "session",
    side: "b550143462be8201/sess_9c1f4c2e/session.json",
  });
  const { parts, transcripts } = readSession(kiro, path, [readFileSync(path)]);
  expect(orderOf(parts)).toBe("U T x c:execute_bash | x U c:delete_file- [rewind] ??");
  expect([...only(transcripts).turns].map((turn) => turn?.status)).toEqual(["completed", "interrupted"]);
});
