import { appendFileSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createIndexer, type IndexHandlers, type IndexJob } from "../../src/server/import/index-threads.ts";
import { generateClaudeSession } from "../generate-session.ts";

let folder = "";
let jobs: IndexJob[] = [];
let long: IndexJob;
/** The numbers of turns as generated. */
const turnsOf = (job: IndexJob) => jobs.indexOf(job) + 1;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "indexer-")));
  jobs = Array.from({ length: 6 }, (_, n) => {
    const { session_id, lines } = generateClaudeSession({ parts: 100 * (n + 1), turns: n + 1, seed: n });
    const path = join(folder, `${session_id}.jsonl`);
    writeFileSync(path, `${lines.join("\n")}\n`);
    return {
      path,
      format: "claude-code",
      close_before: Number.POSITIVE_INFINITY,
      size: lines.length,
    };
  });
  const { session_id, lines } = generateClaudeSession({ parts: 300, turns: 3 });
  const text = `${lines.join("\n")}\n`;
  const path = join(folder, `${session_id}.jsonl`);
  // Several seconds of reading.
  for (let n = 0; n < 300; n += 1) appendFileSync(path, text.replaceAll("toolu_", `toolu_${n}_`));
  long = { path, format: "claude-code", close_before: Number.POSITIVE_INFINITY, size: statSync(path).size };
});
afterAll(() => rmSync(folder, { recursive: true }));

const handlers: IndexHandlers = { replaced() {}, progress: () => false, preview() {} };

it("reads every file into the same rows as its lines", async () => {
  const indexer = createIndexer();
  try {
    await Promise.all(
      jobs.map(async (job) => {
        // Large enough for the maximum number of threads.
        const { rows, result } = await indexer.index({ ...job, size: 100 * 1024 * 1024 }, handlers);
        expect(rows).toMatchObject([{ id: basename(job.path, ".jsonl"), summary: { turns: turnsOf(job) } }]);
        expect(result).toMatchObject({ stopped: false, identity: { size: statSync(job.path).size } });
      }),
    );
  } finally {
    await indexer.close();
  }
});

it("judges whether a file is complete by its modification time when it was read", async () => {
  const indexer = createIndexer();
  const { session_id, lines } = generateClaudeSession({ parts: 100, turns: 1, seed: 9 });
  const path = join(folder, `${session_id}.jsonl`);
  writeFileSync(path, `${lines.slice(0, -1).join("\n")}\n`);
  const written = statSync(path).mtimeMs;
  const statusAt = async (close_before: number) => {
    const job = { path, format: "claude-code", close_before, size: lines.length };
    return (await indexer.index(job, handlers)).rows.map(({ summary }) => summary.status);
  };
  try {
    expect(await statusAt(written - 1)).toEqual(["running"]);
    expect(await statusAt(written + 1)).toEqual(["failed"]);
  } finally {
    await indexer.close();
  }
});

it("pauses for urgent work, and then reads everything", async () => {
  const indexer = createIndexer();
  try {
    indexer.pause();
    let ended = 0;
    const read = jobs.map((job) => indexer.index(job, handlers).then(() => (ended += 1)));
    // The two paused threads make no progress, while another indexer completes the same jobs.
    const other = createIndexer();
    await Promise.all(jobs.map((job) => other.index(job, handlers)));
    await other.close();
    expect(ended).toBe(0);
    indexer.resume();
    await Promise.all(read);
    expect(ended).toBe(jobs.length);
  } finally {
    await indexer.close();
  }
});

it("reports progress, and stops on request", async () => {
  const indexer = createIndexer();
  try {
    const told: number[] = [];
    const { result } = await indexer.index(long, {
      ...handlers,
      progress(end) {
        told.push(end);
        return true;
      },
    });
    expect(told.length).toBeGreaterThan(0);
    expect(result).toMatchObject({ type: "read", stopped: true });
    const [first = 0] = told;
    if (result.type === "read") expect(result.identity.size).toBeGreaterThanOrEqual(first);
    expect(first).toBeLessThan(statSync(long.path).size);
  } finally {
    await indexer.close();
  }
});

it("reports a file that cannot be read, and reads the others", async () => {
  const indexer = createIndexer();
  try {
    const read = jobs.map((job, n) => indexer.index(n === 2 ? { ...job, format: "none" } : job, handlers));
    const results = await Promise.allSettled(read);
    expect(results.map(({ status }) => status)).toEqual([
      ...["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"],
    ]);
  } finally {
    await indexer.close();
  }
});

it("rejects queued jobs when it closes, and does not keep the process alive", async () => {
  const indexer = createIndexer();
  indexer.pause();
  const results = Promise.allSettled(jobs.map((job) => indexer.index(job, handlers)));
  await indexer.close();
  for (const result of await results)
    expect(result).toMatchObject({ status: "rejected", reason: new Error("The daemon is shutting down.") });
});
