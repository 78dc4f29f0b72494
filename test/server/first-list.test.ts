import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";

const HOUR = 3_600;

it("lists new sessions from previews, newest first, until they are read", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "first-list-")));
  const project = join(folder, "projects", "-home-ada");
  mkdirSync(project, { recursive: true });
  const ids = Array.from({ length: 12 }, (_, n) => {
    const { session_id, lines } = generateClaudeSession({ parts: 600, turns: 12, seed: n });
    const path = join(project, `${session_id}.jsonl`);
    writeFileSync(path, `${lines.join("\n")}\n`);
    // The newest may have just been copied here.
    const time = Date.now() / 1_000 - n * HOUR;
    utimesSync(path, time, time);
    return session_id;
  });
  const gate = Promise.withResolvers<void>();
  const real = createIndexer();
  const format = formats.find(({ id }) => id === "claude-code");
  if (!format) throw new Error("There is no format claude-code");
  const sessions = createSessions({
    formats: [format],
    roots: [{ format, path: folder }],
    indexer: {
      async index(job, handlers) {
        await gate.promise;
        return await real.index(job, handlers);
      },
      write: (target, update) => real.write(target, update),
      pause: () => real.pause(),
      resume: () => real.resume(),
      close: () => real.close(),
    },
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, tick: 10 },
  });
  try {
    await eventually(() => expect(sessions.list().length).toBe(ids.length));
    const listed = sessions.list();
    expect(listed.map(({ id }) => id)).toEqual(ids);
    for (const { first_prompt, status } of listed) {
      expect(first_prompt).toBeTruthy();
      expect(status).toBe("completed");
    }
    expect(sessions.status().index).toMatchObject({ done: false, files_done: 0 });
    gate.resolve();
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    await eventually(() => {
      for (const row of listed) expect(sessions.get(row.id)?.parts).toBeGreaterThan(row.parts);
    });
    for (const { id, first_prompt } of listed) expect(sessions.get(id)?.first_prompt).toBe(first_prompt);
  } finally {
    gate.resolve();
    await sessions.close();
    rmSync(folder, { recursive: true });
  }
});
