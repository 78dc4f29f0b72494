import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Hono } from "hono";
import { partDigest, sequenceDigest } from "../../model/compare/digest.ts";
import { comparedLines, comparedText, verify } from "../../model/compare/verify.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { accumulate } from "../../model/transcript/accumulate.ts";
import { sourceText } from "../../model/transcript/source-text.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import { truncatePart } from "../../model/truncate/truncate.ts";
import { type DiskReply, type PageParts, type VerifyReply, verifyBody } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { openSession } from "./session-query.ts";

/** Time after which the event loop gets a turn, in milliseconds. */
const SLICE_MS = 8;

/** Adds the routes that compare the shown session with its record, read again, and report how far it is behind its file. */
export function addVerifyRoutes(app: Hono, sessions: Sessions): void {
  app.post("/api/sessions/:id/verify", async (context) => {
    const id = context.req.param("id");
    const { page } = await readBody(context, verifyBody);
    const open = await openSession(sessions, id);
    if (open.transcript.unloaded !== undefined)
      throw new Refused(413, "too_long", daemonText("reread_too_long"));
    const reread = await readAgain(sessions, id);
    // Taken after reading, so records that were written in the meantime are in both.
    const shown = open.transcript;
    const [digest_shown, digest_reread] = [await digestOf(shown), await digestOf(reread)];
    const reply: VerifyReply = {
      ...(digest_shown === digest_reread
        ? { shown: shown.parts.length, reread: reread.parts.length }
        : verify(shown, reread)),
      digest_shown,
      digest_reread,
      ...(page && { page: await verifyPage(page, open, reread) }),
    };
    return context.json(reply);
  });

  app.get("/api/sessions/:id/disk", async (context) => {
    const id = context.req.param("id");
    const { epoch, seq, summary } = await openSession(sessions, id);
    const disk = await sessions.disk?.(id);
    const reply: DiskReply = {
      ...{ epoch, seq, now: Date.now(), newest_at: summary.last_activity_at },
      ...(disk && { disk }),
    };
    return context.json(reply);
  });
}

/** Lets other work run when a slice of time is used up. */
function createPauses(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await setImmediate();
    since = performance.now();
  };
}

async function readAgain(sessions: Sessions, id: string): Promise<Transcript> {
  const frames = await sessions.frames(id);
  if (frames === undefined) throw new Refused(404, "no_record", daemonText("record_gone"));
  const pause = createPauses();
  let transcript = emptyTranscript(id);
  for await (const batch of frames)
    for (const frame of batch) {
      transcript = accumulate(transcript, frame);
      await pause();
    }
  return transcript;
}

async function digestOf(transcript: Transcript): Promise<string> {
  const pause = createPauses();
  const hash = createHash("sha256");
  for (const line of comparedLines(transcript)) {
    hash.update(line);
    await pause();
  }
  return hash.digest("hex");
}

/** Compares the digests of the parts that a page holds with those of the record, truncated as they are sent to pages. */
async function verifyPage(
  { epoch, seq, parts }: PageParts,
  open: OpenSession,
  reread: Transcript,
): Promise<NonNullable<VerifyReply["page"]>> {
  const expected: string[] = [];
  let difference: NonNullable<VerifyReply["page"]>["difference"];
  const behind = open.epoch === epoch ? open.seq - seq : undefined;
  for (const { from, digests } of parts) {
    for (const [at, digest] of digests.entries()) {
      const index = from + at;
      const part = reread.parts.at(index);
      const sent = part && truncatePart(part);
      const own = sent === undefined ? "" : await partDigest(sent);
      expected.push(own);
      if (own === digest || difference !== undefined) continue;
      difference = {
        index,
        ...(sent && { part_id: sent.id, reread: comparedText(sent) }),
        ...(sent?.source && { place: sourceText(sent.source) }),
      };
    }
  }
  return {
    compared: expected.length,
    digest: await sequenceDigest(expected),
    ...(behind !== undefined && { behind }),
    ...(difference && { difference }),
  };
}
