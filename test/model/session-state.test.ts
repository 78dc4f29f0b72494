import { describe, expect, it } from "vitest";
import type { SessionSummary, StatusRule } from "../../src/model/session.ts";
import { type SessionState, sessionState } from "../../src/model/session-state.ts";
import { row } from "../server/notify/rows.ts";

const rule = (name: StatusRule["rule"]): Partial<SessionSummary> => ({ status_rule: { rule: name } });
const request = { request_id: "1", kind: "approval", title: "May I?", asked_at: 1 } as const;

describe("the state of a session", () => {
  it.each<[state: SessionState, when: string, fields: Partial<SessionSummary>]>([
    ["waiting", "its agent asks for an approval", { status: "running", requests: [request] }],
    ["waiting", "its terminal shows a dialog after the turn", { waiting: { for: "dialog open" } }],
    ["working", "the register says that it works", { status: "running", ...rule("register") }],
    ["failed", "its record says that it failed", { status: "failed", ...rule("record") }],
    ["unknown", "its record has no end and it is silent", { status: "failed", ...rule("silence") }],
    ["unknown", "its record has no end and its process ended", { status: "failed", ...rule("ended") }],
    ["stopped", "a person stopped it", { status: "interrupted", ...rule("record") }],
    ["idle", "it ended and parts were not seen", { new_parts: 2 }],
    ["idle", "it was marked as unread", { unread: true }],
    ["finished", "it ended and all was seen", rule("record")],
  ])("is %s if %s", (state, _, fields) => {
    expect(sessionState(row("a", { status: "completed", ...fields }))).toBe(state);
  });

  it("is waiting if a run below it waits, whatever its own turn does", () => {
    for (const status of ["running", "completed", "failed", "interrupted"] as const) {
      expect(sessionState(row("a", { status }), true)).toBe("waiting");
    }
  });
});
