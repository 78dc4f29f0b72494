import { setImmediate } from "node:timers/promises";
import { createEvaluator, firingOfRow } from "../../model/rules/evaluate.ts";
import { parseRule, type RuleBody } from "../../model/rules/rule.ts";
import { unwatched, watchFrame } from "../../model/rules/watch-frames.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { RuleTrialReply } from "../../protocol.ts";
import { checkRule } from "../sessions/rules.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { SearchThread } from "./search-thread.ts";
import { sessionOfKey } from "./session-indexing.ts";

/** Maximum number of places in a reply. */
const MAX_HITS = 50;
/** Maximum number of counted events, and of parts per page of the search. */
const MAX_EVENTS = 500;
const PAGE = 100;
/** Time after which a trial ends early, in milliseconds. */
const BUDGET_MS = 4_000;
/** Maximum time that reading sessions blocks the event loop, in milliseconds. */
const SLICE = 8;

type Hit = RuleTrialReply["hits"][number];

/** Applies rules to past records. */
export interface RuleTrial {
  /** Throws a `Refused` for an invalid rule. */
  tryRule(rule: TrialRule): Promise<RuleTrialReply>;
}

type TrialRule = Pick<RuleBody, "when" | "scope">;

interface TrialOptions {
  thread: SearchThread;
  sessions: Sessions;
  now: () => number;
  skipped?: () => readonly string[];
}

/** Tries rules on the index, and on sessions that it does not cover. */
export function createRuleTrial(options: TrialOptions): RuleTrial {
  const { sessions } = options;

  function find(rule: TrialRule): Promise<Found> | Found {
    const { when } = rule;
    switch (when.type) {
      case "event":
        return ofEvents(options, rule);
      case "silence":
        return ofPast(options, rule, { type: "gaps", longer_than: when.minutes * 60_000 }, (length) =>
          length === undefined ? undefined : `${Math.round(length / 60_000)} min`,
        );
      case "budget":
        return when.of === "turn" ? ofTurns(sessions, rule) : ofRows(options, rule);
      case "status":
        return when.status === "waiting"
          ? ofEvents(options, { ...rule, when: { type: "event", query: "kind:request" } })
          : ofPast(options, rule, { type: "turns", status: when.status }, () => undefined);
    }
    return when satisfies never;
  }

  return {
    async tryRule(rule) {
      checkRule(rule);
      const { hits, searched, all, is_more } = await find(rule);
      return {
        times: hits.length,
        sessions: new Set(hits.map(({ session_id }) => session_id)).size,
        is_more,
        searched,
        all,
        not_indexed: sessions.unindexed ?? 0,
        hits: hits.sort((one, other) => (other.at ?? 0) - (one.at ?? 0)).slice(0, MAX_HITS),
      };
    },
  };
}

function listed(sessions: Sessions, source: string, session_id: string): SessionSummary | undefined {
  const id = sessionOfKey(source) ?? sessions.indexedAs?.(source, session_id);
  return id === undefined ? undefined : sessions.get(id);
}

async function ofEvents(
  { thread, sessions, skipped = () => [] }: TrialOptions,
  rule: TrialRule,
): Promise<Found> {
  const { event } = parseRule(rule);
  const found = emptyFound();
  if (!event) return found;
  const until = performance.now() + BUDGET_MS;
  const isInScope = scopeOf(rule);
  let cursor: string | undefined;
  do {
    const { page } = await thread.search({
      query: event,
      limit: PAGE,
      sort: "newest",
      budget: 500,
      skipped_agents: skipped(),
      ...(cursor !== undefined && { cursor }),
    });
    for (const { source, session, part, snippet } of page.hits) {
      const row = listed(sessions, source, session.id);
      if (!row || !isInScope(row)) continue;
      found.hits.push(hitOf(row, { part_id: part.id, at: part.started_at, text: snippet.text }));
    }
    found.searched = page.searched;
    found.all = page.sessions;
    cursor = page.next;
  } while (cursor !== undefined && found.hits.length < MAX_EVENTS && performance.now() < until);
  found.is_more = cursor !== undefined;
  return found;
}

async function ofPast(
  { thread, sessions }: TrialOptions,
  rule: TrialRule,
  request: Parameters<SearchThread["past"]>[0],
  textOf: (length: number | undefined) => string | undefined,
): Promise<Found> {
  const isInScope = scopeOf(rule);
  const page = await thread.past(request);
  const found = emptyFound();
  for (const { source, session, part_id, at, length } of page.places) {
    const row = listed(sessions, source, session.id);
    if (row && isInScope(row)) found.hits.push(hitOf(row, { part_id, at, text: textOf(length) }));
  }
  return { ...found, searched: page.sessions, all: page.sessions, is_more: page.is_more };
}

/** Evaluates a rule that needs only rows, for all sessions. */
function ofRows({ sessions, now }: TrialOptions, rule: TrialRule): Found {
  const isInScope = scopeOf(rule);
  const found = emptyFound();
  for (const row of sessions.list()) {
    found.all += 1;
    const firing = isInScope(row) ? firingOfRow(rule.when, row, now(), 0) : undefined;
    if (firing) found.hits.push(hitOf(row, { at: row.last_activity_at, text: firing.text }));
  }
  found.searched = found.all;
  return found;
}

/** Evaluates a rule about the usage of turns. The index does not have it, so the newest sessions are read again. */
async function ofTurns(sessions: Sessions, rule: TrialRule): Promise<Found> {
  const evaluator = createEvaluator({ ...TRIAL_RULE, when: rule.when });
  const isInScope = scopeOf(rule);
  const until = performance.now() + BUDGET_MS;
  const rows = sessions.list().filter(isInScope);
  const found = { ...emptyFound(), all: rows.length };
  for (const row of rows) {
    if (performance.now() > until) break;
    // A session whose record cannot be read now is skipped.
    const batches = await sessions.frames(row.id).catch(() => undefined);
    if (!batches) continue;
    const turns = new Map<string, Hit>();
    let watched = unwatched(row.id);
    let since = performance.now();
    for await (const frames of batches) {
      for (const frame of frames) {
        const recorded = watchFrame(watched, frame);
        watched = recorded.watched;
        const firing =
          frame.type === "message.end" && recorded.turn ? evaluator.ofTurn(recorded.turn) : undefined;
        if (firing && recorded.turn) {
          const part_id = recorded.watched.transcript.parts.at(recorded.turn.first_part)?.id;
          turns.set(firing.key, hitOf(row, { part_id, at: frame.at, text: firing.text }));
        }
        if (performance.now() - since <= SLICE) continue;
        await setImmediate();
        since = performance.now();
      }
    }
    found.searched += 1;
    found.hits.push(...[...turns.values()].reverse());
  }
  found.is_more = found.searched < found.all;
  return found;
}

interface Found {
  hits: Hit[];
  searched: number;
  all: number;
  is_more: boolean;
}
const emptyFound = (): Found => ({ hits: [], searched: 0, all: 0, is_more: false });

/** Placeholders for a rule that is only tried. */
const TRIAL_RULE = { id: "00000000-0000-8000-8000-000000000000", name: "", is_on: true, changed_at: 0 };

function scopeOf(rule: TrialRule): (row: SessionSummary) => boolean {
  return createEvaluator({ ...TRIAL_RULE, ...rule }).isInScope;
}

function hitOf(
  row: SessionSummary,
  { part_id, at, text }: { part_id?: string | undefined; at?: number | undefined; text?: string | undefined },
): Hit {
  const title = row.title ?? row.first_prompt;
  return {
    session_id: row.id,
    ...(title !== undefined && { title }),
    ...(part_id !== undefined && { part_id }),
    ...(at !== undefined && { at }),
    ...(text !== undefined && { text }),
  };
}
