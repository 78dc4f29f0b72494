import type { Frame } from "../../model/frames/frame.ts";
import { messageOf } from "../../model/narrow.ts";
import { isOpenedSession } from "../../model/opened-session.ts";
import type { RuleAlert, StoredAlert } from "../../model/rules/alert.ts";
import {
  createEvaluator,
  endsByItself,
  type Firing,
  needsFrames,
  type RecordedPart,
  type RuleEvaluator,
} from "../../model/rules/evaluate.ts";
import { MAX_RULES, parseRule, type Rule, type RuleBody, RuleError } from "../../model/rules/rule.ts";
import { unwatched, type WatchedTurn, watchFrame } from "../../model/rules/watch-frames.ts";
import { isWaiting, type SessionSummary } from "../../model/session.ts";
import { decorateRows } from "./decorate-rows.ts";
import { Refused } from "./refused.ts";
import type { Sessions } from "./sessions.ts";
import { TookTooLong, withinTime } from "./within-time.ts";

/** Interval at which rules about time are evaluated, in milliseconds. */
const TICK_MS = 5_000;
/** Delay after which alerts are published and stored together, in milliseconds. */
const WRITE_MS = 200;
/** Number of sessions whose present turn is in memory. */
const MAX_WATCHED = 64;
/** Number of frames that wait for the row of their new session, and of such sessions. */
const MAX_EARLY_FRAMES = 2_000;
const MAX_EARLY_SESSIONS = 32;
/** Time that a rule's regular expression may take on one part, in milliseconds. */
const MAX_MATCH_MS = 100;
/** Number of parts per rule and session that are recognized when they are read again. */
const MAX_KNOWN = 1_000;

/** The rules that people added. Changes that cannot be stored throw a `Refused`, and are not made. */
export interface Rules {
  /** By name. */
  list(): readonly Rule[];
  /** Adds or replaces a rule. Throws a `Refused` if it is invalid. What was recorded before does not count. */
  put(id: string, body: RuleBody): Rule;
  /** Deletes a rule with its alerts. An unknown one counts as deleted. */
  remove(id: string): void;
  /** A person is done with what a rule says of a session. It alerts again for another reason. */
  done(rule_id: string, session_id: string): void;
}

/** Where rules and alerts are stored. Each call may throw. */
interface RulesStore {
  putRule(rule: Rule, clears: boolean): void;
  removeRule(id: string): void;
  putAlerts(
    put: readonly StoredAlert[],
    remove: readonly Pick<StoredAlert, "rule_id" | "session_id">[],
  ): void;
}

interface RulesOptions {
  sessions: Sessions;
  kept: { rules: readonly Rule[]; alerts: readonly StoredAlert[] };
  /** Absent: rules apply, but cannot be changed. */
  store?: RulesStore | undefined;
  now: () => number;
  report(error: unknown): void;
  /** See `TICK_MS`. */
  tick?: number;
}

/** Applies the rules to sessions, and adds what they say to the rows. */
export function withRules(options: RulesOptions): { sessions: Sessions; rules: Rules } {
  const { store, now, report, tick = TICK_MS } = options;
  const source = options.sessions;
  const byId = new Map<string, RuleEvaluator>();
  for (const rule of options.kept.rules) byId.set(rule.id, createEvaluator(rule));
  /** Of those that are switched on, and of those of them that have to see frames. */
  let active: readonly RuleEvaluator[] = [];
  let watching: readonly RuleEvaluator[] = [];
  /** No frame from before this time counts for any rule. */
  let watching_from = Number.POSITIVE_INFINITY;

  const alerts = createAlerts({ ...options, publish: (ids) => rows.publish(ids) });
  const turns = new Map<string, Watched>();
  const early = new Map<string, { frames: Frame[]; reading: unknown }>();
  /** Sessions to which a rule may apply by the passing of time alone. */
  const live = new Set<string>();

  function activate(): void {
    active = [...byId.values()].filter(({ rule }) => rule.is_on);
    watching = active.filter(({ rule }) => needsFrames(rule));
    watching_from = Math.min(Number.POSITIVE_INFINITY, ...watching.map(({ rule }) => rule.changed_at));
    if (watching.length === 0) turns.clear();
  }
  activate();

  function evaluateRow(row: SessionSummary, only = active): void {
    if (isOpenedSession(row.id)) return;
    for (const evaluator of only) {
      if (needsFrames(evaluator.rule)) continue;
      const firing = evaluator.isInScope(row) ? evaluator.ofRow(row, now()) : undefined;
      if (firing) alerts.fire(evaluator.rule, row.id, firing);
      else if (endsByItself(evaluator.rule)) alerts.end(evaluator.rule.id, row.id);
    }
  }

  function observe(row: SessionSummary): void {
    if (row.status === "running" || isWaiting(row)) live.add(row.id);
    else live.delete(row.id);
    evaluateRow(row);
    const waiting = early.get(row.id);
    if (!waiting) return;
    early.delete(row.id);
    evaluateFrames(row, waiting.frames, waiting.reading);
  }

  function evaluateFrames(row: SessionSummary, frames: readonly Frame[], reading: unknown): void {
    const own = watching.filter((evaluator) => evaluator.isInScope(row));
    const before = turns.get(row.id);
    const watched: Watched = before ?? { turn: unwatched(row.id), reading, read_to: 0, skips_to: 0 };
    if (watched.reading !== reading) {
      watched.reading = reading;
      watched.skips_to = watched.read_to;
    }
    for (const frame of frames) {
      if (frame.at < watched.skips_to) continue;
      watched.read_to = Math.max(watched.read_to, frame.at);
      const recorded = watchFrame(watched.turn, frame);
      watched.turn = recorded.watched;
      const { transcript } = watched.turn;
      const partAt = (index: number) => transcript.parts.at(index);
      for (const evaluator of own) {
        for (const part of recorded.parts) {
          const firing = ofPart(evaluator, { part, at: frame.at, partAt });
          if (firing) alerts.fire(evaluator.rule, row.id, firing);
        }
        if (frame.type !== "message.end" || recorded.turn === undefined) continue;
        const firing = evaluator.ofTurn(recorded.turn);
        if (firing) alerts.fire(evaluator.rule, row.id, firing);
      }
    }
    turns.delete(row.id);
    turns.set(row.id, watched);
    for (const oldest of turns.keys()) {
      if (turns.size <= MAX_WATCHED) break;
      turns.delete(oldest);
    }
  }

  /** A rule whose expression takes too long is switched off, so that it cannot hold up the daemon. */
  function ofPart(evaluator: RuleEvaluator, recorded: RecordedPart): Firing | undefined {
    const { rule, has_expression } = evaluator;
    if (byId.get(rule.id) !== evaluator) return undefined;
    if (!has_expression) return evaluator.ofPart(recorded);
    try {
      return withinTime(MAX_MATCH_MS, () => evaluator.ofPart(recorded));
    } catch (error) {
      if (!(error instanceof TookTooLong)) throw error;
      const problem = `Its expression took longer than ${MAX_MATCH_MS} ms on one part. Use a simpler one, then switch it on.`;
      const stopped: Rule = { ...rule, is_on: false, problem };
      byId.set(rule.id, createEvaluator(stopped));
      activate();
      alerts.clear(rule.id);
      try {
        store?.putRule(stopped, true);
      } catch (unstored) {
        // After a restart it is switched off again.
        report(unstored);
      }
      return undefined;
    }
  }

  const endFrames = source.watchFrames?.((id, all, reading) => {
    if (watching.length === 0) return;
    const frames = all.filter(({ at }) => at >= watching_from);
    if (frames.length === 0 || isOpenedSession(id)) return;
    try {
      const row = source.get(id);
      if (row) return evaluateFrames(row, frames, reading);
      const waiting = early.get(id)?.frames ?? [];
      if (waiting.length < MAX_EARLY_FRAMES) early.set(id, { frames: [...waiting, ...frames], reading });
      for (const oldest of early.keys()) {
        if (early.size <= MAX_EARLY_SESSIONS) break;
        early.delete(oldest);
      }
    } catch (error) {
      // The reader of the session must not fail because of a rule.
      report(error);
    }
  });

  const timer = setInterval(() => {
    for (const id of [...live]) {
      const row = source.get(id);
      if (row) evaluateRow(row);
      else live.delete(id);
    }
  }, tick);
  timer.unref();

  const rows = decorateRows(source, {
    decorate(row) {
      const own = alerts.of(row.id).flatMap((alert) => alertOf(alert, byId.get(alert.rule_id)?.rule) ?? []);
      return own.length === 0 ? row : { ...row, alerts: own };
    },
    observe,
    onClose() {
      clearInterval(timer);
      endFrames?.();
      alerts.close();
    },
  });
  for (const row of source.list()) observe(row);

  function written(work: (to: RulesStore) => void): void {
    if (store === undefined) {
      throw new Refused(
        409,
        "read_only",
        "Rules cannot be changed: this daemon cannot write its store.",
        "If another Verbatim uses the data folder, use that one. Otherwise see the notices above the list.",
      );
    }
    try {
      work(store);
    } catch (error) {
      throw new Refused(
        503,
        "disk",
        `The rule could not be stored: ${messageOf(error)}.`,
        "Free some disk space or check the permissions of the data folder, then try again.",
      );
    }
  }

  const rules: Rules = {
    list: () =>
      [...byId.values()].map(({ rule }) => rule).sort((one, other) => (one.name < other.name ? -1 : 1)),
    put(id, body) {
      const before = byId.get(id)?.rule;
      if (!before && byId.size >= MAX_RULES)
        throw new Refused(409, "too_many", `There can be at most ${MAX_RULES} rules. Delete one first.`);
      checkRule(body);
      const isSame = before !== undefined && conditionOf(before) === conditionOf(body);
      const rule: Rule = { ...body, id, changed_at: isSame ? before.changed_at : now() };
      written((to) => to.putRule(rule, !isSame));
      const evaluator = createEvaluator(rule);
      byId.set(id, evaluator);
      activate();
      if (isSame) rows.publish(alerts.sessionsOf(id));
      else {
        alerts.clear(id);
        if (rule.is_on) for (const row of source.list()) evaluateRow(row, [evaluator]);
      }
      return rule;
    },
    remove(id) {
      if (!byId.has(id)) return;
      written((to) => to.removeRule(id));
      byId.delete(id);
      activate();
      alerts.clear(id);
    },
    done(rule_id, session_id) {
      if (store === undefined) written(() => {});
      alerts.done(rule_id, session_id);
    },
  };
  return { sessions: rows, rules };
}

/** Throws a `Refused` for an invalid rule. */
export function checkRule(body: Pick<RuleBody, "when" | "scope">): void {
  try {
    parseRule(body);
  } catch (error) {
    if (error instanceof RuleError) throw new Refused(400, "rule", error.message);
    throw error;
  }
}

/** What a rule applies to. A change of it makes it another rule. */
const conditionOf = ({ when, scope, is_on }: RuleBody): string => JSON.stringify([when, scope ?? "", is_on]);

function alertOf(alert: StoredAlert, rule: Rule | undefined): RuleAlert | undefined {
  if (alert.is_done || rule === undefined) return undefined;
  const { rule_id, since, at, count, part_id, text } = alert;
  return {
    rule_id,
    name: rule.name,
    since,
    at,
    count,
    ...(part_id !== undefined && { part_id }),
    ...(text !== undefined && { text }),
  };
}

const placeOf = (rule_id: string, session_id: string): string => `${rule_id} ${session_id}`;

/** The present turn of a session, and how far its frames were read. */
interface Watched {
  turn: WatchedTurn;
  /** See `Sessions.watchFrames`. */
  reading: unknown;
  /** The time of the latest frame, in milliseconds since 1970. */
  read_to: number;
  /** Frames from before this time were read by an earlier reading. */
  skips_to: number;
}

interface Alerts {
  of(session_id: string): readonly StoredAlert[];
  sessionsOf(rule_id: string): string[];
  /** Alerts once per key. */
  fire(rule: Rule, session_id: string, firing: Firing): void;
  /** The rule no longer applies. */
  end(rule_id: string, session_id: string): void;
  done(rule_id: string, session_id: string): void;
  /** Forgets all alerts of a rule, which the store has deleted. */
  clear(rule_id: string): void;
  close(): void;
}

/** What rules said of sessions. Changes are published and stored together, after a delay. */
function createAlerts(
  options: Pick<RulesOptions, "kept" | "store" | "report"> & { publish(ids: readonly string[]): void },
): Alerts {
  const { store, report, publish } = options;
  const bySession = new Map<string, Map<string, StoredAlert>>();
  /** Keys for which a rule alerted, by rule and session, so that what is read again does not alert again. */
  const known = new Map<string, Map<string, Set<string>>>();
  const changed = new Map<string, Pick<StoredAlert, "rule_id" | "session_id">>();
  let timer: NodeJS.Timeout | undefined;

  /** When the alerts of an earlier daemon last applied. */
  const loaded_at = new Map<string, number>();
  for (const alert of options.kept.alerts) {
    set(alert);
    loaded_at.set(placeOf(alert.rule_id, alert.session_id), alert.at);
  }

  function set(alert: StoredAlert): void {
    const own = bySession.get(alert.session_id) ?? new Map<string, StoredAlert>();
    bySession.set(alert.session_id, own.set(alert.rule_id, alert));
  }
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const all = [...changed.values()];
    changed.clear();
    if (all.length === 0) return;
    const put = all.flatMap(({ rule_id, session_id }) => bySession.get(session_id)?.get(rule_id) ?? []);
    const removed = all.filter(({ rule_id, session_id }) => !bySession.get(session_id)?.has(rule_id));
    try {
      store?.putAlerts(put, removed);
    } catch (error) {
      // The alerts are shown, and stored with their next change.
      report(error);
    }
    publish([...new Set(all.map(({ session_id }) => session_id))]);
  }
  function change(rule_id: string, session_id: string): void {
    changed.set(placeOf(rule_id, session_id), { rule_id, session_id });
    timer ??= setTimeout(flush, WRITE_MS);
  }
  /** Whether it alerted for this key already. */
  function isKnown(rule_id: string, session_id: string, key: string): boolean {
    const ofRule = known.get(rule_id) ?? new Map<string, Set<string>>();
    known.set(rule_id, ofRule);
    const keys = ofRule.get(session_id) ?? new Set<string>();
    ofRule.set(session_id, keys);
    if (keys.has(key)) return true;
    keys.add(key);
    for (const oldest of keys) {
      if (keys.size <= MAX_KNOWN) break;
      keys.delete(oldest);
    }
    return false;
  }

  return {
    of: (session_id) => [...(bySession.get(session_id)?.values() ?? [])],
    sessionsOf: (rule_id) => [...bySession].flatMap(([id, own]) => (own.has(rule_id) ? [id] : [])),
    fire(rule, session_id, { key, since, part_id, text }) {
      const before = bySession.get(session_id)?.get(rule.id);
      if (before?.key === key || isKnown(rule.id, session_id, key)) return;
      // Before a restart it alerted for everything up to that time, which may be read again.
      if (rule.when.type === "event" && since <= (loaded_at.get(placeOf(rule.id, session_id)) ?? 0)) return;
      const isMore = before !== undefined && !before.is_done && !endsByItself(rule);
      set({
        rule_id: rule.id,
        session_id,
        key,
        since: isMore ? before.since : since,
        at: since,
        count: isMore ? before.count + 1 : 1,
        ...(part_id !== undefined && { part_id }),
        ...(text !== undefined && { text }),
        is_done: false,
      });
      change(rule.id, session_id);
    },
    end(rule_id, session_id) {
      known.get(rule_id)?.delete(session_id);
      if (bySession.get(session_id)?.delete(rule_id)) change(rule_id, session_id);
    },
    done(rule_id, session_id) {
      const alert = bySession.get(session_id)?.get(rule_id);
      if (!alert || alert.is_done) return;
      set({ ...alert, is_done: true });
      change(rule_id, session_id);
      flush();
    },
    clear(rule_id) {
      known.delete(rule_id);
      for (const place of loaded_at.keys()) if (place.startsWith(rule_id)) loaded_at.delete(place);
      const ids = [...bySession].flatMap(([id, own]) => (own.delete(rule_id) ? [id] : []));
      publish(ids);
    },
    close: flush,
  };
}
