import { spawnSync } from "node:child_process";
import { appendFile, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SearchAllReply, StatusReply } from "../src/protocol.ts";
import { createHome, type Daemon, startDaemon } from "../test/browser/harness.ts";
import { uuidOf } from "../test/uuid-of.ts";
import { generateClaudeText } from "./claude-session.ts";
import { load, median, type Row, report, round } from "./measure.ts";

/**
 * The search over all sessions: time until the first page of hits over HTTP, compared with `rg` over the same files, and while
 * more sessions are indexed. `node bench/search.bench.ts [--full]`: 100 MB of sessions, or 1 GB.
 */
const full = process.argv.includes("--full");
const FILES = full ? 1_000 : 100;
const FILE_BYTES = 1_000_000;
/** Share of the files that are written once the others are indexed. */
const LATER = 0.1;
const ROUNDS = 20;

/** Queries, with the fixed text for `rg`. `needle 7` is in one session, the others are in many or in none. */
const QUERIES: readonly { name: string; query: string; text?: string }[] = [
  { name: "identifier in one session", query: "getUserById7", text: "getUserById7" },
  { name: "substring of it", query: "serById7", text: "serById7" },
  { name: "place in a file", query: '"src/needle7.ts:12"', text: "src/needle7.ts:12" },
  { name: "phrase", query: '"the needle of session 7"', text: "the needle of session 7" },
  { name: "word in every session", query: "const", text: "const" },
  { name: "regular expression", query: "/getUser\\w+7\\b/" },
  { name: "word and filters", query: "vitest tool:Bash kind:call", text: "vitest" },
  { name: "failed calls", query: "tool:Edit status:failed" },
  { name: "nothing", query: "zyxwvutsrq", text: "zyxwvutsrq" },
];

const home = await createHome();
const folder = join(home.claude, "projects/-home-ada-project");
await mkdir(folder, { recursive: true });
async function writeSession(index: number): Promise<void> {
  const id = uuidOf(`search ${index}`);
  const path = join(folder, `${id}.jsonl`);
  const text = generateClaudeText({ id, bytes: FILE_BYTES, seed: index + 1 });
  await writeFile(path, text);
  const lines = text.trimEnd().split("\n");
  const answer = lines.findLast((line) => line.includes('"type":"text"')) ?? "{}";
  const record = JSON.parse(answer);
  record.uuid = uuidOf(`needle ${index}`);
  record.message.id = `msg_needle_${index}`;
  record.message.content = [
    {
      type: "text",
      text: `getUserById${index} in src/needle${index}.ts:12 is the needle of session ${index}.`,
    },
  ];
  await appendFile(path, `${JSON.stringify(record)}\n`);
}
const first_later = Math.round(FILES * (1 - LATER));
for (let index = 0; index < first_later; index += 1) await writeSession(index);
let bytes = 0;
for (const name of await readdir(folder)) bytes += (await stat(join(folder, name))).size;

const daemon = await startDaemon(home, ["--no-samples"]);
const get = await signedIn(daemon);

/** Signs in as a browser does, and returns a function that gets JSON. */
async function signedIn({ launch, origin }: Daemon): Promise<(path: string) => Promise<unknown>> {
  const reply = await fetch(launch, { redirect: "manual" });
  const cookie = reply.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return async (path) => {
    const response = await fetch(`${origin}${path}`, { headers: { cookie, "x-verbatim-client": "1" } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  };
}
const search = async (query: string): Promise<{ reply: SearchAllReply; took: number }> => {
  const began_at = performance.now();
  // The casts name the documented replies of this repository's own daemon.
  const reply = (await get(`/api/search?q=${encodeURIComponent(query)}`)) as SearchAllReply;
  return { reply, took: performance.now() - began_at };
};
async function isIndexed(files: number): Promise<boolean> {
  const { index } = (await get("/api/status")) as StatusReply;
  if (!index.done || index.files_done < files) return false;
  return (await search("zyxwvutsrq")).reply.not_indexed === 0;
}

const index_began_at = performance.now();
while (!(await isIndexed(first_later))) await new Promise((resolve) => setTimeout(resolve, 200));
const index_ms = performance.now() - index_began_at;
let index_bytes = 0;
for (const name of await readdir(home.data))
  if (name.startsWith("index.db")) index_bytes += (await stat(join(home.data, name))).size;

const p95 = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(0.95 * values.length)] ?? 0;
const rows: Row[] = [];
const all: number[] = [];
for (const { name, query, text } of QUERIES) {
  const took: number[] = [];
  let hits = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { reply, took: one } = await search(query);
    hits = reply.hits.length;
    took.push(one);
  }
  all.push(...took);
  const rg = text === undefined ? undefined : timeOfRg(text);
  rows.push({
    row: `search: ${name}, ms`,
    figures: {
      median: round(median(took)),
      p95: round(p95(took)),
      hits,
      ...(rg !== undefined && { rg: round(rg), "rg / median": round(rg / median(took)) }),
    },
  });
}
rows.unshift({
  row: `search: first page over ${round(bytes / 1e6)} MB, ms`,
  goal: "≤ 100 p95",
  figures: { median: round(median(all)), p95: round(p95(all)) },
});

/** `rg` over the same files, which names the files that contain a text. Milliseconds; `undefined`: it is not installed. */
function timeOfRg(text: string): number | undefined {
  const took: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const began_at = performance.now();
    const { error } = spawnSync("rg", ["--fixed-strings", "--files-with-matches", "--", text, folder]);
    if (error) return undefined;
    took.push(performance.now() - began_at);
  }
  return median(took);
}

const while_indexing: number[] = [];
for (let index = first_later; index < FILES; index += 1) await writeSession(index);
do {
  for (const { query } of QUERIES) while_indexing.push((await search(query)).took);
} while (!(await isIndexed(FILES)));
rows.push({
  row: `search: while ${FILES - first_later} sessions are indexed, ms`,
  goal: "≤ 100 p95",
  figures: {
    median: round(median(while_indexing)),
    p95: round(p95(while_indexing)),
    searches: while_indexing.length,
  },
});
rows.push({
  row: "search: all indexed",
  figures: { s: round(index_ms / 1_000), "index / files": round(index_bytes / bytes) },
});
await daemon.stop();
await home.remove();
report("search", rows, { files: FILES, bytes, rounds: ROUNDS, load: load() });
