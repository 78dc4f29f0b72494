import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

let daemon: TestDaemon;
let client: Client;
const SESSION = uuidOf("filtered");
const at = 1_700_000_000_000;

const say = (text: string): Frame[] => [
  { session_id: SESSION, at, type: "message.start", message_id: uuidOf(`message ${text}`) },
  { session_id: SESSION, at, type: "message.part_start", part_id: uuidOf(`part ${text}`), kind: "text" },
  { session_id: SESSION, at, type: "message.part_end", part_id: uuidOf(`part ${text}`), text },
  {
    session_id: SESSION,
    at,
    type: "message.end",
    message_id: uuidOf(`message ${text}`),
    stop_reason: "stop",
  },
];
const call = (name: string, command: string, is_error = false): Frame[] => [
  { session_id: SESSION, at, type: "message.start", message_id: uuidOf(`message ${command}`) },
  {
    session_id: SESSION,
    at,
    type: "message.tool_call",
    message_id: uuidOf(`message ${command}`),
    part_id: uuidOf(`call ${command}`),
    tool_call_id: command,
    tool_name: name,
    arguments_json: JSON.stringify({ command, file_path: command }),
  },
  {
    session_id: SESSION,
    at,
    type: "message.end",
    message_id: uuidOf(`message ${command}`),
    stop_reason: "tool_use",
  },
  {
    session_id: SESSION,
    at,
    type: "message.tool_result",
    part_id: uuidOf(`result ${command}`),
    tool_call_id: command,
    is_error,
    status: is_error ? "error" : "success",
    output_text: "",
    parts: [],
  },
];

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  daemon = await startTestDaemon();
  daemon.sessions.add(SESSION, [
    {
      session_id: SESSION,
      at,
      type: "user.message",
      message_id: uuidOf("prompt"),
      part_id: uuidOf("prompt part"),
      parts: [{ type: "text", text: "Check the build" }],
    },
    ...say("I look first."),
    ...call("Bash", "ls"),
    ...call("Bash", "make", true),
    ...call("Read", "/log"),
    ...say("It is broken."),
  ]);
  history.replaceState(null, "", `/session/${SESSION}`);
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  history.replaceState(null, "", "/");
  await daemon.close();
});

const rows = () =>
  within(screen.getByRole("region", { name: "Transcript" }))
    .getAllByRole("article")
    .map((row) => row.getAttribute("aria-label") ?? "");

test("rows are hidden by kind, state and tool, in order, and the counts add up", async () => {
  render(<App client={client} />);
  await screen.findByText("It is broken.");
  const all = rows();
  expect(all).toHaveLength(5);
  await userEvent.keyboard("f");
  const bar = await screen.findByRole("region", { name: "Filter rows" });
  await within(bar).findByText("5 shown · 0 hidden · 5 rows");

  await userEvent.click(within(bar).getByRole("button", { name: "Calls 3" }));
  await within(bar).findByText("3 shown · 2 hidden · 5 rows");
  await waitFor(() => expect(rows()).toEqual(all.slice(1, 4)));
  await userEvent.click(within(bar).getByRole("button", { name: "Failed 1" }));
  await within(bar).findByText("1 shown · 4 hidden · 5 rows");
  await waitFor(() => expect(rows()).toEqual([all[2]]));
  await userEvent.click(within(bar).getByRole("button", { name: "Failed 1" }));
  await userEvent.selectOptions(within(bar).getByRole("combobox", { name: "Tool" }), "Read");
  await waitFor(() => expect(rows()).toEqual([all[3]]));

  // New parts are filtered and counted as they arrive.
  daemon.sessions.push(SESSION, [...say("I try again."), ...call("Read", "/log2")]);
  await within(bar).findByText("2 shown · 5 hidden · 7 rows");
  await waitFor(() => expect(rows()).toHaveLength(2));

  // Nothing was moved meanwhile.
  await userEvent.click(within(bar).getByRole("button", { name: "Show all" }));
  await waitFor(() => expect(rows()).toHaveLength(7));
  expect(rows().slice(0, 5)).toEqual(all);
});

test("tools are named as in their rows, and two that share a name by both", async () => {
  daemon.sessions.push(SESSION, [
    ...call("exec_command", "ls"),
    ...call("shell", "pwd"),
    ...call("read_file", "/a"),
  ]);
  render(<App client={client} />);
  await screen.findByText("It is broken.");
  await userEvent.keyboard("f");
  const bar = await screen.findByRole("region", { name: "Filter rows" });
  const tools = await within(bar).findByRole("combobox", { name: "Tool" });
  const names = within(tools)
    .getAllByRole("option")
    .map(({ textContent }) => textContent);
  expect(names).toEqual([
    "Any tool",
    "Bash (1)",
    "Read · Read (1)",
    "Read · read_file (1)",
    "Shell · exec_command (1)",
    "Shell · shell (1)",
  ]);
});

test("a link to a hidden row shows everything again", async () => {
  render(<App client={client} />);
  await screen.findByText("It is broken.");
  await userEvent.keyboard("f");
  const bar = await screen.findByRole("region", { name: "Filter rows" });
  await userEvent.click(await within(bar).findByRole("button", { name: "Text 2" }));
  await waitFor(() => expect(rows()).toHaveLength(2));
  await userEvent.keyboard("e");
  await waitFor(() => expect(rows()).toHaveLength(5));
  expect(screen.queryByRole("region", { name: "Filter rows" })).toBeNull();
});
