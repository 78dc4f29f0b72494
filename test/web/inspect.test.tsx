import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { PRICES_CHECKED } from "../../src/model/prices/list-prices.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { App } from "../../src/web/app/App.tsx";
import { openSession } from "../../src/web/app/open-session.ts";
import type { Client } from "../../src/web/app/store.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

const SESSION = uuidOf("inspected");
const common = { session_id: SESSION, at: 1_700_000_000_000 };
let daemon: TestDaemon;
let client: Client;

/** Starts another daemon, whose only session has these frames, and a row with these fields. */
async function restartWith(frames: readonly Frame[], row: Partial<SessionSummary>): Promise<void> {
  client.close();
  await daemon.close();
  const sessions = sessionsWith({ [SESSION]: row });
  sessions.add(SESSION, [...frames]);
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
}

const prompt = (text: string): Frame => ({
  ...common,
  type: "user.message",
  message_id: uuidOf(`message ${text}`),
  part_id: uuidOf(`prompt ${text}`),
  parts: [{ type: "text", text }],
});
const answer = (text: string, input: number): Frame[] => [
  { ...common, type: "message.start", message_id: uuidOf(text), model: "m" },
  {
    ...common,
    type: "message.part_start",
    message_id: uuidOf(text),
    part_id: uuidOf(`part ${text}`),
    kind: "text",
  },
  { ...common, type: "message.part_end", part_id: uuidOf(`part ${text}`), text },
  {
    ...common,
    type: "message.end",
    message_id: uuidOf(text),
    stop_reason: "stop",
    usage: { input, output: 3 },
  },
  { ...common, type: "turn.end", status: "completed" },
];

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  daemon = await startTestDaemon();
  client = clientOf(daemon);
  daemon.sessions.add(SESSION, [
    prompt("The tide turns at nine"),
    ...answer("Noted.", 1_000),
    prompt("And the wind?"),
    ...answer("It is calm.", 2_000),
    {
      ...common,
      type: "marker",
      part_id: uuidOf("compacted"),
      kind: "compaction",
      title: "Compacted",
      text: "A summary.",
    },
    prompt("When does the tide turn?"),
    ...answer("I do not know.", 500),
  ]);
  history.replaceState(null, "", `/session/${SESSION}`);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

test("the input of a model call marks new items, and items removed by a compaction", async () => {
  render(<App client={client} />);
  await screen.findByText("I do not know.");
  await userEvent.keyboard("i");
  const dialog = await screen.findByRole("dialog", { name: "Model input" });
  await within(dialog).findByText(/^Call \d of 3$/);
  const next = within(dialog).getByRole("button", { name: "Next call" });
  const previous = within(dialog).getByRole("button", { name: "Previous call" });
  while (!previous.hasAttribute("disabled")) await userEvent.click(previous);
  await within(dialog).findByText("Call 1 of 3");
  await userEvent.click(next);
  await within(dialog).findByText("Call 2 of 3");
  within(dialog).getByText(/Rebuilt from the session's record/);
  within(dialog).getByText("1 message unchanged since the previous call, 22 characters");
  const added = within(dialog).getByRole("region", { name: "New since the previous call" });
  within(added).getByText("And the wind?");
  await userEvent.click(next);
  await within(dialog).findByText("Call 3 of 3");
  await userEvent.click(within(dialog).getByText(/^− 3 messages removed since the previous call/));
  // A removed item opens to its whole text, from the last call that had it.
  await userEvent.click(await within(dialog).findByText("And the wind?"));
  await within(dialog).findByRole("button", { name: /^Copy/ });
  expect(within(dialog).getAllByText("And the wind?")).toHaveLength(2);
});

test("find in the model input names earlier calls with the text", async () => {
  render(<App client={client} />);
  await screen.findByText("I do not know.");
  await userEvent.keyboard("i");
  const dialog = await screen.findByRole("dialog", { name: "Model input" });
  const next = await within(dialog).findByRole("button", { name: "Next call" });
  while (!next.hasAttribute("disabled")) await userEvent.click(next);
  await within(dialog).findByText("Call 3 of 3");
  await userEvent.type(within(dialog).getByRole("searchbox", { name: "Find in this input" }), "nine{Enter}");
  await within(dialog).findByText("Not in this input. It was in an earlier one:");
  within(dialog).getByText("1 message of earlier calls, no longer in this input");
  await userEvent.click(within(dialog).getByRole("button", { name: "Last in call 2" }));
  await within(dialog).findByText("Call 2 of 3");
  await within(dialog).findByText("Found in 1 item.");
});

test("an item expands to its whole text, and links to its part", async () => {
  render(<App client={client} />);
  await screen.findByText("I do not know.");
  await userEvent.keyboard("i");
  const dialog = await screen.findByRole("dialog", { name: "Model input" });
  const next = await within(dialog).findByRole("button", { name: "Next call" });
  while (!next.hasAttribute("disabled")) await userEvent.click(next);
  await userEvent.click(await within(dialog).findByText("When does the tide turn?"));
  const link = await within(dialog).findByRole("link", { name: "Go to this part" });
  await within(dialog).findByRole("button", { name: /^Copy/ });
  await userEvent.click(link);
  expect(location.hash).toBe(`#part-${uuidOf("prompt When does the tide turn?")}`);
});

test("the line under a turn opens its figures, with tabs for the rest", async () => {
  render(<App client={client} />);
  const [digest] = await screen.findAllByRole("button", { name: /2k tokens in, 3 out/ });
  if (digest === undefined) throw new Error("no digest");
  await userEvent.click(digest);
  const dialog = await screen.findByRole("dialog", { name: "Figures" });
  await within(dialog).findByText("2,000 in, not cached");
  await userEvent.selectOptions(within(dialog).getByRole("combobox", { name: "Show" }), "All turns");
  await within(dialog).findByText("3,500 in, not cached");
  within(dialog).getByText("Cost unknown");
  within(dialog).getByText("100 % of the tokens have no price: m");
  await userEvent.click(within(dialog).getByText("3 steps"));
  const table = within(dialog).getByRole("table", { name: "By step" });
  expect(within(table).getAllByRole("row")).toHaveLength(4);
  within(dialog).getByRole("tab", { name: "Figures" }).focus();
  await userEvent.keyboard("{ArrowLeft}{ArrowLeft}{ArrowLeft}");
  expect(within(dialog).getByRole("tab", { name: "Changes" })).toBe(document.activeElement);
  await within(dialog).findByText("No file changes are recorded here.");
});

test("the cost of a turn is estimated at list prices, with the unpriced share", async () => {
  daemon.sessions.push(SESSION, [
    prompt("What else?"),
    ...answer("Nothing.", 999_997).map((frame) =>
      frame.type === "message.start" ? { ...frame, model: "claude-opus-4-8" } : frame,
    ),
  ]);
  render(<App client={client} />);
  await screen.findByText("Nothing.");
  await userEvent.keyboard("d");
  const dialog = await screen.findByRole("dialog", { name: "Changes" });
  await userEvent.click(within(dialog).getByRole("tab", { name: "Figures" }));
  await userEvent.selectOptions(await within(dialog).findByRole("combobox", { name: "Show" }), "Turn 4");
  // 999,997 tokens at $5 and 3 at $25 per million.
  await within(dialog).findByText(`Cost $5.00 at list prices of ${PRICES_CHECKED}`);
  await userEvent.selectOptions(within(dialog).getByRole("combobox", { name: "Show" }), "All turns");
  await within(dialog).findByText("1 % of the tokens have no price: m");
});

test("two sessions are compared from the first difference on", async () => {
  const fork = uuidOf("fork");
  const as = (session_id: string, frames: readonly Frame[]): Frame[] =>
    frames.map((frame) => ({ ...frame, session_id }));
  const begin = [prompt("The tide turns at nine"), ...answer("Noted.", 1_000)];
  const sessions = sessionsWith({
    [SESSION]: { title: "Main", cwd: "/w", status: "completed" },
    [fork]: { title: "Fork", cwd: "/w", status: "completed", forked_from: { session_id: SESSION } },
  });
  sessions.add(SESSION, [...begin, prompt("And the wind?"), ...answer("It is calm.", 2_000)]);
  sessions.add(fork, as(fork, [...begin, prompt("And the rain?"), ...answer("None.", 2_000)]));
  client.close();
  await daemon.close();
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
  render(<App client={client} />);
  await screen.findByText("It is calm.");
  await userEvent.keyboard("{Shift>}C{/Shift}");
  const dialog = await screen.findByRole("dialog", { name: "Compare" });
  await within(dialog).findByText(
    "The first 2 parts are the same, up to turn 1, step 1. From there on they differ:",
  );
  const texts = (side: string): string[] =>
    within(within(dialog).getByRole("region", { name: side }))
      .getAllByRole("listitem")
      .map((item) => item.textContent);
  expect(texts("Main")).toEqual([
    "turn 2 · prompt openAnd the wind?",
    "turn 2, step 1 · text openIt is calm.",
  ]);
  expect(texts("Fork")).toEqual(["turn 2 · prompt openAnd the rain?", "turn 2, step 1 · text openNone."]);
});

test("verification compares the parts with the record, which is read again", async () => {
  render(<App client={client} />);
  await screen.findByText("I do not know.");
  await userEvent.keyboard("d");
  const dialog = await screen.findByRole("dialog", { name: "Changes" });
  await userEvent.click(within(dialog).getByRole("tab", { name: "Verify" }));
  await within(dialog).findByText("Equal: all 13 parts match the record.");
  within(dialog).getByText("This page: all 13 parts match the record.");
  within(dialog).getByText("This page has every frame");
  const digestOf = (which: string): string | undefined =>
    within(dialog)
      .getByText(new RegExp(`^${which}: SHA-256 [0-9a-f]{64}$`))
      .textContent?.split(" ")
      .at(-1);
  expect(digestOf("Daemon, shown")).toBe(digestOf("Daemon, read again"));
  expect(digestOf("This page")).toBe(digestOf("The same parts, read again"));
});

test("verification shows the first difference with both values", async () => {
  render(<App client={client} />);
  await screen.findByText("I do not know.");
  // The page's own state is damaged, as by a fold that went wrong.
  const { state } = openSession(client, SESSION);
  const { transcript } = state.getState();
  if (transcript === undefined) throw new Error("no transcript");
  const index = [...transcript.parts].findIndex((part) => part?.type === "text");
  const part = transcript.parts.at(index);
  if (part?.type !== "text") throw new Error("no text");
  const parts = transcript.parts.set(index, { ...part, text: "Noted, wrongly." });
  state.setState({ transcript: { ...transcript, parts } });
  await userEvent.keyboard("d");
  const dialog = await screen.findByRole("dialog", { name: "Changes" });
  await userEvent.click(within(dialog).getByRole("tab", { name: "Verify" }));
  await within(dialog).findByText("This page differs from the record.");
  within(dialog).getByText("Equal: all 13 parts match the record.");
  const found = within(dialog).getByRole("region", { name: `The first difference is part ${index + 1}.` });
  const [shown, recorded] = within(found).getAllByRole("definition");
  expect(shown?.textContent).toContain('"text":"Noted, wrongly."');
  expect(recorded?.textContent).toContain('"text":"Noted."');
});

test("the errors of a session are listed by rank, with links", async () => {
  const call = (
    id: string,
    tool_name: string,
    input: object,
    output: Pick<Extract<Frame, { type: "message.tool_result" }>, "output_text" | "ui_extra">,
  ): Frame[] => [
    { ...common, type: "message.start", message_id: uuidOf(`calls ${id}`), model: "m" },
    {
      ...common,
      type: "message.tool_call",
      tool_call_id: id,
      tool_name,
      arguments_json: JSON.stringify(input),
      part_id: uuidOf(id),
      message_id: uuidOf(`calls ${id}`),
    },
    { ...common, type: "message.end", message_id: uuidOf(`calls ${id}`), stop_reason: "tool_use" },
    {
      ...common,
      type: "message.tool_result",
      tool_call_id: id,
      part_id: uuidOf(`result ${id}`),
      message_id: uuidOf(`results ${id}`),
      is_error: true,
      status: "error",
      parts: [],
      ...output,
    },
  ];
  const frames = [
    prompt("Try it"),
    ...call(
      "c1",
      "Bash",
      { command: "make" },
      {
        output_text: "error: no rule",
        ui_extra: { type: "shell", exit_code: 2 },
      },
    ),
    ...call("c2", "Read", { file_path: "/chart" }, { output_text: "No such file" }),
    ...answer("It failed.", 10),
  ];
  await restartWith(frames, { errors: 2, status: "completed" });
  render(<App client={client} />);
  await screen.findByText("It failed.");
  await userEvent.click(await screen.findByRole("button", { name: "2 errors" }));
  const dialog = await screen.findByRole("dialog", { name: "Errors" });
  await within(dialog).findByRole("heading", { name: "1 failed call" });
  within(dialog).getByRole("heading", { name: "1 command with an exit code other than 0" });
  within(dialog).getByRole("link", { name: /^Bash make exit 2 · turn 1, step 1 error: no rule$/ });
  await userEvent.click(within(dialog).getByRole("link", { name: /^Read \/chart/ }));
  expect(location.hash).toBe(`#part-${uuidOf("c2")}`);
  expect(screen.queryByRole("dialog")).toBeNull();
  // The last turn did not fail.
  await userEvent.keyboard("!");
  await screen.findByText("The last turn did not fail.");
});

test("a key and a link lead to what ended a session", async () => {
  const frames: Frame[] = [
    prompt("Try it"),
    ...answer("Almost.", 10).slice(0, -1),
    { ...common, type: "marker", part_id: uuidOf("overloaded"), kind: "error", title: "Overloaded" },
    { ...common, type: "turn.end", status: "failed" },
  ];
  await restartWith(frames, { errors: 1, status: "failed" });
  render(<App client={client} />);
  await screen.findByText("Almost.");
  const link = await screen.findByRole("link", { name: /^ended.*: Overloaded →$/ });
  expect(link.getAttribute("href")).toContain(`#part-${uuidOf("overloaded")}`);
  await userEvent.keyboard("!");
  await waitFor(() => expect(document.activeElement?.id).toBe(`part-${uuidOf("overloaded")}`));
});
