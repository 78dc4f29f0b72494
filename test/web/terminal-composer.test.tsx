import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

const SESSION = uuidOf("in a terminal");
let daemon: TestDaemon;
let client: Client;
/** The daemon's refusal of a prompt, if any. */
let refusal: string | undefined;

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  refusal = undefined;
  const sessions = sessionsWith({ [SESSION]: { status: "running", takes_prompts: true } });
  sessions.add(SESSION, [
    {
      session_id: SESSION,
      at: 1_700_000_000_000,
      type: "user.message",
      message_id: uuidOf("asked"),
      part_id: uuidOf("prompt"),
      parts: [{ type: "text", text: "Count the gulls" }],
    },
  ]);
  daemon = await startTestDaemon(sessions);
  daemon.answer(({ route }) =>
    route.includes("/terminal-")
      ? refusal === undefined
        ? [200, {}]
        : [409, { error: { code: "not_taken", message: refusal } }]
      : undefined,
  );
  client = clientOf(daemon);
  history.replaceState(null, "", `/session/${SESSION}`);
  render(<App client={client} />);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const field = () => screen.findByRole("textbox", { name: "Message the agent in the terminal" });

test("Enter sends the text once and clears the field", async () => {
  await userEvent.type(await field(), "And the{Shift>}{Enter}{/Shift}terns{Enter}");
  await screen.findByDisplayValue("");
  expect(daemon.asked).toEqual([
    {
      route: `POST /api/sessions/${SESSION}/terminal-prompt`,
      body: { message_id: expect.any(String), text: "And the\nterns" },
    },
  ]);
});

test("unsent text stays in the input, with the reason", async () => {
  refusal = "Codex refused: the thread is under review";
  await userEvent.type(await field(), "And the terns{Enter}");
  await screen.findByText("Not sent: Codex refused: the thread is under review");
  await screen.findByDisplayValue("And the terns");
});

const sentIds = () => daemon.asked.map(({ body }) => (body as { message_id: string }).message_id);

test("a retry of the same text is the same message; other text is a new one", async () => {
  refusal = "Codex refused: the thread is under review";
  await userEvent.type(await field(), "And the terns{Enter}");
  await screen.findByText(/Not sent/);
  await userEvent.type(await field(), "{Enter}");
  await vi.waitFor(() => expect(daemon.asked).toHaveLength(2));
  await userEvent.type(await field(), "!{Enter}");
  await vi.waitFor(() => expect(daemon.asked).toHaveLength(3));
  const [first, again, other] = sentIds();
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test("the same text is a new message once it was sent", async () => {
  await userEvent.type(await field(), "Go on{Enter}");
  await screen.findByDisplayValue("");
  await userEvent.type(await field(), "Go on{Enter}");
  await vi.waitFor(() => expect(new Set(sentIds()).size).toBe(2));
});

test("Stop interrupts the running turn", async () => {
  await userEvent.click(await screen.findByRole("button", { name: "Stop" }));
  expect(daemon.asked.map(({ route }) => route)).toEqual([`POST /api/sessions/${SESSION}/terminal-stop`]);
});
