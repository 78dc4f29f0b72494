import type { RuleAlert, StoredAlert } from "../../model/rules/alert.ts";
import { endsByItself, type Firing } from "../../model/rules/evaluate.ts";
import type { Rule } from "../../model/rules/rule.ts";

/** Delay after which alerts are published and stored together, in milliseconds. */
const WRITE_MS = 200;
/** Number of parts per rule and session that are remembered, so that reading them again does not alert again. */
const MAX_KNOWN = 1_000;

const placeOf = (rule_id: string, session_id: string): string => `${rule_id} ${session_id}`;

/** The alerts of rules, by session. */
export interface Alerts {
  of(session_id: string): readonly StoredAlert[];
  sessionsOf(rule_id: string): string[];
  /** Creates or updates the alert of a rule for a session, once per key. */
  fire(rule: Rule, session_id: string, firing: Firing): void;
  /** Ends an alert whose rule no longer matches. */
  end(rule_id: string, session_id: string): void;
  done(rule_id: string, session_id: string): void;
  /** Drops all alerts of a rule, after they were deleted from the store. */
  clear(rule_id: string): void;
  close(): void;
}

interface AlertsOptions {
  kept: readonly StoredAlert[];
  store?:
    | {
        putAlerts(
          put: readonly StoredAlert[],
          remove: readonly Pick<StoredAlert, "rule_id" | "session_id">[],
        ): void;
      }
    | undefined;
  report(error: unknown): void;
  /** Publishes the rows of sessions. */
  publish(ids: readonly string[]): void;
}

/** Keeps alerts. Changes are published and stored together, after a delay. */
export function createAlerts(options: AlertsOptions): Alerts {
  const { store, report, publish } = options;
  const bySession = new Map<string, Map<string, StoredAlert>>();
  /** Keys for which a rule alerted, by rule and session, so that records that are read again do not alert again. */
  const known = new Map<string, Map<string, Set<string>>>();
  const changed = new Map<string, Pick<StoredAlert, "rule_id" | "session_id">>();
  let timer: NodeJS.Timeout | undefined;

  /** When the alerts of an earlier daemon last matched. */
  const loaded_at = new Map<string, number>();
  for (const alert of options.kept) {
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
      // The alerts are shown anyway, and stored with their next change.
      report(error);
    }
    publish([...new Set(all.map(({ session_id }) => session_id))]);
  }
  function change(rule_id: string, session_id: string): void {
    changed.set(placeOf(rule_id, session_id), { rule_id, session_id });
    timer ??= setTimeout(flush, WRITE_MS);
  }
  /** Whether the rule has already alerted for this key. Records the key. */
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
      // Records up to this time were evaluated before the restart, and may be read again.
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

/** An alert as it is shown; `undefined`: a user dismissed it, or its rule was deleted. */
export function alertOf(alert: StoredAlert, rule: Rule | undefined): RuleAlert | undefined {
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
