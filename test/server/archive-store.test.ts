import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { createPendingChunks } from "../../src/server/archive/archive.ts";
import type { ArchiveStore, OpenedArchive, StoredChunk } from "../../src/store/archive/contract.ts";
import { openMemoryArchive } from "../../src/store/archive/memory.ts";
import { openSqliteArchive } from "../../src/store/archive/sqlite.ts";
import { file, session } from "./archive-rows.ts";

/** The contract of an archive store, for each implementation. */
const IMPLEMENTATIONS: [string, (folder: string) => OpenedArchive][] = [
  ["SQLite", (folder) => openSqliteArchive({ folder, now: Date.now })],
  ["memory", openMemoryArchive],
];

const NOTHING = { files: [], sessions: [], archived_to: new Map() };

describe.each(IMPLEMENTATIONS)("an archive store (%s)", (_name, openIn) => {
  const cleanup: (() => unknown)[] = [];
  afterEach(async () => {
    for (const undo of cleanup.splice(0).reverse()) await undo();
  });

  async function open(): Promise<ArchiveStore> {
    const folder = mkdtempSync(join(tmpdir(), "archive-store-"));
    cleanup.push(() => rmSync(folder, { recursive: true }));
    const { store, contents, notices } = openIn(folder);
    expect({ contents, notices }).toEqual({ contents: NOTHING, notices: [] });
    if (!store) throw new Error("The store did not open.");
    cleanup.push(store.close);
    return store;
  }
  async function flush(
    store: ArchiveStore,
    archive: ReturnType<typeof createPendingChunks>,
  ): Promise<StoredChunk[]> {
    const chunks = await archive.take();
    await store.write({ chunks });
    archive.written();
    return chunks;
  }
  async function readAll(store: ArchiveStore, file_id: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for (let at = 0; ; ) {
      const bytes = await store.read(file_id, at, at + 100_000);
      if (bytes.length === 0) return Buffer.concat(pieces);
      pieces.push(bytes);
      at += bytes.length;
    }
  }
  const chunk = (start: number, length: number): StoredChunk => ({
    file_id: 1,
    start,
    length,
    compressed: zstdCompressSync(new Uint8Array(length)),
  });

  it("returns the rows that were written, and replaces those with the same id", async () => {
    const store = await open();
    await store.write({ files: [file], sessions: [session] });
    expect(await store.load()).toEqual({ ...NOTHING, files: [file], sessions: [session] });
    const { side_text: _, ...others } = { ...file, gone: true };
    await store.write({ files: [others], sessions: [{ ...session, open_calls: [] }] });
    expect(await store.load()).toEqual({
      ...NOTHING,
      files: [others],
      sessions: [{ ...session, open_calls: [] }],
    });
  });

  it("writes all of a batch or nothing", async () => {
    const store = await open();
    const summary = {
      ...session.summary,
      get title(): string {
        throw new Error("no title");
      },
    };
    await expect(
      store.write({ files: [file], sessions: [{ ...session, summary }], chunks: [chunk(0, 10)] }),
    ).rejects.toThrow("no title");
    expect(await store.load()).toEqual(NOTHING);
    await store.write({ files: [file] });
    expect((await store.load()).files).toEqual([file]);
  });

  it("removes sessions, and files with their bytes", async () => {
    const store = await open();
    await store.write({ files: [file], sessions: [session], chunks: [chunk(0, 10)] });
    await store.write({ removed_sessions: [session.id] });
    expect(await store.load()).toEqual({ ...NOTHING, files: [file], archived_to: new Map([[1, 10]]) });
    await store.write({ removed_files: [file.id] });
    expect(await store.load()).toEqual(NOTHING);
    expect(await store.read(1, 0, 10)).toHaveLength(0);
  });

  it("counts archived bytes only up to a gap", async () => {
    const store = await open();
    await store.write({ chunks: [chunk(0, 10), chunk(10, 5), chunk(20, 5)] });
    expect((await store.load()).archived_to).toEqual(new Map([[1, 15]]));
  });

  const noise = (length: number, seed: number) =>
    Uint8Array.from({ length }, (_, index) => (index * 31 + seed + (index >> 8)) & 0xff);

  it("returns the bytes of a file that grew in pieces of any size", async () => {
    const store = await open();
    const archive = createPendingChunks(store, new Map());
    const all: Uint8Array[] = [];
    const starts = new Set<number>();
    let at = 0;
    for (const length of [1, 17, 300, 70_000, 5, 600_000, 2, 2]) {
      const bytes = noise(length, at);
      expect(archive.append(1, at, bytes)).toBe(true);
      all.push(bytes);
      at += length;
      for (const { start } of await flush(store, archive)) starts.add(start);
    }
    // Short chunks were written again together with the bytes that followed them.
    expect(starts.size).toBe(5);
    expect((await readAll(store, 1)).equals(Buffer.concat(all))).toBe(true);
    expect((await store.load()).archived_to.get(1)).toBe(at);
  });

  it("returns the same bytes, however they arrived and were written", async () => {
    const piece = fc.record({
      length: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 60_000, max: 300_000 })),
      // Already archived bytes are repeated, followed by new ones.
      again: fc.constantFrom(0, 0, 40),
      write: fc.constantFrom("later", "now", "failing"),
    });
    const store = await open();
    const whole = noise(8 * 300_000, 1);
    let file_id = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
        file_id += 1;
        const archive = createPendingChunks(store, new Map());
        for (const { length, again, write } of pieces) {
          const at = archive.end(file_id);
          const start = Math.max(0, at - again);
          const bytes = whole.slice(start, at + length);
          expect(archive.append(file_id, start, bytes)).toBe(true);
          expect(archive.end(file_id)).toBe(at + length);
          // The caller may reuse its buffer.
          bytes.fill(0);
          if (write === "now") await flush(store, archive);
          if (write !== "failing") continue;
          await archive.take();
          archive.failed();
        }
        await flush(store, archive);
        expect((await store.load()).archived_to.get(file_id) ?? 0).toBe(archive.end(file_id));
        expect((await readAll(store, file_id)).equals(whole.subarray(0, archive.end(file_id)))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it("skips bytes that it has, and rejects a gap", async () => {
    const store = await open();
    const archive = createPendingChunks(store, new Map());
    const bytes = noise(1_000, 1);
    archive.append(1, 0, bytes.subarray(0, 400));
    expect(archive.append(1, 200, bytes.subarray(200))).toBe(true);
    expect(archive.append(1, 1_500, bytes)).toBe(false);
    expect(archive.append(1, 0, bytes)).toBe(true);
    await flush(store, archive);
    expect((await readAll(store, 1)).equals(bytes)).toBe(true);
  });

  it("continues from what is on disk after a failed write", async () => {
    const store = await open();
    const archive = createPendingChunks(store, new Map());
    archive.append(1, 0, noise(100, 1));
    await flush(store, archive);
    archive.append(1, 100, noise(50, 2));
    await archive.take();
    archive.failed();
    expect(archive.end(1)).toBe(100);
    expect(archive.append(1, 150, noise(10, 3))).toBe(false);
    expect(archive.append(1, 100, noise(60, 2))).toBe(true);
  });

  it("detects a damaged chunk", async () => {
    const store = await open();
    const archive = createPendingChunks(store, new Map());
    archive.append(1, 0, noise(10_000, 1));
    const [taken] = await archive.take();
    if (!taken) throw new Error("no chunk");
    taken.compressed[taken.compressed.length - 6] = (taken.compressed.at(-6) ?? 0) ^ 1;
    await store.write({ chunks: [taken] });
    await expect(store.read(1, 0, 10)).rejects.toThrow(/archive/);
  });
});
