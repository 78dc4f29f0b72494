import { randomUUID } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENT_HEADER } from "../../src/protocol.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { ManagedSessions } from "../../src/server/managed/managed-sessions.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { eventually } from "../eventually.ts";
import { LONG, times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { answer, frameFormat, prompt, sessionId, write } from "./frame-source.ts";
import { openManaged } from "./managed/open-managed.ts";
import { played, promptOf, words } from "./managed/play.ts";
import { openPageClient } from "./page-client.ts";
import { storedIn } from "./stored-in.ts";
import { startTestServer } from "./test-server.ts";

const TRIES = times(4, 200);
const FILES = 6;

let base: string;
let good: string;
const agent = () => join(base, "agent");
const path = (n: number) => join(agent(), "sessions", `${n}.jsonl`);
const managed_ids = Array.from({ length: 4 }, () => randomUUID());
const talk = (n: number) =>
  Array.from({ length: 20 }, (_, line) => `Line ${line} of ${n}. `.repeat(30)).join("\n");

const agents = played(async (stage) => {
  await stage.say(talk(7));
  stage.call("call-1", "read");
  stage.result("call-1", "What was read");
  return "completed";
});

function openFiles(data: string, limits: { check_limit?: number } = {}): Sessions {
  return createSessions({
    formats: [frameFormat],
    roots: [{ format: frameFormat, path: agent() }],
    ...storedIn(data, limits),
    hints: false,
    timing: { hot: 20, list: 20, last_line: 10, publish: 5, persist: 5, retry: 20, tick: 10 },
  });
}

async function shown(sessions: Sessions, id: string): Promise<string[]> {
  const session = await sessions.open(id);
  return session ? words(session.transcript) : [];
}

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "damage-")));
  good = join(base, "good");
  for (let n = 0; n < FILES; n += 1) {
    write(
      path(n),
      prompt(`${n}`, `Prompt ${n}`),
      ...Array.from({ length: 5 }, (_, m) => answer(`${n}`, `${m} ${talk(n)}`)),
    );
  }
  const sessions = openFiles(good);
  await eventually(() => expect(sessions.status().index.done).toBe(true));
  await sessions.close();
  const managed = await openManaged({ folder: good, agents });
  for (const id of managed_ids) {
    await managed.start(id, { agent: "player", cwd: base, prompt: promptOf("Go") });
    await eventually(() => expect(managed.get(id)?.control?.state).toBe("idle"));
  }
  await managed.close();
});
afterAll(() => rmSync(base, { recursive: true }));

interface Damage {
  what: "flip" | "cut" | "zeros";
  bytes(whole: Buffer): Buffer;
}

function damages(random: () => number): Damage {
  const roll = random();
  const [place, length] = [random(), 1 + Math.floor(random() * 5_000)];
  if (roll < 0.6) {
    return {
      what: "flip",
      bytes(whole) {
        const damaged = Buffer.from(whole);
        const at = Math.floor(place * whole.length);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
        return damaged;
      },
    };
  }
  if (roll < 0.8)
    return { what: "cut", bytes: (whole) => whole.subarray(0, Math.floor(place * whole.length)) };
  return {
    what: "zeros",
    bytes(whole) {
      const at = Math.floor(place * whole.length);
      return Buffer.from(whole).fill(0, at, Math.min(whole.length, at + length));
    },
  };
}

/** A store is checked completely when it is opened, unless it is above the size limit. */
const CHECKED: [string, { check_limit?: number }][] = [
  ["", {}],
  [", unchecked,", { check_limit: 0 }],
];

const noticesOf = (sessions: Sessions) =>
  sessions
    .status()
    .notices.map(({ text }) => text)
    .join("\n");

describe("a store with flipped, missing or overwritten bytes", {
  timeout: LONG ? 1_800_000 : 120_000,
}, () => {
  it.each(CHECKED)(
    `of the archive%s is used if intact, and otherwise quarantined and rebuilt, ${TRIES} times`,
    async (_, limits) => {
      const random = seeded(21);
      const counts = { whole: 0, aside: 0, told: 0 };
      for (let round = 0; round < TRIES; round += 1) {
        const data = join(base, `archive ${round}`);
        cpSync(good, data, { recursive: true });
        const file = join(data, "verbatim.db");
        const { bytes } = damages(random);
        writeFileSync(file, bytes(readFileSync(file)));
        const sessions = openFiles(data, limits);
        try {
          await eventually(() => expect(sessions.status().index.done).toBe(true));
          for (let n = 0; n < FILES; n += 1) {
            // The agents' files exist, so everything is shown despite the damaged store.
            expect(await shown(sessions, sessionId(`${n}`)), `round ${round}`).toEqual([
              `prompt: Prompt ${n}`,
              ...Array.from({ length: 5 }, (_, m) => `text: ${m} ${talk(n)}`),
            ]);
          }
          const aside = readdirSync(data).some((name) => name.startsWith("verbatim.db.broken-"));
          expect(noticesOf(sessions).includes("was moved to"), `round ${round}`).toBe(aside);
          counts[aside ? "aside" : "whole"] += 1;
        } finally {
          await sessions.close();
        }
        // The next start does not quarantine again. The archive equals the files, or its damage is reported.
        renameSync(agent(), `${agent()} away`);
        const again = openFiles(data, limits);
        try {
          for (let n = 0; n < FILES; n += 1) {
            const id = sessionId(`${n}`);
            await eventually(() => expect(again.get(id)?.archived, `round ${round}`).toBe(true));
            const archived = await shown(again, id);
            if (archived.length === 6) {
              expect(archived[5] === `text: 4 ${talk(n)}`, `round ${round}`).toBe(true);
            } else {
              expect(noticesOf(again), `round ${round}`).not.toBe("");
              counts.told += 1;
            }
          }
        } finally {
          await again.close();
          renameSync(`${agent()} away`, agent());
        }
        rmSync(data, { recursive: true });
      }
      expect(counts.aside).toBeGreaterThan(0);
      console.info("archive", counts);
    },
  );

  it.each(CHECKED)(
    `of the managed sessions%s is used if intact, and otherwise quarantined, ${TRIES} times`,
    async (_, limits) => {
      const random = seeded(22);
      const counts = { whole: 0, aside: 0, differs: 0, unreadable: 0, found_later: 0 };
      for (let round = 0; round < TRIES; round += 1) {
        const data = join(base, `history ${round}`);
        cpSync(good, data, { recursive: true });
        const file = join(data, "history.db");
        const { bytes } = damages(random);
        writeFileSync(file, bytes(readFileSync(file)));
        const begin = (): Promise<ManagedSessions> => openManaged({ folder: data, agents, ...limits });
        let managed = await begin();
        try {
          const aside = readdirSync(data).some((name) => name.startsWith("history.db.broken-"));
          expect(noticesOf(managed).includes("was moved to"), `round ${round}`).toBe(aside);
          expect(managed.writable).toBe(true);
          counts[aside ? "aside" : "whole"] += 1;
          for (const id of aside ? [] : managed_ids) {
            const lines = await shown(managed, id).catch((error: unknown) => {
              expect(error, `round ${round}`).toMatchObject({ code: "unreadable" });
              expect(noticesOf(managed), `round ${round}`).toContain("cannot be read");
              expect(limits.check_limit, `round ${round}`).toBe(0);
            });
            if (!lines) counts.unreadable += 1;
            else if (lines[1] !== `text: ${talk(7)}`) counts.differs += 1;
          }
          // The store is usable, and a second daemon can read it.
          const id = randomUUID();
          const start = async (): Promise<boolean> => {
            managed.start(id, { agent: "player", cwd: base, prompt: promptOf("New") }).catch(() => {});
            const isDone = () =>
              managed.get(id)?.control?.state === "idle" && managed.get(id)?.status === "completed";
            await eventually(() =>
              expect(isDone() || noticesOf(managed).includes("cannot be written")).toBe(true),
            );
            return isDone();
          };
          if (!(await start())) {
            // If a write found the damage first, the next start quarantines the store.
            expect(limits.check_limit, `round ${round}`).toBe(0);
            counts.found_later += 1;
            await managed.close();
            managed = await begin();
            expect(noticesOf(managed), `round ${round}`).toContain("was moved to");
            expect(await start(), `round ${round}`).toBe(true);
          }
          const second = await begin();
          expect(second.writable).toBe(false);
          await second.close();
          await managed.close();
          managed = await begin();
          expect(noticesOf(managed), `round ${round}`).toBe("");
          expect((await shown(managed, id))[0]).toBe("prompt: New");
        } finally {
          await managed.close();
        }
        rmSync(data, { recursive: true });
      }
      expect(counts.aside).toBeGreaterThan(0);
      console.info("history", counts);
    },
  );

  it("that is too large to check loses only damaged sessions, reports them, and does not prevent a start", async () => {
    const data = join(base, "large");
    const begin = () =>
      openManaged({
        folder: data,
        check_limit: 0,
        agents: played(async (_stage, { parts: [part] }) =>
          part?.type === "text" && part.text === "Hang" ? await new Promise<never>(() => {}) : "completed",
        ),
      });
    const [idle, working, whole] = [randomUUID(), randomUUID(), randomUUID()];
    let managed = await begin();
    for (const id of [idle, working, whole]) {
      const text = id === whole ? "Short" : "A long prompt that is hit. ".repeat(2_000);
      await managed.start(id, { agent: "player", cwd: base, prompt: promptOf(text) });
      await eventually(() => expect(managed.get(id)?.control?.state).toBe("idle"));
    }
    await managed.close();
    managed = await begin();
    await managed.send(working, promptOf("Hang"), "queue");
    // A shutdown leaves the turn unfinished, like a kill does.
    await managed.close();
    const file = join(data, "history.db");
    const bytes = readFileSync(file);
    for (let at = 0; at < bytes.length; at += 4_096) {
      const page = bytes.subarray(at, at + 4_096).toString("latin1");
      if (/^.{0,60}prompt that/s.test(page) && /prompt that.{0,60}$/s.test(page))
        bytes.fill(0xa5, at, at + 2_048);
    }
    writeFileSync(file, bytes);
    for (const start of ["first", "second"]) {
      managed = await begin();
      const httpServer = await startTestServer({ sessions: managed, managed });
      const client = openPageClient({
        daemon_port: () => httpServer.port,
        headers: () => ({ cookie: httpServer.cookie, origin: httpServer.origin }),
      });
      try {
        expect(managed.writable, start).toBe(true);
        expect(managed.get(working)?.status).toBe("failed");
        expect(noticesOf(managed)).toContain("The record of a session cannot be read");
        for (const id of [idle, working]) {
          const headers = { cookie: httpServer.cookie, [CLIENT_HEADER]: "1" };
          const reply = await fetch(`${httpServer.origin}/api/sessions/${id}`, { headers });
          expect(reply.status).toBe(500);
          expect(await reply.json()).toMatchObject({ error: { code: "unreadable" } });
          await expect(managed.send(id, promptOf("More"), "queue")).rejects.toMatchObject({
            code: "unreadable",
          });
          const session = client.follow(id);
          await eventually(() =>
            expect(session.state.getState().refused?.message).toContain("cannot be read"),
          );
        }
        expect(noticesOf(managed)).toContain("The records of 2 sessions cannot be read");
        await managed.send(whole, promptOf(start), "queue");
        await eventually(() => expect(managed.get(whole)?.control?.state).toBe("idle"));
        expect(await shown(managed, whole)).toContain(`prompt: ${start}`);
      } finally {
        client.close();
        await httpServer.close();
        await managed.close();
      }
    }
  });

  it("does not prevent a second daemon from starting read-only", async () => {
    const data = join(base, "read only");
    cpSync(good, data, { recursive: true });
    const first = await openManaged({ folder: data, agents });
    const file = join(data, "history.db");
    // Damages the store after the first daemon has read its rows.
    const whole = readFileSync(file);
    for (let at = 4_096; at < whole.length; at += 4_096) whole.fill(0xa5, at, at + 2_048);
    writeFileSync(file, whole);
    rmSync(`${file}-wal`, { force: true });
    const second = await openManaged({ folder: data, agents });
    expect(second.writable).toBe(false);
    expect(noticesOf(second)).not.toBe("");
    await second.close();
    await first.close();
    expect(existsSync(file)).toBe(true);
  });
});
