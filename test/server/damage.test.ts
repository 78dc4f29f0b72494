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
import { createSessions } from "../../src/server/catalog.ts";
import { createHosted, type HostedSessions } from "../../src/server/hosted/hosted.ts";
import type { Sessions } from "../../src/server/sessions.ts";
import { eventually } from "../eventually.ts";
import { LONG, times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { answer, frameFormat, prompt, sessionId, write } from "./frame-format.ts";
import { played, promptOf, words } from "./hosted/play.ts";

const TRIES = times(4, 200);
const FILES = 6;

let base: string;
let good: string;
const agent = () => join(base, "agent");
const path = (n: number) => join(agent(), "sessions", `${n}.jsonl`);
const hosted_ids = Array.from({ length: 4 }, () => randomUUID());
const talk = (n: number) =>
  Array.from({ length: 20 }, (_, line) => `Line ${line} of ${n}. `.repeat(30)).join("\n");

const agents = played(async (stage) => {
  await stage.say(talk(7));
  stage.call("call-1", "read");
  stage.result("call-1", "What was read");
  return "completed";
});

function openFiles(data: string): Sessions {
  return createSessions({
    formats: [frameFormat],
    roots: [{ format: frameFormat, path: agent() }],
    dataFolder: data,
    hints: false,
    timing: { hot: 20, list: 20, settle: 10, publish: 5, persist: 5, retry: 20, tick: 10 },
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
  const hosted = createHosted({ folder: good, agents });
  for (const id of hosted_ids) {
    await hosted.start(id, { agent: "player", cwd: base, prompt: promptOf("Go") });
    await eventually(() => expect(hosted.get(id)?.control?.state).toBe("idle"));
  }
  await hosted.close();
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

const noticesOf = (sessions: Sessions) =>
  sessions
    .status()
    .notices.map(({ text }) => text)
    .join("\n");

describe("a store with a bit flipped, cut short or overwritten", {
  timeout: LONG ? 1_800_000 : 120_000,
}, () => {
  it(`of the archive is used where it is whole, else set aside and built again, ${TRIES} times`, async () => {
    const random = seeded(21);
    const counts = { whole: 0, aside: 0, told: 0 };
    for (let round = 0; round < TRIES; round += 1) {
      const data = join(base, `archive ${round}`);
      cpSync(good, data, { recursive: true });
      const file = join(data, "verbatim.db");
      const { bytes } = damages(random);
      writeFileSync(file, bytes(readFileSync(file)));
      const sessions = openFiles(data);
      try {
        await eventually(() => expect(sessions.status().index.done).toBe(true));
        for (let n = 0; n < FILES; n += 1) {
          // The agents' files are there: everything is shown, whatever became of the store.
          expect(await shown(sessions, sessionId(`${n}`)), `round ${round}`).toEqual([
            `prompt: Prompt ${n}`,
            ...Array.from({ length: 5 }, (_, m) => `text: ${m} ${talk(n)}`),
          ]);
        }
        const aside = readdirSync(data).some((name) => name.startsWith("verbatim.db.broken-"));
        expect(noticesOf(sessions).includes("set aside"), `round ${round}`).toBe(aside);
        counts[aside ? "aside" : "whole"] += 1;
      } finally {
        await sessions.close();
      }
      // The next start: no second time, and what is archived is what the files hold, or is said to be damaged.
      renameSync(agent(), `${agent()} away`);
      const again = openFiles(data);
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
  });

  it(`of the sessions that the daemon runs is used where it is whole, else set aside, ${TRIES} times`, async () => {
    const random = seeded(22);
    const counts = { whole: 0, aside: 0, differs: 0 };
    for (let round = 0; round < TRIES; round += 1) {
      const data = join(base, `history ${round}`);
      cpSync(good, data, { recursive: true });
      const file = join(data, "history.db");
      const { bytes } = damages(random);
      writeFileSync(file, bytes(readFileSync(file)));
      const begin = (): HostedSessions => createHosted({ folder: data, agents });
      let hosted = begin();
      try {
        const aside = readdirSync(data).some((name) => name.startsWith("history.db.broken-"));
        expect(noticesOf(hosted).includes("set aside"), `round ${round}`).toBe(aside);
        expect(hosted.writable).toBe(true);
        counts[aside ? "aside" : "whole"] += 1;
        for (const id of aside ? [] : hosted_ids) {
          const lines = await shown(hosted, id);
          if (lines[1] !== `text: ${talk(7)}`) counts.differs += 1;
        }
        // It can be worked with, and a second daemon may look.
        const id = randomUUID();
        await hosted.start(id, { agent: "player", cwd: base, prompt: promptOf("New") });
        await eventually(() => expect(hosted.get(id)?.control?.state).toBe("idle"));
        const second = begin();
        expect(second.writable).toBe(false);
        await second.close();
        await hosted.close();
        hosted = begin();
        expect(noticesOf(hosted), `round ${round}`).toBe("");
        expect((await shown(hosted, id))[0]).toBe("prompt: New");
      } finally {
        await hosted.close();
      }
      rmSync(data, { recursive: true });
    }
    expect(counts.aside).toBeGreaterThan(0);
    console.info("history", counts);
  });

  it("is no reason not to start for a second daemon that only reads", async () => {
    const data = join(base, "read only");
    cpSync(good, data, { recursive: true });
    const first = createHosted({ folder: data, agents });
    const file = join(data, "history.db");
    // Behind the first one's back, which has read its rows.
    const whole = readFileSync(file);
    for (let at = 4_096; at < whole.length; at += 4_096) whole.fill(0xa5, at, at + 2_048);
    writeFileSync(file, whole);
    rmSync(`${file}-wal`, { force: true });
    const second = createHosted({ folder: data, agents });
    expect(second.writable).toBe(false);
    expect(noticesOf(second)).not.toBe("");
    await second.close();
    await first.close();
    expect(existsSync(file)).toBe(true);
  });
});
