import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate, restoreTranscript } from "../../src/model/transcript/accumulate.ts";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import { outputChannel, type ServerMessage, serverMessage } from "../../src/protocol.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { MAX_MISSED } from "../../src/server/live/channels.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { seeded } from "../seeded.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions, type MemorySessions } from "./memory-sessions.ts";
import { createWork } from "./random-frames.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./test-server.ts";

const session_id = uuidOf("live session");
const channel = outputChannel(session_id);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(sessions: Sessions, options: Partial<TestServerOptions> = {}): Promise<TestServer> {
  const httpServer = await startTestServer({ sessions, ...options });
  closing.push(httpServer.close);
  return httpServer;
}

/** A client of the protocol that folds frames, drops duplicates, and tracks its position. */
class Client {
  socket: WebSocket | undefined;
  transcript: Transcript | undefined;
  epoch: string | undefined;
  seq = -1;
  synced = false;
  gaps = 0;
  snapshots: string[] = [];
  /** All messages since the last connection. */
  messages: ServerMessage[] = [];
  closed: { code: number } | undefined;
  readonly httpServer: TestServer;
  readonly channel: string;

  constructor(httpServer: TestServer, follows = channel) {
    this.httpServer = httpServer;
    this.channel = follows;
    closing.push(() => this.socket?.terminate());
  }

  async connect(): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.httpServer.port}/api/live`, {
      headers: { cookie: this.httpServer.cookie, origin: this.httpServer.origin },
    });
    this.socket = socket;
    this.closed = undefined;
    this.messages = [];
    this.synced = false;
    socket.on("message", (data) => {
      if (socket === this.socket) this.receive(data.toString());
    });
    socket.on("error", () => {});
    socket.on("close", (code) => {
      if (socket === this.socket) this.closed = { code };
    });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  }

  subscribe(position: { epoch?: string; after_seq?: number } = {}): void {
    this.send({ type: "subscribe", channel: this.channel, ...position });
  }

  async resume(): Promise<void> {
    await this.connect();
    this.subscribe(this.epoch === undefined ? {} : { epoch: this.epoch, after_seq: this.seq });
  }

  send(message: unknown): void {
    this.socket?.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  receive(text: string): void {
    const message = serverMessage.parse(JSON.parse(text));
    this.messages.push(message);
    switch (message.type) {
      case "snapshot":
        this.snapshots.push(message.reason);
        this.epoch = message.epoch;
        this.seq = message.seq;
        if (message.page)
          this.transcript = restoreTranscript({ ...message.page, session_id: message.page.session.id });
        return;
      case "frames":
        if (message.epoch !== this.epoch) this.gaps++;
        for (const { seq, frame } of message.frames) {
          if (seq <= this.seq) continue;
          if (seq !== this.seq + 1) this.gaps++;
          this.seq = seq;
          if (this.transcript) this.transcript = accumulate(this.transcript, frame);
        }
        return;
      case "sessions":
        if (message.seq !== this.seq + 1) this.gaps++;
        this.seq = message.seq;
        return;
      case "resumed":
      case "synced":
        this.synced = true;
        return;
      case "heartbeat":
      case "refused":
        return;
      default:
        message satisfies never;
    }
  }

  async until(condition: () => unknown, what: string): Promise<void> {
    await expect.poll(() => Boolean(condition()), { message: what, interval: 5 }).toBe(true);
  }

  of<Type extends ServerMessage["type"]>(type: Type): Extract<ServerMessage, { type: Type }>[] {
    return this.messages.filter(
      (message): message is Extract<ServerMessage, { type: Type }> => message.type === type,
    );
  }
}

/** Expects every loaded part of the client to equal the daemon's part after truncation. */
function expectSame(client: Client, sessions: MemorySessions): void {
  const whole = [...sessions.transcript(session_id).parts];
  expect(client.gaps).toBe(0);
  expect(client.transcript?.gap).toBeUndefined();
  expect(client.transcript?.parts.length).toBe(whole.length);
  let loaded = 0;
  for (const [index, part] of whole.entries()) {
    const held = client.transcript?.parts.at(index);
    if (!held || !part) continue;
    loaded++;
    // `toEqual` would print a diff of megabytes.
    expect(isDeepStrictEqual(truncatePart(held), truncatePart(part)), `part ${index}, ${part.type}`).toBe(
      true,
    );
  }
  expect(loaded).toBeGreaterThan(0);
  expect([...(client.transcript?.turns ?? [])]).toEqual([...sessions.transcript(session_id).turns]);
}

const text = (n: number): Frame => ({
  type: "message.delta",
  session_id,
  at: n,
  kind: "text",
  part_id: uuidOf("growing"),
  offset: n * 10,
  text: `${n}`.padStart(10),
});
const many = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => text(from + n));

describe("the live socket", { timeout: 60_000 }, () => {
  it("keeps a client's parts equal to the daemon's over a hundred random disconnects", async () => {
    const sessions = createMemorySessions();
    const work = createWork(session_id, 11, 0.03);
    sessions.add(session_id, work.take(50));
    const httpServer = await open(sessions);
    const random = seeded(5);
    const undisturbed = new Client(httpServer);
    await undisturbed.resume();
    const client = new Client(httpServer);
    await client.resume();
    await client.until(() => client.synced, "the first snapshot");
    for (let cut = 0; cut < 100; cut++) {
      const before = client.seq;
      const burst = 1 + Math.floor(random() * 30);
      for (let sent = 0; sent < burst; sent++) sessions.push(session_id, work.next());
      // Cuts before, during or after the messages.
      if (random() < 0.5) await client.until(() => client.seq > before || client.closed, "some frames");
      if (random() < 0.5) client.socket?.terminate();
      else client.socket?.close();
      if (random() < 0.3) sessions.push(session_id, work.next());
      await client.resume();
      if (random() < 0.7) await client.until(() => client.synced, "synced again");
    }
    const { seq } = (await sessions.open(session_id)) ?? { seq: -1 };
    await client.until(() => client.seq === seq, "the last frame");
    await undisturbed.until(() => undisturbed.seq === seq, "the last frame, undisturbed");
    expect(client.snapshots).toEqual(["first"]);
    expect(undisturbed.snapshots).toEqual(["first"]);
    expectSame(client, sessions);
    expectSame(undisturbed, sessions);
  });

  it("follows a growing file over random disconnects to the same result as reading it at once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-live-"));
    closing.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const generated = generateClaudeSession({ parts: 150, turns: 4 });
    const file = join(folder, `${generated.session_id}.jsonl`);
    const text = `${generated.lines.join("\n")}\n`;
    const random = seeded(9);
    let at = text.indexOf("\n") + 1;
    writeFileSync(file, text.slice(0, at));
    const follow = () => createSessions({ formats, roots: [], paths: [file], timing: { hot: 10, list: 50 } });
    const sessions = follow();
    closing.push(() => sessions.close());
    await expect.poll(() => sessions.list().length).toBe(1);
    const [id = ""] = sessions.list().map((session) => session.id);
    const httpServer = await open(sessions);
    const client = new Client(httpServer, outputChannel(id));
    await client.resume();
    await client.until(() => client.synced, "synced");
    while (at < text.length) {
      const before = client.seq;
      const end = Math.min(text.length, at + 1 + Math.floor(random() * 6_000));
      // Agents write complete lines, but a read can occur in the middle of a write.
      appendFileSync(file, text.slice(at, end));
      const whole = text.slice(at, end).includes("\n");
      at = end;
      if (whole && random() < 0.7) await client.until(() => client.seq > before, "what was appended");
      if (random() < 0.5) {
        client.socket?.terminate();
        await client.resume();
        if (random() < 0.5) await client.until(() => client.synced, "synced again");
      }
    }
    const followed = await sessions.open(id);
    await client.until(
      () => client.seq === followed?.seq && client.transcript?.turns.length === 4,
      "the end",
    );
    const again = follow();
    closing.push(() => again.close());
    await expect.poll(() => again.list().length).toBe(1);
    const once = (await again.open(id))?.transcript;
    await client.until(() => client.transcript?.parts.length === once?.parts.length, "all parts");
    expect(client.gaps).toBe(0);
    for (const [index, part] of [...(once?.parts ?? [])].entries()) {
      const held = client.transcript?.parts.at(index);
      if (!part || !held) throw new Error(`Part ${index} is missing.`);
      expect(isDeepStrictEqual(truncatePart(held), truncatePart(part)), `part ${index}, ${part.type}`).toBe(
        true,
      );
    }
  });

  it("sends exactly the missing frames, then synced, then live frames", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 700));
    const httpServer = await open(sessions);
    const first = new Client(httpServer);
    await first.resume();
    await first.until(() => first.synced, "a snapshot");
    const late = new Client(httpServer);
    await late.connect();
    late.epoch = first.epoch;
    late.seq = 30;
    late.subscribe({ epoch: first.epoch ?? "", after_seq: 30 });
    await late.until(() => late.synced, "synced");
    expect(late.of("snapshot")).toEqual([]);
    expect(late.of("frames").flatMap(({ frames }) => frames.map(({ seq }) => seq))).toEqual(
      Array.from({ length: 670 }, (_, n) => 31 + n),
    );
    sessions.push(session_id, many(700, 701));
    await late.until(() => late.seq === 701, "the live frame");
    expect(late.messages.at(-1)?.type).toBe("frames");
    expect(late.gaps).toBe(0);
  });

  it.each([
    ["another epoch", () => ({ epoch: "another", after_seq: 3 }), "epoch"],
    ["a position in the future", (epoch: string) => ({ epoch, after_seq: 2 ** 53 + 2 }), "too_old"],
    ["a negative position", (epoch: string) => ({ epoch, after_seq: -1 }), "too_old"],
    ["no position", () => ({}), "first"],
  ])("sends a snapshot for %s", async (_, position, reason) => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 10));
    const httpServer = await open(sessions);
    const known = (await sessions.open(session_id))?.epoch ?? "";
    const client = new Client(httpServer);
    await client.connect();
    client.subscribe(position(known));
    await client.until(() => client.synced, "synced");
    expect(client.snapshots).toEqual([reason]);
    expectSame(client, sessions);
  });

  it.each([
    [MAX_MISSED - 1, []],
    [MAX_MISSED, []],
    [MAX_MISSED + 1, ["too_old"]],
  ])("sends %i missed frames, or a snapshot", async (missed, snapshots) => {
    const sessions = createMemorySessions({ held: 10_000 });
    sessions.add(session_id, many(0, missed + 5));
    const httpServer = await open(sessions);
    const client = new Client(httpServer);
    await client.connect();
    client.epoch = (await sessions.open(session_id))?.epoch;
    client.seq = 5;
    client.subscribe({ epoch: client.epoch ?? "", after_seq: 5 });
    await client.until(() => client.synced, "synced");
    expect(client.snapshots).toEqual(snapshots);
    expect(client.seq).toBe(missed + 5);
    expect(client.gaps).toBe(0);
  });

  it("sends a snapshot to a client that missed more than may be queued", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const httpServer = await open(sessions);
    const client = new Client(httpServer);
    await client.resume();
    await client.until(() => client.synced, "synced");
    client.socket?.terminate();
    for (let n = 0; n < 400; n++) {
      const part_id = uuidOf(`missed ${n}`);
      const text = "x".repeat(60_000);
      sessions.push(session_id, [
        { type: "marker", session_id, at: n, part_id, kind: "note", title: "", text },
      ]);
    }
    await client.resume();
    await client.until(() => client.synced || client.closed, "synced again");
    expect(client.closed).toBeUndefined();
    expect(client.snapshots).toEqual(["first", "too_old"]);
    expectSame(client, sessions);
  });

  it("resets all clients when the session's file was replaced", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, createWork(session_id, 1).take(40));
    const httpServer = await open(sessions);
    const client = new Client(httpServer);
    await client.resume();
    await client.until(() => client.synced, "synced");
    sessions.push(session_id, createWork(session_id, 2).take(5));
    sessions.rewrite(session_id, createWork(session_id, 3).take(20));
    await client.until(() => client.snapshots.length === 2, "a second snapshot");
    expect(client.snapshots).toEqual(["first", "rewritten"]);
    sessions.push(session_id, createWork(session_id, 4).take(20));
    const { seq } = (await sessions.open(session_id)) ?? { seq: -1 };
    await client.until(() => client.seq === seq, "frames of the new life");
    expectSame(client, sessions);
  });

  it.each([
    ["written again", (file: string, away: string) => writeFileSync(file, readFileSync(away))],
    ["moved back", (file: string, away: string) => renameSync(away, file)],
  ])("resets all clients when a file without an archive was deleted and is %s", async (_, bringBack) => {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-live-"));
    closing.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const { lines, session_id: id } = generateClaudeSession({ parts: 60, turns: 3 });
    const watched = join(folder, "watched");
    mkdirSync(watched);
    const [file, away] = [join(watched, `${id}.jsonl`), join(folder, "away")];
    writeFileSync(file, `${lines.slice(0, 20).join("\n")}\n`);
    const timing = { hot: 10, list: 20, publish: 5, tick: 10 };
    const sessions = createSessions({ formats, roots: [], paths: [watched], timing });
    closing.push(() => sessions.close());
    await expect.poll(() => sessions.get(id)).toBeDefined();
    const client = new Client(await open(sessions), outputChannel(id));
    await client.resume();
    await client.until(() => client.synced, "synced");
    renameSync(file, away);
    await expect.poll(() => sessions.get(id)).toBeUndefined();
    appendFileSync(away, `${lines.slice(20, 40).join("\n")}\n`);
    bringBack(file, away);
    await client.until(() => client.snapshots.length === 2, "what came back");
    expect(client.snapshots).toEqual(["first", "rewritten"]);
    const before = client.seq;
    appendFileSync(file, `${lines.slice(40).join("\n")}\n`);
    await expect.poll(() => sessions.get(id)?.turns).toBe(3);
    const { seq, epoch, transcript } = (await sessions.open(id)) ?? {};
    await client.until(() => client.epoch === epoch && client.seq === seq, "frames of what came then");
    expect(client.seq).toBeGreaterThan(before);
    expect(client.gaps).toBe(0);
    expect(client.transcript?.parts.length).toBe(transcript?.parts.length);
  });

  it("follows a session for a client that opened it together with one that left", async () => {
    const memory = createMemorySessions();
    memory.add(session_id, many(0, 10));
    const reading = Promise.withResolvers<void>();
    let asked = 0;
    const sessions: Sessions = {
      ...memory,
      get(id) {
        asked++;
        return memory.get(id);
      },
      async open(id) {
        await reading.promise;
        return await memory.open(id);
      },
    };
    const httpServer = await open(sessions);
    const [first, second] = [new Client(httpServer), new Client(httpServer)];
    await first.resume();
    await expect.poll(() => asked).toBe(1);
    await second.resume();
    await expect.poll(() => asked).toBe(2);
    first.socket?.terminate();
    await expect.poll(() => httpServer.live.clients).toBe(1);
    reading.resolve();
    await second.until(() => second.synced, "synced");
    memory.push(session_id, many(10, 20));
    await second.until(() => second.seq === 20, "what came then");
    expectSame(second, memory);
  });

  it("batches frames, and encodes them once for all subscribers", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const httpServer = await open(sessions);
    const clients = [new Client(httpServer), new Client(httpServer), new Client(httpServer)];
    for (const client of clients) {
      await client.resume();
      await client.until(() => client.synced, "synced");
    }
    let written = 0;
    const [frame] = many(1, 2);
    if (!frame) throw new Error("no frame");
    Object.defineProperty(frame, "toJSON", {
      enumerable: true,
      value() {
        written++;
        const { toJSON: _, ...rest } = this;
        return rest;
      },
    });
    for (let n = 2; n < 200; n++) sessions.push(session_id, many(n - 1, n));
    const open_session = await sessions.open(session_id);
    for (const client of clients) {
      await client.until(() => client.seq === open_session?.seq, "all frames");
      expect(client.of("frames").length).toBeLessThan(20);
    }
    sessions.push(session_id, [{ ...frame, offset: 1_990 } as Frame]);
    for (const client of clients) await client.until(() => client.seq === 200, "the last frame");
    expect(written).toBe(1);
  });

  it("sends a frame after a quiet period without delay", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const client = new Client(await open(sessions));
    await client.resume();
    await client.until(() => client.synced, "synced");
    sessions.push(session_id, many(1, 2));
    // Due before the batch of 16 ms ends: timers run in the order in which they are due, however late.
    setTimeout(() => sessions.push(session_id, many(2, 3)), 12);
    await client.until(() => client.seq === 3, "both frames");
    expect(client.of("frames").map(({ frames }) => frames.length)).toEqual([1, 1]);
  });

  it("sends the list and its changes, and resumes it", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const httpServer = await open(sessions);
    const client = new Client(httpServer, "sessions");
    await client.resume();
    await client.until(() => client.synced, "synced");
    expect(client.of("snapshot")[0]?.sessions?.map(({ id }) => id)).toEqual([session_id]);
    sessions.add(uuidOf("second"));
    await client.until(() => client.of("sessions").length > 0, "the change");
    expect(client.of("sessions")[0]?.changed.map(({ id }) => id)).toEqual([uuidOf("second")]);
    client.socket?.terminate();
    sessions.add(uuidOf("third"));
    sessions.add(uuidOf("fourth"));
    await client.resume();
    await client.until(() => client.synced, "synced again");
    expect(client.of("sessions").flatMap(({ changed }) => changed.map(({ id }) => id))).toEqual([
      uuidOf("third"),
      uuidOf("fourth"),
    ]);
    expect(client.gaps).toBe(0);
    expect(client.snapshots).toEqual(["first"]);
  });

  it("sends each row once to a client that resumes the list", async () => {
    const sessions = createMemorySessions();
    const ids = [session_id, uuidOf("second")];
    for (const id of ids) sessions.add(id, createWork(id, 1).take(1));
    const httpServer = await open(sessions);
    const client = new Client(httpServer, "sessions");
    await client.resume();
    await client.until(() => client.synced, "synced");
    client.socket?.terminate();
    const works = ids.map((id) => createWork(id, 2));
    for (let turn = 0; turn < 100; turn += 1)
      for (const [at, id] of ids.entries()) sessions.push(id, works[at]?.take(1) ?? []);
    await client.resume();
    await client.until(() => client.synced, "synced again");
    const told = client.of("sessions").flatMap(({ changed }) => changed);
    expect(told.toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual(
      sessions.list().toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    );
    expect(client.gaps).toBe(0);
    expect(client.snapshots).toEqual(["first"]);
  });

  it("sends the channels' positions in each heartbeat", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 5));
    const httpServer = await open(sessions, { heartbeat_ms: 20 });
    const client = new Client(httpServer);
    await client.resume();
    await client.until(
      () => client.of("heartbeat").some(({ positions }) => positions[channel]?.seq === 5),
      "a heartbeat",
    );
    client.send({ type: "unsubscribe", channel });
    await client.until(
      () => client.of("heartbeat").at(-1)?.positions[channel] === undefined,
      "a heartbeat without it",
    );
  });

  it("moves a client that does not read to a snapshot, bounds its queue, and keeps the others live", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const httpServer = await open(sessions);
    const slow = new Client(httpServer);
    await slow.resume();
    await slow.until(() => slow.synced, "synced");
    const quick = new Client(httpServer);
    await quick.resume();
    await quick.until(() => quick.synced, "synced");
    slow.socket?.pause();
    let queued = 0;
    const marker = (n: number): Frame => ({
      type: "marker",
      session_id,
      at: n,
      part_id: uuidOf(`big ${n}`),
      kind: "note",
      title: `${n}`,
      text: "x".repeat(60_000),
    });
    for (let n = 0; n < 400; n++) {
      sessions.push(session_id, [marker(n)]);
      queued = Math.max(queued, httpServer.live.queued);
      if (n % 10 === 9) await quick.until(() => quick.seq === n + 2, "the quick client's frames");
    }
    // The fast client got 24 MB, while the slow one's queue was bounded.
    expect(queued).toBeGreaterThan(1024 * 1024);
    expect(queued).toBeLessThan(4 * 1024 * 1024);
    slow.socket?.resume();
    await slow.until(() => slow.snapshots.includes("too_slow"), "a snapshot for the slow client");
    await slow.until(() => slow.seq === 401, "the end");
    expectSame(slow, sessions);
    expect(quick.snapshots).toEqual(["first"]);
    expectSame(quick, sessions);
  });

  describe("with a snapshot that is longer than the queue limit", () => {
    const turns = (count: number): Frame[] =>
      Array.from({ length: count }, (_, n) => ({
        type: "user.message",
        session_id,
        at: n,
        message_id: uuidOf(`long ${n}`),
        parts: [{ type: "text", text: `${n}`.repeat(100) }],
      }));

    /** A client that stops reading before it receives its snapshot of more than 6 MB. */
    async function stalled() {
      const sessions = createMemorySessions();
      sessions.add(session_id, turns(16_000));
      const httpServer = await open(sessions);
      const client = new Client(httpServer);
      await client.connect();
      client.subscribe();
      client.socket?.pause();
      await expect.poll(() => httpServer.live.queued).toBeGreaterThan(4 * 1024 * 1024);
      return { sessions, httpServer, client };
    }

    it("sends it completely, followed by what happened in the meantime", async () => {
      const { sessions, httpServer, client } = await stalled();
      for (let n = 0; n < 20; n++) {
        const queued = httpServer.live.queued;
        sessions.push(session_id, many(n, n + 1));
        await expect.poll(() => httpServer.live.queued).toBeGreaterThan(queued);
      }
      expect(httpServer.live.clients).toBe(1);
      client.socket?.resume();
      await client.until(() => client.synced, "synced");
      sessions.push(session_id, many(20, 21));
      const { seq } = (await sessions.open(session_id)) ?? { seq: -1 };
      await client.until(() => client.seq === seq, "the last frame");
      expect(client.snapshots).toEqual(["first"]);
      expectSame(client, sessions);
    });

    it("queues no more for a client that does not read it than for others", async () => {
      const { sessions, httpServer, client } = await stalled();
      const quick = new Client(httpServer);
      await quick.resume();
      await quick.until(() => quick.synced, "synced");
      const snapshot = httpServer.live.queued;
      let queued = snapshot;
      for (let n = 0; n < 100; n++) {
        const text = "x".repeat(60_000);
        const part_id = uuidOf(`big ${n}`);
        sessions.push(session_id, [
          { type: "marker", session_id, at: n, part_id, kind: "note", title: "", text },
        ]);
        queued = Math.max(queued, httpServer.live.queued);
        if (n % 10 === 9) await quick.until(() => quick.seq === 16_001 + n, "the quick client's frames");
      }
      expect(queued - snapshot).toBeGreaterThan(1024 * 1024);
      expect(queued - snapshot).toBeLessThan(4 * 1024 * 1024);
      client.socket?.resume();
      await client.until(() => client.snapshots.includes("too_slow"), "a snapshot for the slow client");
      expectSame(client, sessions);
      expect(quick.snapshots).toEqual(["first"]);
    });

    it("queues no second one while it is pending", async () => {
      const { sessions, httpServer, client } = await stalled();
      const snapshot = httpServer.live.queued;
      for (let n = 0; n < 3; n++) sessions.rewrite(session_id, [...turns(10_000), ...many(0, 1)]);
      expect(httpServer.live.queued).toBe(snapshot);
      client.socket?.resume();
      await client.until(() => client.snapshots.includes("too_slow"), "a snapshot of the new life");
      expect(client.snapshots).toEqual(["first", "too_slow"]);
      expectSame(client, sessions);
    });
  });

  it("disconnects a client that disappeared silently", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id);
    const httpServer = await open(sessions, { heartbeat_ms: 30 });
    const socket = connect(httpServer.port, "127.0.0.1");
    closing.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.write(
      `GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:${httpServer.port}\r\nOrigin: ${httpServer.origin}\r\nCookie: ${httpServer.cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await expect.poll(() => httpServer.live.clients).toBe(1);
    await expect.poll(() => httpServer.live.clients).toBe(0);
  });

  it.each([
    ["invalid JSON", "{"],
    ["an unknown message", { type: "delete everything" }],
    ["wrong types", { type: "subscribe", channel, epoch: { $ne: null }, after_seq: "1 OR 1=1" }],
    ["a list", []],
    ["an empty message", "null"],
  ])("rejects %s, closes, and serves the others", async (_, message) => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const httpServer = await open(sessions);
    const client = new Client(httpServer);
    await client.connect();
    client.send(message);
    await client.until(() => client.closed, "closed");
    expect(client.of("refused").map(({ code }) => code)).toEqual(["message"]);
    expect(client.closed?.code).toBe(1008);
    const other = new Client(httpServer);
    await other.resume();
    await other.until(() => other.synced, "the other one is served");
  });

  it("rejects an unknown channel, and keeps the socket", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const httpServer = await open(sessions);
    const client = new Client(httpServer);
    await client.connect();
    for (const name of [outputChannel(uuidOf("none")), "output:", "output:__proto__", "prompts", ""]) {
      client.send({ type: "subscribe", channel: name });
    }
    await client.until(() => client.of("refused").length === 5, "five refusals");
    client.subscribe();
    await client.until(() => client.synced, "synced");
  });

  it("rejects a session that cannot be opened, and keeps the socket", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const { open: openSession } = sessions;
    sessions.open = async () => {
      throw new Error("The disk is gone");
    };
    const client = new Client(await open(sessions));
    await client.connect();
    client.subscribe();
    await client.until(() => client.of("refused").length === 1, "a refusal");
    expect(client.of("refused")[0]).toMatchObject({ channel, code: "failed" });
    sessions.open = openSession;
    client.subscribe();
    await client.until(() => client.synced, "synced");
  });

  it("closes a socket that sends too much: a long message, a flood, endless fragments", async () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, many(0, 1));
    const httpServer = await open(sessions);
    const long = new Client(httpServer);
    await long.connect();
    long.send("x".repeat(1024 * 1024 + 1));
    await long.until(() => long.closed, "closed for its length");
    expect(long.closed?.code).toBe(1009);

    const flood = new Client(httpServer);
    await flood.connect();
    for (let n = 0; n < 20_000; n++) flood.subscribe();
    await flood.until(() => flood.closed, "closed for the flood");
    expect([1006, 1008]).toContain(flood.closed?.code);

    const fragments = new Client(httpServer);
    await fragments.connect();
    for (let n = 0; n < 1_000; n++) fragments.socket?.send("x", { fin: false });
    await fragments.until(() => fragments.closed, "closed for its fragments");

    const other = new Client(httpServer);
    await other.resume();
    await other.until(() => other.synced, "the other one is served");
  });

  it("offers no compression", async () => {
    const httpServer = await open(createMemorySessions());
    const socket = new WebSocket(`ws://127.0.0.1:${httpServer.port}/api/live`, {
      headers: { cookie: httpServer.cookie, origin: httpServer.origin },
      perMessageDeflate: true,
    });
    await new Promise((resolve) => socket.once("open", resolve));
    expect(socket.extensions).toBe("");
    socket.terminate();
  });
});
