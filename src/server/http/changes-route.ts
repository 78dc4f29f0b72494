import type { Hono } from "hono";
import { turnLedger } from "../../model/ledger/turn-ledger.ts";
import type { ChangesReply } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { numberOf } from "./query-number.ts";

/** Maximum number of diff lines in a reply. */
const MAX_LINES = 20_000;

/** Adds the route of the ledger: the changes of a turn or of the whole session. */
export function addChangesRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/changes", async (context) => {
    const { turn } = context.req.query();
    const number = turn === undefined ? "all" : numberOf(turn);
    if (number === undefined || number === 0)
      throw new Refused(400, "query", "`turn` must be a number from 1.");
    const open = await sessions.open(context.req.param("id"));
    if (open === undefined) throw new Refused(404, "no_session", "There is no such session.");
    const ledger = turnLedger(open.transcript, number);
    if (ledger === undefined) throw new Refused(404, "no_turn", `The session has no turn ${number}.`);
    let room = MAX_LINES;
    const files = ledger.files.map((file) => {
      room -= file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
      return room >= 0 ? file : { ...file, hunks: [], is_cut: true };
    });
    const reply: ChangesReply = { ...ledger, files, turns: open.transcript.turns.length };
    return context.json(reply);
  });
}
