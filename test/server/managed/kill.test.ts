import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { frame } from "../../../src/model/frames/frame.ts";
import { decodeEvent } from "../../../src/model/messages/history.ts";
import { framesOf } from "../../../src/model/messages/replay.ts";
import { accumulate, unpairedOf } from "../../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../../src/model/transcript/transcript-state.ts";
import { truncatePart } from "../../../src/model/truncate/truncate.ts";
import { eventually } from "../../eventually.ts";
import { seeded } from "../../seeded.ts";
import { type Daemon, startDaemon } from "./daemon.ts";

/** More by hand: `KILLS=200 npx vitest run test/server/managed/kill.test.ts`. */
const KILLS = Number(process.env.KILLS ?? 5);

let folder: string;
let daemon: Daemon | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kill-"));
  const step = (n: number) => ({
    parts: [
      { thinking: `Step ${n}: ${"I think about the tides. ".repeat(12)}` },
      { text: `What step ${n} says: ${"the harbour is quiet. ".repeat(12)}` },
      { tool_call: { name: "read", arguments: { path: "notes.txt" } } },
      { tool_call: { name: "glob", arguments: { pattern: "*.txt" } } },
    ],
  });
  const script = {
    title: "Busy",
    tokens_per_second: 900,
    steps: [...Array.from({ length: 12 }, (_, n) => step(n)), { parts: [{ text: "Done." }] }],
  };
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  writeFileSync(join(folder, "notes.txt"), "High water at noon.\n");
});
afterAll(async () => {
  await daemon?.kill("SIGKILL");
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

const partsOf = ({ parts }: Transcript) => [...parts].flatMap((part) => part ?? []);

/** The parts of a session in the store, read without the daemon. */
function stored(session_id: string): TranscriptPart[] {
  const database = new DatabaseSync(join(folder, "data/history.db"), { readOnly: true });
  const rows = (table: string, column: string) =>
    database
      .prepare(`SELECT ${column} AS text FROM ${table} WHERE session_id = ? ORDER BY position`)
      .all(session_id)
      .map(({ text }) => String(text));
  const history = rows("history", "event").map(decodeEvent);
  const pending = rows("pending", "frame").map((text) => frame.parse(JSON.parse(text)));
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  database.close();
  const frames = [...framesOf(history, session_id), ...pending];
  return partsOf(frames.reduce(accumulate, emptyTranscript(session_id)));
}

/** Whether a part contains everything that was shown of it before. */
function expectKept(now: TranscriptPart | undefined, seen: TranscriptPart, index: number) {
  const where = `part ${index}, ${seen.type}`;
  expect(now?.id, where).toBe(seen.id);
  expect(now?.type, where).toBe(seen.type);
  if (seen.type === "text" && now?.type === "text") expect(now.text.startsWith(seen.text), where).toBe(true);
  else if (seen.type === "thinking" && now?.type === "thinking") {
    expect(now.thinking.startsWith(seen.thinking), where).toBe(true);
  } else if (seen.type === "tool_call" && now?.type === "tool_call") {
    expect(now.arguments_json.startsWith(seen.arguments_json), where).toBe(true);
  } else if (seen.type === "tool_result") expect(now, where).toEqual(seen);
}

it(`a daemon killed at ${KILLS} moments while working loses nothing that was shown, duplicates nothing, and continues`, {
  timeout: 60_000 + KILLS * 15_000,
}, async () => {
  const random = seeded(7);
  const session_id = randomUUID();
  const model = `file:${join(folder, "script.json")}`;
  let seen: TranscriptPart[] = [];
  const prompts: { message_id: string; text: string }[] = [];

  for (let kill = 0; kill < KILLS; kill++) {
    daemon = await startDaemon(folder);
    const send = async (prompt: { message_id: string; text: string }) =>
      await daemon?.post(`/api/sessions/${session_id}/prompts`, { prompt, when: "queue" });
    const prompt = { message_id: randomUUID(), text: `Prompt ${kill}` };
    if (kill === 0) {
      const reply = await daemon.post("/api/sessions", {
        session_id,
        agent: "scripted",
        model,
        cwd: folder,
        prompt,
      });
      expect(reply).toEqual({ status: 201, body: { session_id } });
    } else {
      // Sends everything again, since the kill may have lost the replies.
      for (const sent of prompts) expect(await send(sent)).toEqual({ status: 200, body: {} });
      // The client equals the store, has everything shown before, and has no open parts.
      const follower = await daemon.follow(session_id);
      await eventually(() => expect(follower.transcript).toBeDefined());
      const reopened = follower.transcript;
      if (!reopened) throw new Error("There is no snapshot.");
      const kept = stored(session_id);
      expect(reopened.parts.length).toBe(kept.length);
      for (const [index, part] of seen.entries()) expectKept(kept[index], part, index);
      for (const [index, part] of kept.entries()) {
        const shown = reopened.parts.at(index);
        if (shown) expect(shown).toEqual(truncatePart(part));
      }
      expect(unpairedOf(reopened).open_calls).toEqual([]);
      expect(reopened.open.turn_open).toBe(false);
      expect(await send(prompt)).toEqual({ status: 200, body: {} });
    }
    prompts.push(prompt);
    const follower = await daemon.follow(session_id);
    await eventually(() => expect(follower.transcript).toBeDefined());
    const until = follower.received + 1 + Math.floor(random() * 60);
    await eventually(() => expect(follower.received).toBeGreaterThanOrEqual(until));
    await daemon.kill("SIGKILL");
    // A session longer than a page is loaded only at its end.
    const before = stored(session_id);
    seen = before.map((part, index) => follower.transcript?.parts.at(index) ?? part);
    expect(before.length).toBeGreaterThanOrEqual(follower.transcript?.parts.length ?? 0);
  }

  daemon = await startDaemon(folder);
  await daemon.post(`/api/sessions/${session_id}/stop`, {});
  const texts = stored(session_id).flatMap((part) =>
    part.type === "prompt" ? part.parts.map((one) => (one.type === "text" ? one.text : "")) : [],
  );
  expect(texts).toEqual(prompts.map(({ text }) => text));
});
