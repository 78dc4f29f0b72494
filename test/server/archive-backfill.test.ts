import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { archivedFiles, storedIn } from "./stored-in.ts";

let folder: string;
const files = new Map<string, string>();
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "catch-up-")));
  const project = join(folder, "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  // The last one takes several turns.
  for (const [n, parts] of [20, 200, 6_000].entries()) {
    const { session_id, lines } = generateClaudeSession({ parts, turns: 4, seed: n });
    const path = join(project, `${session_id}.jsonl`);
    writeFileSync(path, `${lines.join("\n")}\n`);
    files.set(session_id, path);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function start(): Sessions {
  const [format] = formats.filter(({ id }) => id === "claude-code");
  if (!format) throw new Error("There is no format claude-code");
  return createSessions({
    formats: [format],
    roots: [{ format, path: folder }],
    ...storedIn(join(folder, "data")),
    indexer: createIndexer(),
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
}

/** The archived bytes of each file. */
const archived = async (): Promise<Map<string, Buffer>> =>
  new Map((await archivedFiles(join(folder, "data"))).map(({ path, bytes }) => [path, bytes]));

it("archives a file that was only read for its rows, byte for byte, and shows it after the file is deleted", async () => {
  const first = start();
  const parts = new Map<string, number>();
  try {
    await eventually(() => expect(first.status().index.done).toBe(true));
    for (const id of files.keys()) parts.set(id, first.get(id)?.parts ?? 0);
    // The daemon may end halfway; the next one continues.
  } finally {
    await first.close();
  }
  const second = start();
  try {
    await eventually(async () => {
      const held = await archived();
      for (const path of files.values()) expect(held.get(path)?.equals(readFileSync(path))).toBe(true);
    });
    for (const path of files.values()) rmSync(path);
    for (const id of files.keys()) {
      await eventually(async () => {
        const view = await second.open(id);
        expect(second.get(id)?.archived).toBe(true);
        expect(view?.transcript.parts.length).toBeGreaterThanOrEqual(parts.get(id) ?? Number.NaN);
      });
    }
  } finally {
    await second.close();
  }
});
