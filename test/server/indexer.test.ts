import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createIndexer, type IndexHandlers, type IndexJob } from "../../src/server/indexer.ts";
import { generateClaudeSession } from "../generate-session.ts";

let folder = "";
let jobs: IndexJob[] = [];
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "indexer-")));
  jobs = Array.from({ length: 6 }, (_, n) => {
    const { session_id, lines } = generateClaudeSession({ parts: 100 * (n + 1), turns: n + 1, seed: n });
    const path = join(folder, `${session_id}.jsonl`);
    writeFileSync(path, `${lines.join("\n")}\n`);
    return {
      path,
      format: "claude-code",
      close: true,
      archived_to: Number.POSITIVE_INFINITY,
      size: lines.length,
    };
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

const handlers: IndexHandlers = { begin() {}, bytes: async () => false, preview() {} };

it("hands over every byte of every file, and packed what the archive does not have", async () => {
  const indexer = createIndexer();
  const archived_to = 256 * 1024;
  try {
    await Promise.all(
      jobs.map(async (job) => {
        const pieces: Uint8Array[] = [];
        // Of a size that is worth as many threads as there may be.
        const given = { ...job, archived_to, size: 100 * 1024 * 1024 };
        const { rows } = await indexer.index(given, {
          ...handlers,
          async bytes(bytes, offset, packed) {
            expect(offset).toBe(pieces.reduce((sum, { length }) => sum + length, 0));
            pieces.push(bytes.slice());
            expect(packed === undefined).toBe(offset < archived_to);
            if (packed) expect(zstdDecompressSync(packed).equals(bytes)).toBe(true);
            return false;
          },
        });
        expect(Buffer.concat(pieces).equals(readFileSync(job.path))).toBe(true);
        expect(rows).toMatchObject([{ id: basename(job.path, ".jsonl") }]);
      }),
    );
  } finally {
    await indexer.close();
  }
});

it("a file whose bytes cannot be taken fails, and those beside it are read", async () => {
  const indexer = createIndexer();
  try {
    const read = jobs.map((job, n) =>
      indexer.index(
        job,
        n === 2 ? { ...handlers, bytes: () => Promise.reject(new Error("Full.")) } : handlers,
      ),
    );
    const results = await Promise.allSettled(read);
    expect(results.map(({ status }) => status)).toEqual([
      ...["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"],
    ]);
  } finally {
    await indexer.close();
  }
});

it("what waits when it closes is told so, and nothing is left that keeps the process", async () => {
  const indexer = createIndexer();
  // Their bytes are never taken.
  const never = new Promise<boolean>(() => {});
  const read = jobs.map((job) => indexer.index(job, { ...handlers, bytes: () => never }));
  const results = Promise.allSettled(read);
  await indexer.close();
  for (const result of await results)
    expect(result).toMatchObject({ status: "rejected", reason: new Error("The daemon ends.") });
});
