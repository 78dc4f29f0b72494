import type { DatabaseSync } from "node:sqlite";
import type * as z from "zod";
import { type StoredAlert, storedAlert } from "../../model/rules/alert.ts";
import { type Rule, rule } from "../../model/rules/rule.ts";
import { StoreError } from "../contract.ts";
import { guarded } from "../sqlite/errors.ts";
import { type OpenedLoadedStore, openLoadedStore, type StoreFolder } from "../sqlite/loaded-store.ts";
import { inTransaction } from "../sqlite/transaction.ts";

/** Migrations: entry n upgrades a store from version n. Entries are only added, never changed. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE rule (id TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
   CREATE TABLE alert (
     rule_id TEXT NOT NULL,
     session_id TEXT NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (rule_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
];

/** Stores rules and their alerts. Every call may throw a `StoreError`. The store is then unchanged. */
export interface RuleStore {
  /** Rules, sorted by name. */
  load(): { rules: Rule[]; alerts: StoredAlert[] };
  /** Adds or replaces a rule. `clears`: also deletes its alerts. On disk when the call returns. */
  putRule(rule: Rule, clears: boolean): void;
  /** Deletes a rule with its alerts. */
  removeRule(id: string): void;
  /** Adds, replaces and deletes alerts. */
  putAlerts(
    put: readonly StoredAlert[],
    remove: readonly Pick<StoredAlert, "rule_id" | "session_id">[],
  ): void;
  close(): void;
}

/**
 * Opens `rules.db` in a data folder. See `openDatabase`. Like the notes, rules exist nowhere else.
 */
export const openRuleStore = (place: StoreFolder): OpenedLoadedStore<RuleStore> =>
  openLoadedStore(place, {
    name: "rules",
    file: "rules",
    migrations: MIGRATIONS,
    create: createRuleStore,
  });

function createRuleStore(database: DatabaseSync): RuleStore {
  const statements = {
    rules: database.prepare("SELECT value FROM rule"),
    alerts: database.prepare("SELECT value FROM alert"),
    putRule: database.prepare(
      "INSERT INTO rule (id, value) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET value = excluded.value",
    ),
    removeRule: database.prepare("DELETE FROM rule WHERE id = ?"),
    clear: database.prepare("DELETE FROM alert WHERE rule_id = ?"),
    putAlert: database.prepare(
      `INSERT INTO alert (rule_id, session_id, value) VALUES (?, ?, ?)
       ON CONFLICT (rule_id, session_id) DO UPDATE SET value = excluded.value`,
    ),
    removeAlert: database.prepare("DELETE FROM alert WHERE rule_id = ? AND session_id = ?"),
  };
  return {
    load: () =>
      guarded(() => ({
        rules: statements.rules
          .all()
          .map(({ value }) => parsed(rule, value))
          .sort((one, other) => (one.name < other.name ? -1 : 1)),
        alerts: statements.alerts.all().map(({ value }) => parsed(storedAlert, value)),
      })),
    putRule(given, clears) {
      inTransaction(database, () => {
        statements.putRule.run(given.id, JSON.stringify(given));
        if (clears) statements.clear.run(given.id);
      });
    },
    removeRule(id) {
      inTransaction(database, () => {
        statements.removeRule.run(id);
        statements.clear.run(id);
      });
    },
    putAlerts(put, remove) {
      inTransaction(database, () => {
        for (const alert of put)
          statements.putAlert.run(alert.rule_id, alert.session_id, JSON.stringify(alert));
        for (const { rule_id, session_id } of remove) statements.removeAlert.run(rule_id, session_id);
      });
    },
    close: () => database.close(),
  };
}

function parsed<Schema extends z.ZodType>(schema: Schema, json: unknown): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(String(json)));
  } catch (error) {
    throw new StoreError("broken", "a rule or an alert is invalid", { cause: error });
  }
}
