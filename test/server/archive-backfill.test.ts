import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createArchiveBackfill } from "../../src/server/archive/archive-backfill.ts";
import { createArchiveWriter } from "../../src/server/archive/archive-writer.ts";
import { followFile } from "../../src/server/files/follow.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { createUrgentWork } from "../../src/server/import/urgent-work.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { openMemoryArchive } from "../../src/store/archive/memory.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { archivedFiles, storedIn } from "./stored-in.ts";

let folder: string;
const files = new Map<string, string>();
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "archive-backfill-")));
  const project = join(folder, "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  // The last one takes several turns.
  for (const [n, parts] of [20, 200, 6_000].entries()) {
    const { session_id, lines } = generateClaudeSession({ parts, turns: 4, seed: n });
    const path = join(project, `${session_id}.jsonl`);
    writeFileSync(path, `${lines.join("\n")}\n`);
    files.set(session_id, path);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function start(): Sessions {
  const [format] = formats.filter(({ id }) => id === "claude-code");
  if (!format) throw new Error("There is no format claude-code");
  return createSessions({
    formats: [format],
    roots: [{ format, path: folder }],
    ...storedIn(join(folder, "data")),
    indexer: createIndexer(),
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
}

/** The archived bytes of each file. */
const archived = async (): Promise<Map<string, Buffer>> =>
  new Map((await archivedFiles(join(folder, "data"))).map(({ path, bytes }) => [path, bytes]));

it("archives a file that was only read for its rows, byte for byte, and shows it after the file is deleted", async () => {
  const first = start();
  const parts = new Map<string, number>();
  try {
    await eventually(() => expect(first.status().index.done).toBe(true));
    for (const id of files.keys()) parts.set(id, first.get(id)?.parts ?? 0);
    // The daemon may end halfway; the next one continues.
  } finally {
    await first.close();
  }
  const second = start();
  try {
    await eventually(async () => {
      const held = await archived();
      for (const path of files.values()) expect(held.get(path)?.equals(readFileSync(path))).toBe(true);
    });
    for (const path of files.values()) rmSync(path);
    for (const id of files.keys()) {
      await eventually(async () => {
        const view = await second.open(id);
        expect(second.get(id)?.archived).toBe(true);
        expect(view?.transcript.parts.length).toBeGreaterThanOrEqual(parts.get(id) ?? Number.NaN);
      });
    }
  } finally {
    await second.close();
  }
});

it("pauses after a block while a viewer waits, and then archives the rest", async () => {
  const path = join(folder, "long.jsonl");
  const size = 3 * 1024 * 1024;
  writeFileSync(path, Buffer.alloc(size, "line\n"));
  const followed = await followFile({ path, continues: false, begin() {}, bytes() {}, stop: () => false });
  if (followed.type !== "read") throw new Error("The file was not read.");
  const writer = createArchiveWriter<object>({
    opened: openMemoryArchive(),
    retry: 10,
    rowOf: () => undefined,
    sessionRowOf: () => undefined,
    onLoss() {},
  });
  const urgent = createUrgentWork();
  const viewer = Promise.withResolvers<void>();
  let viewing: Promise<void> | undefined;
  const backfill = createArchiveBackfill({
    archive: {
      ...writer,
      append(...block) {
        viewing ??= urgent.run(() => viewer.promise);
        return writer.append(...block);
      },
    },
    isClosed: () => false,
    isArchivable: () => true,
    run: (_file, work) => work(),
    urgentWork: urgent.ended,
  });
  backfill.add({
    ...{ id: 1, path, sample: false, gone: false, done: true, interrupt: false },
    identity: followed.identity,
  });
  const working = backfill.work();
  await eventually(() => expect(writer.archivedTo(1)).toBeGreaterThan(0));
  const block = writer.archivedTo(1);
  // Longer than the next blocks would take.
  await followFile({ path, continues: false, begin() {}, bytes() {}, stop: () => false });
  expect(writer.archivedTo(1)).toBe(block);
  expect(block).toBeLessThan(size);
  viewer.resolve();
  await Promise.all([viewing, working]);
  expect(writer.archivedTo(1)).toBe(size);
  await writer.close();
});
