import type { Hono } from "hono";
import { turnLedger } from "../../model/ledger/turn-ledger.ts";
import type { ChangesReply } from "../../protocol.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { noTurn, openSession, turnOf } from "./session-query.ts";

/** Maximum number of diff lines in a reply. */
const MAX_LINES = 20_000;

/** Adds the route of the ledger: the changes of a turn or of the whole session. */
export function addChangesRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/changes", async (context) => {
    const turn = turnOf(context);
    const { transcript } = await openSession(sessions, context.req.param("id"));
    const ledger = turnLedger(transcript, turn);
    if (ledger === undefined) throw noTurn(turn);
    let room = MAX_LINES;
    const files = ledger.files.map((file) => {
      room -= file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
      return room >= 0 ? file : { ...file, hunks: [], is_cut: true };
    });
    const reply: ChangesReply = { ...ledger, files, turns: transcript.turns.length };
    return context.json(reply);
  });
}
