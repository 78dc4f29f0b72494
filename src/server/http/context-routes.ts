import type { Context, Hono } from "hono";
import { describeCall, itemText, type LeftItem } from "../../model/context/describe-call.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { ContextReply } from "../../protocol.ts";
import { locatePart } from "../sessions/load-parts.ts";
import { type CallPlace, createCallFinder } from "../sessions/model-calls.ts";
import { Refused } from "../sessions/refused.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { numberOf } from "./query-number.ts";
import { openSession } from "./session-query.ts";

const FIND_LIMIT = 1_000;

/** Adds the routes of model inputs: the items of a call's request, and the text of one item. */
export function addContextRoutes(app: Hono, sessions: Sessions): void {
  const finder = createCallFinder(sessions);

  async function callIn(context: Context, placeIn: (open: OpenSession) => Promise<CallPlace>, find = "") {
    const open = await openSession(sessions, context.req.param("id") ?? "");
    const options = { isForSearch: find !== "", signal: context.req.raw.signal };
    const found = await finder.find(open, await placeIn(open), options);
    if (found === undefined) throw noCall();
    return found;
  }

  app.get("/api/sessions/:id/context", async (context) => {
    const { call, part, find = "" } = context.req.query();
    if ((call === undefined) === (part === undefined) || find.length > FIND_LIMIT)
      throw new Refused(400, "query", daemonText("call_or_part"));
    const placeIn = async (open: OpenSession): Promise<CallPlace> => {
      if (part === undefined) return { number: numberOf(call) ?? 0 };
      const position = await locatePart(open, part);
      if (position === undefined) throw new Refused(404, "no_part", daemonText("part_unknown"));
      return { position };
    };
    const { transcript, calls, at, before, total, is_cut } = await callIn(context, placeIn, find);
    const described = describeCall(transcript, calls, at, find);
    if (described === undefined) throw noCall();
    const inSession = (item: LeftItem): LeftItem => ({ ...item, last_call: item.last_call + before });
    const reply: ContextReply = {
      ...described,
      call: described.call + before,
      calls: total,
      step: described.step === null ? null : described.step + before,
      left: described.left.map(inSession),
      found_earlier: described.found_earlier.map(inSession),
      ...(is_cut && { is_cut }),
    };
    return context.json(reply);
  });

  app.get("/api/sessions/:id/context/:call/items/:item", async (context) => {
    const number = numberOf(context.req.param("call")) ?? 0;
    const { calls, at } = await callIn(context, async () => ({ number }));
    const call = calls[at - 1];
    const item = numberOf(context.req.param("item"));
    const text = call && item !== undefined ? itemText(call, item) : undefined;
    if (text === undefined) throw noCall();
    return context.json({ text });
  });
}

const noCall = (): Refused => new Refused(404, "no_call", daemonText("model_call_unknown"));
