import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emptyTranscript } from "../../../src/model/transcript/transcript-state.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { eventually } from "../../eventually.ts";
import { openManaged } from "./open-managed.ts";
import { type Play, played, promptOf, words } from "./play.ts";

let folder: string;
let managed: ManagedSessions | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "journal-"));
});
afterEach(async () => {
  await managed?.close();
  managed = undefined;
  rmSync(folder, { recursive: true });
});

const open = async (play: Play): Promise<ManagedSessions> => {
  managed = await openManaged({ folder, agents: played(play) });
  return managed;
};
const path = () => join(folder, "history.db");
const texts = (at: ManagedSessions) =>
  at
    .status()
    .notices.map(({ text }) => text)
    .join("\n");

function rows(table: "history" | "pending", column: string): string[] {
  const database = new DatabaseSync(path(), { readOnly: true });
  const found = database
    .prepare(`SELECT ${column} AS text FROM ${table} ORDER BY session_id, position`)
    .all();
  database.close();
  return found.map(({ text }) => String(text));
}

async function oneSession(play: Play): Promise<string> {
  const at = await open(play);
  const id = randomUUID();
  await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
  await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
  await at.close();
  managed = undefined;
  return id;
}
const speak: Play = async (stage) => {
  await stage.say("A long answer that comes in many small pieces, as those of models do.");
  return "completed";
};

describe("history.db", () => {
  it("contains complete messages and events, never deltas", async () => {
    await oneSession(speak);
    const events = rows("history", "event").map((line) => JSON.parse(line));
    expect(events.map((event) => event.role ?? event.type)).toEqual([
      "session_update",
      "turn_start",
      "user",
      "assistant",
      "turn_end",
    ]);
    expect(events[3]).toMatchObject({ stop_reason: "stop", usage: { input: 10, output: 5 } });
    expect(rows("pending", "frame")).toEqual([]);
  });

  it("contains an incomplete message as a few joined frames", async () => {
    let say = () => {};
    const at = await open(async (stage) => {
      const message_id = randomUUID();
      const common = { session_id: stage.host.session_id, at: 1 };
      stage.host.emit({ ...common, type: "message.start", message_id });
      for (let n = 0; n < 1_000; n++) {
        stage.host.emit({ ...common, type: "message.delta", kind: "text", text: `${n} ` });
        if (n % 250 === 0) await stage.host.stored();
      }
      await stage.host.stored();
      await new Promise<void>((resolve) => {
        say = resolve;
      });
      stage.host.emit({ ...common, type: "message.end", message_id, stop_reason: "stop" });
      return "completed";
    });
    const id = randomUUID();
    await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
    const text = `text: ${Array.from({ length: 1_000 }, (_, n) => `${n} `).join("")}`;
    await eventually(async () => {
      const session = await at.open(id);
      expect(session && words(session.transcript)).toContain(text);
    });
    const pending = rows("pending", "frame");
    expect(pending.length).toBeGreaterThan(1);
    expect(pending.length).toBeLessThan(20);
    say();
    await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
    expect(rows("pending", "frame")).toEqual([]);
    expect(rows("history", "event").join("")).toContain("999 ");
  });

  it("stores all tool data except for excessive nesting", async () => {
    let deep: unknown = "bottom";
    for (let n = 0; n < 20_000; n++) deep = [deep];
    const id = await oneSession(async (stage) => {
      stage.call("c", "odd");
      const { session_id } = stage.host;
      stage.host.emit({ type: "task.metadata", session_id, at: 1, tool_call_id: "c", metadata: { deep } });
      stage.result("c", "Done.");
      return "completed";
    });
    const session = await (await open(speak)).open(id);
    expect(session && words(session.transcript)).toContain("call: odd completed");
    expect(rows("history", "event").join("")).toContain("nested too deep");
  });

  it("is quarantined if it is damaged, and a new one is created", async () => {
    const id = await oneSession(speak);
    truncateSync(path(), Math.floor(statSync(path()).size / 2));
    const at = await open(speak);
    expect(texts(at)).toContain("damaged");
    expect(at.get(id)).toBeUndefined();
    expect(readdirSync(folder).some((name) => name.startsWith("history.db.broken-"))).toBe(true);
    await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Anew") });
    await eventually(() => expect(at.get(id)?.status).toBe("completed"));
  });

  it("is left alone if a newer version wrote it", async () => {
    await oneSession(speak);
    const database = new DatabaseSync(path());
    database.exec("PRAGMA user_version = 99");
    database.close();
    const before = readFileSync(path());
    const at = await open(speak);
    expect(texts(at)).toContain("newer Verbatim");
    expect(at.writable).toBe(false);
    await expect(
      at.start(randomUUID(), { agent: "player", cwd: folder, prompt: promptOf("Go") }),
    ).rejects.toMatchObject({
      code: "read_only",
      message: expect.stringContaining("newer Verbatim"),
      remedy: expect.stringContaining("Start the newer Verbatim"),
    });
    expect(readFileSync(path()).equals(before)).toBe(true);
  });

  it("reports if it was moved, and stores nothing until it is moved back", async () => {
    const at = await open(speak);
    const id = randomUUID();
    await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
    await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
    renameSync(folder, `${folder}-moved`);
    let is_taken = false;
    const taken = at.send(id, promptOf("More"), "queue").then(() => {
      is_taken = true;
    });
    await eventually(() => expect(texts(at)).toContain(`${path()} was moved or removed`));
    expect(at.status().notices[0]?.remedy).toContain("Move the store back");
    expect(is_taken).toBe(false);
    renameSync(`${folder}-moved`, folder);
    await taken;
    await eventually(() => expect(at.get(id)?.turns).toBe(2));
    expect(texts(at)).toBe("");
  });

  it("can be moved back after a session tried to store a file", async () => {
    const away = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<unknown>();
    const at = await open(async (stage) => {
      await away.promise;
      try {
        asked.resolve(stage.host.files);
      } catch (error) {
        asked.resolve(error);
      }
      await stage.say("Done.");
      return "completed";
    });
    const id = randomUUID();
    await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
    renameSync(folder, `${folder}-moved`);
    away.resolve();
    expect(await asked.promise).toBeInstanceOf(Error);
    renameSync(`${folder}-moved`, folder);
    await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
    expect(words((await at.open(id))?.transcript ?? emptyTranscript(id))).toEqual([
      "prompt: Go",
      "text: Done.",
    ]);
    expect(texts(at)).toBe("");
  });

  it("when locked by another program delays only writes, and says so", async () => {
    const at = await open(speak);
    const ids = Array.from({ length: 10 }, () => randomUUID());
    for (const id of ids) await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
    await eventually(() => expect(at.working).toEqual([]));
    const other = new DatabaseSync(path());
    other.exec("BEGIN IMMEDIATE");
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const taken = Promise.all(ids.map((id) => at.send(id, promptOf("More"), "queue")));
    await eventually(() => expect(texts(at)).toContain(`another program has locked ${path()}`));
    delay.disable();
    // In nanoseconds: half a second for each session is too long.
    expect(delay.max).toBeLessThan(2e9);
    expect(at.status().notices[0]?.remedy).toContain("the other program");
    other.close();
    await taken;
    await eventually(() => expect(ids.map((id) => at.get(id)?.turns)).toEqual(ids.map(() => 2)));
    expect(texts(at)).toBe("");
  });

  it("stores all other sessions if one session's part of a commit fails", async () => {
    const at = await open(speak);
    const ids = [randomUUID(), randomUUID()];
    const [bad = "", good = ""] = ids;
    for (const id of ids) {
      await at.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
      await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
    }
    // Another writer used this session's next position.
    const other = new DatabaseSync(path());
    other.prepare("INSERT INTO history (session_id, position, event) VALUES (?, 5, '{}')").run(bad);
    const waits = at.send(bad, promptOf("More"), "queue");
    await at.send(good, promptOf("More"), "queue");
    await eventually(() => expect(at.get(good)?.status).toBe("completed"));
    expect(at.get(bad)?.turns).toBe(1);
    expect(texts(at)).toContain("cannot be written");
    other.prepare("DELETE FROM history WHERE session_id = ? AND position = 5").run(bad);
    other.close();
    await waits;
    await eventually(() => expect(at.get(bad)?.status).toBe("completed"));
    await eventually(() => expect(texts(at)).toBe(""));
  });
});
