import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { OpenSession } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { seeded } from "../seeded.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "resume-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts a daemon, and opens the session of a file with this content. */
async function withDaemon<Value>(
  { session_id, text }: { session_id: string; text: string },
  use: (open: OpenSession) => Value,
): Promise<Value> {
  const path = join(folder, `${session_id}.jsonl`);
  writeFileSync(path, text);
  const sessions = createSessions({ formats, roots: [], paths: [path] });
  try {
    await eventually(() => expect(sessions.get(session_id)).toBeDefined());
    const open = await sessions.open(session_id);
    if (!open) throw new Error("The session did not open.");
    return use(open);
  } finally {
    await sessions.close();
  }
}

const positionOf = (open: OpenSession) => ({
  epoch: open.epoch,
  seq: open.seq,
  check: open.checkAt?.(open.seq),
  transcript: open.transcript,
});

it("sends exactly the missed frames after a restart, wherever the file was cut", async () => {
  const { session_id, lines } = generateClaudeSession({ parts: 60, turns: 4 });
  const text = lines.map((line) => `${line}\n`).join("");
  const random = seeded(7);
  let bytes = 0;
  const line_ends = lines.map((line) => {
    bytes += line.length + 1;
    return bytes;
  });
  let resumed = 0;
  for (let round = 0; round < 12; round += 1) {
    // Half of the cuts tear a line. A third of the clients missed nothing.
    const torn = Math.floor(text.length * (0.2 + 0.8 * random()));
    const cut = round % 2 === 0 ? torn : (line_ends[Math.floor(line_ends.length * random())] ?? torn);
    const end = round % 3 === 0 ? cut : cut + Math.floor((text.length - cut) * random());
    const before = await withDaemon({ session_id, text: text.slice(0, cut) }, positionOf);
    await withDaemon({ session_id, text: text.slice(0, end) }, (open) => {
      expect(open.epoch).not.toBe(before.epoch);
      expect(open.framesAfter(before.epoch, before.seq)).toBeUndefined();
      const missed = open.framesAfter(before.epoch, before.seq, before.check);
      if (end === cut) expect(missed).toEqual([]);
      if (!missed) return;
      resumed += 1;
      expect(missed.map(({ seq }) => seq)).toEqual(missed.map((_, index) => before.seq + 1 + index));
      const folded = missed.reduce((state, { frame }) => accumulate(state, frame), before.transcript);
      expect([...folded.parts]).toEqual([...open.transcript.parts]);
    });
  }
  expect(resumed).toBeGreaterThan(4);
});

it("does not resume in a file whose beginning differs", async () => {
  const { session_id, lines } = generateClaudeSession({ parts: 20, turns: 2 });
  const text = lines.map((line) => `${line}\n`).join("");
  const before = await withDaemon({ session_id, text }, positionOf);
  const other = generateClaudeSession({ parts: 20, turns: 2, seed: 99 }).lines.map(
    (line) => `${line.replaceAll(/"sessionId":"[^"]*"/g, `"sessionId":"${session_id}"`)}\n`,
  );
  await withDaemon({ session_id, text: other.join("") }, (open) => {
    expect(open.framesAfter(before.epoch, before.seq, before.check)).toBeUndefined();
  });
});
