import { shorten } from "../../model/parts/content.ts";
import type { Answer, Request, RequestOutcome } from "../../model/request.ts";
import type { OpenRequest } from "../../model/session.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { positionOf } from "../../model/transcript/accumulate.ts";
import { ROW_TEXT_LIMIT } from "../../model/transcript/summarize.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { checkAnswer } from "../sessions/check-answer.ts";
import { Refused } from "../sessions/refused.ts";
import { openRequests } from "./finalize.ts";
import type { Recorder } from "./record/recorder.ts";

/** Maximum interval between checks for expired requests, in milliseconds. Timers do not advance while the machine sleeps. */
const MAX_TIMER_MS = 30_000;

interface Outcome {
  outcome: RequestOutcome;
  answer?: Answer;
}

/** The requests of one session to the user. Each is closed once, by the first answer. */
export interface Requests {
  /** Unanswered requests, as shown in rows. */
  readonly open: readonly OpenRequest[];
  /** See `AgentHost.ask`. */
  ask(request: Request, signal: AbortSignal): Promise<Answer | undefined>;
  /**
   * Answers a request. Returns the request's outcome, which differs from the answer if it was closed before. Throws `Refused` if
   * there is no such request or the answer does not fit it.
   */
  answer(request_id: string, given: { digest?: string; answer: Answer }): Outcome;
  /** Called when the turn has ended and its frames have closed all requests: pending `ask` calls resolve with nothing. */
  abandon(): void;
  close(): void;
}

interface Asked {
  request: Request;
  asked_at: number;
  result?: Outcome;
  timer?: NodeJS.Timeout;
  waiting: ((answer: Answer | undefined) => void)[];
}

/** The requests of a session, beginning with those of its record. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the open requests: its functions are short
export function createRequests(options: {
  recorder: Recorder;
  now: () => number;
  /** Default timeout of approvals and questions, in milliseconds. Absent: none. */
  answer_within?: number;
  changed(): void;
}): Requests {
  const { recorder, now } = options;
  const asked = new Map<string, Asked>();
  let is_closed = false;
  for (const part of openRequests(recorder.buffer.transcript)) take(part.request, part.at ?? now());

  function take(request: Request, asked_at: number): Asked {
    const entry: Asked = { request, asked_at, waiting: [] };
    asked.set(request.request_id, entry);
    expire(entry);
    return entry;
  }

  function expire(entry: Asked) {
    const { expires_at } = entry.request;
    if (expires_at === undefined || is_closed) return;
    const left = expires_at - now();
    entry.timer = setTimeout(
      () => {
        if (hasExpired(entry)) end(entry, { outcome: "expired" });
        else expire(entry);
      },
      Math.min(Math.max(left, 0), MAX_TIMER_MS),
    );
  }

  const hasExpired = ({ request: { expires_at } }: Asked) => expires_at !== undefined && expires_at <= now();

  /** The first outcome counts. The agent continues once it is on disk. */
  function end(entry: Asked, result: Outcome) {
    if (entry.result || is_closed) return;
    entry.result = result;
    clearTimeout(entry.timer);
    const { request_id } = entry.request;
    recorder.emit({ type: "request.close", session_id: recorder.id, at: now(), request_id, ...result });
    options.changed();
    void recorder.stored().then(() => {
      asked.delete(request_id);
      for (const resolve of entry.waiting) resolve(result.answer);
      options.changed();
    });
  }

  function partOf(request_id: string): TranscriptPartOf<"request"> | undefined {
    const { transcript } = recorder.buffer;
    const position = positionOf(transcript, request_id);
    const part = position === undefined ? undefined : transcript.parts.at(position);
    return part?.type === "request" ? part : undefined;
  }

  function begin(request: Request): Asked {
    const { answer_within } = options;
    const expires_at =
      request.expires_at ?? (answer_within === undefined ? undefined : now() + answer_within);
    const whole = expires_at === undefined ? request : { ...request, expires_at };
    recorder.emit({ type: "request.open", session_id: recorder.id, at: now(), request: whole });
    const entry = take(whole, now());
    options.changed();
    void recorder.stored().then(options.changed);
    return entry;
  }

  return {
    get open() {
      return (
        [...asked.values()]
          // Before it is on disk it is not in the transcript, so the user cannot read it.
          .filter(({ request, result }) => result === undefined && partOf(request.request_id) !== undefined)
          .map(
            ({ request: { request_id, kind, title, title_code, expires_at, tool_call_id }, asked_at }) => ({
              request_id,
              kind,
              title: shorten(title, ROW_TEXT_LIMIT),
              ...(title_code === undefined ? {} : { title_code }),
              asked_at,
              ...(expires_at === undefined ? {} : { expires_at }),
              ...(tool_call_id === undefined ? {} : { tool_call_id }),
            }),
          )
      );
    },
    async ask(request, signal) {
      const known = asked.get(request.request_id);
      const part = known ? undefined : partOf(request.request_id);
      if (part?.outcome !== undefined) return part.answer;
      if (signal.aborted || is_closed) return undefined;
      const entry = known ?? begin(request);
      return await new Promise((resolve) => {
        const cancel = () => end(entry, { outcome: "cancelled" });
        entry.waiting.push((answer) => {
          signal.removeEventListener("abort", cancel);
          resolve(answer);
        });
        signal.addEventListener("abort", cancel, { once: true });
      });
    },
    answer(request_id, given) {
      const entry = asked.get(request_id);
      if (!entry) {
        const part = partOf(request_id);
        if (!part) throw new Refused(404, "no_request", daemonText("request_unknown"));
        const { outcome = "cancelled", answer } = part;
        return { outcome, ...(answer === undefined ? {} : { answer }) };
      }
      if (!entry.result && hasExpired(entry)) end(entry, { outcome: "expired" });
      if (entry.result) return entry.result;
      checkAnswer(entry.request, given);
      end(entry, { outcome: "answered", answer: given.answer });
      return entry.result ?? { outcome: "cancelled" };
    },
    abandon() {
      for (const [id, entry] of asked) {
        if (entry.result) continue;
        clearTimeout(entry.timer);
        asked.delete(id);
        for (const resolve of entry.waiting) resolve(undefined);
      }
    },
    close() {
      is_closed = true;
      for (const { timer, waiting } of asked.values()) {
        clearTimeout(timer);
        // The agent gets no answer and can end. The request stays open on disk.
        for (const resolve of waiting) resolve(undefined);
      }
    },
  };
}
