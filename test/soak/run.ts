// `npm run test:soak [-- --minutes N]`: a daemon with 50 sessions and 20 clients; does it grow?
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { outputChannel } from "../../src/protocol.ts";
import { generateClaudeSession } from "../generate-session.ts";

const AGENT_FILES = 25;
const HOSTED = 15;
const PUSHED = 10;
const CLIENTS = 20;
/** Lines after which an agent's file begins anew: a load that stays the same is what growth is seen against. */
const LINES = 300;
/** Prompts and pushes after which a session is left alone and a new one takes its place, for the same reason. */
const PROMPTS = 15;
const PUSHES = 50;
/** What the daemon may gain, in MB an hour, and in open handles from the first quarter to the last. */
const MOST_MB_PER_HOUR = 1;
const MOST_HANDLES = 4;
const SAMPLE_MS = 5_000;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError("--minutes is a number");
const until = Date.now() + minutes * 60_000;
const isOver = (): boolean => Date.now() >= until;

const home = mkdtempSync(join(tmpdir(), "verbatim-soak-"));
const data = join(home, "data");
const projects = join(home, ".claude/projects/-soak");
for (const folder of [data, projects, join(home, "work")]) mkdirSync(folder, { recursive: true });

const main = resolve(import.meta.dirname, "../../src/server/main.ts");
const child = spawn(
  process.execPath,
  // As the packed daemon is started.
  [
    "--disable-warning=ExperimentalWarning",
    "--max-semi-space-size=8",
    main,
    "--port",
    "0",
    "--no-samples",
    "--data-dir",
    data,
  ],
  { env: { PATH: process.env.PATH, HOME: home }, stdio: ["ignore", "pipe", "inherit"] },
);
let ended: number | null | undefined;
child.once("exit", (code) => {
  ended = code;
});
const origin = await new Promise<string>((found, fail) => {
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    const [link] = /http:\S+/.exec(output) ?? [];
    if (link !== undefined) found(new URL(link).origin);
  });
  child.once("exit", () => fail(new Error(`The daemon ended: ${output}`)));
});
// What the daemon wrote for its own use.
const access = JSON.parse(readFileSync(join(data, "access.json"), "utf8")) as { api_token: string };
const headers = { authorization: `Bearer ${access.api_token}`, "content-type": "application/json" };
const sessions: string[] = [];
const counts = { lines: 0, turns: 0, pushes: 0, visits: 0, pages: 0, answers: 0, frames: 0, failures: 0 };

try {
  await Promise.race([
    Promise.all([
      ...Array.from({ length: AGENT_FILES }, (_, index) => writeAgentFile(index)),
      ...Array.from({ length: HOSTED }, (_, index) => runHosted(index)),
      ...Array.from({ length: PUSHED }, () => push()),
      ...Array.from({ length: CLIENTS }, (_, index) => visit(index)),
      measure().then(report),
    ]),
    new Promise((_, fail) => child.once("exit", () => fail(new Error(`The daemon ended with ${ended}`)))),
  ]);
} finally {
  child.removeAllListeners("exit");
  const gone = new Promise((done) => child.once("exit", done));
  if (ended === undefined) {
    child.kill("SIGTERM");
    await gone;
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** A session file that grows, line by line, and begins anew under the same name. */
async function writeAgentFile(seed: number): Promise<void> {
  const { session_id, lines } = generateClaudeSession({ parts: LINES, turns: 12, seed, cwd: home });
  const path = join(projects, `${session_id}.jsonl`);
  sessions.push(session_id);
  writeFileSync(path, `${lines.slice(0, LINES / 2).join("\n")}\n`);
  for (let at = LINES / 2; !isOver(); at += 1) {
    const line = lines[at % lines.length] ?? "";
    if (at % lines.length === 0) writeFileSync(path, `${line}\n`);
    else appendFileSync(path, `${line}\n`);
    counts.lines += 1;
    await sleep(500 + 50 * seed);
  }
}

/** A session that the daemon runs: a prompt, its turn, and again; answered by whoever looks at it. */
async function runHosted(seed: number): Promise<void> {
  const slot = sessions.push("") - 1;
  const model = ["hello", "discovery", "approval", "parallel", "question"][seed % 5];
  const prompt = () => ({ message_id: randomUUID(), text: "Go on." });
  const cwd = join(home, "work");
  while (!isOver()) {
    const session_id = randomUUID();
    await post("/api/sessions", { session_id, agent: "scripted", model, cwd, prompt: prompt() });
    sessions[slot] = session_id;
    for (let sent = 0; sent < PROMPTS && !isOver(); sent += 1) {
      await sleep(20_000 + 1_000 * seed);
      await post(`/api/sessions/${session_id}/prompts`, { prompt: prompt(), when: "queue" });
      counts.turns += 1;
    }
  }
}

/** Frames that another agent pushes: a turn of three deltas, over and over. */
async function push(): Promise<void> {
  const slot = sessions.push("") - 1;
  let session_id = randomUUID();
  for (let pushed = 1; !isOver(); pushed += 1) {
    if (pushed % PUSHES === 0) session_id = randomUUID();
    const at = Date.now();
    const message_id = randomUUID();
    const frames = [
      { at, type: "user.message", message_id: randomUUID(), parts: [{ type: "text", text: "Again?" }] },
      { at, type: "message.start", message_id },
      ...["It ", "is ", "so."].map((text) => ({ at, type: "message.delta", kind: "text", text })),
      { at, type: "message.end", message_id, stop_reason: "stop" },
      { at, type: "turn.end" },
    ];
    await post(
      `/api/ingest/${session_id}?agent=soak`,
      frames.map((frame) => JSON.stringify(frame)).join("\n"),
    );
    sessions[slot] = session_id;
    counts.pushes += 1;
    await sleep(10_000);
  }
}

/** A client that comes, looks at a session, scrolls, answers what is asked, and goes. */
async function visit(seed: number): Promise<void> {
  let turn = seed;
  while (!isOver()) {
    turn += 7;
    const session_id = sessions[turn % sessions.length] || undefined;
    const socket = new WebSocket(`${origin.replace("http", "ws")}/api/live`, { headers });
    let parts = 0;
    socket.on("error", () => {
      counts.failures += 1;
    });
    socket.on("message", (text) => {
      counts.frames += 1;
      // A message of our own daemon.
      const message = JSON.parse(String(text)) as Said;
      parts = message.page?.part_count ?? parts;
      for (const { frame } of message.frames ?? []) {
        if (frame?.type === "request.open" && session_id !== undefined) void answer(session_id, frame);
      }
      for (const { part } of message.page?.parts ?? []) {
        const isOpen = part.type === "request" && part.outcome === undefined;
        if (isOpen && part.request && session_id !== undefined) void answer(session_id, part.request);
      }
    });
    await new Promise<void>((done) => socket.once("open", () => done()).once("close", () => done()));
    const subscribe = (channel: string): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "subscribe", channel }));
    };
    subscribe("sessions");
    if (session_id !== undefined) subscribe(outputChannel(session_id));
    counts.visits += 1;
    const leaves = Math.min(until, Date.now() + 15_000 + (turn % 10) * 2_000);
    while (Date.now() < leaves) {
      await sleep(3_000);
      if (session_id === undefined || parts === 0) continue;
      const from = Math.floor((parts * ((turn * 31) % 100)) / 100);
      await get(`/api/sessions/${session_id}/parts?from=${from}&to=${Math.min(parts, from + 50)}`);
      counts.pages += 1;
    }
    // Half of them do not say goodbye.
    if (turn % 2 === 0) socket.terminate();
    else socket.close();
  }
}

interface Asked {
  type?: string;
  request_id?: string;
  digest?: string;
  options?: { id: string }[];
}
interface Said {
  page?: { part_count: number; parts: { part: { type: string; request?: Asked; outcome?: string } }[] };
  frames?: { frame?: Asked }[];
}

async function answer(session_id: string, { request_id, digest, options = [] }: Asked): Promise<void> {
  const [first] = options;
  const body = {
    ...(digest === undefined ? {} : { digest }),
    answer: first === undefined ? { option_ids: [], text: "Yes" } : { option_ids: [first.id] },
  };
  await post(`/api/sessions/${session_id}/requests/${request_id}`, body);
  counts.answers += 1;
}

async function post(path: string, body: unknown): Promise<void> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const reply = await fetch(origin + path, { method: "POST", headers, body: text }).catch(() => undefined);
  if (reply === undefined || reply.status >= 500) counts.failures += 1;
  await reply?.arrayBuffer();
}

async function get(path: string): Promise<void> {
  const reply = await fetch(origin + path, { headers }).catch(() => undefined);
  if (reply === undefined || reply.status >= 500) counts.failures += 1;
  await reply?.arrayBuffer();
}

interface Sample {
  hours: number;
  rss_mb: number;
  /** Open files and sockets, those of clients not counted. */
  handles: number;
}

async function measure(): Promise<Sample[]> {
  const started = Date.now();
  const samples: Sample[] = [];
  while (!isOver()) {
    await sleep(SAMPLE_MS);
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const rss_mb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    const names = readdirSync(`/proc/${child.pid}/fd`);
    samples.push({ hours: (Date.now() - started) / 3_600_000, rss_mb, handles: names.length });
  }
  return samples;
}

function report(samples: readonly Sample[]): void {
  // The first quarter fills caches and compiles.
  const warm = samples.slice(Math.floor(samples.length / 4));
  // Between two collections of garbage memory goes up and down: what counts is where it comes down to.
  const lows = windows(warm, 12).map((window) => least(window, ({ rss_mb }) => rss_mb));
  const third = Math.max(1, Math.floor(warm.length / 3));
  const fewest = (all: readonly Sample[]) => Math.min(...all.map(({ handles }) => handles));
  const handles = fewest(warm.slice(-third)) - fewest(warm.slice(0, third));
  const mb_per_hour = slope(lows.map(({ hours, rss_mb }) => [hours, rss_mb]));
  const passed = mb_per_hour <= MOST_MB_PER_HOUR && handles <= MOST_HANDLES && counts.failures === 0;
  const all = warm.map(({ rss_mb }) => rss_mb);
  console.log(
    JSON.stringify({
      passed,
      minutes,
      sessions: sessions.length,
      clients: CLIENTS,
      mb_per_hour: Math.round(mb_per_hour * 100) / 100,
      rss_mb: {
        first: Math.round(lows[0]?.rss_mb ?? 0),
        last: Math.round(lows.at(-1)?.rss_mb ?? 0),
        most: Math.round(Math.max(...all)),
      },
      handles: { growth: handles, last: warm.at(-1)?.handles },
      ...counts,
    }),
  );
  if (!passed) process.exitCode = 1;
}

function windows<Item>(all: readonly Item[], size: number): Item[][] {
  const count = Math.max(1, Math.floor(all.length / size));
  return Array.from({ length: count }, (_, index) => all.slice(index * size, (index + 1) * size));
}

function least<Item>([first, ...rest]: readonly Item[], of: (item: Item) => number): Item {
  if (first === undefined) throw new Error("Nothing was measured: give it more minutes");
  return rest.reduce((low, item) => (of(item) < of(low) ? item : low), first);
}

/** Least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0);
  const below = points.reduce((sum, [px]) => sum + (px - x) ** 2, 0);
  return below === 0 ? 0 : above / below;
}
