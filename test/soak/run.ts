/**
 * `npm run test:soak [-- --minutes N]`: a daemon with 50 sessions and 20 clients; does it grow?
 *
 * It is measured without load: some minutes of load are followed by a rest, long enough for the daemon to evict unviewed data,
 * and its resources are compared between rests (`judge.ts`). The first rest comes after one-time work (compiling, caches,
 * threads). A few clients stay connected during the rests.
 *
 * The amount of data stays constant: files start again, and a managed or pushed session is ended after a while and replaced by a
 * new one. Only the rows of ended sessions remain, about 140 per hour, which count as growth.
 *
 * `--snapshots FOLDER` writes the heap there at each rest, which itself makes the process larger.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { outputChannel } from "../../src/protocol.ts";
import { BUILT_DAEMON, buildDaemon, NODE_ENVIRONMENT, NODE_FLAGS } from "../built-daemon.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { expectNoSecrets } from "../secrets.ts";
import { judge, type Sample } from "./judge.ts";
import type { Held } from "./probe.ts";

const AGENT_FILES = 25;
const MANAGED = 15;
const PUSHED = 10;
const CLIENTS = 20;
/** Number of these that view one agent's session all the time, also during the rests. */
const STAYING = 3;
/** Lines after which an agent's file starts again, because growth is only visible under constant load. */
const LINES = 300;
/** Prompts and pushes after which a session is replaced by a new one, for the same reason. */
const PROMPTS = 15;
const PUSHES = 50;
/** Minutes of load before each rest, if there is time for more than two rests. */
const LOAD = 12;
/** Duration of a rest in minutes: readers, transcripts and agents of unviewed sessions are evicted after five. */
const REST = 6.5;
/** The end of a rest, in which samples are taken. */
const SAMPLED_MS = 60_000;
const SAMPLE_MS = 5_000;

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "60" }, snapshots: { type: "string" } },
});
const minutes = Number(values.minutes);
if (!(minutes >= 2 * REST + 2)) throw new RangeError(`--minutes is a number of at least ${2 * REST + 2}`);
const rounds = Math.max(2, Math.floor(minutes / (LOAD + REST)));
const load_ms = (minutes / rounds - REST) * 60_000;
const started = Date.now();
let over = false;
/** Present during a rest. */
let rest: Promise<void> | undefined;

/** Waits between actions of the load; `false`: the test is over. */
async function goesOn(ms: number): Promise<boolean> {
  for (const until = Date.now() + ms; Date.now() < until && !over && !rest; ) {
    await sleep(Math.min(500, Math.max(0, until - Date.now())));
  }
  return !over && !rest;
}
/** Waits between rounds. */
async function nextRound(): Promise<boolean> {
  await rest;
  return !over;
}

const home = mkdtempSync(join(tmpdir(), "verbatim-soak-"));
const data = join(home, "data");
const projects = join(home, ".claude/projects/-soak");
for (const folder of [data, projects, join(home, "work")]) mkdirSync(folder, { recursive: true });

buildDaemon();
const child = spawn(
  process.execPath,
  [
    ...NODE_FLAGS,
    "--import",
    resolve(import.meta.dirname, "probe.ts"),
    BUILT_DAEMON,
    "--port",
    "0",
    "--no-samples",
    "--data-dir",
    data,
  ],
  {
    env: {
      ...NODE_ENVIRONMENT,
      PATH: process.env.PATH,
      HOME: home,
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  },
);
let ended: number | null | undefined;
child.once("exit", (code) => {
  ended = code;
});
let output = "";
child.stderr?.setEncoding("utf8").on("data", (text) => {
  output += text;
  process.stderr.write(text);
});
const origin = await new Promise<string>((found, fail) => {
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output += text;
    const [link] = /http:\S+/.exec(output) ?? [];
    if (link !== undefined) found(new URL(link).origin);
  });
  child.once("exit", () => fail(new Error(`The daemon ended: ${output}`)));
});
// The daemon's own file.
const access = JSON.parse(readFileSync(join(data, "access.json"), "utf8")) as { api_token: string };
const headers = { authorization: `Bearer ${access.api_token}`, "content-type": "application/json" };
const sessions: string[] = [];
const counts = { lines: 0, turns: 0, pushes: 0, visits: 0, pages: 0, answers: 0, frames: 0, failures: 0 };

try {
  await Promise.race([
    Promise.all([
      ...Array.from({ length: AGENT_FILES }, (_, index) => writeAgentFile(index)),
      ...Array.from({ length: MANAGED }, (_, index) => runManaged(index)),
      ...Array.from({ length: PUSHED }, () => push()),
      ...Array.from({ length: CLIENTS }, (_, index) => (index < STAYING ? stay(index) : visit(index))),
      measure().then(report),
    ]),
    new Promise((_, fail) => child.once("exit", () => fail(new Error(`The daemon ended with ${ended}`)))),
  ]);
} finally {
  child.removeAllListeners("exit");
  const gone = new Promise((done) => child.once("close", done));
  if (ended === undefined) {
    child.kill("SIGTERM");
    await gone;
  }
  expectNoSecrets(output, data);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** A session file that grows line by line and starts again with the same name. */
async function writeAgentFile(seed: number): Promise<void> {
  const { session_id, lines } = generateClaudeSession({ parts: LINES, turns: 12, seed, cwd: home });
  const path = join(projects, `${session_id}.jsonl`);
  const [first = ""] = lines;
  sessions.push(session_id);
  while (await nextRound()) {
    // Each is at a different line of its file.
    const begun = seed * Math.floor(LINES / AGENT_FILES) + 1;
    writeFileSync(path, `${lines.slice(0, begun).join("\n")}\n`);
    for (let at = begun; await goesOn(500 + 50 * seed); at += 1) {
      const line = lines[at % lines.length] ?? "";
      if (at % lines.length === 0) writeFileSync(path, `${line}\n`);
      else appendFileSync(path, `${line}\n`);
      counts.lines += 1;
    }
    writeFileSync(path, `${first}\n`);
  }
}

/** A managed session: prompts and turns in sequence, answered by its viewers. */
async function runManaged(seed: number): Promise<void> {
  const slot = sessions.push("") - 1;
  const model = ["hello", "discovery", "approval", "parallel", "question"][seed % 5];
  const prompt = () => ({ message_id: randomUUID(), text: "Go on." });
  const cwd = join(home, "work");
  while (await nextRound()) {
    const session_id = randomUUID();
    await post("/api/sessions", { session_id, agent: "scripted", model, cwd, prompt: prompt() });
    sessions[slot] = session_id;
    for (let sent = 0; sent < PROMPTS && (await goesOn(20_000 + 1_000 * seed)); sent += 1) {
      await post(`/api/sessions/${session_id}/prompts`, { prompt: prompt(), when: "queue" });
      counts.turns += 1;
    }
    // A session that waits for an answer would correctly be kept forever.
    await post(`/api/sessions/${session_id}/stop`, {});
  }
}

/** Pushed frames: repeated turns of three deltas. */
async function push(): Promise<void> {
  const slot = sessions.push("") - 1;
  while (await nextRound()) {
    const session_id = randomUUID();
    for (let pushed = 0; pushed < PUSHES && !rest && !over; pushed += 1) {
      await pushTurn(session_id);
      sessions[slot] = session_id;
      counts.pushes += 1;
      await goesOn(10_000);
    }
  }
}

async function pushTurn(session_id: string): Promise<void> {
  const at = Date.now();
  const message_id = randomUUID();
  const frames = [
    { at, type: "user.message", message_id: randomUUID(), parts: [{ type: "text", text: "Again?" }] },
    { at, type: "message.start", message_id },
    ...["It ", "is ", "so."].map((text) => ({ at, type: "message.delta", kind: "text", text })),
    { at, type: "message.end", message_id, stop_reason: "stop" },
    { at, type: "turn.end" },
  ];
  await post(`/api/ingest/${session_id}?agent=soak`, frames.map((frame) => JSON.stringify(frame)).join("\n"));
}

/** A client that connects, views a session, scrolls, answers requests, and disconnects. */
async function visit(seed: number): Promise<void> {
  for (let turn = seed; await nextRound(); turn += 7) {
    const client = await connect(sessions[turn % sessions.length] || undefined);
    const leaves = Date.now() + 15_000 + (turn % 10) * 2_000;
    while (Date.now() < leaves && (await goesOn(3_000))) await client.scroll();
    // Half of them disconnect without a closing handshake.
    if (turn % 2 === 0) client.socket.terminate();
    else client.socket.close();
  }
}

/** A client that views one session during the whole test. */
async function stay(seed: number): Promise<void> {
  const session_id = sessions[seed];
  while ((await get(`/api/sessions/${session_id}`)) !== 200) await goesOn(500);
  const client = await connect(session_id);
  while (await nextRound()) {
    while (await goesOn(3_000)) await client.scroll();
  }
  client.socket.close();
}

async function connect(session_id: string | undefined) {
  const socket = new WebSocket(`${origin.replace("http", "ws")}/api/live`, { headers });
  let parts = 0;
  socket.on("error", () => {
    counts.failures += 1;
  });
  socket.on("message", (text) => {
    counts.frames += 1;
    // A message of the daemon.
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
  return {
    socket,
    async scroll(): Promise<void> {
      if (session_id === undefined || parts === 0) return;
      const from = Math.floor((parts * ((counts.pages * 31) % 100)) / 100);
      await get(`/api/sessions/${session_id}/parts?from=${from}&to=${Math.min(parts, from + 50)}`);
      counts.pages += 1;
    },
  };
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

async function get(path: string): Promise<number | undefined> {
  const reply = await fetch(origin + path, { headers }).catch(() => undefined);
  if (reply === undefined || reply.status >= 500) counts.failures += 1;
  await reply?.arrayBuffer();
  return reply?.status;
}

/** Alternates load and rest. Returns the samples of each rest. */
async function measure(): Promise<Sample[][]> {
  const rests: Sample[][] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await sleep(load_ms);
    const { promise, resolve: end } = Promise.withResolvers<void>();
    rest = promise;
    await sleep(REST * 60_000 - SAMPLED_MS);
    const samples: Sample[] = [];
    for (const until = Date.now() + SAMPLED_MS; Date.now() < until; await sleep(SAMPLE_MS)) {
      samples.push(await sample());
    }
    if (values.snapshots !== undefined)
      await ask({ snapshot: join(values.snapshots, `${round}.heapsnapshot`) });
    rests.push(samples);
    console.error(`rest ${round} of ${rounds}: ${JSON.stringify(samples.at(-1))}`);
    over = round === rounds;
    rest = undefined;
    end();
  }
  return rests;
}

async function sample(): Promise<Sample> {
  const { heap, code, external, rss, resources } = await ask({});
  const mb = (bytes: number) => Math.round((bytes / 2 ** 20) * 100) / 100;
  return {
    hours: (Date.now() - started) / 3_600_000,
    heap_mb: mb(heap - code + external),
    rss_mb: mb(rss),
    handles: { ...resources, ...openFiles() },
  };
}

/** The daemon's current resources, as reported by `probe.ts`. */
function ask(wish: { snapshot?: string }): Promise<Held> {
  return new Promise((told) => {
    child.once("message", (held: Held) => told(held));
    child.send(wish);
  });
}

/** The daemon's open files, by kind. */
function openFiles(): Record<string, number> {
  const folder = `/proc/${child.pid}/fd`;
  const counted: Record<string, number> = {};
  for (const name of readdirSync(folder)) {
    try {
      const target = readlinkSync(join(folder, name));
      const kind = `open ${target.startsWith("/") ? "file" : target.replace(/:\[\d+\]$/, "")}`;
      counted[kind] = (counted[kind] ?? 0) + 1;
    } catch {
      // It was closed meanwhile.
    }
  }
  return counted;
}

async function report(rests: readonly (readonly Sample[])[]): Promise<void> {
  const verdict = judge(rests);
  const passed = verdict.passed && counts.failures === 0;
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const held = rests.flatMap((samples) => samples.at(-1) ?? []);
  console.log(
    JSON.stringify({
      ...verdict,
      passed,
      minutes,
      heap_mb: held.map(({ heap_mb }) => heap_mb),
      rss_mb: held.map(({ rss_mb }) => rss_mb),
      highest_rss_mb: Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024),
      sessions: sessions.length,
      clients: CLIENTS,
      ...counts,
    }),
  );
  if (!passed) process.exitCode = 1;
}
