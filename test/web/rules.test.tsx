import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ruleBody } from "../../src/model/rules/rule.ts";
import type { RuleTrialReply } from "../../src/protocol.ts";
import { Refused } from "../../src/server/sessions/refused.ts";
import { type Rules, withRules } from "../../src/server/sessions/rules.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { createMemorySessions } from "../server/memory-sessions.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

const TIDES = uuidOf("tides");
const TRIAL: RuleTrialReply = {
  times: 3,
  sessions: 2,
  is_more: false,
  searched: 7,
  all: 7,
  not_indexed: 1,
  hits: [
    {
      session_id: TIDES,
      title: "Tides of the week",
      part_id: uuidOf("part"),
      at: 1_700_000_000_000,
      text: "rm -rf x",
    },
  ],
};
let daemon: TestDaemon;
let client: Client;
let rules: Rules;

beforeEach(async () => {
  localStorage.clear();
  const memory = createMemorySessions();
  const store = { putRule() {}, removeRule() {}, putAlerts() {} };
  const kept = { rules: [], alerts: [] };
  const ruled = withRules({ sessions: memory, kept, store, now: Date.now, report() {} });
  rules = ruled.rules;
  const { add, push, rewrite, remove, transcript } = memory;
  daemon = await startTestDaemon(Object.assign(ruled.sessions, { add, push, rewrite, remove, transcript }));
  daemon.answer(({ route, body }) => {
    try {
      if (route === "GET /api/rules") return [200, { rules: rules.list() }];
      if (route === "POST /api/rules/try") return [200, TRIAL];
      const [, rule, what, session] =
        /^POST \/api\/rules\/([^/]+)(?:\/(delete|done)(?:\/(.+))?)?$/.exec(route) ?? [];
      if (rule === undefined) return undefined;
      if (what === "delete") rules.remove(rule);
      else if (session !== undefined) rules.done(rule, session);
      else return [200, { rule: rules.put(rule, ruleBody.parse(body)) }];
      return [200, {}];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return [error.status, { error: { code: error.code, message: error.message } }];
    }
  });
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  await daemon.sessions.close();
  await daemon.close();
});
const open = (path: string) => {
  history.replaceState(null, "", path);
  render(<App client={client} />);
};

test("a rule is tried on past sessions before it is saved, then switched off, edited and deleted", async () => {
  open("/rules");
  await screen.findByText("No rules yet.");
  await userEvent.click(screen.getByRole("button", { name: "Add a rule" }));
  const form = await screen.findByRole("form", { name: "New rule" });
  await userEvent.type(within(form).getByRole("textbox", { name: "Name" }), "Deletes");
  await userEvent.type(within(form).getByRole("textbox", { name: "Search query" }), "kind:call rm");
  await userEvent.click(within(form).getByRole("button", { name: "Try on past sessions" }));
  const trial = await within(form).findByRole("region", { name: "Past sessions" });
  expect(trial.textContent).toContain("It would have applied 3 times, in 2 sessions");
  expect(trial.textContent).toContain("1 not indexed yet");
  const link = within(trial).getByRole("link", { name: "Tides of the week" });
  expect(link.getAttribute("href")).toBe(`/session/${TIDES}#part-${uuidOf("part")}`);
  expect(rules.list()).toEqual([]);
  // A changed condition has not been tried.
  await userEvent.type(within(form).getByRole("textbox", { name: "Search query" }), " -rf");
  expect(within(form).queryByRole("region")).toBeNull();
  await userEvent.click(within(form).getByRole("button", { name: "Save rule" }));
  const list = screen.getByRole("list", { name: "Alert rules" });
  await within(list).findByText("when recorded: kind:call rm -rf");
  expect(rules.list()).toMatchObject([
    { name: "Deletes", is_on: true, when: { type: "event", query: "kind:call rm -rf" } },
  ]);
  expect(screen.queryByRole("form")).toBeNull();

  await userEvent.click(within(list).getByRole("checkbox", { name: "Deletes" }));
  await waitFor(() => expect(rules.list()).toMatchObject([{ is_on: false }]));

  await userEvent.click(within(list).getByRole("button", { name: "Edit Deletes" }));
  const edit = await screen.findByRole("form", { name: "Edit the rule" });
  await userEvent.click(within(edit).getByRole("radio", { name: "a budget is exceeded" }));
  const above = within(edit).getByRole("textbox", { name: "More than" });
  await userEvent.clear(above);
  await userEvent.type(above, "2,500");
  await userEvent.selectOptions(within(edit).getByRole("combobox", { name: "Per" }), "turn");
  await userEvent.click(within(edit).getByRole("button", { name: "Save rule" }));
  await within(list).findByText("when a turn exceeds 2,500 tokens");
  expect(rules.list()).toMatchObject([
    { is_on: false, when: { type: "budget", of: "turn", measure: "tokens", above: 2_500 } },
  ]);

  await userEvent.click(within(list).getByRole("button", { name: "Delete Deletes" }));
  expect(rules.list()).toHaveLength(1);
  await userEvent.click(within(list).getByRole("button", { name: "Delete this rule" }));
  await screen.findByText("No rules yet.");
  expect(rules.list()).toEqual([]);
});

test("an invalid rule shows the reason, and keeps the input", async () => {
  open("/rules");
  await userEvent.click(await screen.findByRole("button", { name: "Add a rule" }));
  const form = await screen.findByRole("form", { name: "New rule" });
  await userEvent.click(within(form).getByRole("button", { name: "Save rule" }));
  expect((await within(form).findByRole("alert")).textContent).toBe("Enter a name.");
  await userEvent.type(within(form).getByRole("textbox", { name: "Name" }), "Wrong");
  await userEvent.click(within(form).getByRole("button", { name: "Save rule" }));
  await within(form).findByText("Fill in the condition. Numbers must be 0 or more.");
  const query = within(form).getByRole<HTMLInputElement>("textbox", { name: "Search query" });
  await userEvent.type(query, "kind:calls");
  await userEvent.click(within(form).getByRole("button", { name: "Save rule" }));
  await waitFor(() => expect(within(form).getByRole("alert").textContent).toContain("kind:calls is unknown"));
  expect(query.value).toBe("kind:calls");
  expect(rules.list()).toEqual([]);
});

test("an alert is listed with its rule's name until it is dismissed", async () => {
  const at = Date.now();
  const rule_id = uuidOf("rule");
  daemon.sessions.add(TIDES);
  rules.put(rule_id, { name: "Deletes", is_on: true, when: { type: "event", query: "kind:call rm" } });
  open("/");
  await screen.findByRole("button", { name: "Settings" });
  daemon.sessions.push(TIDES, [
    { session_id: TIDES, at: at + 1_000, type: "message.start", message_id: uuidOf("message") },
    {
      session_id: TIDES,
      at: at + 1_000,
      type: "message.tool_call",
      tool_call_id: "rm",
      part_id: uuidOf("rm"),
      tool_name: "Bash",
      arguments_json: '{"command":"rm -rf x"}',
    },
  ]);
  const list = await screen.findByRole("region", { name: "Needs attention" });
  const link = await within(list).findByRole("link", { name: /^Deletes: .*rm -rf x/ });
  expect(link.getAttribute("href")).toBe(`/session/${TIDES}#part-${uuidOf("rm")}`);
  await userEvent.click(within(list).getByRole("button", { name: /^Done/ }));
  await waitFor(() => expect(daemon.sessions.get(TIDES)).not.toHaveProperty("alerts"));
});
