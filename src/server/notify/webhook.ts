import { messageOf } from "../../model/narrow.ts";
import { isWaiting, type SessionSummary } from "../../model/session.ts";
import type { Sessions } from "../sessions/sessions.ts";

/** What the operator configures: `webhook` in config.json. */
export interface WebhookConfig {
  url: string;
  /** `waiting`: what waits for a person; `all`: also sessions that failed or finished. */
  of: "waiting" | "all";
}

/** The JSON that is posted. `text` and `content` are one sentence: Slack reads the one, Discord the other. */
export interface WebhookMessage {
  kind: "waiting" | "failed" | "finished";
  session_id: string;
  agent: string;
  title?: string;
  cwd?: string;
  /** What the session asks; absent: it ended, or only the agent knows. */
  request?: string;
  /** Milliseconds since 1970. */
  since: number;
  text: string;
  content: string;
}

/** How long something must need attention before it is posted, in milliseconds: a person may be answering already. */
const DWELL_MS = 10_000;
/** A request may take so long, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Waits before a failed request is tried again, in milliseconds. */
const RETRIES_MS = [2_000, 15_000];

interface WebhookOptions extends WebhookConfig {
  sessions: Pick<Sessions, "list" | "get" | "subscribe">;
  /** A message that could not be delivered; `problem` says why. */
  onFailure(problem: string): void;
  dwell?: number;
  retries?: readonly number[];
}

/**
 * Posts what begins to need attention to a URL: requests that wait, and, if wanted, sessions that failed or finished. Each is
 * posted once, after a dwell, if it still holds by then.
 */
export function openWebhook(options: WebhookOptions): { close(): void } {
  const { url, of, sessions, dwell = DWELL_MS, retries = RETRIES_MS } = options;
  const known = new Map<string, string>();
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
  const keyOf = (row: SessionSummary | undefined): string => (row && attentionKey(row, of)) ?? "";

  for (const row of sessions.list()) known.set(row.id, keyOf(row));
  const end = sessions.subscribe(({ changed, removed }) => {
    for (const id of removed) known.delete(id);
    for (const row of changed) {
      const key = keyOf(row);
      const before = known.get(row.id);
      known.set(row.id, key);
      // A session that was found as it is has not changed.
      if (key === before || key === "" || (before === undefined && !isWaiting(row))) continue;
      void postLater(row.id, key);
    }
  });

  async function postLater(id: string, key: string): Promise<void> {
    await wait(dwell);
    const row = sessions.get(id);
    if (row === undefined || keyOf(row) !== key || stopped.signal.aborted) return;
    const body = JSON.stringify(messageFor(row));
    for (const pause of [...retries, undefined]) {
      const problem = await post(body);
      if (problem === undefined || stopped.signal.aborted) return;
      if (pause === undefined) options.onFailure(problem);
      else await wait(pause);
    }
  }

  /** Returns why it failed. */
  async function post(body: string): Promise<string | undefined> {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        // What it says of a session goes to the configured host alone.
        redirect: "error",
        signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `it answered ${response.status}`;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return messageOf(cause);
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

/** What a session needs attention for, as a key that differs from one request or turn to the next; `undefined`: nothing. */
function attentionKey(row: SessionSummary, of: WebhookConfig["of"]): string | undefined {
  if (row.sample === true) return undefined;
  if (isWaiting(row)) {
    const { requests = [], waiting } = row;
    return `waiting ${requests.map(({ request_id }) => request_id)} ${waiting?.since ?? ""}`;
  }
  // A sub-agent's end is its parent's business.
  if (of === "waiting" || row.parent !== undefined) return undefined;
  if (row.status !== "failed" && row.status !== "completed") return undefined;
  return `${row.status} ${row.turns}`;
}

function messageFor(row: SessionSummary): WebhookMessage {
  const kind = isWaiting(row) ? "waiting" : row.status === "failed" ? "failed" : "finished";
  const title = row.title ?? row.first_prompt;
  const [first] = row.requests ?? [];
  const request = kind === "waiting" ? (first?.title ?? row.waiting?.for) : undefined;
  const what = { waiting: "Waiting for you", failed: "Failed", finished: "Finished" }[kind];
  const sentence = `${what}: ${title ?? row.agent_name ?? row.agent}${request === undefined ? "" : ` – ${request}`}`;
  return {
    kind,
    session_id: row.id,
    agent: row.agent,
    ...(title !== undefined && { title }),
    ...(row.cwd !== undefined && { cwd: row.cwd }),
    ...(request !== undefined && { request }),
    since: first?.asked_at ?? row.waiting?.since ?? row.last_activity_at,
    text: sentence,
    content: sentence,
  };
}
