import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { verify } from "../../src/model/compare/verify.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { sharedData } from "../shared-data.ts";

/** Every session below a folder that does not equal its record, read anew. */
async function different(folder: string): Promise<{ sessions: number; different: string[] }> {
  const data = realpathSync(mkdtempSync(join(tmpdir(), "verify-")));
  const sessions = createSessions({ formats, roots: [], paths: [folder], dataFolder: data, hints: false });
  try {
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    const found: string[] = [];
    const rows = sessions.list();
    for (const { id, agent } of rows) {
      const open = await sessions.open(id);
      const frames = await sessions.frames(id);
      if (open === undefined || frames === undefined) throw new Error(`${agent} ${id} cannot be opened`);
      let reread = emptyTranscript(id);
      for await (const batch of frames) for (const frame of batch) reread = accumulate(reread, frame);
      const { difference } = verify(open.transcript, reread);
      if (difference !== undefined) found.push(`${agent} ${id} ${difference.index}`);
    }
    return { sessions: rows.length, different: found };
  } finally {
    await sessions.close();
    rmSync(data, { recursive: true, force: true });
  }
}

it("every fixture that is shown equals its record", async () => {
  const result = await different(join(import.meta.dirname, "../fixtures"));
  expect(result.different).toEqual([]);
  expect(result.sessions).toBeGreaterThan(30);
});

const corpus = sharedData("corpus");
it.skipIf(corpus === undefined)(
  "every real session that is shown equals its record (skipped without the shared data)",
  async () => {
    const result = await different(corpus ?? "");
    expect(result.different).toEqual([]);
    expect(result.sessions).toBeGreaterThan(400);
  },
);
