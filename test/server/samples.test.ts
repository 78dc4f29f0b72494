import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { OUTPUT_LIMIT } from "../../src/protocol.ts";
import { hasSessions, openSamples, type Samples } from "../../src/server/import/samples.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { formats } from "../../src/sources/index.ts";
import { openclaw } from "../../src/sources/openclaw/format.ts";
import { eventually } from "../eventually.ts";
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
  it("match the output of their generator", async () => {
    const written = sampleFiles();
    const found = (await readdir(shipped, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    expect(found.length).toBe(written.size);
    for (const [path, content] of written) {
      expect(await readFile(join(shipped, path), "utf8"), path).toBe(content);
    }
  });

  it("have less than 400 KB in total", () => {
    const bytes = [...sampleFiles().values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThan(400_000);
  });

  it("contain only complete JSON records", () => {
    for (const [path, content] of sampleFiles()) {
      if (!path.endsWith(".jsonl")) continue;
      expect(content.endsWith("\n"), path).toBe(true);
      for (const line of content.split("\n").slice(0, -1)) expect(() => JSON.parse(line), path).not.toThrow();
    }
  });
});

describe("the samples, read by the readers of their formats", () => {
  const read = [...sampleFiles()]
    .filter(([path]) => path.endsWith(".jsonl"))
    .map(([path, text]) => readSample(path, text));

  it("contain no unknown or unreadable lines", () => {
    for (const { path, dispositions } of read) {
      expect(
        dispositions.filter(({ kind }) => kind === "unknown" || kind === "unreadable"),
        path,
      ).toEqual([]);
    }
  });

  it("contain one of every kind of part", () => {
    const parts = read
      .flatMap(({ transcript }) => [...transcript.parts])
      .filter((part) => part !== undefined);
    const kinds = new Set(
      parts.map((part) => (part.type === "marker" ? `${part.type} ${part.kind}` : part.type)),
    );
    for (const kind of ["prompt", "thinking", "text", "tool_call", "tool_result"])
      expect(kinds).toContain(kind);
    for (const kind of ["compaction", "interrupt", "error", "retry", "context"])
      expect(kinds).toContain(`marker ${kind}`);
    const results = parts.filter((part) => part.type === "tool_result");
    const payloads = new Set(results.map((result) => result.ui_extra?.type));
    for (const payload of [
      "shell",
      "diff",
      "read",
      "search",
      "todos",
      "web_search",
      "web_fetch",
      "question",
      "plan",
      "mcp",
    ]) {
      expect(payloads).toContain(payload);
    }
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["success", "error", "aborted"]));
    expect(results.some((result) => result.parts.some(({ type }) => type === "image_url"))).toBe(true);
    const prompts = parts.filter((part) => part.type === "prompt");
    expect(prompts.some(({ queued }) => queued)).toBe(true);
    expect(prompts.some((prompt) => prompt.parts.some(({ type }) => type === "image_url"))).toBe(true);
    expect(results.some(({ output_text }) => output_text.length > OUTPUT_LIMIT)).toBe(true);
    expect(results.some(({ output_text }) => output_text.includes("\u001b[31m"))).toBe(true);
  });

  it("contain a discovery turn of 11 steps and 30 calls in four narrated batches", () => {
    const discovery = read.find(({ path }) => path.includes("-home-mara-kiln"));
    const [turn] = [...(discovery?.transcript.turns ?? [])];
    expect(turn).toMatchObject({ steps: 11, tool_calls: 30, errors: 0, status: "completed" });
    const texts = [...(discovery?.transcript.parts ?? [])].flatMap((part) =>
      part?.type === "text" ? [part.text] : [],
    );
    expect(texts.map((text) => text.split(" ").slice(0, 4).join(" "))).toEqual([
      "Let me read the",
      "Let me read the",
      "Now I have a",
      "Done. I've created #11",
    ]);
  });
});

function readSample(path: string, text: string) {
  const bytes = new TextEncoder().encode(text);
  const format = formats.find((format) => format.detect(bytes.subarray(0, 64 * 1024)));
  if (!format) throw new Error(`${path} is of no format`);
  const reader = format.createReader({ path });
  const records = [...reader.push(bytes), ...reader.close()];
  const frames = records.flatMap((record) => record.frames);
  const session_id = reader.linkFacts().sessions[0]?.session_id ?? "";
  const transcript = frames
    .filter((frame) => frame.session_id === session_id)
    .reduce(accumulate, emptyTranscript(session_id));
  return { path, transcript, dispositions: records.map(({ disposition }) => disposition) };
}

describe("the samples in a data directory", () => {
  it("have the agents' folder layout, and the dates of their sessions", async () => {
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

  it("replay one of them with its runs to the last line, with current times", async () => {
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

  it("begin with the replayed file absent or short, and let it grow", async () => {
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

  it("replay the same ids again on demand, from the first line", async () => {
    samples = await openSamples({ dataDir, pace: Number.POSITIVE_INFINITY });
    samples.replay();
    await samples.finished();
    const ids = (text: string) => [...text.matchAll(/"uuid":"([^"]+)"/g)].map(([, id]) => id);
    const first = ids(await readFile(samples.replayed.path, "utf8"));
    samples.replay();
    await samples.finished();
    expect(ids(await readFile(samples.replayed.path, "utf8"))).toEqual(first);
  });

  it("stop the replay if the folder was moved away, without creating a new one", async () => {
    const errors: unknown[] = [];
    samples = await openSamples({ dataDir, pace: 50, onError: (error) => errors.push(error) });
    const { path } = samples.replayed;
    samples.replay();
    await eventually(async () => expect((await stat(path)).size).toBeGreaterThan(0));
    await rename(dataDir, `${dataDir}-away`);
    await samples.finished();
    await rename(`${dataDir}-away`, dataDir);
    expect((await stat(path)).size).toBeGreaterThan(0);
    expect(errors).toEqual([]);
  });

  it("contain nothing of an earlier version", async () => {
    const old = join(dataDir, "samples/claude-code/projects/-old/0.jsonl");
    await mkdir(join(old, ".."), { recursive: true });
    await writeFile(old, "{}\n");
    samples = await openSamples({ dataDir });
    await expect(stat(old)).rejects.toThrow("ENOENT");
  });

  it("reject an invalid pace", async () => {
    await expect(openSamples({ dataDir, pace: 0 })).rejects.toThrow("it must be above 0");
  });
});

describe("looking for agents' sessions", () => {
  it("finds one at any depth, and none in an empty or missing folder", async () => {
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

  it("finds a store of sessions", async () => {
    const root = { format: openclaw, path: join(dataDir, "openclaw") };
    const folder = join(root.path, "agents/main/agent");
    await mkdir(folder, { recursive: true });
    expect(await hasSessions([root])).toBe(false);
    await writeFile(join(folder, "openclaw-agent.sqlite"), "");
    expect(await hasSessions([root])).toBe(true);
  });
});
