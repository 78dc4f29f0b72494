import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { UiExtra } from "../../src/model/parts/ui-extra.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

const SESSION = uuidOf("changed");
const at = 1_700_000_000_000;
let daemon: TestDaemon;
let client: Client;

const prompt = (text: string): Frame => ({
  session_id: SESSION,
  at,
  type: "user.message",
  message_id: uuidOf(`message ${text}`),
  part_id: uuidOf(`prompt ${text}`),
  parts: [{ type: "text", text }],
});
const call = (name: string, ui_extra: UiExtra): Frame[] => [
  { session_id: SESSION, at, type: "message.start", message_id: uuidOf(name) },
  {
    session_id: SESSION,
    at,
    type: "message.tool_call",
    message_id: uuidOf(name),
    part_id: uuidOf(`call ${name}`),
    tool_call_id: name,
    tool_name: "tool",
    arguments_json: "{}",
  },
  { session_id: SESSION, at, type: "message.end", message_id: uuidOf(name), stop_reason: "tool_use" },
  {
    session_id: SESSION,
    at,
    type: "message.tool_result",
    part_id: uuidOf(`result ${name}`),
    tool_call_id: name,
    is_error: false,
    status: "success",
    output_text: "",
    parts: [],
    ui_extra,
  },
];
const edit = (name: string, path: string, before: string, after: string): Frame[] =>
  call(name, {
    type: "diff",
    files: [
      {
        path,
        change: "update",
        additions: 1,
        deletions: 1,
        hunks: [
          { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines: [`-${before}`, `+${after}`] },
        ],
      },
    ],
  });
const endTurn: Frame = { session_id: SESSION, at, type: "turn.end", status: "completed" };

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  daemon = await startTestDaemon();
  client = clientOf(daemon);
  daemon.sessions.add(SESSION, [
    prompt("Only talk"),
    endTurn,
    prompt("Look"),
    ...call("one", { type: "shell", command: "npm install" }),
    endTurn,
    prompt("Mend it"),
    ...edit("two", "/w/tide/a.ts", "high", "low"),
    ...edit("three", "/w/tide/a.ts", "low", "ebb"),
    endTurn,
  ]);
  history.replaceState(null, "", `/session/${SESSION}`);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

test("a turn's end links to its net changes, whose calls are linked", async () => {
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("button", { name: "Changes of turn 3" }));
  const dialog = await screen.findByRole("dialog", { name: "Changes" });
  await within(dialog).findByText("1 file changed");
  within(dialog).getByTitle("/w/tide/a.ts");
  const diff = within(dialog).getByRole("group", { name: "Changes of /w/tide/a.ts" });
  expect(diff.textContent).toContain("-high");
  expect(diff.textContent).toContain("+ebb");
  expect(diff.textContent).not.toContain("low");
  await userEvent.click(within(dialog).getByRole("link", { name: "call 2" }));
  expect(location.hash).toBe(`#part-${uuidOf("call three")}`);
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

test("a key shows the changes of all turns, or of a selected one", async () => {
  render(<App client={client} />);
  await screen.findAllByText("Mend it");
  await userEvent.keyboard("d");
  const dialog = await screen.findByRole("dialog", { name: "Changes" });
  await within(dialog).findByText("1 file changed");
  within(dialog).getByText("1 command may have changed files without a record of it");
  const turn = within(dialog).getByRole("combobox", { name: "Show" });
  await userEvent.selectOptions(turn, "Turn 2");
  await within(dialog).findByText("0 files changed");
  within(dialog).getByText("npm install");
  await userEvent.selectOptions(turn, "Turn 1");
  await within(dialog).findByText("No file changes are recorded here.");
});

test("the changes show that the daemon does not answer", async () => {
  render(<App client={client} />);
  await screen.findAllByText("Mend it");
  daemon.answer(({ route }) =>
    route.includes("/changes") ? [500, { error: { code: "failed", message: "It broke." } }] : undefined,
  );
  await userEvent.keyboard("d");
  await within(await screen.findByRole("dialog", { name: "Changes" })).findByText(/It broke\./);
});
