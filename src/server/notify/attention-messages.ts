import type { RuleAlert } from "../../model/rules/alert.ts";
import { isWaiting, type SessionSummary } from "../../model/session.ts";
import { sessionState } from "../../model/session-state.ts";
import type { Sessions } from "../sessions/sessions.ts";

/** A session that began to need attention. */
export interface AttentionMessage {
  /** `rule`: an alert rule matched; `unknown`: no end of the last turn was recorded. */
  kind: "waiting" | "failed" | "unknown" | "finished" | "rule";
  session_id: string;
  agent: string;
  title?: string;
  cwd?: string;
  /** The session's request. Absent: the session ended, or the request is known only to the agent. */
  request?: string;
  /** The name of the rule, and the beginning of the matching part, or a figure. */
  rule?: string;
  detail?: string;
  /** Milliseconds since 1970. */
  since: number;
}

/** `waiting`: sessions that wait for a person, and alerts of rules; `all`: also sessions that failed or finished. */
export type AttentionScope = "waiting" | "all";

/** Time that a session must need attention before a message is sent, because the user may already be answering. Milliseconds. */
const DWELL_MS = 10_000;
/** Delays before retries of a failed delivery, in milliseconds. */
const RETRIES_MS = [2_000, 15_000];

interface AttentionMessagesOptions {
  of: AttentionScope;
  sessions: Pick<Sessions, "list" | "get" | "subscribe">;
  /** Delivers a message. Returns the problem, if any. The message is then retried. */
  deliver(message: AttentionMessage, signal: AbortSignal): Promise<string | undefined>;
  /** Called when a message could not be delivered. */
  onFailure(problem: string): void;
  dwell?: number;
  retries?: readonly number[];
}

/**
 * Delivers a message for each session that begins to need attention: for open requests and, depending on the scope, for sessions
 * that failed or finished; and for alerts of rules, whatever the scope. Each is delivered once, after a delay, if it still applies.
 */
export function sendAttentionMessages(options: AttentionMessagesOptions): { close(): void } {
  const { of, sessions, dwell = DWELL_MS, retries = RETRIES_MS } = options;
  const known = new Map<string, ReadonlySet<string>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const stopped = new AbortController();
  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, milliseconds);
      timers.add(timer);
    });
  const keysOf = (reasons: readonly { key: string }[]) => new Set(reasons.map(({ key }) => key));

  for (const row of sessions.list()) known.set(row.id, keysOf(reasonsOf(row, of)));
  const end = sessions.subscribe(({ changed, removed }) => {
    for (const id of removed) known.delete(id);
    for (const row of changed) {
      const before = known.get(row.id);
      const reasons = reasonsOf(row, of);
      known.set(row.id, keysOf(reasons));
      for (const { key, alert } of reasons) {
        // The initial state of a session is not a change.
        const isRelevant = before !== undefined || alert !== undefined || isWaiting(row);
        if (isRelevant && before?.has(key) !== true) void sendLater(row.id, key);
      }
    }
  });

  async function sendLater(id: string, key: string): Promise<void> {
    await wait(dwell);
    const row = sessions.get(id);
    const reason = row && reasonsOf(row, of).find((one) => one.key === key);
    if (row === undefined || reason === undefined || stopped.signal.aborted) return;
    const message = reason.alert ? alertMessage(row, reason.alert) : messageFor(row);
    for (const pause of [...retries, undefined]) {
      const problem = await options.deliver(message, stopped.signal);
      if (problem === undefined || stopped.signal.aborted) return;
      if (pause === undefined) options.onFailure(problem);
      else await wait(pause);
    }
  }

  return {
    close() {
      end();
      stopped.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** The reasons why a session needs attention: what it waits for or how it ended, and alerts of rules. */
function reasonsOf(row: SessionSummary, of: AttentionScope): { key: string; alert?: RuleAlert }[] {
  const key = attentionKey(row, of);
  const alerts = (row.alerts ?? []).map((alert) => ({ key: `rule ${alert.rule_id} ${alert.since}`, alert }));
  return [...(key === undefined ? [] : [{ key }]), ...alerts];
}

/** Identifies the reason why a session needs attention, different for each request or turn; `undefined`: there is none. */
function attentionKey(row: SessionSummary, of: AttentionScope): string | undefined {
  if (row.sample === true) return undefined;
  if (isWaiting(row)) {
    const { requests = [], waiting } = row;
    return `waiting ${requests.map(({ request_id }) => request_id)} ${waiting?.since ?? ""}`;
  }
  // The end of a sub-agent is handled by its parent.
  if (of === "waiting" || row.parent !== undefined) return undefined;
  const kind = endKind(row);
  return kind === undefined ? undefined : `${kind} ${row.turns}`;
}

/** How a session ended, if that needs attention. Viewing the session does not change this. */
function endKind(row: SessionSummary): "failed" | "unknown" | "finished" | undefined {
  switch (sessionState(row)) {
    case "failed":
      return "failed";
    case "unknown":
      return "unknown";
    case "idle":
    case "finished":
      return "finished";
    default:
      return undefined;
  }
}

function messageFor(row: SessionSummary): AttentionMessage {
  const kind = isWaiting(row) ? "waiting" : (endKind(row) ?? "finished");
  const title = row.title ?? row.first_prompt;
  const [first] = row.requests ?? [];
  const request = kind === "waiting" ? (first?.title ?? row.waiting?.for) : undefined;
  return {
    kind,
    session_id: row.id,
    agent: row.agent_name ?? row.agent,
    ...(title !== undefined && { title }),
    ...(row.cwd !== undefined && { cwd: row.cwd }),
    ...(request !== undefined && { request }),
    since: first?.asked_at ?? row.waiting?.since ?? row.last_activity_at,
  };
}

function alertMessage(row: SessionSummary, { name, since, text }: RuleAlert): AttentionMessage {
  const title = row.title ?? row.first_prompt;
  return {
    kind: "rule",
    session_id: row.id,
    agent: row.agent_name ?? row.agent,
    ...(title !== undefined && { title }),
    ...(row.cwd !== undefined && { cwd: row.cwd }),
    rule: name,
    ...(text !== undefined && { detail: text }),
    since,
  };
}
