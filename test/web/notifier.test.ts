import { describe, expect, it } from "vitest";
import type { SessionSummary } from "../../src/model/session.ts";
import { DWELL_MS, Notifier, REPEAT_MS } from "../../src/web/app/notifier.ts";
import type { AttentionItem, AttentionKind } from "../../src/web/screens/sessions/attention.ts";
import { uuidOf } from "../uuid-of.ts";

const row = (name: string): SessionSummary => ({
  id: uuidOf(name),
  agent: "codex",
  status: "running",
  last_activity_at: 0,
  turns: 1,
  steps: 1,
  tool_calls: 0,
  errors: 0,
  parts: 1,
  runs: 0,
  byte_size: 0,
});
const item = (name: string, kind: AttentionKind, key = `${name} ${kind}`): AttentionItem => ({
  key,
  kind,
  row: row(name),
  reason: "",
  since: 0,
  href: "",
});
const nothing = () => false;
/** The keys that are shown for a list at a time. */
const shown = (notifier: Notifier, items: AttentionItem[], at: number, isSeen = nothing) =>
  notifier.take(items, "all", at, isSeen).show.map(({ key }) => key);

describe("a notification", () => {
  it("is shown once for a session that still needs attention after a delay", () => {
    const notifier = new Notifier();
    const asks = item("a", "waiting");
    expect(shown(notifier, [], 0)).toEqual([]);
    expect(notifier.take([asks], "all", 100, nothing)).toEqual({ show: [], next: 100 + DWELL_MS });
    expect(shown(notifier, [asks], 99 + DWELL_MS)).toEqual([]);
    expect(shown(notifier, [asks], 100 + DWELL_MS)).toEqual(["a waiting"]);
    expect(shown(notifier, [asks], 200 + DWELL_MS)).toEqual([]);
  });

  it("is shown for an alert rule, even if only waiting sessions are selected", () => {
    const notifier = new Notifier();
    notifier.take([], "waiting", 0, nothing);
    const found = [item("a", "rule"), item("b", "failed")];
    notifier.take(found, "waiting", 100, nothing);
    const { show } = notifier.take(found, "waiting", 100 + DWELL_MS, nothing);
    expect(show.map(({ key }) => key)).toEqual(["a rule"]);
  });

  it("is not shown for sessions that waited when the page opened, or that were answered meanwhile", () => {
    const notifier = new Notifier();
    const old = item("a", "waiting");
    shown(notifier, [old], 0);
    shown(notifier, [old, item("b", "waiting")], 100);
    expect(shown(notifier, [old], 100 + DWELL_MS)).toEqual([]);
    expect(shown(notifier, [old], 10 * DWELL_MS)).toEqual([]);
  });

  it("is not shown for the session on screen", () => {
    const notifier = new Notifier();
    shown(notifier, [], 0);
    shown(notifier, [item("a", "failed")], 0);
    expect(shown(notifier, [item("a", "failed")], DWELL_MS, () => true)).toEqual([]);
    expect(shown(notifier, [item("a", "failed")], 2 * DWELL_MS)).toEqual([]);
  });

  it("is limited for ended sessions, and immediate for each question", () => {
    const notifier = new Notifier();
    const ends = (turn: number) => item("a", "finished", `a finished ${turn}`);
    shown(notifier, [], 0);
    shown(notifier, [ends(1)], 0);
    expect(shown(notifier, [ends(1)], DWELL_MS)).toEqual(["a finished 1"]);
    shown(notifier, [ends(2), item("a", "waiting")], DWELL_MS);
    expect(shown(notifier, [ends(2), item("a", "waiting")], 2 * DWELL_MS)).toEqual(["a waiting"]);
    const later = 2 * DWELL_MS + REPEAT_MS;
    shown(notifier, [ends(3)], later);
    expect(shown(notifier, [ends(3)], later + DWELL_MS)).toEqual(["a finished 3"]);
  });

  it("follows the settings: never for running and quiet sessions, optional for ended ones", () => {
    const kinds: AttentionKind[] = ["waiting", "failed", "quiet", "finished", "running"];
    for (const [of, expected] of [
      ["off", []],
      ["waiting", ["waiting"]],
      ["all", ["waiting", "failed", "finished"]],
    ] as const) {
      const notifier = new Notifier();
      const items = kinds.map((kind) => item(kind, kind));
      notifier.take([], of, 0, nothing);
      notifier.take(items, of, 0, nothing);
      expect(notifier.take(items, of, DWELL_MS, nothing).show.map(({ kind }) => kind)).toEqual(expected);
    }
  });
});
