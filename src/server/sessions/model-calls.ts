import type { ModelCall } from "../../model/context/context.ts";
import { callAt } from "../../model/context/describe-call.ts";
import { modelCalls } from "../../model/context/model-calls.ts";
import type { LoggedRequest } from "../../model/context/request-log.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { isUnloaded } from "./load-parts.ts";
import type { OpenSession, Sessions } from "./sessions.ts";
import { countSteps, locateStep, stepWindow } from "./step-window.ts";

/** A model call of a session, with the calls that its description refers to. */
export interface CallInSession {
  transcript: Transcript;
  calls: readonly ModelCall[];
  /** One-based number of the call in `calls`. There may be none. */
  at: number;
  /** Number of calls before `calls`, and of all calls. */
  before: number;
  total: number;
  /** Earlier parts, which may belong to the call's input, are left out. */
  is_cut: boolean;
}

/** A call by its number (from 1), or the one that made the part at a position. */
export type CallPlace = { number: number } | { position: number };

interface FindOptions {
  /** Whether as many earlier calls as possible are needed. */
  isForSearch: boolean;
  signal: AbortSignal;
}

/** The model calls of sessions. */
export interface CallFinder {
  /** `undefined`: there is no such call. */
  find(open: OpenSession, place: CallPlace, options: FindOptions): Promise<CallInSession | undefined>;
}

export function createCallFinder(sessions: Sessions): CallFinder {
  // Logged requests are in the file. It is read again only when it has grown.
  const logs = new WeakMap<OpenSession, { byte_size: number; requests: Promise<readonly LoggedRequest[]> }>();
  const known = new WeakMap<
    readonly LoggedRequest[],
    { transcript: Transcript; calls: readonly ModelCall[] }
  >();

  async function requestsOf(open: OpenSession): Promise<readonly LoggedRequest[]> {
    const { byte_size } = open.summary;
    const before = logs.get(open);
    if (before?.byte_size === byte_size) return await before.requests;
    const requests = Promise.resolve(sessions.loggedRequests?.(open.id) ?? []);
    logs.set(open, { byte_size, requests });
    // Failures are not cached.
    requests.catch(() => logs.delete(open));
    return await requests;
  }

  async function callsOf(
    open: OpenSession,
  ): Promise<{ transcript: Transcript; calls: readonly ModelCall[] }> {
    const requests = await requestsOf(open);
    const { transcript } = open;
    const before = known.get(requests);
    if (before?.transcript === transcript) return before;
    const found = { transcript, calls: modelCalls(transcript, requests) };
    known.set(requests, found);
    return found;
  }

  async function findIn(open: OpenSession, place: CallPlace): Promise<CallInSession> {
    const { transcript, calls } = await callsOf(open);
    const at = "number" in place ? place.number : callAt(calls, place.position);
    return { transcript, calls, at, before: 0, total: calls.length, is_cut: false };
  }

  /**
   * The call at a position of a session that does not fit in memory, with those shortly before it. Logged attempts without an
   * answer are left out: their places among the steps would be known only after reading the whole session.
   */
  async function findNear(
    open: OpenSession,
    position: number,
    options: FindOptions,
  ): Promise<CallInSession | undefined> {
    const { transcript, steps_before, is_cut } = await stepWindow(open, position, options);
    const calls = modelCalls(transcript, await requestsOf(open)).filter(({ step }) => step !== null);
    const total = countSteps(transcript);
    if (calls.length > 0) return { transcript, calls, at: calls.length, before: steps_before, total, is_cut };
    // The position is before the first step.
    const first = await locateStep(open, 1, options.signal);
    return first === undefined || first <= position ? undefined : await findNear(open, first, options);
  }

  return {
    async find(open, place, options) {
      if (!isUnloaded(open)) return await findIn(open, place);
      const position =
        "position" in place ? place.position : await locateStep(open, place.number, options.signal);
      return position === undefined ? undefined : await findNear(open, position, options);
    },
  };
}
