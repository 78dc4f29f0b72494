import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createIngestion } from "../../../src/server/managed/ingest.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { createCommitQueue } from "../../../src/server/managed/record/commit-queue.ts";
import type { Recorder } from "../../../src/server/managed/record/recorder.ts";
import { createSessionRegistry } from "../../../src/server/managed/session-registry.ts";
import { openMemoryHistory } from "../../../src/store/history/memory.ts";
import { eventually } from "../../eventually.ts";
import { openManaged } from "./open-managed.ts";
import { type Play, played, promptOf, words } from "./play.ts";

let folder: string;
let managed: ManagedSessions | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idle-"));
});
afterEach(async () => {
  await managed?.close();
  rmSync(folder, { recursive: true });
});

const speak: Play = async (stage) => {
  await stage.say("Hello.");
  return "completed";
};

it("keeps only the row of a session without viewers, and reopens it for earlier viewers", async () => {
  const at = await openManaged({ folder, agents: played(speak), timing: { idle: 1, tick: 2 } });
  managed = at;
  const id = randomUUID();
  await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
  await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
  const held = await at.open(id);
  if (!held) throw new Error("There is no session.");
  const row = JSON.stringify(at.get(id));
  await eventually(async () => {
    // Reopening starts a new epoch of the channel.
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await at.open(id))?.epoch).not.toBe(held.epoch);
  });
  expect(JSON.stringify(at.get(id))).toBe(row);
  let resets = 0;
  const end = held.subscribe(({ type }) => {
    if (type === "reset") resets += 1;
  });
  await eventually(() => expect(resets).toBe(1));
  await at.send(id, promptOf("More"), "queue");
  await eventually(() =>
    expect(words(held.transcript)).toEqual(["prompt: Go", "text: Hello.", "prompt: More", "text: Hello."]),
  );
  end();
});

/** A session with a long history that is not loaded, and its daemon. */
async function long() {
  const id = randomUUID();
  const before = await openManaged({ folder, agents: played(speak) });
  managed = before;
  before.pushed(id, "another").emit(
    ...Array.from({ length: 5_000 }, (_, n) => ({
      type: "marker" as const,
      session_id: id,
      at: n,
      part_id: randomUUID(),
      kind: "note" as const,
      title: `${n}`,
    })),
  );
  await before.pushed(id, "another").stored();
  await before.close();
  const at = await openManaged({ folder, agents: played(speak) });
  managed = at;
  return { at, id };
}

it("opens a session with a long history without blocking other work", async () => {
  const { at, id } = await long();
  let turns = 0;
  let opened = false;
  const count = () => {
    turns += 1;
    if (!opened) setImmediate(count);
  };
  setImmediate(count);
  const open = await at.open(id);
  opened = true;
  expect(turns).toBeGreaterThan(2);
  expect(open?.transcript.parts.length).toBe(5_000);
});

it("includes what is written while a session is opened", async () => {
  const { at, id } = await long();
  const opening = [at.open(id), at.open(id)];
  const marker = { type: "marker" as const, session_id: id, kind: "note" as const };
  await at.load(id);
  at.pushed(id, "another").emit({ ...marker, at: 1, part_id: randomUUID(), title: "at once" });
  const [first, second] = await Promise.all(opening);
  expect(first).toBe(second);
  at.pushed(id, "another").emit({ ...marker, at: 2, part_id: randomUUID(), title: "later" });
  await at.pushed(id, "another").stored();
  const titles = [...(first?.transcript.parts ?? [])].slice(-2);
  expect(titles).toMatchObject([{ title: "at once" }, { title: "later" }]);
});

it("keeps only the fields of an unloaded session's row, without the fold's internal state", async () => {
  const commit_queue = createCommitQueue(openMemoryHistory());
  const registry = createSessionRegistry({
    commit_queue,
    folder,
    agents: played(speak),
    now: Date.now,
    timing: { idle: 1, tick: 2 },
    report() {},
    startRun: () => Promise.reject(new Error("There are no runs here.")),
  });
  const id = randomUUID();
  const told: object[] = [];
  registry.list.subscribe(({ changed }) => told.push(...changed));
  const config = { agent: "player", kind: "hosted" as const, cwd: folder, depth: 0, created_at: 1 };
  const entry = registry.begin(id, config, {});
  registry.hostOf(entry).send(promptOf("Go"), "queue");
  await eventually(() => expect(entry).not.toHaveProperty("recorder"));
  registry.list.publish();
  expect(entry.summary).toMatchObject({ turns: 1, first_prompt: "Go" });
  for (const row of [entry.summary, registry.rowOf(entry), ...told]) {
    expect(Object.getOwnPropertySymbols(row)).toEqual([]);
  }
  expect(told.length).toBeGreaterThan(0);
  await registry.close();
  await commit_queue.close();
});

it("drops a pushed session's order state with its record", async () => {
  const at = await openManaged({ folder, agents: played(speak), timing: { idle: 1, tick: 2 } });
  managed = at;
  let readings = 0;
  const watched = new WeakMap<Recorder, Recorder>();
  const pushed = (id: string, agent: string): Recorder => {
    const recorder = at.pushed(id, agent);
    const frames = () => {
      readings += 1;
      return recorder.frames();
    };
    const known = watched.get(recorder) ?? { ...recorder, frames };
    watched.set(recorder, known);
    return known;
  };
  const ingestion = createIngestion({ ...at, pushed }, Date.now);
  const session_id = randomUUID();
  async function* body() {
    const frame = { type: "turn.end", at: Date.now() };
    yield new TextEncoder().encode(`${JSON.stringify(frame)}\n`);
  }
  await ingestion.push({ session_id }, body());
  const loaded = await at.open(session_id);
  await eventually(async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await at.open(session_id))?.epoch).not.toBe(loaded?.epoch);
  });
  await ingestion.push({ session_id }, body());
  expect(readings).toBe(2);
});

it("shows an inactive pushed session as failed until it is active again", async () => {
  let clock = 1_000_000;
  const at = await openManaged({
    folder,
    agents: played(speak),
    now: () => clock,
    timing: { silence: 60_000, tick: 2 },
  });
  managed = at;
  const id = randomUUID();
  const told: string[] = [];
  at.subscribe(({ changed }) => told.push(...changed.map(({ status }) => status)));
  const recorder = at.pushed(id, "theirs");
  const prompt = (text: string) =>
    recorder.emit({
      type: "user.message",
      session_id: id,
      at: clock,
      message_id: randomUUID(),
      parts: [{ type: "text", text }],
    });
  prompt("Go");
  await eventually(() => expect(told.at(-1)).toBe("running"));
  clock += 61_000;
  await eventually(() => expect(told.at(-1)).toBe("failed"));
  prompt("On");
  await eventually(() => expect(told.at(-1)).toBe("running"));
});

it("unloads a pushed session that stopped in its turn, and resumes it", async () => {
  let clock = 1_000_000;
  const at = await openManaged({
    folder,
    agents: played(speak),
    now: () => clock,
    timing: { idle: 1, silence: 60_000, tick: 2 },
  });
  managed = at;
  const id = randomUUID();
  const say = async (text: string) => {
    await at.load(id);
    const recorder = at.pushed(id, "theirs");
    recorder.emit({ type: "message.delta", session_id: id, at: clock, kind: "text", text });
    await recorder.stored();
  };
  await say("Half an ");
  const held = await at.open(id);
  clock += 61_000;
  await eventually(async () => {
    const open = await at.open(id);
    clock += 10;
    expect(open?.epoch).not.toBe(held?.epoch);
  });
  expect(at.get(id)?.status).toBe("failed");
  await say("answer.");
  expect(at.get(id)?.status).toBe("running");
  const open = await at.open(id);
  expect(open && words(open.transcript)).toEqual(["text: Half an answer."]);
});

it("applies the configured timeout to a question without one", async () => {
  const at = await openManaged({
    folder,
    answer_within: 20,
    agents: played(async (stage, _prompt, signal) => {
      const request = { request_id: randomUUID(), kind: "question" as const, title: "Which?", options: [] };
      const answer = await stage.host.ask(request, signal);
      await stage.say(String(answer));
      return "completed";
    }),
  });
  managed = at;
  const id = randomUUID();
  await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
  await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
  const session = await at.open(id);
  expect(session && words(session.transcript)).toEqual([
    "prompt: Go",
    "question: expired",
    "text: undefined",
  ]);
});
