import { expect, it } from "vitest";
import type { SessionSummary } from "../../src/model/session.ts";
import { emptySummary } from "../../src/model/transcript/summarize.ts";
import { createKnownSessions } from "../../src/server/cli/known-sessions.ts";
import { openCodeSessionId } from "../../src/sources/opencode/ids.ts";
import { uuidOf } from "../uuid-of.ts";

it("finds by the agents' ids which sessions are read, and which are open elsewhere", async () => {
  const [quiet, working, asking, listed] = ["quiet", "working", "asking", "listed"].map(uuidOf);
  const named = openCodeSessionId("ses_1");
  const row = (id: string, more: Partial<SessionSummary> = {}): [string, SessionSummary] => [
    id,
    { ...emptySummary(id, "opencode", 0), ...more },
  ];
  const rows = new Map([
    row(quiet ?? ""),
    row(working ?? "", { status: "running" }),
    row(asking ?? "", { waiting: {} }),
    row(named),
  ]);
  const know = createKnownSessions({
    formats: [{ id: "codex" }, { id: "opencode" }],
    rowOf: (id) => rows.get(id),
    readOpen: () => Promise.resolve(new Set([listed])),
  });
  const ids = [quiet, working, asking, listed, "ses_1", "ses_2"].map((id) => id ?? "");
  expect([...(await know(ids)).values()]).toEqual([
    { read_as: quiet },
    { read_as: working, is_open: true },
    { read_as: asking, is_open: true },
    { is_open: true },
    { read_as: named },
    {},
  ]);
});
