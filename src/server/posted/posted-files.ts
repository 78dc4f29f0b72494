import { createReadStream, mkdirSync } from "node:fs";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { asObject, asText, messageOf } from "../../model/narrow.ts";
import { Refused } from "../sessions/refused.ts";

/** The agents whose session files can be posted, with the subfolder of the agent's folder that contains them. */
export const POSTED_AGENTS: Readonly<Record<string, string>> = {
  "claude-code": "projects",
  codex: "sessions",
  "codex-exec": "codex-exec-runs",
  "droid-exec": "droid-exec-runs",
};

/** A segment of a file's path below its agent's folder: no hidden names, no `..`, no special characters. */
const PATH_SEGMENT = /^[A-Za-z0-9_%@=+,-][A-Za-z0-9._%@=+,-]{0,199}$/;
const MAX_SEGMENTS = 8;
/** Number of files whose record ids are kept in memory. */
const MAX_OPEN = 64;

export interface PostedFile {
  agent: string;
  /** Relative to the agent's session folder: `<project>/<session>.jsonl`. */
  path: string;
}

/** A line that is a JSON object, with the object's `uuid`. */
export interface PostedLine {
  text: string;
  id?: string;
}

export interface PostedBatch {
  lines: readonly PostedLine[];
  /** Index of the first record among all records posted to the file. Records that are already stored are skipped. */
  from?: number;
}

export interface PostedCounts {
  /** Number of appended records. */
  applied: number;
  /** Number of records that were already stored. */
  repeated: number;
  /** Number of records in the file. */
  records: number;
}

/** Stores the session files that programs on other machines post, in the agent's own layout. */
export interface PostedFiles {
  /** The folders to watch, one per agent. */
  readonly roots: readonly { agent: string; path: string; folders: readonly string[] }[];
  /**
   * Appends the records that the file does not have yet, and flushes them to disk. Throws `Refused` for an invalid path or batch.
   */
  append(file: PostedFile, batch: PostedBatch): Promise<PostedCounts>;
  /** The file's bytes; `undefined`: no such file. */
  read(file: PostedFile): Promise<ReadableStream<Uint8Array> | undefined>;
  /** All files of an agent below a folder, with the modification time in milliseconds. */
  list(folder: PostedFile): Promise<{ path: string; modified_at: number }[]>;
}

/** What is known about a file between two batches. */
interface FileState {
  records: number;
  /** The `uuid` of each record that has one. */
  ids: Set<string>;
}

/** Creates its folders, so that they can be watched. Throws the system's error if it cannot. */
export function createPostedFiles(folder: string): PostedFiles {
  for (const [agent, sessions] of Object.entries(POSTED_AGENTS))
    mkdirSync(join(folder, agent, sessions), { recursive: true, mode: 0o700 });
  const states = new Map<string, FileState>();
  /** The last append to each file. Batches of one file are written in order of arrival. */
  const queues = new Map<string, Promise<unknown>>();

  async function append(file: PostedFile, batch: PostedBatch): Promise<PostedCounts> {
    const path = pathOf(folder, file);
    const before = queues.get(path);
    const result = (async () => {
      await before?.catch(() => {});
      return await appendNow(path, batch);
    })();
    queues.set(path, result);
    try {
      return await result;
    } finally {
      if (queues.get(path) === result) queues.delete(path);
    }
  }

  async function appendNow(path: string, { lines, from }: PostedBatch): Promise<PostedCounts> {
    const state = await stateOf(path);
    if (from !== undefined && from > state.records) {
      throw new Refused(
        409,
        "gap",
        `The file has ${state.records} records: a batch from record ${from} would leave a gap.`,
        `Post the records from ${state.records} on.`,
      );
    }
    const { fresh, ids } = newLines(state, lines, from);
    if (fresh.length > 0) {
      // A failed write leaves the file in an unknown state: read it again before the next batch.
      states.delete(path);
      await write(path, fresh.map(({ text }) => `${text}\n`).join(""));
      for (const id of ids) state.ids.add(id);
      state.records += fresh.length;
      remember(path, state);
    }
    return { applied: fresh.length, repeated: lines.length - fresh.length, records: state.records };
  }

  async function stateOf(path: string): Promise<FileState> {
    const known = states.get(path);
    if (known !== undefined) {
      remember(path, known);
      return known;
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await dropTornLine(path);
    const state: FileState = { records: 0, ids: new Set() };
    if (await exists(path)) {
      for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
        state.records += 1;
        const id = idOf(line);
        if (id !== undefined) state.ids.add(id);
      }
    }
    remember(path, state);
    return state;
  }

  function remember(path: string, state: FileState): void {
    states.delete(path);
    states.set(path, state);
    const [oldest] = states.keys();
    if (states.size > MAX_OPEN && oldest !== undefined) states.delete(oldest);
  }

  return {
    roots: Object.entries(POSTED_AGENTS).map(([agent, sessions]) => ({
      agent,
      path: join(folder, agent),
      folders: [sessions],
    })),
    append,
    async read(file) {
      const path = pathOf(folder, file);
      if (!(await exists(path))) return undefined;
      // Converts between Node's web stream type and the global one.
      return Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>;
    },
    async list(at) {
      const root = join(folder, at.agent, sessionsFolder(at.agent));
      const start = at.path === "" ? root : pathOf(folder, at);
      const names = await readdir(start, { recursive: true, withFileTypes: true }).catch(ignoreMissing);
      const files = names.filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"));
      return await Promise.all(
        files.map(async ({ parentPath, name }) => {
          const path = join(parentPath, name);
          return { path: path.slice(root.length + 1), modified_at: Math.floor((await stat(path)).mtimeMs) };
        }),
      );
    },
  };
}

/** The lines of a batch that the file does not have, and their ids. */
function newLines(state: FileState, lines: readonly PostedLine[], from: number | undefined) {
  const stored = from === undefined ? 0 : state.records - from;
  const ids = new Set<string>();
  const fresh = lines.filter(({ id }, index) => {
    if (index < stored) return false;
    if (id === undefined) return true;
    if (state.ids.has(id) || ids.has(id)) return false;
    ids.add(id);
    return true;
  });
  return { fresh, ids };
}

/** The lines of a batch. Throws a `Refused` that names the line if it is not a JSON object. */
export function batchLines(text: string): PostedLine[] {
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "")
    .map(({ line, number }) => {
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch (error) {
        throw new Refused(422, "record", `Line ${number} is not JSON: ${messageOf(error)}.`);
      }
      const record = asObject(value);
      if (record === undefined) throw new Refused(422, "record", `Line ${number} is not a JSON object.`);
      const id = asText(record.uuid);
      return { text: line, ...(id !== undefined && { id }) };
    });
}

function sessionsFolder(agent: string): string {
  const folder = Object.hasOwn(POSTED_AGENTS, agent) ? POSTED_AGENTS[agent] : undefined;
  if (folder !== undefined) return folder;
  const known = Object.keys(POSTED_AGENTS).join(", ");
  throw new Refused(
    400,
    "agent",
    `\`agent\`: unknown agent ${JSON.stringify(agent)}. Supported agents: ${known}.`,
  );
}

function pathOf(folder: string, { agent, path }: PostedFile): string {
  const sessions = sessionsFolder(agent);
  const segments = path.split("/");
  if (segments.length > MAX_SEGMENTS || !segments.every((segment) => PATH_SEGMENT.test(segment))) {
    throw new Refused(
      400,
      "path",
      `\`path\`: ${JSON.stringify(path)} is not a path of up to ${MAX_SEGMENTS} names of letters, digits and -_.%@=+,.`,
    );
  }
  return join(folder, agent, sessions, ...segments);
}

async function write(path: string, text: string): Promise<void> {
  const handle = await open(path, "a", 0o600);
  try {
    await handle.appendFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/**
 * Removes an incomplete last line, left by a crash or a full disk. Its batch was never confirmed, so its sender posts it again.
 */
async function dropTornLine(path: string): Promise<void> {
  const handle = await open(path, "r+").catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (handle === undefined) return;
  try {
    const { size } = await handle.stat();
    const block = Buffer.alloc(64 * 1024);
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - block.length);
      const { bytesRead } = await handle.read(block, 0, end - start, start);
      const at = block.subarray(0, bytesRead).lastIndexOf(0x0a);
      if (at !== -1 || start === 0) {
        const whole = at === -1 ? 0 : start + at + 1;
        if (whole < size) await handle.truncate(whole);
        return;
      }
      end = start;
    }
  } finally {
    await handle.close();
  }
}

function idOf(line: string): string | undefined {
  try {
    return asText(asObject(JSON.parse(line))?.uuid);
  } catch {
    return undefined;
  }
}

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false;

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

function ignoreMissing(error: unknown): [] {
  if (isMissing(error)) return [];
  throw error;
}
