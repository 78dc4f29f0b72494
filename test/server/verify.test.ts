import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { partDigest } from "../../src/model/compare/digest.ts";
import { comparedText } from "../../src/model/compare/verify.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate, accumulateAndAddress } from "../../src/model/transcript/accumulate.ts";
import { transcriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { truncateFrame, truncatePart } from "../../src/model/truncate/truncate.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { compareWithRecord } from "../../src/server/sessions/compare-record.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { times } from "../long.ts";
import { sharedData } from "../shared-data.ts";
import { storedIn } from "./stored-in.ts";

/** The digests of the parts as a page receives them. */
const sentDigests = async ({ parts }: Transcript): Promise<string[]> =>
  await Promise.all(
    [...parts].map(async (part) =>
      part ? await partDigest(transcriptPart.parse(JSON.parse(JSON.stringify(truncatePart(part))))) : "",
    ),
  );

/** The parts of a page that folded each frame as it was sent. */
const followedTexts = (frames: readonly Frame[]): (string | undefined)[] => {
  const [first] = frames;
  const page = frames.reduce(
    (transcript, frame) => accumulate(transcript, truncateFrame(frame)),
    emptyTranscript(first?.session_id ?? ""),
  );
  return [...page.parts].map((part) => part && comparedText(truncatePart(part)));
};

/**
 * Expects every `stride`-th session below a folder to equal its record, read again. The folder must have at least `least`
 * sessions.
 */
async function expectEqual(folder: string, least: number, stride = 1): Promise<void> {
  const data = realpathSync(mkdtempSync(join(tmpdir(), "verify-")));
  const sessions = createSessions({ formats, roots: [], paths: [folder], ...storedIn(data), hints: false });
  try {
    await eventually(() => {
      expect(sessions.status().index.done).toBe(true);
      expect(sessions.list().length).toBeGreaterThanOrEqual(least);
    });
    const compared = sessions.list().filter((_row, index) => index % stride === 0);
    for (const { id, agent } of compared) {
      const open = await sessions.open(id);
      // The last line of a file that was just written is settled a moment later.
      await eventually(async () => {
        const [frames, again] = [await sessions.frames(id), await sessions.frames(id)];
        if (open === undefined || frames === undefined || again === undefined)
          throw new Error(`${agent} ${id} cannot be opened`);
        let reread = emptyTranscript(id);
        const addressed: Frame[] = [];
        for await (const batch of frames)
          for (const frame of batch) {
            const folded = accumulateAndAddress(reread, frame);
            reread = folded.transcript;
            addressed.push(folded.frame);
          }
        const { epoch, seq } = open;
        const page = { epoch, seq, parts: [{ from: 0, digests: await sentDigests(open.transcript) }] };
        const reply = await compareWithRecord({ open, frames: again, page });
        expect(reply.difference, `${agent} ${id}`).toBeUndefined();
        expect(reply.page?.difference, `${agent} ${id}`).toBeUndefined();
        expect(followedTexts(addressed), `${agent} ${id}`).toEqual(
          [...reread.parts].map((part) => part && comparedText(truncatePart(part))),
        );
      });
    }
  } finally {
    await sessions.close();
    rmSync(data, { recursive: true, force: true });
  }
}

const fixtures = join(import.meta.dirname, "../fixtures");
it("every fixture that is shown equals its record", async () => {
  await expectEqual(fixtures, 30);
});

it("every session that is still written equals its record", async () => {
  const copy = mkdtempSync(join(tmpdir(), "verify-running-"));
  try {
    // The copy's modification time is that of a file which is still written.
    cpSync(join(fixtures, "claude-code"), join(copy, "claude-code"), { recursive: true });
    await expectEqual(copy, 10);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

const corpus = sharedData("corpus");
const STRIDE = times(96, 1);
it.skipIf(corpus === undefined)(
  `one in ${STRIDE} real sessions that is shown equals its record (skipped without the shared data)`,
  async () => {
    await expectEqual(corpus ?? "", 400, STRIDE);
  },
);
