import type { Context } from "hono";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { locatePart } from "../sessions/load-parts.ts";
import { Refused } from "../sessions/refused.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { numberOf } from "./query-number.ts";

/** The error for an unknown session id. */
export const noSession = (): Refused =>
  new Refused(404, "no_session", daemonText("session_unknown"), daemonText("reload_list"));

/** Opens a session. Throws a `Refused` (404 `no_session`) if there is none. */
export async function openSession(sessions: Sessions, id: string): Promise<OpenSession> {
  const open = await sessions.open(id);
  if (open === undefined) throw noSession();
  return open;
}

/** The turn of a request, from 1, or all of them. Throws a `Refused` (400 `query`) for anything else. */
export function turnOf(context: Context): number | "all" {
  const turn = context.req.query("turn");
  const number = turn === undefined ? "all" : numberOf(turn);
  if (number === undefined || number === 0) throw new Refused(400, "query", daemonText("turn_not_number"));
  return number;
}

/** The error for a turn that the session does not have. */
export const noTurn = (turn: number | "all"): Refused =>
  new Refused(404, "no_turn", daemonText("turn_unknown", { turn }));

/** The position of a part, of the part of a call, or of the first part of a turn. */
export async function locate(
  open: OpenSession,
  { part, turn, call }: { part?: string | undefined; turn?: string | undefined; call?: string | undefined },
  locateCall: (tool_call_id: string) => Promise<number | undefined>,
): Promise<number | undefined> {
  if (part !== undefined) return await locatePart(open, part);
  if (call !== undefined) return await locateCall(call);
  for (const known of open.transcript.turns)
    if (known?.id === turn) return known?.prompt_index ?? known?.first_part;
  return undefined;
}
