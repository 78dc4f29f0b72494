import type { Frame } from "../../model/frames/frame.ts";
import { isOpenedSession } from "../../model/opened-session.ts";
import type { StoredAlert } from "../../model/rules/alert.ts";
import {
  createEvaluator,
  endsByItself,
  type Firing,
  needsFrames,
  type RecordedPart,
  type RuleEvaluator,
} from "../../model/rules/evaluate.ts";
import { MAX_RULES, parseRule, type Rule, type RuleBody, RuleError } from "../../model/rules/rule.ts";
import { isWaiting, type SessionSummary } from "../../model/session.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { textFields } from "../../model/text/display-text.ts";
import { alertOf, createAlerts } from "./alerts.ts";
import { decorateRows } from "./decorate-rows.ts";
import { Refused } from "./refused.ts";
import type { Sessions } from "./sessions.ts";
import { createWatchedTurns } from "./watched-turns.ts";
import { DeadlineExceeded, withinTime } from "./within-time.ts";
import { writeStore } from "./write-store.ts";

/** Interval at which rules about time are evaluated, in milliseconds. */
const TICK_MS = 5_000;
/** Maximum number of frames that wait for the row of their new session, and of such sessions. */
const MAX_EARLY_FRAMES = 2_000;
const MAX_EARLY_SESSIONS = 32;
/** Maximum time for a rule's regular expression on one part, in milliseconds. */
const MAX_MATCH_MS = 100;

/** The users' rules. Changes that cannot be stored throw a `Refused` and have no effect. */
export interface Rules {
  /** All rules, sorted by name. */
  list(): readonly Rule[];
  /** Adds or replaces a rule. Throws a `Refused` if it is invalid. A new or changed rule does not match earlier records. */
  put(id: string, body: RuleBody): Rule;
  /** Deletes a rule with its alerts. An unknown one counts as deleted. */
  remove(id: string): void;
  /** Dismisses the alert of a rule for a session. The rule can alert again for another reason. */
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
  /** Absent: rules are evaluated, but cannot be changed. */
  store?: RulesStore | undefined;
  now: () => number;
  report(error: unknown): void;
  /** See `TICK_MS`. */
  tick?: number;
}

/** Applies the rules to sessions, and adds their alerts to the rows. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the rules that are switched on: its functions are short
export function withRules(options: RulesOptions): { sessions: Sessions; rules: Rules } {
  const { store, now, report, tick = TICK_MS } = options;
  const source = options.sessions;
  const byId = new Map<string, RuleEvaluator>();
  for (const rule of options.kept.rules) byId.set(rule.id, createEvaluator(rule));
  /** The evaluators of rules that are switched on, and of those among them that need frames. */
  let active: readonly RuleEvaluator[] = [];
  let watching: readonly RuleEvaluator[] = [];
  /** Frames from before this time match no rule, in milliseconds since 1970. */
  let watching_from = Number.POSITIVE_INFINITY;

  const alerts = createAlerts({ ...options, kept: options.kept.alerts, publish: (ids) => rows.publish(ids) });
  const turns = createWatchedTurns({
    ofPart,
    fire: ({ rule }, session_id, firing) => alerts.fire(rule, session_id, firing),
  });
  const early = new Map<string, { frames: Frame[]; reading: unknown }>();
  /** Sessions that a rule may match through the passage of time alone. */
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
    turns.evaluate(row, frames, reading, watching);
  }

  /** A rule whose expression takes too long is switched off, so that it cannot block the daemon. */
  function ofPart(evaluator: RuleEvaluator, recorded: RecordedPart): Firing | undefined {
    const { rule, has_expression } = evaluator;
    if (byId.get(rule.id) !== evaluator) return undefined;
    if (!has_expression) return evaluator.ofPart(recorded);
    try {
      return withinTime(MAX_MATCH_MS, () => evaluator.ofPart(recorded));
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      const problem = textFields("problem", daemonText("rule_too_slow", { limit: MAX_MATCH_MS }));
      const stopped: Rule = { ...rule, is_on: false, ...problem };
      byId.set(rule.id, createEvaluator(stopped));
      activate();
      alerts.clear(rule.id);
      try {
        store?.putRule(stopped, true);
      } catch (unstored) {
        // The store still has the rule switched on. After a restart it is switched off again in the same way.
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
      // An error in a rule must not reach the reader of the session.
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

  const rules: Rules = {
    list: () =>
      [...byId.values()].map(({ rule }) => rule).sort((one, other) => (one.name < other.name ? -1 : 1)),
    put(id, body) {
      const before = byId.get(id)?.rule;
      if (!before && byId.size >= MAX_RULES)
        throw new Refused(409, "too_many", daemonText("too_many_rules", { limit: MAX_RULES }));
      checkRule(body);
      const isSame = before !== undefined && conditionOf(before) === conditionOf(body);
      const rule: Rule = { ...body, id, changed_at: isSame ? before.changed_at : now() };
      writeStore("rule", store, (to) => to.putRule(rule, !isSame));
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
      writeStore("rule", store, (to) => to.removeRule(id));
      byId.delete(id);
      activate();
      alerts.clear(id);
    },
    done(rule_id, session_id) {
      if (store === undefined) writeStore("rule", store, () => {});
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
    if (error instanceof RuleError) throw new Refused(400, "rule", error.title);
    throw error;
  }
}

/** The condition of a rule. Changing it makes it a different rule. */
const conditionOf = ({ when, scope, is_on }: RuleBody): string => JSON.stringify([when, scope ?? "", is_on]);
