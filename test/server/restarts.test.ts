import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import { formats } from "../../src/sources/index.ts";
import type { OpenSession } from "../../src/web/app/open-session.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { LONG, times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { type Daemon, startDaemon } from "./managed/daemon.ts";
import { openPageClient, type PageClient, partsOf, wordsOf } from "./page-client.ts";

const KILLS = times(2, 200);
const CROWD = times(60, 1_000);

let folder: string;
let daemon: Daemon;
let port = 0;
let clients: PageClient[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "restarts-")));
  port = 0;
});
afterEach(async () => {
  for (const client of clients) client.close();
  clients = [];
  await daemon.kill("SIGKILL");
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

/** Starts the daemon, each time at the same address. */
async function start(): Promise<void> {
  daemon = await startDaemon(folder, { port });
  port = Number(new URL(daemon.origin).port);
}

function newClient(options: { impatient?: boolean; random?: () => number } = {}): PageClient {
  const client = openPageClient({
    daemon_port: () => port,
    headers: () => daemon.headers,
    lists: true,
    ...options,
  });
  clients.push(client);
  return client;
}

/** A session file as an agent writes it. */
function sessionFile(options: { parts: number; turns: number; seed?: number }) {
  const { session_id, lines } = generateClaudeSession(options);
  const project = join(folder, ".claude/projects/-home-ada");
  mkdirSync(project, { recursive: true });
  const path = join(project, `${session_id}.jsonl`);
  writeFileSync(path, `${lines[0]}\n`);
  return { session_id, path, lines: lines.slice(1) };
}

const synced = (session: OpenSession) => session.state.getState().synced;
const idsOf = (parts: readonly string[]) => parts.map((part) => String(JSON.parse(part).id));
const epochOf = (session: OpenSession) => session.position()?.epoch;
const restarted = (session: OpenSession, before: string | undefined) =>
  synced(session) && epochOf(session) !== before;

describe("a daemon that is killed while sessions stream", { timeout: LONG ? 5_400_000 : 240_000 }, () => {
  it(`restores every page to its exact state, ${KILLS} times`, async () => {
    const file = sessionFile({ parts: 40 + KILLS * 4, turns: 4 });
    const step = (n: number) => ({
      parts: [
        { thinking: `Step ${n}: ${"I think about the tides. ".repeat(12)}` },
        { text: `What step ${n} says: ${"the harbour is quiet. ".repeat(12)}` },
        { tool_call: { name: "glob", arguments: { pattern: "*.txt" } } },
      ],
    });
    const script = {
      title: "Busy",
      tokens_per_second: 900,
      steps: Array.from({ length: 12 }, (_, n) => step(n)),
    };
    writeFileSync(join(folder, "script.json"), JSON.stringify(script));
    const managed_id = randomUUID();
    const random = seeded(13);
    await start();
    const begun = await daemon.post("/api/sessions", {
      session_id: managed_id,
      agent: "scripted",
      model: `file:${join(folder, "script.json")}`,
      cwd: folder,
      prompt: { message_id: randomUUID(), text: "Prompt 0" },
    });
    expect(begun.status).toBe(201);
    await eventually(async () =>
      expect((await daemon.get("/api/sessions")) as object).toHaveProperty("sessions.1"),
    );
    const pages = Array.from({ length: 3 }, () => {
      const client = newClient();
      return { managed: client.follow(managed_id), file: client.follow(file.session_id) };
    });
    const sessions = pages.flatMap((page) => [page.managed, page.file]);
    let written = 0;
    const took: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await eventually(() => expect(sessions.every(synced)).toBe(true));
      // The agent keeps writing, and the daemon is killed in the middle of a line.
      const upTo = Math.floor(((kill + 1) / KILLS) * file.lines.length);
      const text = `${file.lines.slice(written, upTo).join("\n")}\n`;
      const torn = Math.floor(random() * text.length);
      appendFileSync(file.path, text.slice(0, torn));
      const before = pages[0]?.managed.state.getState().transcript;
      await eventually(() => expect(pages[0]?.managed.state.getState().transcript).not.toBe(before));
      await new Promise((resolve) => setTimeout(resolve, random() * 150));
      await daemon.kill("SIGKILL");
      const seen = await Promise.all(sessions.map(loadedIds));
      const epochs = sessions.map(epochOf);
      appendFileSync(file.path, text.slice(torn));
      written = upTo;
      await start();
      const from = performance.now();
      await eventually(() =>
        expect(
          sessions.map(
            (session, index) => restarted(session, epochs[index]) || session.state.getState().refused?.code,
          ),
        ).toEqual(sessions.map(() => true)),
      );
      took.push(performance.now() - from);
      for (const [index, session] of sessions.entries()) {
        const now = new Set(idsOf(await partsOf(session)));
        for (const id of seen[index] ?? []) expect(now.has(id), `kill ${kill}, ${id}`).toBe(true);
      }
      const prompt = { message_id: randomUUID(), text: `Prompt ${kill + 1}` };
      const sent = await daemon.post(`/api/sessions/${managed_id}/prompts`, { prompt, when: "queue" });
      expect(sent.status).toBe(200);
    }
    await daemon.post(`/api/sessions/${managed_id}/stop`, {});
    // The session of the file equals a full read of the file.
    const once = createSessions({ formats, roots: [], paths: [file.path] });
    try {
      await eventually(() => expect(once.get(file.session_id)).toBeDefined());
      await eventually(() => expect(once.status().index.done).toBe(true));
      const whole = [...((await once.open(file.session_id))?.transcript.parts ?? [])].map((part) =>
        part ? wordsOf(part) : "nothing",
      );
      for (const page of pages) {
        await eventually(async () => expect((await partsOf(page.file)).length).toBe(whole.length));
        expect(await partsOf(page.file)).toEqual(whole);
      }
    } finally {
      await once.close();
    }
    // The managed session is the same on all pages, without duplicate prompts or parts.
    const fresh = newClient().follow(managed_id);
    await eventually(async () => {
      const all = await partsOf(fresh);
      for (const page of pages) expect(await partsOf(page.managed)).toEqual(all);
    });
    const all = (await partsOf(fresh)).map((part) => JSON.parse(part));
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.flatMap((part) => (part.type === "prompt" ? part.parts[0].text : []))).toEqual(
      Array.from({ length: KILLS + 1 }, (_, n) => `Prompt ${n}`),
    );
    took.sort((one, other) => one - other);
    const [middle, worst] = [took[took.length >> 1] ?? 0, took.at(-1) ?? 0];
    console.info(
      `${KILLS} kills; pages whole again after ${middle.toFixed(0)} ms, at worst ${worst.toFixed(0)} ms`,
    );
  });

  it(`reconnects ${CROWD} pages, all of them live`, async () => {
    const file = sessionFile({ parts: 300, turns: 4, seed: 3 });
    appendFileSync(file.path, file.lines.map((line) => `${line}\n`).join(""));
    await start();
    await eventually(async () =>
      expect((await daemon.get("/api/sessions")) as object).toHaveProperty("sessions.0"),
    );
    const random = seeded(5);
    const crowd = Array.from({ length: CROWD }, () => newClient({ impatient: false, random }));
    const sessions = crowd.map((client) => client.follow(file.session_id));
    await eventually(() => expect(sessions.filter(synced).length).toBe(CROWD), 120_000);
    const epochs = sessions.map(epochOf);
    const transcripts = sessions.map((session) => session.state.getState().transcript);
    await daemon.kill("SIGKILL");
    await eventually(() => expect(crowd.filter(({ connected }) => connected).length).toBe(0));
    await start();
    const from = performance.now();
    const back = (index: number) => {
      const session = sessions[index];
      return session !== undefined && restarted(session, epochs[index]);
    };
    await eventually(() => expect(sessions.filter((_, index) => back(index)).length).toBe(CROWD), 120_000);
    const took = performance.now() - from;
    expect(crowd.filter(({ connected }) => connected).length).toBe(CROWD);
    // They missed nothing, so none got a snapshot.
    expect(
      sessions.filter((session, index) => session.state.getState().transcript === transcripts[index]),
    ).toHaveLength(CROWD);
    // They receive further frames.
    const lengths = sessions.map((session) => session.state.getState().transcript?.parts.length ?? 0);
    appendFileSync(file.path, `${JSON.stringify({ type: "something new", uuid: randomUUID() })}\n`);
    const hasGrown = (session: OpenSession, index: number) =>
      (session.state.getState().transcript?.parts.length ?? 0) > (lengths[index] ?? 0);
    await eventually(() => expect(sessions.filter(hasGrown).length).toBe(CROWD), 60_000);
    console.info(`${CROWD} pages live again after ${(took / 1_000).toFixed(1)} s`);
  });

  // The peak depends on when garbage is collected, which is late on a busy machine.
  it("uses no more memory for pages that do not read than for others", { retry: 2 }, async () => {
    const volume = times(12, 48) * 1024 * 1024;
    const files = [4, 5].map((seed) => sessionFile({ parts: 2_000, turns: 10, seed }));
    await start();
    await eventually(async () =>
      expect((await daemon.get("/api/sessions")) as object).toHaveProperty("sessions.1"),
    );
    const memory = () => {
      const [, peak = "0"] =
        /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.process.pid}/status`, "utf8")) ?? [];
      return Number(peak) * 1024;
    };
    const grown: number[] = [];
    for (const [round, file] of files.entries()) {
      const quick = newClient().follow(file.session_id);
      await eventually(() => expect(synced(quick)).toBe(true));
      const slow = round === 0 ? [] : Array.from({ length: 8 }, () => newClient());
      const slow_sessions = slow.map((client) => client.follow(file.session_id));
      await eventually(() => expect(slow_sessions.every(synced)).toBe(true));
      for (const client of slow) client.socket?.pause();
      const before = memory();
      const long = "x".repeat(60_000);
      for (let sent = 0, n = 0; sent < volume; n += 1, sent += long.length) {
        // A record of an unknown kind is shown completely.
        appendFileSync(
          file.path,
          `${JSON.stringify({ type: "something new", uuid: randomUUID(), n, long })}\n`,
        );
        if (n % 20 !== 19) continue;
        await eventually(() =>
          expect(quick.state.getState().transcript?.parts.length).toBeGreaterThanOrEqual(n),
        );
      }
      grown.push(memory() - before);
      for (const client of slow) client.socket?.resume();
      // After a snapshot or a reconnect, they have everything at the end.
      await eventually(() => {
        const end = quick.state.getState().transcript?.parts.length;
        for (const session of slow_sessions)
          expect(session.state.getState().transcript?.parts.length).toBe(end);
      }, 60_000);
    }
    const [with_readers = 0, with_sleepers = 0] = grown;
    const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
    console.info(
      `${megabytes(volume)} MB: peak +${megabytes(with_readers)} MB, with 8 that sleep +${megabytes(with_sleepers)} MB`,
    );
    expect(with_sleepers - with_readers).toBeLessThan(64 * 1024 * 1024);
  });
});

/** Ids of the parts that a page has loaded. */
async function loadedIds(session: OpenSession): Promise<string[]> {
  const { transcript } = session.state.getState();
  return [...(transcript?.parts ?? [])].flatMap((part) => part?.id ?? []);
}
