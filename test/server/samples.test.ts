import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claudeCode } from "../../src/formats/claude-code/format.ts";
import { hasSessions, openSamples, type Samples } from "../../src/server/samples.ts";
import { sampleFiles } from "../samples/write.ts";

const shipped = resolve(import.meta.dirname, "../../src/server/samples");

let dataDir: string;
let samples: Samples | undefined;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "verbatim-samples-"));
});
afterEach(async () => {
  await samples?.stop();
  samples = undefined;
  await rm(dataDir, { recursive: true, force: true });
});

describe("the samples that ship with Verbatim", () => {
  it("are the ones that their stories write", async () => {
    const written = sampleFiles();
    const found = (await readdir(shipped, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    expect(found.length).toBe(written.size);
    for (const [path, content] of written) {
      expect(await readFile(join(shipped, path), "utf8"), path).toBe(content);
    }
  });

  it("weigh less than 400 KB together", () => {
    const bytes = [...sampleFiles().values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThan(400_000);
  });

  it("hold only whole JSON records", () => {
    for (const [path, content] of sampleFiles()) {
      if (!path.endsWith(".jsonl")) continue;
      expect(content.endsWith("\n"), path).toBe(true);
      for (const line of content.split("\n").slice(0, -1)) expect(() => JSON.parse(line), path).not.toThrow();
    }
  });
});

describe("the samples in a data directory", () => {
  it("lays them out as the agents lay out their own folders, dated to when they happened", async () => {
    samples = await openSamples({ dataDir });
    const [claude, codex] = samples.roots;
    expect(await readdir(join(claude?.path ?? "", "projects"))).toEqual([
      "-home-mara-kiln",
      "-home-mara-tidewatch",
    ]);
    const day = join(codex?.path ?? "", "sessions/2026/11/17");
    const [rollout = ""] = await readdir(day);
    expect(rollout).toMatch(/^rollout-2026-11-17T20-30-02-.*\.jsonl$/);
    expect((await stat(join(day, rollout))).mtime.toISOString()).toMatch(/^2026-11-17T/);
  });

  it("replays one of them with its runs to the last line, moved to now", async () => {
    const before = Date.now();
    samples = await openSamples({ dataDir, pace: Number.POSITIVE_INFINITY });
    samples.replay();
    await samples.finished();
    const main = await readFile(samples.replayed.path, "utf8");
    const folder = join(samples.replayed.path.replace(/\.jsonl$/, ""), "subagents");
    const [run = "", side = ""] = (await readdir(folder)).toSorted();
    const lines = [...main.split("\n"), ...(await readFile(join(folder, run), "utf8")).split("\n")];
    expect(lines.filter((line) => line !== "").length).toBe(samples.replayed.lines);
    expect(JSON.parse(await readFile(join(folder, side), "utf8"))).toMatchObject({ agentType: "Explore" });
    for (const [, moment] of main.matchAll(/"timestamp":"([^"]+)"/g)) {
      expect(Date.parse(moment ?? "")).toBeGreaterThanOrEqual(before);
    }
  });

  it("begins with the replayed file absent or short, and lets it grow", async () => {
    samples = await openSamples({ dataDir, pace: 50 });
    samples.replay();
    const sizes: number[] = [];
    let done = false;
    const finished = samples.finished().then(() => {
      done = true;
    });
    while (!done) {
      const size = await stat(samples.replayed.path).then(
        (found) => found.size,
        () => 0,
      );
      if (sizes.at(-1) !== size) sizes.push(size);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await finished;
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  });

  it("replays the same ids again on demand, from the first line", async () => {
    samples = await openSamples({ dataDir, pace: Number.POSITIVE_INFINITY });
    samples.replay();
    await samples.finished();
    const ids = (text: string) => [...text.matchAll(/"uuid":"([^"]+)"/g)].map(([, id]) => id);
    const first = ids(await readFile(samples.replayed.path, "utf8"));
    samples.replay();
    await samples.finished();
    expect(ids(await readFile(samples.replayed.path, "utf8"))).toEqual(first);
  });

  it("leave nothing behind of what an earlier version shipped", async () => {
    const old = join(dataDir, "samples/claude-code/projects/-old/0.jsonl");
    await mkdir(join(old, ".."), { recursive: true });
    await writeFile(old, "{}\n");
    samples = await openSamples({ dataDir });
    await expect(stat(old)).rejects.toThrow("ENOENT");
  });

  it("refuses a pace that never ends, and says what to give", async () => {
    await expect(openSamples({ dataDir, pace: 0 })).rejects.toThrow("give a number above 0");
  });
});

describe("looking for agents' sessions", () => {
  it("finds one however deep it lies, and none in an empty or missing folder", async () => {
    const root = { format: claudeCode, path: join(dataDir, "claude") };
    expect(await hasSessions([root])).toBe(false);
    const project = join(root.path, "projects/-w-app");
    await mkdir(project, { recursive: true });
    expect(await hasSessions([root])).toBe(false);
    await writeFile(join(project, "notes.txt"), "no session");
    expect(await hasSessions([root])).toBe(false);
    await writeFile(join(project, "6f0c2a9e-41d7-4c55-9a3b-0d2f7e88b114.jsonl"), "");
    expect(await hasSessions([root])).toBe(true);
  });
});
