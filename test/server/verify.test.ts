import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
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

/** Every session below a folder that does not equal its record, read anew. At least so many sessions are expected. */
async function different(folder: string, least: number): Promise<string[]> {
  const data = realpathSync(mkdtempSync(join(tmpdir(), "verify-")));
  const sessions = createSessions({ formats, roots: [], paths: [folder], dataFolder: data, hints: false });
  try {
    await eventually(() => {
      expect(sessions.status().index.done).toBe(true);
      expect(sessions.list().length).toBeGreaterThanOrEqual(least);
    });
    const found: string[] = [];
    for (const { id, agent } of sessions.list()) {
      const open = await sessions.open(id);
      const frames = await sessions.frames(id);
      if (open === undefined || frames === undefined) throw new Error(`${agent} ${id} cannot be opened`);
      let reread = emptyTranscript(id);
      for await (const batch of frames) for (const frame of batch) reread = accumulate(reread, frame);
      const { difference } = verify(open.transcript, reread);
      if (difference !== undefined) found.push(`${agent} ${id} ${difference.index}`);
    }
    return found;
  } finally {
    await sessions.close();
    rmSync(data, { recursive: true, force: true });
  }
}

const fixtures = join(import.meta.dirname, "../fixtures");
it("every fixture that is shown equals its record", async () => {
  expect(await different(fixtures, 30)).toEqual([]);
});

it("every session that is still written equals its record", async () => {
  const copy = mkdtempSync(join(tmpdir(), "verify-running-"));
  try {
    // A copy is as new as a file that its agent has just written.
    cpSync(join(fixtures, "claude-code"), join(copy, "claude-code"), { recursive: true });
    expect(await different(copy, 10)).toEqual([]);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

const corpus = sharedData("corpus");
it.skipIf(corpus === undefined)(
  "every real session that is shown equals its record (skipped without the shared data)",
  async () => {
    expect(await different(corpus ?? "", 400)).toEqual([]);
  },
);
