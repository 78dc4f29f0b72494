import type { Hono } from "hono";
import type { ModelCall } from "../../model/context/context.ts";
import { callAt, describeCall, itemText } from "../../model/context/describe-call.ts";
import { modelCalls } from "../../model/context/model-calls.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { locatePart, overviewBefore, overviewOf } from "../sessions/load-parts.ts";
import { Refused } from "../sessions/refused.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { numberOf } from "./query-number.ts";
import { openSession } from "./session-query.ts";

const FIND_LIMIT = 1_000;

/** Adds the routes of model inputs: the items of a call's request, and the text of one item. */
export function addContextRoutes(app: Hono, sessions: Sessions): void {
  // Logged requests are in the file. It is read again only when it or the transcript has grown.
  const known = new WeakMap<Transcript, { byte_size: number; calls: Promise<readonly ModelCall[]> }>();

  async function callsOf(open: OpenSession, transcript: Transcript): Promise<readonly ModelCall[]> {
    const { byte_size } = open.summary;
    const before = known.get(transcript);
    if (before?.byte_size === byte_size) return await before.calls;
    const calls = readCalls(open.id, transcript);
    known.set(transcript, { byte_size, calls });
    // Failures are not cached.
    calls.catch(() => known.delete(transcript));
    return await calls;
  }

  const readCalls = async (id: string, transcript: Transcript): Promise<readonly ModelCall[]> =>
    modelCalls(transcript, (await sessions.loggedRequests?.(id)) ?? []);

  /** The calls of a session. The inputs of those up to `number`, or up to the step of a part, are complete. */
  async function callsBefore(
    id: string,
    { number, part }: { number?: number | undefined; part?: string | undefined },
  ): Promise<{ transcript: Transcript; calls: readonly ModelCall[]; number: number }> {
    const open = await openSession(sessions, id);
    const overview = await overviewOf(open);
    const calls = await callsOf(open, overview);
    const position = part === undefined ? undefined : await locatePart(open, part);
    if (part !== undefined && position === undefined)
      throw new Refused(404, "no_part", daemonText("part_unknown"));
    const found = position === undefined ? (number ?? 0) : callAt(calls, position);
    const first_part = calls[found - 1]?.first_part ?? 0;
    const transcript = await overviewBefore(open, first_part);
    return { transcript, calls: await callsOf(open, transcript), number: found };
  }

  app.get("/api/sessions/:id/context", async (context) => {
    const { call, part, find = "" } = context.req.query();
    if ((call === undefined) === (part === undefined) || find.length > FIND_LIMIT)
      throw new Refused(400, "query", daemonText("call_or_part"));
    const { transcript, calls, number } = await callsBefore(context.req.param("id"), {
      number: numberOf(call),
      part,
    });
    const reply = describeCall(transcript, calls, number, find);
    if (reply === undefined) throw noCall();
    return context.json(reply);
  });

  app.get("/api/sessions/:id/context/:call/items/:item", async (context) => {
    const number = numberOf(context.req.param("call"));
    const { calls } = await callsBefore(context.req.param("id"), { number });
    const call = calls[(number ?? 0) - 1];
    const item = numberOf(context.req.param("item"));
    const text = call && item !== undefined ? itemText(call, item) : undefined;
    if (text === undefined) throw noCall();
    return context.json({ text });
  });
}

const noCall = (): Refused => new Refused(404, "no_call", daemonText("model_call_unknown"));
