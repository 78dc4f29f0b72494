import type { Hono } from "hono";
import { ledgerOf } from "../../model/ledger/ledger.ts";
import { turnLedger } from "../../model/ledger/turn-ledger.ts";
import type { TranscriptPart, Turn } from "../../model/transcript/transcript.ts";
import { truncateForOverview } from "../../model/truncate/truncate.ts";
import type { ChangesReply } from "../../protocol.ts";
import { loadPieces } from "../sessions/load-parts.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { noTurn, openSession, turnOf } from "./session-query.ts";

/** Maximum number of diff lines in a reply. */
const MAX_LINES = 20_000;

/** Adds the route of the ledger: the changes of a turn or of the whole session. */
export function addChangesRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/changes", async (context) => {
    const turn = turnOf(context);
    const open = await openSession(sessions, context.req.param("id"));
    const { turns, unloaded } = open.transcript;
    const range = turn === "all" ? undefined : turns.at(turn - 1);
    const ledger =
      unloaded === undefined
        ? turnLedger(open.transcript, turn)
        : (turn === "all" || range) && ledgerOf(await changingParts(open, range));
    if (!ledger) throw noTurn(turn);
    let room = MAX_LINES;
    const files = ledger.files.map((file) => {
      room -= file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
      return room >= 0 ? file : { ...file, hunks: [], is_cut: true };
    });
    const reply: ChangesReply = { ...ledger, files, turns: turns.length };
    return context.json(reply);
  });
}

/** The parts of a turn or of the whole session, without the outputs, which may not fit in memory together. */
async function changingParts(open: OpenSession, turn: Turn | undefined): Promise<TranscriptPart[]> {
  const parts: TranscriptPart[] = [];
  const end = turn && turn.first_part + turn.part_count;
  for await (const { transcript, from, to } of loadPieces(open, turn?.first_part, end))
    for (const part of transcript.parts.slice(from, to)) if (part) parts.push(withoutOutput(part));
  return parts;
}

/** The diffs of a result are kept whole. */
const withoutOutput = (part: TranscriptPart): TranscriptPart =>
  part.type === "tool_result" ? { ...part, output_text: "", parts: [] } : truncateForOverview(part);
