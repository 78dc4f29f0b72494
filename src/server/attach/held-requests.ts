import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../model/narrow.ts";
import { shorten } from "../../model/parts/content.ts";
import type { Answer, Request, RequestOutcome } from "../../model/request.ts";
import type { OpenRequest } from "../../model/session.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { ROW_TEXT_LIMIT } from "../../model/transcript/summarize.ts";
import { checkAnswer } from "../sessions/check-answer.ts";
import { Refused } from "../sessions/refused.ts";
import type { AnswerLog } from "./answer-log.ts";
import type { HookConnection, TerminalRequest } from "./terminal-request.ts";

/** Interval at which the agents' states are compared with the held requests, in milliseconds. */
const CHECK_MS = 250;
/** Maximum time that a terminal's dialog is hidden, in milliseconds. */
const HIDDEN_MS = 15_000;
/** Seconds that an agent whose dialog is hidden waits for its hook: longer than the daemon holds it. */
export const HOLD_TIMEOUT_S = 30;
/** Time after the start of its hook within which an agent reports that it waits, in milliseconds. */
const GRACE_MS = 3_000;
/** Number of ended requests that are remembered, to reply to late answers. */
const MAX_ENDED = 500;

/** What the agent's process registry says about a session. */
export interface TerminalProcess {
  waiting?: unknown;
  /** It has no terminal in which someone could answer. */
  headless?: boolean;
}

/**
 * Requests of agents in terminals, each held while its hook waits. A request ends once: answered in Verbatim, answered in the
 * terminal, or left to the terminal.
 */
export interface HeldRequests {
  hold(asked: TerminalRequest, connection: HookConnection): Promise<void>;
  /** The open requests of a session, by the agent's session id, as shown in rows. */
  openOf(session_id: string): readonly OpenRequest[];
  get(request_id: string): Request | undefined;
  /** Answers a request. Throws `Refused` if it has ended or the answer does not fit it. */
  answer(
    request_id: string,
    given: { digest?: string; answer: Answer },
  ): { outcome: RequestOutcome; answer: Answer };
  /** Calls the listener with the agent's session id when its open requests change. */
  subscribe(listener: (session_id: string) => void): () => void;
  close(): void;
}

interface Held {
  asked: TerminalRequest;
  connection: HookConnection;
  asked_at: number;
  hides_dialog: boolean;
  answers: Map<string, Answer>;
  /** The process registry has reported that the session waits. */
  was_waiting: boolean;
}

interface HeldRequestsOptions {
  /** The agents' process registries, by session. */
  readProcesses(): Promise<ReadonlyMap<string, TerminalProcess>>;
  /** Whether a browser shows the session, by the agent's session id. */
  isWatched(session_id: string): boolean;
  log: AnswerLog;
  now: () => number;
  report(error: unknown): void;
}

/** Holds the requests of agents in terminals. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the held requests: its functions are short
export function createHeldRequests(options: HeldRequestsOptions): HeldRequests {
  const { readProcesses, isWatched, log, now, report } = options;
  const held = new Map<string, Held>();
  const ended = new Map<string, { why: DisplayText; answer?: Answer }>();
  const listeners = new Set<(session_id: string) => void>();
  let timer: NodeJS.Timeout | undefined;
  let is_closed = false;

  const entries = () => new Set(held.values());
  const publish = ({ asked: { session_id } }: Held) => {
    for (const listener of [...listeners]) listener(session_id);
  };

  /** `why`: the reply to late answers. */
  function end(entry: Held, why: DisplayText) {
    for (const { request_id } of entry.asked.requests) {
      if (!held.delete(request_id)) continue;
      const answer = entry.answers.get(request_id);
      ended.set(request_id, { why, ...(why === ANSWERED && answer && { answer }) });
      const [oldest] = ended.keys();
      if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest);
    }
    publish(entry);
    if (held.size === 0) {
      clearTimeout(timer);
      timer = undefined;
    }
  }

  function release(entry: Held, why: DisplayText) {
    entry.connection.release();
    end(entry, why);
  }

  function checkSoon() {
    if (is_closed || held.size === 0) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void check().catch(report).finally(checkSoon);
    }, CHECK_MS);
  }

  async function check() {
    const processes = await readProcesses();
    for (const entry of entries()) {
      const why = reasonToRelease(entry, processes.get(entry.asked.session_id), options);
      if (why !== undefined) release(entry, why);
    }
  }

  return {
    async hold(asked, connection) {
      let is_gone = false;
      connection.onGone(() => {
        is_gone = true;
      });
      const process = (await readProcesses()).get(asked.session_id);
      const hides_dialog = asked.hides_dialog || process?.headless === true;
      if (is_closed || is_gone || (hides_dialog && !isWatched(asked.session_id))) {
        connection.release();
        return;
      }
      // The main thread has one request at a time, so its earlier requests have been answered.
      for (const entry of entries())
        if (asked.is_main && entry.asked.is_main && entry.asked.session_id === asked.session_id)
          release(entry, ANSWERED_IN_TERMINAL);
      const entry: Held = {
        asked,
        connection,
        asked_at: now(),
        hides_dialog,
        answers: new Map(),
        was_waiting: false,
      };
      for (const { request_id } of asked.requests) held.set(request_id, entry);
      connection.onGone(() => end(entry, ANSWERED_IN_TERMINAL));
      publish(entry);
      checkSoon();
    },
    openOf: (session_id) =>
      [...held].flatMap(([request_id, { asked, asked_at, hides_dialog, answers }]): OpenRequest[] => {
        const request = asked.requests.find((each) => each.request_id === request_id);
        if (asked.session_id !== session_id || request === undefined || answers.has(request_id)) return [];
        return [
          {
            request_id,
            kind: request.kind,
            title: shorten(request.title, ROW_TEXT_LIMIT),
            ...(request.title_code === undefined ? {} : { title_code: request.title_code }),
            asked_at,
            ...(hides_dialog && { expires_at: asked_at + HIDDEN_MS }),
            in_terminal: true,
          },
        ];
      }),
    get(request_id) {
      return held.get(request_id)?.asked.requests.find((each) => each.request_id === request_id);
    },
    answer(request_id, { digest, answer }) {
      const entry = held.get(request_id);
      const request = entry?.asked.requests.find((each) => each.request_id === request_id);
      if (entry === undefined || request === undefined || entry.answers.has(request_id)) {
        const before = ended.get(request_id) ?? { answer: entry?.answers.get(request_id), why: ANSWERED };
        // Sent again because the reply was lost.
        if (isDeepStrictEqual(before.answer, answer)) return { outcome: "answered", answer };
        throw new Refused(409, "ended", before.why);
      }
      checkAnswer(request, { ...(digest !== undefined && { digest }), answer });
      const problem = entry.asked.problemOf?.(request_id, answer);
      if (problem !== undefined) throw new Refused(400, "answer", problem);
      // Log first: an answer that is not logged must not be sent.
      try {
        log.append({ at: now(), asked: entry.asked, request, answer });
      } catch (error) {
        throw new Refused(
          503,
          "not_logged",
          daemonText("answer_not_logged", { error: messageOf(error) }),
          daemonText("answer_in_terminal"),
        );
      }
      entry.answers.set(request_id, answer);
      const { requests, isComplete } = entry.asked;
      if (!(isComplete?.(entry.answers) ?? entry.answers.size === requests.length)) publish(entry);
      else {
        entry.connection.answer(entry.asked.replyTo(entry.answers));
        end(entry, ANSWERED);
      }
      return { outcome: "answered", answer };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      is_closed = true;
      for (const entry of entries()) release(entry, LEFT);
    },
  };
}

/** Why a request is left to the terminal; `undefined`: it is still held. */
function reasonToRelease(
  entry: Held,
  process: TerminalProcess | undefined,
  { now, isWatched }: Pick<HeldRequestsOptions, "now" | "isWatched">,
): DisplayText | undefined {
  if (entry.asked.ends_by === "agent") return undefined;
  const age = now() - entry.asked_at;
  if (entry.hides_dialog) {
    if (age > HIDDEN_MS) return LEFT;
    return isWatched(entry.asked.session_id) ? undefined : LEFT;
  }
  if (process?.waiting !== undefined) {
    entry.was_waiting = true;
    return undefined;
  }
  if (entry.was_waiting) return ANSWERED_IN_TERMINAL;
  // Without a registry entry there is no sign that the terminal has answered.
  return age > (process === undefined ? HIDDEN_MS : GRACE_MS) ? LEFT : undefined;
}

const ANSWERED = daemonText("answered_elsewhere");
const ANSWERED_IN_TERMINAL = daemonText("answered_in_terminal");
const LEFT = daemonText("left_to_terminal");
