import type { Hono } from "hono";
import type { ModelCall } from "../../model/context/context.ts";
import { callAt, describeCall, itemText } from "../../model/context/describe-call.ts";
import { modelCalls } from "../../model/context/model-calls.ts";
import { positionOf } from "../../model/transcript/accumulate.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { numberOf } from "./query-number.ts";
import { openSession } from "./session-query.ts";

const FIND_LIMIT = 1_000;

/** Adds the routes of model inputs: the items of a call's request, and the text of one item. */
export function addContextRoutes(app: Hono, sessions: Sessions): void {
  // Logged requests are in the file. It is read again only when it or the transcript has grown.
  const known = new WeakMap<Transcript, { byte_size: number; calls: Promise<readonly ModelCall[]> }>();

  async function callsOf(id: string): Promise<{ transcript: Transcript; calls: readonly ModelCall[] }> {
    const { transcript, summary } = await openSession(sessions, id);
    const { byte_size } = summary;
    const before = known.get(transcript);
    if (before?.byte_size === byte_size) return { transcript, calls: await before.calls };
    const calls = readCalls(id, transcript);
    known.set(transcript, { byte_size, calls });
    // Failures are not cached.
    calls.catch(() => known.delete(transcript));
    return { transcript, calls: await calls };
  }

  const readCalls = async (id: string, transcript: Transcript): Promise<readonly ModelCall[]> =>
    modelCalls(transcript, (await sessions.loggedRequests?.(id)) ?? []);

  app.get("/api/sessions/:id/context", async (context) => {
    const { call, part, find = "" } = context.req.query();
    if ((call === undefined) === (part === undefined) || find.length > FIND_LIMIT)
      throw new Refused(
        400,
        "query",
        "Exactly one of `call` and `part` is required, and `find` can have at most 1,000 characters.",
      );
    const { transcript, calls } = await callsOf(context.req.param("id"));
    let number = numberOf(call);
    if (part !== undefined) {
      const position = positionOf(transcript, part);
      if (position === undefined) throw new Refused(404, "no_part", "The session has no such part.");
      number = callAt(calls, position);
    }
    const reply = describeCall(transcript, calls, number ?? 0, find);
    if (reply === undefined) throw noCall();
    return context.json(reply);
  });

  app.get("/api/sessions/:id/context/:call/items/:item", async (context) => {
    const { calls } = await callsOf(context.req.param("id"));
    const call = calls[(numberOf(context.req.param("call")) ?? 0) - 1];
    const item = numberOf(context.req.param("item"));
    const text = call && item !== undefined ? itemText(call, item) : undefined;
    if (text === undefined) throw noCall();
    return context.json({ text });
  });
}

const noCall = (): Refused =>
  new Refused(404, "no_call", "The session has no such model call, or the call has no such item.");
