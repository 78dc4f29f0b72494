import { createHash } from "node:crypto";
import type { Hono } from "hono";
import { comparedLines, verify } from "../../model/compare/verify.ts";
import { accumulate } from "../../model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { VerifyReply } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { openSession } from "./session-query.ts";

/** Adds the comparison of what is shown of a session with its record, read anew. */
export function addVerifyRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/verify", async (context) => {
    const id = context.req.param("id");
    const open = await openSession(sessions, id);
    const frames = await sessions.frames(id);
    if (frames === undefined) throw new Refused(404, "no_record", "The session's record is gone.");
    let reread = emptyTranscript(id);
    for await (const batch of frames) for (const frame of batch) reread = accumulate(reread, frame);
    // What was written while it was read is in both.
    const shown = open.transcript;
    const reply: VerifyReply = {
      ...verify(shown, reread),
      digest_shown: digestOf(shown),
      digest_reread: digestOf(reread),
    };
    return context.json(reply);
  });
}

function digestOf(transcript: Transcript): string {
  const hash = createHash("sha256");
  for (const line of comparedLines(transcript)) hash.update(line);
  return hash.digest("hex");
}
