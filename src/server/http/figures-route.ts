import type { Hono } from "hono";
import { figuresOf } from "../../model/figures/figures.ts";
import type { FiguresReply } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { numberOf } from "./query-number.ts";

/** Adds the route of a turn's or session's figures: time, tokens and cost. */
export function addFiguresRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/figures", async (context) => {
    const { turn } = context.req.query();
    const number = turn === undefined ? "all" : numberOf(turn);
    if (number === undefined || number === 0)
      throw new Refused(400, "query", "`turn` must be a number from 1.");
    const open = await sessions.open(context.req.param("id"));
    if (open === undefined) throw new Refused(404, "no_session", "There is no such session.");
    const figures = figuresOf(open.transcript, number);
    if (figures === undefined) throw new Refused(404, "no_turn", `The session has no turn ${number}.`);
    const reply: FiguresReply = { ...figures, turns: open.transcript.turns.length };
    return context.json(reply);
  });
}
