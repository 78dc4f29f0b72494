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
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { HUGE_FILE_BYTES, SEGMENT_BYTES, segmentId } from "../../src/server/import/large-files/segments.ts";
import { createReading } from "../../src/server/import/reading.ts";
import type { SessionsTiming } from "../../src/server/import/timing.ts";
import type { OpenSession, Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { openStore } from "../../src/store/sqlite/session-store.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { SESSION, say, writer } from "../sources/claude-support.ts";

const claude = formats.find(({ id }) => id === "claude-code");
if (!claude) throw new Error("There is no format claude-code");

let folder: string;
let file: string;
let session_id: string;
let sessions: Sessions;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "huge-")));
  const project = join(folder, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const generated = generateClaudeSession({ parts: 8_000, turns: 60 });
  session_id = generated.session_id;
  file = join(project, `${session_id}.jsonl`);
  const text = `${generated.lines.join("\n")}\n`;
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
  sessions = createSessions({
    formats: [claude],
    roots: [{ format: claude, path: join(folder, "agent") }],
    dataFolder: join(folder, "data"),
    indexer: createIndexer(),
    timing: { hot: 20, list: 50, publish: 5, persist: 20, tick: 50 },
  });
});
afterAll(async () => {
  await sessions.close();
  rmSync(folder, { recursive: true });
});

/** The ids of all texts and thoughts, in order. They depend on the file only. */
const saidIn = (open: OpenSession): string[] =>
  [...open.transcript.parts].flatMap((part) =>
    part?.type === "text" || part?.type === "thinking" ? [part.id] : [],
  );

const linkOf = (part: unknown): string | undefined =>
  typeof part === "object" &&
  part !== null &&
  "data" in part &&
  typeof part.data === "object" &&
  part.data !== null &&
  "session_id" in part.data
    ? String(part.data.session_id)
    : undefined;

async function opened(id: string): Promise<OpenSession> {
  const open = await sessions.open(id);
  if (!open) throw new Error(`${id} cannot be opened`);
  return open;
}

it("opens at its end before all of it is read", async () => {
  await eventually(() => expect(sessions.get(session_id)).toBeDefined());
  const tail = await opened(session_id);
  expect(sessions.status().index.done).toBe(false);
  expect(tail.transcript.parts.length).toBeGreaterThan(1_000);
  expect(tail.transcript.parts.at(0)).toMatchObject({ type: "marker", kind: "note" });
  // The marker belongs to the first turn of the segment, not to a separate turn.
  expect(tail.transcript.turns.at(0)?.steps).toBeGreaterThan(0);
  expect(tail.transcript.parts.at(0)?.at).toBe(tail.transcript.turns.at(0)?.started_at);
});

it("is shown in linked segments without gaps", async () => {
  const whole = createReading({
    path: file,
    format: claude,
    folding: false,
    idFor: (id) => id,
    isViewed: () => false,
  });
  const expected: string[] = [];
  const { reader } = whole;
  for (const { frames } of reader.push(readFileSync(file))) {
    for (const frame of frames) if (frame.type === "message.part_start") expected.push(frame.part_id);
  }
  const pieces: string[][] = [];
  let next: string | undefined = session_id;
  while (next !== undefined) {
    const piece: OpenSession = await opened(next);
    expect(sessions.get(next)).toMatchObject({ id: next });
    pieces.unshift(saidIn(piece));
    next = linkOf(piece.transcript.parts.at(0));
  }
  expect(pieces.length).toBeGreaterThan(4);
  expect(pieces.flat()).toEqual(expected);
});

it("links from its beginning to its end, and shows any record with its line number", async () => {
  const tail = await opened(session_id);
  const before = await opened(linkOf(tail.transcript.parts.at(0)) ?? "");
  const after = linkOf(before.transcript.parts.at(before.transcript.parts.length - 1));
  expect(after).toBe(session_id);
  const part = [...before.transcript.parts].find((found) => found?.source !== undefined);
  const raw = await sessions.raw(before.id, part?.id ?? "");
  expect(raw?.line).toBeGreaterThan(1_000);
  expect(JSON.parse(raw?.text ?? "")).toMatchObject({ sessionId: session_id });
});

it("is shown in segments if it is a copy of another file too", async () => {
  const project = join(folder, "agent", "projects", "-home-copy");
  mkdirSync(project);
  copyFileSync(file, join(project, `${session_id}.jsonl`));
  const ids = () => sessions.list().flatMap(({ id }) => (id === session_id ? [] : [id]));
  await eventually(() => expect(ids()).toHaveLength(1));
  const tail = await opened(ids()[0] ?? "");
  const before = await opened(linkOf(tail.transcript.parts.at(0)) ?? "");
  expect(saidIn(before).length).toBeGreaterThan(1_000);
  rmSync(project, { recursive: true });
});

it("is counted completely, and continues to be counted as it grows", async () => {
  await eventually(() => expect(sessions.status().index.done).toBe(true), 60_000);
  const row = sessions.get(session_id);
  expect(row?.tool_calls).toBeGreaterThan(10_000);
  const tail = await opened(session_id);
  const said: string[] = [];
  const end = tail.subscribe((event) => {
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
  end();
});

/** The number of the file's bytes in the archive. */
function archivedBytes(): number {
  const { store } = openStore({ folder: join(folder, "data"), now: Date.now });
  try {
    const known = store?.load().files.find(({ path }) => path === file);
    return known ? (store?.archivedTo(known.id) ?? 0) : 0;
  } finally {
    store?.close();
  }
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

it("is shown in the same segments when its file is deleted, and when it is back", async () => {
  await eventually(() => expect(archivedBytes()).toBe(statSync(file).size), 60_000);
  const pieces = async () => {
    const said: string[][] = [];
    for (let next: string | undefined = session_id; next !== undefined; ) {
      const piece: OpenSession = await opened(next);
      said.unshift(saidIn(piece));
      next = linkOf(piece.transcript.parts.at(0));
    }
    return said;
  };
  const whole = await pieces();
  expect(whole.length).toBeGreaterThan(4);
  const aside = join(folder, "aside.jsonl");
  renameSync(file, aside);
  await eventually(() => expect(sessions.get(session_id)?.archived).toBe(true));
  const row = sessions.get(session_id);
  expect(await pieces()).toEqual(whole);
  expect(sessions.get(session_id)).toEqual(row);
  const tail = await opened(session_id);
  const part = [...tail.transcript.parts].find((found) => found?.source !== undefined);
  expect(await sessions.raw(session_id, part?.id ?? "")).toMatchObject({
    archived: true,
    line: expect.any(Number),
  });
  let is_counting = true;
  let others = 0;
  const raw = sessions.raw(session_id, part?.id ?? "").finally(() => {
    is_counting = false;
  });
  for (; is_counting; others += 1) await setImmediate();
  expect((await raw)?.line).toBeGreaterThan(1_000);
  // The event loop is not blocked meanwhile.
  expect(others).toBeGreaterThan(20);
  await whileDamaged(async () =>
    expect(await sessions.raw(session_id, part?.id ?? "")).toEqual({ ...(await raw), line: 0 }),
  );
  renameSync(aside, file);
  await eventually(() => expect(sessions.get(session_id)?.archived).toBeUndefined());
  expect(await pieces()).toEqual(whole);
}, 120_000);

it("reloads a segment when the file was rewritten in place", async () => {
  const first = segmentId(session_id, 0);
  const before = await opened(first);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/("id":"msg_|[uU]uid":")0/g, "$1f"));
  await eventually(async () => expect(saidIn(await opened(first))[0]).not.toBe(saidIn(before)[0]));
  const after = await opened(first);
  expect(saidIn(after)).toHaveLength(saidIn(before).length);
  // A client of the old segment cannot resume in the new one.
  expect(after.framesAfter(before.epoch, before.seq)).toBeUndefined();
});

it("is read again when another file replaces it", async () => {
  const piece = await opened(segmentId(session_id, 0));
  const short = generateClaudeSession({ parts: 40, turns: 2, seed: 9 });
  writeFileSync(file, `${short.lines.join("\n").replaceAll(short.session_id, session_id)}\n`);
  // The old content may still be being counted, so a low count proves nothing.
  await eventually(async () => {
    expect(linkOf((await opened(session_id)).transcript.parts.at(0))).toBeUndefined();
    expect(sessions.get(session_id)?.parts).toBeLessThan(200);
  });
  expect(sessions.get(piece.id)).toBeUndefined();
  expect(await sessions.open(piece.id)).toBeUndefined();
});

it("links back from an empty segment if the last one contains nothing of a session", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "huge-runs-"));
  const project = join(elsewhere, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const write = writer("1.0.60");
  const run = { isSidechain: true };
  const lines = [
    write.user("Look", { ...run, parentUuid: null }),
    write.assistant("m0", [say("Found it.")], "end_turn", run),
    write.user("Go", { parentUuid: null }),
    ...Array.from({ length: 52 }, (_, at) => write.assistant(`m${at + 1}`, [say("x".repeat(1_000_000))])),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(project, `${SESSION}.jsonl`), text);
  const others = createSessions({
    formats: [claude],
    roots: [{ format: claude, path: join(elsewhere, "agent") }],
    indexer: createIndexer(),
    timing: { hot: 20, list: 50, publish: 5, persist: 20, tick: 50 },
  });
  try {
    await eventually(() => expect(others.status().index.done).toBe(true), 60_000);
    const id = others.list().find((row) => row.id !== SESSION)?.id ?? "";
    const said: string[] = [];
    for (let next: string | undefined = id; next !== undefined; ) {
      const piece: OpenSession | undefined = await others.open(next);
      for (const part of piece?.transcript.parts ?? []) if (part?.type === "text") said.push(part.text);
      next = linkOf(piece?.transcript.parts.at(0));
      if (next === id) break;
    }
    expect(said).toEqual(["Found it."]);
  } finally {
    await others.close();
    rmSync(elsewhere, { recursive: true });
  }
});

/** In a file whose lines of about 500 kB begin with their number: the numbers found on the way back from its end. */
async function metOnTheWayBack(from: Sessions, id: string): Promise<number[]> {
  const met: number[] = [];
  for (let next: string | undefined = id; next !== undefined; ) {
    const piece: OpenSession | undefined = await from.open(next);
    if (!piece) throw new Error(`${next} cannot be opened`);
    const said = [...piece.transcript.parts].flatMap((part) => (part?.type === "text" ? [part.text] : []));
    met.unshift(...said.map((text) => Number.parseInt(text, 10)));
    next = linkOf(piece.transcript.parts.at(0));
  }
  return met;
}

describe("links back over all its segments", () => {
  const BOUNDARY = 7 * SEGMENT_BYTES;
  const write = writer("1.0.60");
  const line = (record: object) => `${JSON.stringify(record)}\n`;
  const said = (n: number) => line(write.assistant(`m${n}`, [say(`${n} ${"x".repeat(500_000)}`)]));
  let base: string;
  let path: string;
  let short_of: number;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "huge-back-")));
    const project = join(base, "agent", "projects", "-home-ada");
    mkdirSync(project, { recursive: true });
    path = join(project, `${SESSION}.jsonl`);
    const beginning = line(write.user("Go", { parentUuid: null }));
    short_of = Math.floor((BOUNDARY - beginning.length) / said(999).length);
    writeFileSync(path, beginning);
    for (let n = 1; n <= short_of; n += 1) appendFileSync(path, said(n));
  });
  afterEach(() => rmSync(base, { recursive: true }));

  const start = (timing: Partial<SessionsTiming>) =>
    createSessions({
      formats: [claude],
      roots: [{ format: claude, path: join(base, "agent") }],
      dataFolder: join(base, "data"),
      indexer: createIndexer(),
      hints: false,
      timing: { publish: 5, persist: 20, tick: 50, ...timing },
    });
  const numbers = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

  it("if its file crossed a segment boundary since the last check", async () => {
    const rarely = start({ hot: 60_000, list: 60_000 });
    try {
      await eventually(() => expect(rarely.status().index.done).toBe(true), 60_000);
      expect(statSync(path).size).toBeLessThan(BOUNDARY);
      appendFileSync(path, said(short_of + 1) + said(short_of + 2));
      expect(await metOnTheWayBack(rarely, SESSION)).toEqual(numbers(short_of + 2));
    } finally {
      await rarely.close();
    }
  }, 120_000);

  it("that no longer exist if its file became short since the last check", async () => {
    const rarely = start({ hot: 60_000, list: 60_000 });
    try {
      await eventually(() => expect(rarely.status().index.done).toBe(true), 60_000);
      writeFileSync(path, said(1) + said(2));
      expect(await metOnTheWayBack(rarely, SESSION)).toEqual([1, 2]);
    } finally {
      await rarely.close();
    }
  }, 120_000);

  it("that can no longer be opened once its file became short", async () => {
    const looking = start({ hot: 20, list: 50 });
    try {
      await eventually(() => expect(looking.status().index.done).toBe(true), 60_000);
      const piece = segmentId(SESSION, 0);
      expect(await looking.open(piece)).toBeDefined();
      expect(await looking.open(SESSION)).toBeDefined();
      // The file still has the size of several segments, but is shown as one.
      writeFileSync(path, numbers(50).map(said).join(""));
      await eventually(async () => {
        expect(await metOnTheWayBack(looking, SESSION)).toEqual(numbers(50));
        expect(looking.get(piece)).toBeUndefined();
        expect(await looking.open(piece)).toBeUndefined();
      });
    } finally {
      await looking.close();
    }
  }, 120_000);

  it("of an incomplete archive of a deleted file", async () => {
    appendFileSync(path, said(short_of + 1));
    const archiving = start({ hot: 20, list: 50 });
    const database = () => new DatabaseSync(join(base, "data", "verbatim.db"));
    await eventually(() => {
      const reader = database();
      try {
        const { bytes = 0 } = reader.prepare("SELECT sum(length) AS bytes FROM chunk").get() ?? {};
        expect(bytes).toBe(statSync(path).size);
      } finally {
        reader.close();
      }
    }, 60_000);
    await archiving.close();
    const writer = database();
    writer.prepare("DELETE FROM chunk WHERE start > ?").run(BOUNDARY - SEGMENT_BYTES / 2);
    writer.close();
    rmSync(path);
    const left = start({ hot: 20, list: 50 });
    try {
      await eventually(() => expect(left.get(SESSION)?.archived).toBe(true));
      const met = await metOnTheWayBack(left, SESSION);
      expect(met.length).toBeGreaterThan(100);
      expect(met).toEqual(numbers(met.length));
    } finally {
      await left.close();
    }
  }, 120_000);
});
