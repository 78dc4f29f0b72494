import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Format } from "../../sources/contract.ts";

/** The sample session that is replayed, by its path in the samples' folder without `.jsonl`; its runs lie below that. */
const REPLAYED = "claude-code/projects/-home-mara-tidewatch/6f0c2a9e-41d7-4c55-9a3b-0d2f7e88b114";

/** Shortest and longest pause between two lines of the replay, in milliseconds at pace 1. */
const MIN_PAUSE_MS = 300;
const MAX_PAUSE_MS = 2_500;

interface SamplesOptions {
  /** The daemon's data directory: the samples are copied into its `samples` folder, laid out as agents lay out theirs. */
  dataDir: string;
  /** Divides the replay's pauses: 1 is an agent's pace, 20 is twenty times as fast, `Infinity` has no pauses. */
  pace?: number;
  /** The replay cannot go on: what a person should know. The other samples are not affected. */
  onError?: (error: unknown) => void;
}

export interface Samples {
  /** What stands where an agent's own folder would: by format id. */
  roots: { agent: string; path: string }[];
  /** The file that grows, and how many lines it will have with its runs' files. */
  replayed: { path: string; lines: number };
  /** Begins the replay from its first line; a replay that still runs ends first. */
  replay(): void;
  /** Resolves when the replay has written its last line (or was stopped, or failed); at once where none was begun. */
  finished(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Copies the sample sessions that ship with Verbatim into the data directory. One of them is not copied but replayed there
 * on demand, line by line, with the moments rewritten to now. It keeps its ids, so links into it hold from one replay to
 * the next.
 */
export async function openSamples({ dataDir, pace = 1, onError }: SamplesOptions): Promise<Samples> {
  if (!(pace > 0)) throw new RangeError(`The replay's pace is ${pace}: give a number above 0.`);
  const from = shippedSamples();
  const to = join(dataDir, "samples");
  const files = await filesBelow(from);
  const isReplayed = (path: string) => path === `${REPLAYED}.jsonl` || path.startsWith(`${REPLAYED}/`);
  // What an earlier version shipped must not stay. The replayed session stays until it is replayed again.
  for (const path of await filesBelow(to)) if (!files.includes(path)) await rm(join(to, path));
  for (const path of files) if (!isReplayed(path)) await copySample(join(from, path), join(to, path));
  const script = await readScript(from, to, files.filter(isReplayed));

  let current: { stopped: AbortController; finished: Promise<void> } | undefined;
  return {
    roots: [
      { agent: "claude-code", path: join(to, "claude-code") },
      { agent: "codex", path: join(to, "codex") },
    ],
    replayed: { path: join(to, `${REPLAYED}.jsonl`), lines: script.filter((line) => line.append).length },
    replay() {
      const earlier = current;
      earlier?.stopped.abort();
      const stopped = new AbortController();
      const finished = (async () => {
        await earlier?.finished;
        await play(script, dataDir, pace, stopped.signal);
      })().catch((error: unknown) => {
        // That the data directory was moved away is told by those who cannot go on without it.
        if (existsSync(dataDir)) onError?.(error);
      });
      current = { stopped, finished };
    },
    finished: async () => current?.finished,
    async stop() {
      current?.stopped.abort();
      await current?.finished;
    },
  };
}

/** Whether there is any agent's session file below these folders; ends with the first one found. */
export async function hasSessions(roots: readonly { format: Format; path: string }[]): Promise<boolean> {
  for (const { format, path } of roots) {
    for (const folder of format.root?.folders ?? []) {
      if (await hasSession(path, join(path, folder), format)) return true;
    }
  }
  return false;
}

async function hasSession(root: string, folder: string, format: Format): Promise<boolean> {
  // A folder that is not there, or not ours to read, holds no session that we could show.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const found = entry.isDirectory()
      ? await hasSession(root, path, format)
      : entry.isFile() && format.classify(slashed(path.slice(root.length + 1))) !== undefined;
    if (found) return true;
  }
  return false;
}

const slashed = (path: string) => path.replaceAll("\\", "/");

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => slashed(join(entry.parentPath, entry.name).slice(folder.length + 1)))
    .toSorted();
}

/** The folder of the samples: `src/server/samples` in the sources, beside the bundle in the package. */
function shippedSamples(): string {
  const folder = import.meta.dirname;
  const path = folder.endsWith("import") ? join(folder, "../samples") : join(folder, "samples");
  if (!existsSync(path)) {
    throw new Error(`there are none at ${path}: install the package again`);
  }
  return path;
}

/** Copies a file and dates it to its own last record, so that it sorts among real sessions by when it happened. */
async function copySample(from: string, to: string): Promise<void> {
  const text = await readFile(from, "utf8");
  if (text === (await readFile(to, "utf8").catch(() => undefined))) return;
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, text);
  let last = 0;
  for (const [, at = ""] of text.matchAll(TIMESTAMP)) last = Math.max(last, Date.parse(at));
  if (last > 0) await utimes(to, last / 1000, last / 1000);
}

const TIMESTAMP = /"timestamp":"([^"]+)"/g;

/** One write of the replay: a line that is appended, or a side file that is written whole. */
interface ReplayedLine {
  path: string;
  text: string;
  append: boolean;
  /** When it was written in the recording. */
  at: number;
}

/** All lines of the replayed session and its runs in the order in which they were written. */
async function readScript(from: string, to: string, files: string[]): Promise<ReplayedLine[]> {
  const script: ReplayedLine[] = [];
  for (const file of files.filter((file) => file.endsWith(".jsonl"))) {
    const path = join(to, file);
    const side = file.replace(/\.jsonl$/, ".meta.json");
    // Lines without a moment of their own were written with the line before them; the first ones with the next.
    let at = firstMoment(await readFile(join(from, file), "utf8"));
    if (files.includes(side)) {
      const text = await readFile(join(from, side), "utf8");
      script.push({ path: join(to, side), text, append: false, at });
    }
    for (const text of (await readFile(join(from, file), "utf8")).split("\n")) {
      if (text === "") continue;
      at = Math.max(at, momentOf(text) ?? at);
      script.push({ path, text: `${text}\n`, append: true, at });
    }
  }
  return script.toSorted((a, b) => a.at - b.at);
}

function momentOf(line: string): number | undefined {
  const record: unknown = JSON.parse(line);
  if (typeof record !== "object" || record === null || !("timestamp" in record)) return undefined;
  const moment = Date.parse(String(record.timestamp));
  return Number.isNaN(moment) ? undefined : moment;
}

function firstMoment(text: string): number {
  for (const line of text.split("\n")) {
    const moment = line === "" ? undefined : momentOf(line);
    if (moment !== undefined) return moment;
  }
  return 0;
}

async function play(
  script: ReplayedLine[],
  dataDir: string,
  pace: number,
  stopped: AbortSignal,
): Promise<void> {
  for (const path of new Set(script.map((line) => line.path))) await rm(path, { force: true });
  let before = script[0]?.at ?? 0;
  for (const line of script) {
    // Lines of one moment are one write of the agent; any other pause is an agent's, but never a long wait.
    const gap = line.at - before;
    if (gap > 20) await pause(Math.min(Math.max(gap, MIN_PAUSE_MS), MAX_PAUSE_MS) / pace, stopped);
    before = line.at;
    if (stopped.aborted) return;
    await makeFolder(dirname(line.path), dataDir);
    if (line.append) await appendFile(line.path, atNow(line.text));
    else await writeFile(line.path, line.text);
  }
}

/** Makes no folder above: where the data directory was moved away, what took its place would keep it from being put back. */
async function makeFolder(path: string, above: string): Promise<void> {
  if (path === above || existsSync(path)) return;
  await makeFolder(dirname(path), above);
  await mkdir(path);
}

/** Moves every moment in a line to now. */
function atNow(text: string): string {
  return text.replaceAll(TIMESTAMP, `"timestamp":"${new Date().toISOString()}"`);
}

function pause(milliseconds: number, stopped: AbortSignal): Promise<void> {
  if (milliseconds < 1 || stopped.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(end, milliseconds);
    function end() {
      clearTimeout(timer);
      stopped.removeEventListener("abort", end);
      resolve();
    }
    stopped.addEventListener("abort", end);
  });
}
