import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { uuidFrom } from "../../src/model/uuid.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { HUGE_FILE_BYTES } from "../../src/server/import/large-files/segments.ts";
import { createReading } from "../../src/server/import/reading.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { openSqliteArchive } from "../../src/store/archive/sqlite.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { SESSION, say, writer } from "../sources/claude-support.ts";
import { opened, startIndexed, wholeSession } from "./huge-sessions.ts";

const claude = formats.find(({ id }) => id === "claude-code");
if (!claude) throw new Error("There is no format claude-code");
const format = claude;

let folder: string;
let file: string;
let session_id: string;
let daemon: Awaited<ReturnType<typeof startIndexed>>;
let sessions: Sessions;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "huge-")));
  const project = join(folder, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const generated = generateClaudeSession({ parts: 1_500, turns: 24 });
  session_id = generated.session_id;
  file = join(project, `${session_id}.jsonl`);
  // Long records, because the time of these tests depends on the number of parts.
  const padding = `,"padding":"${"x".repeat(8_000)}"}\n`;
  const text = generated.lines.map((line) => line.slice(0, -1) + padding).join("");
  // Each copy has unique lines, messages and calls.
  for (let size = 0, copy = 0; size <= HUGE_FILE_BYTES; size += text.length, copy += 1) {
    appendFileSync(
      file,
      text
        .replaceAll('"id":"msg_', `"id":"msg_${copy}_`)
        .replaceAll("toolu_", `toolu_${copy}_`)
        .replaceAll(/([uU]uid":")[0-9a-f]{4}/g, `$1${copy.toString(16).padStart(4, "0")}`),
    );
  }
  daemon = await startIndexed(format, { agent: join(folder, "agent"), data: join(folder, "data") });
  sessions = daemon.sessions;
});
afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true });
});

/** The ids of all texts and thoughts, in order. They depend on the file only. */
const saidIn = (parts: Iterable<TranscriptPart | undefined>): string[] =>
  [...parts].flatMap((part) => (part?.type === "text" || part?.type === "thinking" ? [part.id] : []));
const saidInAllOf = async (id: string, of = sessions): Promise<string[]> =>
  saidIn((await wholeSession(await opened(of, id))).parts);
/** What a reader finds in the file. */
function saidInFile(): string[] {
  const { reader } = createReading({
    path: file,
    format,
    folding: false,
    idFor: (id) => id,
    isViewed: () => false,
  });
  return reader
    .push(readFileSync(file))
    .flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "message.part_start" ? [frame.part_id] : [])),
    );
}

it("opens at its end before it is indexed, and then shows all of it", async () => {
  await eventually(() => expect(sessions.get(session_id)).toBeDefined());
  const open = await opened(sessions, session_id);
  expect(sessions.status().index.done).toBe(false);
  expect(open.transcript.parts.length).toBeGreaterThan(100);
  const first = open.transcript.parts.at(0);
  expect(first).toMatchObject({ type: "marker", kind: "note" });
  expect(first).toMatchObject({ title: expect.stringMatching(/ MB before this are not indexed yet$/) });
  // The marker belongs to the first turn that is shown, not to a separate turn.
  expect(open.transcript.turns.at(0)?.part_count).toBeGreaterThan(1);
  const events: string[] = [];
  const end = open.subscribe(({ type }) => events.push(type));
  await eventually(() => expect(open.transcript.unloaded).toBeGreaterThan(1_000));
  end();
  expect(events).toContain("reset");
  expect(await saidInAllOf(session_id)).toEqual(saidInFile());
});

it("is opened by the links of older versions, which showed it in segments", async () => {
  const segment = uuidFrom(session_id, "segment 1");
  expect((await opened(sessions, segment)).id).toBe(session_id);
  expect(sessions.get(segment)?.id).toBe(session_id);
  expect(await sessions.open(uuidFrom(session_id, "segment 1000"))).toBeUndefined();
});

it("is shown completely if it is a copy of another file too", async () => {
  const project = join(folder, "agent", "projects", "-home-copy");
  mkdirSync(project);
  copyFileSync(file, join(project, `${session_id}.jsonl`));
  const copies = () => sessions.list().flatMap(({ id }) => (id === session_id ? [] : [id]));
  await eventually(() => expect(copies()).toHaveLength(1));
  const [copy = ""] = copies();
  await eventually(() => expect(sessions.isIndexed?.(copy)).toBe(true), 170_000);
  const { parts, turns } = await wholeSession(await opened(sessions, copy));
  expect(saidIn(parts)).toEqual(saidInFile());
  expect(new Set([...parts, ...turns].map((each) => each.session_id))).toEqual(new Set([copy]));
  rmSync(project, { recursive: true });
});

it("is counted completely, and continues to be counted as it grows", async () => {
  await eventually(() => expect(sessions.status().index.done).toBe(true), 170_000);
  const row = sessions.get(session_id);
  expect(row?.tool_calls).toBeGreaterThan(1_000);
  const open = await opened(sessions, session_id);
  const parts_before = open.transcript.parts.length;
  const said: string[] = [];
  const end = open.subscribe((event) => {
    if (event.type !== "frames") return;
    for (const { frame } of event.frames) if (frame.type === "message.part_end") said.push(frame.text ?? "");
  });
  const line = {
    type: "assistant",
    sessionId: session_id,
    uuid: "aaaaaaaa-0000-4000-8000-000000000001",
    parentUuid: null,
    isSidechain: false,
    timestamp: "2026-11-21T10:00:00.000Z",
    message: {
      id: "msg_new",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "The last word." }],
    },
  };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
  await eventually(() => expect(said).toContain("The last word."));
  await eventually(() => expect(sessions.get(session_id)?.steps).toBe((row?.steps ?? 0) + 1));
  expect(sessions.get(session_id)?.tool_calls).toBe(row?.tool_calls);
  expect(open.transcript.parts.length).toBeGreaterThan(parts_before);
  expect(open.transcript.parts.length).toBe(sessions.get(session_id)?.parts);
  end();
});

/** The number of the file's bytes in the archive. */
async function archivedSize(): Promise<number> {
  const { store, contents } = openSqliteArchive({ folder: join(folder, "data"), now: Date.now });
  await store?.close();
  const known = contents.files.find(({ path }) => path === file);
  return known ? (contents.archived_to.get(known.id) ?? 0) : 0;
}

/** Runs `work` while the first chunks of the archive are damaged, far from the requested part. */
async function whileDamaged(work: () => Promise<void>): Promise<void> {
  const database = new DatabaseSync(join(folder, "data", "verbatim.db"));
  const swap = database.prepare("UPDATE chunk SET compressed = ? WHERE rowid = ?");
  const firsts = database.prepare("SELECT rowid, compressed FROM chunk WHERE start = 0").all();
  try {
    for (const { rowid = null } of firsts) swap.run(new Uint8Array(50), rowid);
    await work();
  } finally {
    for (const { rowid = null, compressed = null } of firsts) swap.run(compressed, rowid);
    database.close();
  }
}

it("is shown from the archive when its file is deleted, and from the file when it is back", async () => {
  await eventually(async () => expect(await archivedSize()).toBe(statSync(file).size), 170_000);
  const whole = await saidInAllOf(session_id);
  const aside = join(folder, "aside.jsonl");
  renameSync(file, aside);
  await eventually(() => expect(sessions.get(session_id)?.archived).toBe(true));
  const row = sessions.get(session_id);
  expect(await saidInAllOf(session_id)).toEqual(whole);
  expect(sessions.get(session_id)).toEqual(row);
  const { parts } = await wholeSession(await opened(sessions, session_id));
  const [part] = parts.filter(({ source }) => source !== undefined).slice(-500);
  expect(await sessions.raw(session_id, part?.id ?? "")).toMatchObject({
    archived: true,
    line: expect.any(Number),
  });
  await whileDamaged(async () =>
    expect(await sessions.raw(session_id, part?.id ?? "")).toMatchObject({ archived: true }),
  );
  renameSync(aside, file);
  await eventually(() => expect(sessions.get(session_id)?.archived).toBeUndefined());
  expect(await saidInAllOf(session_id)).toEqual(whole);
});

it("is read again when the file was rewritten in place", async () => {
  const before = await opened(sessions, session_id);
  const { epoch, seq } = before;
  const said = await saidInAllOf(session_id);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/("id":"msg_|[uU]uid":")0/g, "$1f"));
  await eventually(async () => {
    const { epoch: now, transcript } = await opened(sessions, session_id);
    expect(now).not.toBe(epoch);
    expect(transcript.unloaded).toBeGreaterThan(1_000);
  }, 170_000);
  const after = await opened(sessions, session_id);
  expect(await saidInAllOf(session_id)).toEqual(saidInFile());
  expect(await saidInAllOf(session_id)).toHaveLength(said.length);
  // A client of the old content cannot resume in the new one.
  expect(after.framesAfter(epoch, seq)).toBeUndefined();
});

it("is read again when a short file replaces it", async () => {
  const short = generateClaudeSession({ parts: 40, turns: 2, seed: 9 });
  writeFileSync(file, `${short.lines.join("\n").replaceAll(short.session_id, session_id)}\n`);
  // The old content may still be being counted, so a low count proves nothing.
  await eventually(async () => {
    expect((await opened(sessions, session_id)).transcript.unloaded).toBeUndefined();
    expect(sessions.get(session_id)?.parts).toBeLessThan(200);
  });
  expect(await saidInAllOf(session_id)).toEqual(saidInFile());
});

it("shows a run of a huge file that has no records at the end of the file", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "huge-runs-"));
  const agent = join(elsewhere, "agent");
  const project = join(agent, "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const write = writer("1.0.60");
  const run = { isSidechain: true };
  const lines = [
    write.user("Look", { ...run, parentUuid: null }),
    write.assistant("m0", [say("Found it.")], "end_turn", run),
    write.user("Go", { parentUuid: null }),
    ...Array.from({ length: 52 }, (_, at) => write.assistant(`m${at + 1}`, [say("x".repeat(1_000_000))])),
  ];
  writeFileSync(join(project, `${SESSION}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const other = await startIndexed(format, { agent, data: join(elsewhere, "data") });
  try {
    await eventually(() => expect(other.sessions.isIndexed?.(SESSION)).toBe(true));
    const id = other.sessions.list().find((row) => row.id !== SESSION)?.id ?? "";
    const { parts } = await wholeSession(await opened(other.sessions, id));
    expect(parts.flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual(["Found it."]);
  } finally {
    await other.close();
    rmSync(elsewhere, { recursive: true });
  }
});

it("shows its end and says so if there is no part index", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "huge-alone-"));
  const agent = join(elsewhere, "agent");
  const project = join(agent, "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const write = writer("1.0.60");
  const lines = Array.from({ length: 60 }, (_, at) =>
    write.assistant(`m${at + 1}`, [say("x".repeat(1_000_000))]),
  );
  writeFileSync(join(project, `${SESSION}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const alone = createSessions({
    formats: [format],
    roots: [{ format, path: agent }],
    indexer: createIndexer(),
    hints: false,
    timing: { hot: 20, list: 50, publish: 5, persist: 20, tick: 50 },
  });
  try {
    await eventually(() => expect(alone.status().index.done).toBe(true), 170_000);
    const open = await opened(alone, SESSION);
    expect(open.transcript.parts.at(0)).toMatchObject({ type: "marker", kind: "note" });
    expect(open.transcript.parts.length).toBeGreaterThan(5);
    expect(alone.get(SESSION)?.steps).toBe(60);
  } finally {
    await alone.close();
    rmSync(elsewhere, { recursive: true });
  }
});
