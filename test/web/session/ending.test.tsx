import { render, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../../src/model/frames/frame.ts";
import { App } from "../../../src/web/app/App.tsx";
import type { Client } from "../../../src/web/app/store.ts";
import { uuidOf } from "../../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "../daemon.ts";
import { sessionsWith } from "../sessions-with.ts";

const SESSION = uuidOf("ended");
const common = { session_id: SESSION, at: 1_700_000_000_000 };
const frames: Frame[] = [
  {
    ...common,
    type: "user.message",
    message_id: uuidOf("prompt"),
    part_id: uuidOf("prompt part"),
    parts: [{ type: "text", text: "Compute the tide table" }],
  },
];
const PART = uuidOf("prompt part");
const error = { rank: "ending", index: 0, part_id: PART, turn: 1, step: 2, subject: "overloaded" } as const;

let daemon: TestDaemon;
let client: Client;
beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", `/session/${SESSION}`);
});
afterEach(async () => {
  client.close();
  history.replaceState(null, "", "/");
  await daemon.close();
});

/** Starts a daemon with a session whose last turn ended so. */
async function start(status: "failed" | "completed"): Promise<void> {
  const sessions = sessionsWith({ [SESSION]: { status } });
  sessions.add(SESSION, frames);
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
}

/** Answers the request for the errors when the returned function is called. */
function holdErrors(errors: readonly object[]): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  daemon.answer(({ route }) =>
    route.endsWith("/errors") ? promise.then(() => [200, { errors, more: 0 }]) : undefined,
  );
  return resolve;
}

test("why a session failed has its place in the header before it is known", async () => {
  await start("failed");
  const answer = holdErrors([error]);
  render(<App client={client} />);
  const facts = within(await screen.findByRole("list", { name: "Facts" }));
  const count = facts.getAllByRole("listitem").length;
  const [first] = facts.getAllByRole("listitem");
  expect(first?.textContent).toBe("finding out why it ended");
  answer();
  const link = await facts.findByRole("link", { name: "ended in step 2: overloaded →" });
  expect(link.getAttribute("href")).toContain(PART);
  expect(first?.contains(link)).toBe(true);
  expect(facts.getAllByRole("listitem")).toHaveLength(count);
});

test("a turn whose record stops has no end, wherever its state is shown", async () => {
  const sessions = sessionsWith({ [SESSION]: { status: "failed", status_rule: { rule: "silence" } } });
  sessions.add(SESSION, [...frames, { ...common, type: "turn.end", status: "failed", inferred: true }]);
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
  holdErrors([{ ...error, subject: "git commit", cut_off: true, no_end: true }])();
  render(<App client={client} />);
  await screen.findByRole("link", { name: "no end after step 2: git commit →" });
  // The header, the outline and the turn's heading.
  expect(screen.getAllByText("[NO END]")).toHaveLength(3);
  expect(screen.queryByText("[FAILED]")).toBeNull();
  await screen.findByText(/^no end recorded/);
});

test("the header marks that the subject of the end is truncated", async () => {
  await start("failed");
  holdErrors([{ ...error, subject: `git commit -m ${"long ".repeat(40)}` }])();
  render(<App client={client} />);
  const link = await screen.findByRole("link", { name: /^ended in step 2: git commit/ });
  expect(link.textContent).toMatch(/… →$/);
});

test("the header says if the record does not say why a session failed", async () => {
  await start("failed");
  holdErrors([])();
  render(<App client={client} />);
  await screen.findByText("the record does not say why it ended");
});

test("nothing is said about the end of a session that completed", async () => {
  await start("completed");
  render(<App client={client} />);
  const facts = await screen.findByRole("list", { name: "Facts" });
  expect(facts.textContent).not.toMatch(/ended/);
});

test("the sheet of all facts has it too", async () => {
  await start("failed");
  holdErrors([error])();
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("button", { name: "More" }));
  const sheet = within(await screen.findByRole("dialog"));
  await sheet.findByRole("link", { name: "ended in step 2: overloaded →" });
});
