import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentSource } from "../../src/protocol.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

let daemon: TestDaemon;
let client: Client;
let agents: AgentSource[];
let keeps: boolean;

beforeEach(async () => {
  agents = [
    {
      agent: "codex",
      name: "Codex",
      is_on: true,
      sessions: 3,
      read_at: Date.now(),
      folders: [{ path: "/home/ada/.codex/sessions", exists: true }],
      problems: [
        {
          path: "/home/ada/.codex/sessions/locked",
          text: "/home/ada/.codex/sessions/locked: no permission to read it.",
          remedy: "Give the user who runs Verbatim permission to read it. Verbatim retries automatically.",
        },
      ],
    },
    {
      agent: "pi",
      name: "pi",
      is_on: true,
      sessions: 0,
      folders: [{ path: "/home/ada/.pi/agent/sessions", exists: false }],
      problems: [],
    },
  ];
  keeps = true;
  history.replaceState(null, "", "/");
  daemon = await startTestDaemon();
  daemon.answer(({ route, body }) => {
    if (route === "GET /api/sources") return [200, { agents }];
    if (route !== "POST /api/sources/codex") return undefined;
    if (!keeps)
      return [503, { error: { code: "disk", message: "The choice could not be stored: no room." } }];
    agents = agents.map((source) => (source.agent === "codex" ? { ...source, ...(body as object) } : source));
    return [200, agents[0]];
  });
  client = clientOf(daemon);
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("button", { name: "Settings" }));
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const section = () => screen.findByRole("group", { name: "Agents" });

test("each agent shows figures, folders and unreadable files; agents without sessions are separate", async () => {
  const codex = await within(await section()).findByRole("checkbox", { name: "Codex" });
  const row = codex.closest("li");
  expect(row?.textContent).toMatch(/3 sessions · read (?:now|\d+ s ago)/);
  expect(row?.textContent).toContain("/home/ada/.codex/sessions");
  expect(row?.textContent).toContain("no permission to read it. Give the user who runs Verbatim permission");
  const missing = within(await section())
    .getByText("Not found (1)")
    .closest("details");
  expect(missing?.textContent).toContain("/home/ada/.pi/agent/sessions (does not exist)");
  expect(missing?.textContent).not.toContain("Codex");
});

test("many folders that do not exist are listed only on request", async () => {
  const paths = Array.from({ length: 4 }, (_, n) => `/home/ada/.config/Code ${n}`);
  agents = [
    {
      agent: "copilot-chat",
      name: "Copilot Chat",
      is_on: true,
      sessions: 1,
      folders: [
        { path: "/home/ada/.config/Code", exists: true },
        ...paths.map((path) => ({ path, exists: false })),
      ],
      problems: [],
    },
  ];
  await userEvent.click(screen.getByRole("button", { name: "Close" }));
  await userEvent.click(await screen.findByRole("button", { name: "Settings" }));
  const summary = await within(await section()).findByText("4 folders that do not exist");
  const list = summary.closest("details");
  expect(list?.open).toBe(false);
  for (const path of paths) expect(list?.textContent).toContain(path);
  expect(list?.parentElement?.querySelector(":scope > .source-folder")?.textContent).toBe(
    "/home/ada/.config/Code",
  );
});

test("the switch is sent, shows the stored value, and explains a failure", async () => {
  const codex = () => screen.findByRole<HTMLInputElement>("checkbox", { name: "Codex" });
  await userEvent.click(await codex());
  await waitFor(async () => expect((await codex()).checked).toBe(false));
  expect(daemon.asked).toContainEqual({ route: "POST /api/sources/codex", body: { is_on: false } });
  expect((await codex()).closest("li")?.textContent).toContain("3 sessions · off");
  keeps = false;
  await userEvent.click(await codex());
  expect((await within(await section()).findByRole("alert")).textContent).toContain(
    "The choice could not be stored: no room.",
  );
  expect((await codex()).checked).toBe(false);
});
