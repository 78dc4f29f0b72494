import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import {
  CLIENT_HEADER,
  locateReply,
  partsReply,
  type ServerMessage,
  sessionReply,
  sessionsReply,
  statusReply,
} from "../src/protocol.ts";
import { BUILT_DAEMON, buildDaemon, NODE_ENVIRONMENT, NODE_FLAGS } from "../test/built-daemon.ts";
import { generateClaudeText } from "./claude-session.ts";
import { parseByTwoThreads } from "./index-floor.ts";
import { openChromium, type Row } from "./measure.ts";

/**
 * The performance of the daemon, measured from outside: the real process, its routes and its socket, with generated sessions of
 * Claude Code. `node bench/daemon.bench.ts [--full] [--only many,append,large,burst]`. Prints a table on standard error and one
 * line of JSON on standard output. Times depend on the machine; `relative_speed` and `*_bytes_ratio` do not.
 *
 * - `many`: a folder of sessions (200 in 100 MB; `--full` 1,000 in 1 GB): first list, indexing compared to JSON.parse of the same
 * lines, time until everything is archived, memory after indexing and while all sessions grow; again under constant requests,
 * with their latency.
 * - `append`: a line appended to an open session of 43 KB and of 7 MB: time until a page in Chromium has painted it, time until
 * its frame is received, and the bytes sent for it.
 * - `large`: one file (200 MB; `--full` 1.2 GB): its row, its last page, memory, maximum latency.
 * - `burst`: files created at once while the daemon runs (2,000; `--full` 20,000): time until all are listed.
 */
const { values: flags } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    only: { type: "string", default: "many,append,large,burst" },
    sessions: { type: "string" },
    megabytes: { type: "string" },
    large: { type: "string" },
    burst: { type: "string" },
  },
});
const size = (given: string | undefined, normal: number, full: number) =>
  given === undefined ? (flags.full ? full : normal) : Number(given);
const SIZES = {
  sessions: size(flags.sessions, 200, 1_000),
  megabytes: size(flags.megabytes, 100, 1_000),
  large: size(flags.large, 200, 1_200),
  burst: size(flags.burst, 2_000, 20_000),
};
const MB = 1024 * 1024;
/** Session sizes relative to the mean: most are short, few are long. */
const SPREAD = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.6, 4];

const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
const running = new Set<ChildProcess>();

// --- Files ----------------------------------------------------------------------------------------------------------

const templates = new Map<number, string>();
const TEMPLATE_ID = "11111111-0000-4000-8000-000000000000";

/** The text of a session of about `bytes` bytes. Sessions of the same size differ only in their ids. */
function sessionText(bytes: number, n: number): { id: string; text: string } {
  let template = templates.get(bytes);
  if (template === undefined) {
    template = generateClaudeText({ id: TEMPLATE_ID, bytes, seed: templates.size + 1 });
    templates.set(bytes, template);
  }
  const id = `${n.toString(16).padStart(8, "0")}-0000-5000-8000-${bytes.toString(16).padStart(12, "0")}`;
  return { id, text: template.replaceAll(TEMPLATE_ID, id) };
}

interface Home {
  path: string;
  project: string;
}
function newHome(name: string): Home {
  const path = join(folder, name);
  const project = join(path, ".claude/projects/-home-ada-project");
  mkdirSync(project, { recursive: true });
  return { path, project };
}

const line = (id: string, n: number): string =>
  `${JSON.stringify({
    parentUuid: null,
    isSidechain: false,
    cwd: "/home/ada/project",
    sessionId: id,
    version: "2.1.197",
    type: "assistant",
    message: {
      id: `msg_appended_${n}`,
      type: "message",
      role: "assistant",
      model: "claude-opus-4-7",
      content: [{ type: "text", text: `Appended line ${n}. ${"It says what the agent found. ".repeat(20)}` }],
      stop_reason: null,
      usage: { input_tokens: 4, output_tokens: 120 },
    },
    uuid: `aaaaaaaa-0000-4000-8000-${n.toString().padStart(12, "0")}`,
    timestamp: new Date().toISOString(),
  })}\n`;

// --- The daemon -----------------------------------------------------------------------------------------------------

interface Daemon {
  origin: string;
  cookie: string;
  started: number;
  process: ChildProcess;
  get(path: string): Promise<unknown>;
  stop(): Promise<void>;
}

async function startDaemon(home: Home): Promise<Daemon> {
  const started = performance.now();
  const child = spawn(process.execPath, [...NODE_FLAGS, BUILT_DAEMON, "--port", "0", "--no-samples"], {
    env: {
      ...NODE_ENVIRONMENT,
      PATH: process.env.PATH,
      HOME: home.path,
      XDG_DATA_HOME: join(home.path, "share"),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  const link = await new Promise<string>((resolve, reject) => {
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
      if (out.includes("\n")) resolve(out.trim());
    });
    child.on("exit", (code) => reject(new Error(`The daemon ended with code ${code}.`)));
  });
  const entered = await fetch(link, { redirect: "manual" });
  const [cookie = ""] = (entered.headers.getSetCookie()[0] ?? "").split(";");
  const { origin } = new URL(link);
  return {
    origin,
    cookie,
    started,
    process: child,
    async get(path) {
      const reply = await fetch(origin + path, { headers: { cookie, [CLIENT_HEADER]: "1" } });
      if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
      return await reply.json();
    },
    async stop() {
      running.delete(child);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Current and peak resident memory, in MB. */
function memory({ process: { pid } }: Daemon): { now: number; highest: number } {
  try {
    const text = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0);
    return { now: round(kilobytes("VmRSS") / 1024), highest: round(kilobytes("VmHWM") / 1024) };
  } catch {
    const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
    return { now: round(Number(stdout) / 1024), highest: Number.NaN };
  }
}

const listOf = async (daemon: Daemon) => sessionsReply.parse(await daemon.get("/api/sessions")).sessions;
const indexOf = async (daemon: Daemon) => statusReply.parse(await daemon.get("/api/status")).index;

async function until(check: () => Promise<boolean>, pause_ms = 20): Promise<number> {
  for (;;) {
    if (await check()) return performance.now();
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
}

/** Sends small requests continuously. The returned function stops this and returns the latencies, in milliseconds. */
function watchWaits(daemon: Daemon): () => Promise<{ longest: number; p99: number }> {
  let ended = false;
  const waits: number[] = [];
  const asking = (async () => {
    while (!ended) {
      const asked = performance.now();
      await daemon.get("/api/sessions/00000000-0000-4000-8000-000000000000").catch(() => undefined);
      waits.push(performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    ended = true;
    await asking;
    waits.sort((one, other) => one - other);
    return {
      longest: round(waits.at(-1) ?? 0),
      p99: round(waits[Math.floor(waits.length * 0.99)] ?? 0),
    };
  };
}

async function connect(daemon: Daemon): Promise<WebSocket> {
  const socket = new WebSocket(`${daemon.origin.replace("http", "ws")}/api/live`, {
    headers: { cookie: daemon.cookie, origin: daemon.origin },
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return socket;
}

// --- Measurements ---------------------------------------------------------------------------------------------------

async function many() {
  const home = newHome("many");
  const mean = (SIZES.megabytes * MB) / SIZES.sessions;
  const files: { id: string; path: string }[] = [];
  let bytes = 0;
  for (let n = 0; n < SIZES.sessions; n++) {
    const { id, text } = sessionText(Math.round(mean * (SPREAD[n % SPREAD.length] ?? 1)), n);
    const path = join(home.project, `${id}.jsonl`);
    writeFileSync(path, text);
    bytes += text.length;
    files.push({ id, path });
  }
  const parse = parseSpeed(
    files.map(({ path }) => path).slice(0, Math.ceil((files.length * 50) / SIZES.megabytes)),
  );
  const floor = bytes / MB / (await parseByTwoThreads(files.map(({ path }) => path)));

  const daemon = await startDaemon(home);
  const listening = performance.now();
  const first = await until(async () => (await listOf(daemon)).length > 0, 5);
  const first_page = await until(async () => (await listOf(daemon)).length >= Math.min(30, files.length), 5);
  const indexed = await until(async () => (await indexOf(daemon)).done, 100);
  const listed_at = await until(async () => (await listOf(daemon)).length === files.length);
  const after = memory(daemon);
  const archived = await until(async () => archivedBytes(home) >= bytes, 100);
  // Append to every session a few times, one after the other.
  let n = 0;
  for (let round_ = 0; round_ < 3; round_++) {
    for (const { id, path } of files) {
      appendFileSync(path, line(id, n++));
      if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  const last_line = performance.now();
  const grown = await until(async () => {
    const sizes = new Map((await listOf(daemon)).map((row) => [row.id, row.parts]));
    return sizes.size === files.length && (await indexOf(daemon)).done;
  }, 100);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const following = memory(daemon);
  await daemon.stop();
  const again = await startDaemon(home);
  const restart_all = await until(async () => (await listOf(again)).length === files.length, 5);
  const restarted = memory(again);
  await again.stop();
  // Repeat everything with a page that sends a request every 5 ms.
  rmSync(join(home.path, "share"), { recursive: true });
  const asked = await startDaemon(home);
  const begun = performance.now();
  const waits = watchWaits(asked);
  const indexed_asked = await until(async () => (await indexOf(asked)).done, 50);
  const waited = await waits();
  await asked.stop();
  rmSync(home.path, { recursive: true });
  const speed = bytes / MB / ((indexed - listening) / 1_000);
  return {
    sessions: files.length,
    all_listed_s: round((listed_at - daemon.started) / 1_000),
    megabytes: round(bytes / MB),
    listening_ms: round(listening - daemon.started),
    first_row_ms: round(first - daemon.started),
    first_30_rows_ms: round(first_page - daemon.started),
    indexed_s: round((indexed - daemon.started) / 1_000),
    archived_s: round((archived - daemon.started) / 1_000),
    megabytes_per_s: round(speed),
    json_parse_megabytes_per_s: round(parse),
    relative_speed: round(speed / parse),
    floor_relative_speed: round(floor / parse),
    asked_megabytes_per_s: round(bytes / MB / ((indexed_asked - begun) / 1_000)),
    longest_wait_ms: waited.longest,
    p99_wait_ms: waited.p99,
    memory_indexed_mb: after.now,
    memory_following_mb: following.now,
    memory_highest_mb: following.highest,
    followed_s: round((grown - last_line) / 1_000),
    restart_all_rows_ms: round(restart_all - again.started),
    memory_restarted_mb: restarted.now,
  };
}

/** Number of session bytes in the daemon's store. */
function archivedBytes(home: Home): number {
  const store = new DatabaseSync(join(home.path, "share/verbatim/verbatim.db"), { readOnly: true });
  try {
    return Number(store.prepare("SELECT sum(length) AS bytes FROM chunk").get()?.bytes ?? 0);
  } finally {
    store.close();
  }
}

/** Speed of JSON.parse over the lines, in MB per second. */
function parseSpeed(paths: readonly string[]): number {
  let bytes = 0;
  let time = 0;
  for (const path of paths) {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const began = performance.now();
    for (const text of lines) JSON.parse(text);
    time += performance.now() - began;
    bytes += statSync(path).size;
  }
  return bytes / MB / (time / 1_000);
}

async function append() {
  const home = newHome("append");
  const sizes = { small: 43 * 1024, big: 7 * MB };
  const written = Object.entries(sizes).map(([name, length], n) => {
    const { id, text } = sessionText(length, 1_000 + n);
    const path = join(home.project, `${id}.jsonl`);
    writeFileSync(path, text);
    return { name, id, path };
  });
  const daemon = await startDaemon(home);
  await until(async () => (await indexOf(daemon)).done);
  const results: Record<string, number> = {};
  for (const { name, id, path } of written) {
    const began = performance.now();
    await daemon.get(`/api/sessions/${id}`);
    results[`${name}_open_ms`] = round(performance.now() - began);
    const socket = await connect(daemon);
    let got: ((bytes: number) => void) | undefined;
    let subscribed: () => void = () => {};
    let received = 0;
    socket.on("message", (data) => {
      const text = data.toString();
      // The cast is safe: the daemon's own message, whose schema is tested elsewhere.
      const message = JSON.parse(text) as ServerMessage;
      if (message.type === "synced") subscribed();
      if (message.type !== "frames") return;
      received += text.length;
      if (text.includes("Appended line")) got?.(received);
    });
    const ready = new Promise<void>((resolve) => {
      subscribed = resolve;
    });
    socket.send(JSON.stringify({ type: "subscribe", channel: `output:${id}` }));
    await ready;
    const times: number[] = [];
    const ratios: number[] = [];
    for (let n = 0; n < 40; n++) {
      const text = line(id, n);
      received = 0;
      const arrived = new Promise<number>((resolve) => {
        got = resolve;
      });
      const written_at = performance.now();
      appendFileSync(path, text);
      const bytes = await arrived;
      times.push(performance.now() - written_at);
      ratios.push(bytes / text.length);
      await new Promise((resolve) => setTimeout(resolve, 30 + (n % 7) * 10));
    }
    results[`${name}_median_ms`] = median(times);
    results[`${name}_slowest_ms`] = round(Math.max(...times));
    results[`${name}_bytes_ratio`] = median(ratios);
    socket.close();
    const shown = await paintedAfter(daemon, { id, path });
    results[`${name}_painted_median_ms`] = median(shown);
    results[`${name}_painted_slowest_ms`] = round(Math.max(...shown));
  }
  await daemon.stop();
  rmSync(home.path, { recursive: true });
  return results;
}

/** Milliseconds from writing a line until the session's page has painted it in view, for each of 40 lines. */
async function paintedAfter(daemon: Daemon, { id, path }: { id: string; path: string }): Promise<number[]> {
  const browser = await openChromium();
  try {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    const [name = "", value = ""] = daemon.cookie.split("=", 2);
    await context.addCookies([{ name, value, url: daemon.origin }]);
    const page = await context.newPage();
    await page.goto(`${daemon.origin}/session/${id}`);
    await page.getByText("It says what the agent found.").last().waitFor();
    const times: number[] = [];
    for (let n = 1_000; n < 1_040; n++) {
      const painted = page.evaluate(
        (words) =>
          new Promise<number>((resolve) => {
            const look = (): void => {
              const row = [...document.querySelectorAll(".part-row")].findLast((each) =>
                each.textContent?.includes(words),
              );
              const { top = Number.NaN, bottom = 0 } = row?.getBoundingClientRect() ?? {};
              if (!(top < innerHeight && bottom > 0)) return;
              observer.disconnect();
              // The task after the animation callbacks of the frame that shows it.
              requestAnimationFrame(() => {
                const { port1, port2 } = new MessageChannel();
                port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
                port2.postMessage(undefined);
              });
            };
            const observer = new MutationObserver(look);
            observer.observe(document.body, { subtree: true, childList: true, characterData: true });
          }),
        `Appended line ${n}.`,
      );
      await page.evaluate(() => undefined);
      const written_at = performance.timeOrigin + performance.now();
      appendFileSync(path, line(id, n));
      times.push((await painted) - written_at);
      await new Promise((resolve) => setTimeout(resolve, 30 + (n % 7) * 10));
    }
    return times;
  } finally {
    await browser.close();
  }
}

async function large() {
  const home = newHome("large");
  const { id, text } = sessionText(20 * MB, 2_000);
  const path = join(home.project, `${id}.jsonl`);
  const file = openSync(path, "w");
  let bytes = 0;
  // Each copy has its own ids of lines, messages and calls.
  for (let n = 0; bytes < SIZES.large * MB; n++) {
    const copy = text
      .replaceAll('"id":"msg_', `"id":"msg_${n}_`)
      .replaceAll("toolu_", `toolu_${n}_`)
      .replaceAll(/([uU]uid":")[0-9a-f]{4}/g, `$1${n.toString(16).padStart(4, "0")}`);
    bytes += writeSync(file, copy);
  }
  closeSync(file);
  const daemon = await startDaemon(home);
  const row = await until(async () => (await listOf(daemon)).length > 0, 5);
  const waits = watchWaits(daemon);
  const indexed = await until(async () => (await indexOf(daemon)).done, 50);
  const indexing_waits = await waits();
  const after_index = memory(daemon);
  const open_waits = watchWaits(daemon);
  const asked = performance.now();
  await daemon.get(`/api/sessions/${id}`);
  const opened = performance.now();
  const opening_waits = await open_waits();
  const after_open = memory(daemon);
  const anywhere = await placesOf(daemon, id);
  const after_places = memory(daemon);
  const view_waits = watchWaits(daemon);
  const views = await viewsOf(daemon, id);
  const viewing_waits = await view_waits();
  const after_views = memory(daemon);
  await daemon.stop();
  const again = await startDaemon(home);
  await until(async () => (await listOf(again)).length > 0, 5);
  const asked_again = performance.now();
  await again.get(`/api/sessions/${id}`);
  const opened_again = performance.now();
  await again.stop();
  rmSync(home.path, { recursive: true });
  return {
    megabytes: round(bytes / MB),
    row_ms: round(row - daemon.started),
    indexed_s: round((indexed - daemon.started) / 1_000),
    longest_wait_indexing_ms: indexing_waits.longest,
    memory_indexed_mb: after_index.now,
    last_page_ms: round(opened - asked),
    longest_wait_opening_ms: opening_waits.longest,
    memory_open_mb: after_open.now,
    memory_highest_mb: after_open.highest,
    ...anywhere,
    memory_places_mb: after_places.now,
    ...views,
    longest_wait_views_ms: viewing_waits.longest,
    memory_views_mb: after_views.now,
    memory_views_highest_mb: after_views.highest,
    restart_last_page_ms: round(opened_again - asked_again),
  };
}

/** The times until the beginning of a huge session, and a part in its middle that a link leads to, are loaded. */
async function placesOf(daemon: Daemon, id: string) {
  const pageOf = async () => sessionReply.parse(await daemon.get(`/api/sessions/${id}`)).page;
  let page = await pageOf();
  // The view shows only the end of the session until its index is on disk.
  await until(async () => {
    page = await pageOf();
    return page.part_count === page.session.parts;
  }, 100);
  const partsAt = async (from: number) =>
    partsReply.parse(await daemon.get(`/api/sessions/${id}/parts?from=${from}&to=${from + 50}`)).parts;
  const began = performance.now();
  await partsAt(0);
  const beginning = performance.now();
  const middle = Math.floor(page.part_count / 2);
  const [part] = await partsAt(middle);
  // Load other segments, which evict this one from the cache.
  for (let n = 1; n < 8; n++) await partsAt(Math.floor((page.part_count * n) / 20));
  const followed = performance.now();
  const place = locateReply.parse(await daemon.get(`/api/sessions/${id}/locate?part=${part?.part.id}`));
  await partsAt(place.index);
  const found = performance.now();
  return {
    parts: page.part_count,
    turns: page.turns.id.length,
    beginning_ms: round(beginning - began),
    middle_by_link_ms: round(found - followed),
  };
}

/** The times until views of the whole session are received. The first one reads all of its parts. */
async function viewsOf(daemon: Daemon, id: string) {
  const times: Record<string, number> = {};
  const views = {
    first_view_ms: "map",
    map_ms: "map",
    errors_ms: "errors",
    filter_ms: "filter?status=failed",
    figures_ms: "figures",
    lanes_ms: "lanes",
    input_of_call_ms: "context?call=1000",
  };
  for (const [name, path] of Object.entries(views)) {
    const asked = performance.now();
    await daemon.get(`/api/sessions/${id}/${path}`);
    times[name] = round(performance.now() - asked);
  }
  return times;
}

async function burst() {
  const home = newHome("burst");
  const daemon = await startDaemon(home);
  await until(async () => (await indexOf(daemon)).done);
  const began = performance.now();
  for (let n = 0; n < SIZES.burst; n++) {
    const { id, text } = sessionText(3_000, 10_000 + n);
    writeFileSync(join(home.project, `${id}.jsonl`), text);
  }
  const made = performance.now();
  const waits = watchWaits(daemon);
  const all = await until(async () => (await listOf(daemon)).length === SIZES.burst, 200);
  const waited = await waits();
  const used = memory(daemon);
  await daemon.stop();
  const again = await startDaemon(home);
  const restart_all = await until(async () => (await listOf(again)).length === SIZES.burst, 5);
  await again.stop();
  rmSync(home.path, { recursive: true });
  return {
    files: SIZES.burst,
    made_s: round((made - began) / 1_000),
    all_listed_s: round((all - began) / 1_000),
    longest_wait_ms: waited.longest,
    memory_mb: used.now,
    restart_all_rows_ms: round(restart_all - again.started),
  };
}

function median(values: readonly number[]): number {
  return round(values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0);
}
function round(value: number): number {
  return Number(value.toPrecision(3));
}

const SCENARIOS = { many, append, large, burst };
const results: Record<string, Record<string, number>> = {};
try {
  buildDaemon();
  for (const [name, measure] of Object.entries(SCENARIOS)) {
    if (!flags.only.split(",").includes(name)) continue;
    const measured = await measure();
    results[name] = measured;
    console.error(`\n${name}`);
    for (const [figure, value] of Object.entries(measured)) console.error(`  ${figure.padEnd(28)} ${value}`);
  }
} finally {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

/** The figures of the scenarios that were measured, as rows of the table. */
function* rows(): Generator<Row> {
  const figure = (scenario: string, name: string, unit: string): string | undefined => {
    const value = results[scenario]?.[name];
    return value === undefined ? undefined : `${value}${unit}`;
  };
  const row = (title: string, goal: string, figures: Record<string, string | undefined>): Row[] => {
    const known = Object.entries(figures).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return known.length === 0 ? [] : [{ row: title, goal, figures: Object.fromEntries(known) }];
  };
  const size = `${SIZES.sessions} sessions in ${SIZES.megabytes} MB`;
  yield* row("a line appended to a session file, until Chromium has painted it, median", "≤ 100 ms", {
    "43 KB": figure("append", "small_painted_median_ms", " ms"),
    "7 MB": figure("append", "big_painted_median_ms", " ms"),
  });
  yield* row("the same, until its frame is here, median", "≤ 100 ms", {
    "43 KB": figure("append", "small_median_ms", " ms"),
    "7 MB": figure("append", "big_median_ms", " ms"),
  });
  yield* row("bytes sent for it / its own", "≤ 3", {
    "43 KB": figure("append", "small_bytes_ratio", ""),
    "7 MB": figure("append", "big_bytes_ratio", ""),
  });
  yield* row(`first 30 rows of ${size}, never read`, "≤ 500 ms", {
    "from the start": figure("many", "first_30_rows_ms", " ms"),
    "until it listens": figure("many", "listening_ms", " ms"),
  });
  yield* row(`all rows of ${size}, after a restart`, "≤ 500 ms", {
    "from the start": figure("many", "restart_all_rows_ms", " ms"),
  });
  yield* row(`indexing ${size} / JSON.parse of its lines`, "≥ 0.5", {
    ratio: figure("many", "relative_speed", ""),
    "two threads that read and parse the lines, and do nothing else": figure(
      "many",
      "floor_relative_speed",
      "",
    ),
    "MB/s": figure("many", "megabytes_per_s", ""),
    "MB/s with a request every 5 ms": figure("many", "asked_megabytes_per_s", ""),
    "archived after": figure("many", "archived_s", " s"),
  });
  yield* row(`resident memory, ${size}`, "≤ 300 and 200 MB", {
    "once indexed": figure("many", "memory_indexed_mb", " MB"),
    "while all grow": figure("many", "memory_following_mb", " MB"),
  });
  yield* row(`last page of a file of ${SIZES.large} MB`, "≤ 2 s", {
    "from asking": figure("large", "last_page_ms", " ms"),
    "after a restart": figure("large", "restart_last_page_ms", " ms"),
  });
  yield* row(`other parts of a file of ${SIZES.large} MB`, "≤ 1 s", {
    "its beginning": figure("large", "beginning_ms", " ms"),
    "its middle, by link": figure("large", "middle_by_link_ms", " ms"),
    "memory then": figure("large", "memory_places_mb", " MB"),
    "all of it in its map": figure("large", "first_view_ms", " ms"),
    "the highest memory then": figure("large", "memory_views_highest_mb", " MB"),
  });
  yield* row(`${SIZES.burst} files made at once`, "all listed", {
    "after s": figure("burst", "all_listed_s", ""),
  });
}
console.log(JSON.stringify({ bench: "daemon", full: flags.full, rows: [...rows()], results }));
