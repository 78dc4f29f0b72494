import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { OpenSession } from "../../src/web/app/open-session.ts";
import { eventually } from "../eventually.ts";
import { LONG, times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { uuidOf } from "../uuid-of.ts";
import { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { createMemorySessions, type MemorySessions } from "./memory-sessions.ts";
import { openPageClient, type PageClient, type PageClientOptions, partsOf, wordsOf } from "./page-client.ts";
import { createWork } from "./random-frames.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

const session_id = uuidOf("disturbed");
const HEARTBEAT_MS = 50;
/** Silence after which the test client treats a connection as dead: shorter than the default, to keep tests fast. */
const SILENCE_MS = 1_000;

const closing: (() => unknown)[] = [];
async function closeAll() {
  for (const close of closing.splice(0).reverse()) await close();
}
afterEach(closeAll);

interface Stage {
  sessions: MemorySessions;
  httpServer: TestServer;
  proxy: FaultProxy;
  client(options?: Partial<PageClientOptions> & { disturbed?: boolean }): PageClient;
}

async function setStage(
  sessions: MemorySessions,
  random?: () => number,
  heartbeat_ms = HEARTBEAT_MS,
): Promise<Stage> {
  const httpServer = await startTestServer({ sessions, heartbeat_ms });
  closing.push(httpServer.close);
  const proxy = await createFaultProxy(() => httpServer.port, random);
  closing.push(proxy.close);
  return {
    sessions,
    httpServer,
    proxy,
    client({ disturbed = true, ...options } = {}) {
      const client = openPageClient({
        daemon_port: () => httpServer.port,
        ...(disturbed && { through: () => proxy.port }),
        headers: () => ({ cookie: httpServer.cookie, origin: httpServer.origin }),
        silence_ms: SILENCE_MS,
        ...options,
      });
      closing.push(client.close);
      return client;
    },
  };
}

const marker = (name: string, text = ""): Frame => ({
  type: "marker",
  session_id,
  at: 0,
  part_id: uuidOf(`${session_id} ${name}`),
  kind: "note",
  title: name,
  text,
});

const lastTitle = (session: OpenSession) => {
  const { transcript } = session.state.getState();
  const part = transcript?.parts.at(transcript.parts.length - 1);
  return part?.type === "marker" ? part.title : undefined;
};

/** All parts of the daemon, as a page shows them. */
const expected = (sessions: MemorySessions) =>
  [...sessions.transcript(session_id).parts].map((part) => (part ? wordsOf(part) : "nothing"));

/** Waits until the client has the end of the session, and expects it to equal the daemon's byte for byte. */
async function expectSame(session: OpenSession, sessions: MemorySessions, end: string) {
  await eventually(() => expect(lastTitle(session)).toBe(end));
  await eventually(() => expect(session.state.getState().synced).toBe(true));
  const parts = await partsOf(session);
  const whole = expected(sessions);
  expect(parts.length).toBe(whole.length);
  for (const [index, part] of parts.entries()) {
    // `toBe` would print a diff of megabytes.
    if (part !== whole[index])
      expect(part.slice(0, 2_000), `part ${index}`).toBe(whole[index]?.slice(0, 2_000));
    expect(part === whole[index], `part ${index}`).toBe(true);
  }
  const { transcript } = session.state.getState();
  expect([...(transcript?.turns ?? [])]).toEqual([...sessions.transcript(session_id).turns]);
}

/** A fault of a connection while an agent writes. */
const disturbance = fc.record({
  frames: fc.integer({ min: 0, max: 30 }),
  fault: fc.constantFrom("end", "reset", "half-open", "limit", "refused"),
  latency_ms: fc.constantFrom(0, 0, 0, 3, 20),
  slice: fc.constantFrom(undefined, undefined, 7, 100, 1_400),
  /** Bytes from the daemon before the fault. */
  after: fc.constantFrom(0, 1, 50, 130, 300, 1_000, 5_000, 60_000),
  /** Whether the client may synchronize before the next fault. */
  rests: fc.boolean(),
  rewritten: fc.constantFrom(false, false, false, false, false, false, false, true),
});

const SEEDS = times(1, 50);
const CUTS = 20;

describe("a page behind a broken network", { timeout: LONG ? 900_000 : 180_000 }, () => {
  it(`shows exactly what an undisturbed one shows, after ${SEEDS * CUTS} disconnects (seeds: ${SEEDS})`, async () => {
    let disconnects = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(disturbance, { minLength: CUTS, maxLength: CUTS }),
        async (seed, faults) => {
          const sessions = createMemorySessions();
          const work = createWork(session_id, seed, 0.01);
          sessions.add(session_id, work.take(50));
          const stage = await setStage(sessions, seeded(seed));
          const { proxy } = stage;
          const undisturbed = stage.client({ disturbed: false }).follow(session_id);
          const client = stage.client();
          const session = client.follow(session_id);
          await eventually(() => expect(undisturbed.state.getState().synced).toBe(true));
          for (const { frames, fault, latency_ms, slice, after, rests, rewritten } of faults) {
            await eventually(() => expect(proxy.open).toBeGreaterThan(0));
            const { connections } = client;
            Object.assign(proxy.faults, { latency_ms, slice });
            if (fault === "limit") proxy.faults.limit = Math.min(after, 1_500);
            const from = proxy.bytes;
            if (rewritten) sessions.rewrite(session_id, createWork(session_id, seed + frames, 0.01).take(20));
            for (let pushed = 0; pushed < frames; pushed += 1) sessions.push(session_id, work.next());
            // A heartbeat arrives in any case.
            const enough = Math.min(after, 150 + frames * 20);
            await eventually(() => expect(proxy.bytes - from).toBeGreaterThanOrEqual(enough));
            if (fault === "end" || fault === "reset") proxy.cut(fault);
            if (fault === "half-open") proxy.faults.stalled = true;
            if (fault === "refused") {
              proxy.faults.down = true;
              proxy.cut("reset");
            }
            await eventually(() => expect(client.connections).toBeGreaterThan(connections));
            proxy.heal();
            if (rests) await eventually(() => expect(session.state.getState().synced).toBe(true));
          }
          disconnects += client.connections - 1;
          sessions.push(session_id, [marker("The end")]);
          await expectSame(session, sessions, "The end");
          await expectSame(undisturbed, sessions, "The end");
          expect(await partsOf(session)).toEqual(await partsOf(undisturbed));
          await closeAll();
        },
      ),
      { numRuns: SEEDS, endOnFailure: true },
    );
    expect(disconnects).toBeGreaterThanOrEqual(SEEDS * CUTS);
    console.info(`${disconnects} disconnects`);
  });

  it("shows the same if 10 % of the messages are duplicated, 10 % delayed, and 5 % lost", async () => {
    const disturbed = { duplicated: 0, reordered: 0, dropped: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 60, maxLength: 60 }),
        async (seed, bursts) => {
          const sessions = createMemorySessions();
          const work = createWork(session_id, seed, 0.01);
          sessions.add(session_id, work.take(30));
          const stage = await setStage(sessions, seeded(seed));
          const { faults } = stage.proxy;
          faults.messages = { duplicate: 0.1, reorder: 0.1, drop: 0.05 };
          const session = stage.client().follow(session_id);
          for (const burst of bursts) {
            for (let pushed = 0; pushed < burst; pushed += 1) sessions.push(session_id, work.next());
            // Each burst is a separate message.
            const before = stage.proxy.bytes;
            await eventually(() => expect(stage.proxy.bytes).toBeGreaterThan(before));
          }
          sessions.push(session_id, [marker("The end")]);
          // The faults remain active.
          await expectSame(session, sessions, "The end");
          for (const kind of ["duplicated", "reordered", "dropped"] as const)
            disturbed[kind] += stage.proxy.disturbed[kind];
          await closeAll();
        },
      ),
      { numRuns: times(2, 100), endOnFailure: true },
    );
    expect(Math.min(disturbed.duplicated, disturbed.reordered, disturbed.dropped)).toBeGreaterThan(0);
    console.info("messages", disturbed);
  });

  it.each([
    ["the next frame", true],
    ["the next heartbeat", false],
  ])("requests missing frames at %s, and not later", async (_, with_frame) => {
    const sessions = createMemorySessions();
    sessions.add(session_id, [marker("first")]);
    const stage = await setStage(sessions);
    const client = stage.client({ logs: true });
    const session = client.follow(session_id);
    for (let round = 0; round < 10; round += 1) {
      await eventually(() => expect(session.state.getState().synced).toBe(true));
      const { dropped } = stage.proxy.disturbed;
      stage.proxy.dropNext("frames");
      const from = client.log.length;
      sessions.push(session_id, [marker(`lost ${round}`)]);
      const lost = (await sessions.open(session_id))?.seq ?? 0;
      await eventually(() => expect(stage.proxy.disturbed.dropped).toBe(dropped + 1));
      if (with_frame) sessions.push(session_id, [marker(`seen ${round}`)]);
      await eventually(() => expect(client.log.slice(from).some(({ way }) => way === "out")).toBe(true));
      const log = client.log.slice(from);
      const first = log.findIndex(({ seq = -1 }) => seq >= lost);
      expect(["frames", "heartbeat"]).toContain(log[first]?.type);
      expect(log.findIndex(({ way }) => way === "out")).toBe(first + 1);
      expect(log[first + 1]?.type).toBe("subscribe");
      await eventually(() => expect(lastTitle(session)).toBe(`${with_frame ? "seen" : "lost"} ${round}`));
    }
    sessions.push(session_id, [marker("The end")]);
    await expectSame(session, sessions, "The end");
  });

  it("loads a session over a link on which its snapshot takes longer than the timeout", async () => {
    const sessions = createMemorySessions();
    const long = (n: number): Frame => marker(`${n}`, "“A long text” ".repeat(1_000));
    sessions.add(session_id, [...Array.from({ length: 60 }, (_, n) => long(n)), marker("The end")]);
    const stage = await setStage(sessions, undefined, 200);
    stage.proxy.faults.bandwidth = 400;
    const client = stage.client({ silence_ms: 500 });
    const session = client.follow(session_id);
    const began = performance.now();
    await expectSame(session, sessions, "The end");
    expect(performance.now() - began).toBeGreaterThan(1_000);
    expect(client.connections).toBe(1);
    // A connection that dies during a snapshot is still detected.
    sessions.rewrite(session_id, [...Array.from({ length: 70 }, (_, n) => long(n)), marker("Another end")]);
    const { bytes } = stage.proxy;
    await eventually(() => expect(stage.proxy.bytes).toBeGreaterThan(bytes + 100_000));
    stage.proxy.faults.bandwidth = undefined;
    stage.proxy.faults.stalled = true;
    await eventually(() => expect(client.connected).toBe(false));
    await eventually(() => expect(stage.httpServer.live.clients).toBe(0));
    stage.proxy.heal();
    await expectSame(session, sessions, "Another end");
  });

  it("reports a half-open connection as not live, and catches up afterwards", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, [marker("first")]);
    const stage = await setStage(sessions);
    const client = stage.client({ impatient: false });
    const session = client.follow(session_id);
    await eventually(() => expect(session.state.getState().synced).toBe(true));
    const { connection } = client.live;
    const last_message_at = connection.getState().last_message_at ?? 0;
    stage.proxy.faults.stalled = true;
    await eventually(() => expect(connection.getState().status).toBe("lost"));
    expect(connection.getState().last_message_at).toBeGreaterThanOrEqual(last_message_at);
    expect(connection.getState().retry_at).toBeGreaterThan(0);
    // The daemon also closes the unresponsive connection.
    await eventually(() => expect(stage.httpServer.live.clients).toBe(0));
    for (let missed = 0; missed < 300; missed += 1) sessions.push(session_id, [marker(`missed ${missed}`)]);
    stage.proxy.heal();
    sessions.push(session_id, [marker("The end")]);
    await expectSame(session, sessions, "The end");
  });
});
