import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { formats } from "../../src/formats/index.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { createSessions } from "../../src/server/catalog.ts";
import { createIndexer } from "../../src/server/indexer.ts";
import type { Sessions } from "../../src/server/sessions.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";

const claude = formats.find(({ id }) => id === "claude-code");
if (!claude) throw new Error("There is no format claude-code");

let folder: string;
let running: Sessions[];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "growth-")));
  running = [];
});
afterEach(async () => {
  for (const sessions of running) await sessions.close();
  rmSync(folder, { recursive: true });
});

/** `idle`: after so long a file's reader is put away, in milliseconds. */
function start(idle: number): Sessions {
  const sessions = createSessions({
    formats: [claude ?? never()],
    roots: [{ format: claude ?? never(), path: join(folder, "agent") }],
    indexer: createIndexer(),
    timing: { hot: 20, list: 20, settle: 20, publish: 5, tick: 10, idle },
  });
  running.push(sessions);
  return sessions;
}
function never(): never {
  throw new Error("unreachable");
}

const figures = (row: SessionSummary | undefined) =>
  row && {
    turns: row.turns,
    steps: row.steps,
    tool_calls: row.tool_calls,
    errors: row.errors,
    parts: row.parts,
    usage: row.usage,
    first_prompt: row.first_prompt,
    last_activity_at: row.last_activity_at,
  };

it.each([0, 60_000])(
  "a session that grows while its reader is away counts as one that is read whole (idle %d)",
  async (idle) => {
    const { session_id, lines } = generateClaudeSession({ parts: 2_000, turns: 40 });
    const project = join(folder, "agent", "projects", "-home-ada");
    mkdirSync(project, { recursive: true });
    const file = join(project, `${session_id}.jsonl`);
    const known = Math.floor(lines.length * 0.7);
    writeFileSync(file, `${lines.slice(0, known).join("\n")}\n`);
    const sessions = start(idle);
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    const size = Math.ceil((lines.length - known) / 7);
    for (let at = known; at < lines.length; at += size) {
      const before = sessions.get(session_id)?.parts ?? 0;
      appendFileSync(file, `${lines.slice(at, at + size).join("\n")}\n`);
      await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
    }
    const whole = start(60_000);
    await eventually(() => expect(whole.status().index.done).toBe(true));
    await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
  },
);

it("a line that was written half when its file was read counts once it is whole", async () => {
  const { session_id, lines } = generateClaudeSession({ parts: 2_000, turns: 40 });
  const project = join(folder, "agent", "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const file = join(project, `${session_id}.jsonl`);
  const known = Math.floor(lines.length * 0.7);
  const [torn = "", ...others] = lines.slice(known, known + 40);
  writeFileSync(file, `${lines.slice(0, known).join("\n")}\n${torn.slice(0, 100)}`);
  const sessions = start(0);
  await eventually(() => expect(sessions.status().index.done).toBe(true));
  const before = sessions.get(session_id)?.parts ?? 0;
  appendFileSync(file, `${torn.slice(100)}\n${others.join("\n")}\n`);
  await eventually(() => expect(sessions.get(session_id)?.parts).toBeGreaterThan(before));
  const whole = start(60_000);
  await eventually(() => expect(whole.status().index.done).toBe(true));
  await eventually(() => expect(figures(sessions.get(session_id))).toEqual(figures(whole.get(session_id))));
});
