import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Format } from "../../sources/contract.ts";
import { scannedFolders, type WatchRoot } from "./watch/found-file.ts";

/** The sample session that is replayed, as a path in the samples folder without `.jsonl`. Its runs are below that. */
const REPLAYED = "claude-code/projects/-home-mara-tidewatch/6f0c2a9e-41d7-4c55-9a3b-0d2f7e88b114";

/** Shortest and longest pause between two lines of the replay, in milliseconds at pace 1. */
const MIN_PAUSE_MS = 300;
const MAX_PAUSE_MS = 2_500;

interface SamplesOptions {
  /** The daemon's data directory. The samples are copied into its `samples` folder, with the agents' folder layout. */
  dataDir: string;
  /** Divides the replay's pauses: 1 is the recorded pace, 20 is twenty times as fast, `Infinity` has no pauses. */
  pace?: number;
  /** Called when the replay failed. The other samples are not affected. */
  onError?: (error: unknown) => void;
}

export interface Samples {
  /** The folders that replace the agents' own, by format id. */
  roots: { agent: string; path: string }[];
  /** The file that grows, and the final number of lines in it and its runs' files. */
  replayed: { path: string; lines: number };
  /** Starts the replay from its first line. Stops a running replay first. */
  replay(): void;
  /** Resolves when the replay has written its last line, was stopped, or failed; at once if none was started. */
  finished(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Copies the bundled sample sessions into the data directory. One of them is replayed there on demand instead, line by line, with
 * its timestamps moved to now. Its ids stay the same, so links to it remain valid.
 */
export async function openSamples({ dataDir, pace = 1, onError }: SamplesOptions): Promise<Samples> {
  if (!(pace > 0)) throw new RangeError(`Invalid replay pace ${pace}: it must be above 0.`);
  const from = shippedSamples();
  const to = join(dataDir, "samples");
  const files = await filesBelow(from);
  const isReplayed = (path: string) => path === `${REPLAYED}.jsonl` || path.startsWith(`${REPLAYED}/`);
  // Remove samples of earlier versions. The replayed session stays until the next replay.
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
        await replay(script, dataDir, pace, stopped.signal);
      })().catch((error: unknown) => {
        // A missing data directory is reported by the parts that need it.
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

/** Whether any agent has a session file or a store of sessions below these folders. Stops at the first one. */
export async function hasSessions(roots: readonly WatchRoot[]): Promise<boolean> {
  for (const root of roots) {
    for (const folder of scannedFolders(root)) {
      if (await hasSession(root.path, folder, root.format)) return true;
    }
  }
  return false;
}

async function hasSession(root: string, folder: string, format: Format): Promise<boolean> {
  // A missing or unreadable folder has no sessions to show.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const found = entry.isDirectory()
      ? await hasSession(root, path, format)
      : entry.isFile() && mayHaveSessions(format, slashed(path.slice(root.length + 1)));
    if (found) return true;
  }
  return false;
}

const mayHaveSessions = ({ classify, snapshots }: Format, path: string): boolean =>
  classify(path) !== undefined || snapshots?.storeOf(path) !== undefined;

const slashed = (path: string) => path.replaceAll("\\", "/");

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => slashed(join(entry.parentPath, entry.name).slice(folder.length + 1)))
    .toSorted();
}

/** The folder of the samples: `src/server/samples` in the sources, next to the bundle in the package. */
function shippedSamples(): string {
  const folder = import.meta.dirname;
  const path = folder.endsWith("import") ? join(folder, "../samples") : join(folder, "samples");
  if (!existsSync(path)) {
    throw new Error(`no samples at ${path}: reinstall the package`);
  }
  return path;
}

/** Copies a file and sets its modification time to the time of its last record, so that it is sorted correctly. */
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

/** One write of the replay: an appended line, or a whole side file. */
interface ReplayedLine {
  path: string;
  text: string;
  append: boolean;
  /** The time at which it was written in the recording. */
  at: number;
}

/** All lines of the replayed session and its runs in the order in which they were written. */
async function readScript(from: string, to: string, files: string[]): Promise<ReplayedLine[]> {
  const script: ReplayedLine[] = [];
  for (const file of files.filter((file) => file.endsWith(".jsonl"))) {
    const path = join(to, file);
    const side = file.replace(/\.jsonl$/, ".meta.json");
    // A line without a timestamp has that of the line before it. Leading lines have that of the next.
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

async function replay(
  script: ReplayedLine[],
  dataDir: string,
  pace: number,
  stopped: AbortSignal,
): Promise<void> {
  for (const path of new Set(script.map((line) => line.path))) await rm(path, { force: true });
  let before = script[0]?.at ?? 0;
  for (const line of script) {
    // Lines with the same timestamp are one write. Other pauses are as recorded, but bounded.
    const gap = line.at - before;
    if (gap > 20) await pause(Math.min(Math.max(gap, MIN_PAUSE_MS), MAX_PAUSE_MS) / pace, stopped);
    before = line.at;
    if (stopped.aborted) return;
    await makeFolder(dirname(line.path), dataDir);
    if (line.append) await appendFile(line.path, atNow(line.text));
    else await writeFile(line.path, line.text);
  }
}

/** Creates a folder, but not its parents: if the data directory was moved away, a new one would prevent moving it back. */
async function makeFolder(path: string, above: string): Promise<void> {
  if (path === above || existsSync(path)) return;
  await makeFolder(dirname(path), above);
  await mkdir(path);
}

/** Replaces every timestamp in a line with the current time. */
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
