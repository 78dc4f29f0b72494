import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentsReply, NewSessionBody } from "../../src/protocol.ts";
import { App } from "../../src/web/app/App.tsx";
import { navigate } from "../../src/web/app/router.ts";
import type { Client } from "../../src/web/app/store.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { control, createManagedTestSessions, type ManagedTestSessions } from "./managed-sessions.ts";
import { holdPictures, PICTURE, pasted, picture, refuseAmongPictures } from "./pictures.ts";

const AGENTS: AgentsReply = {
  cwd: "/home/op/uploader",
  recent: [{ agent: "openrouter", model: "vendor/model-2", cwd: "/home/op/site" }],
  agents: [
    {
      id: "anthropic",
      title: "Anthropic",
      kind: "provider",
      models: [
        { id: "claude-x", title: "Claude X", context: 200_000, price: { input: 3, output: 15 } },
        { id: "claude-y" },
      ],
      any_model: true,
      takes_images: true,
    },
    {
      id: "openrouter",
      title: "OpenRouter",
      kind: "provider",
      models: [],
      any_model: true,
      takes_images: true,
    },
    {
      id: "gemini",
      title: "Gemini",
      kind: "provider",
      models: [{ id: "gemini-x" }],
      any_model: true,
      takes_images: true,
      unavailable: { message: "There is no key for Gemini.", remedy: "Set GEMINI_API_KEY and start again." },
    },
    {
      id: "opencode",
      title: "opencode",
      kind: "acp",
      models: [],
      any_model: false,
      takes_images: false,
    },
    {
      id: "scripted",
      title: "Scripted",
      kind: "provider",
      models: [{ id: "discovery", title: "A discovery" }],
      any_model: true,
      takes_images: false,
      scripted: true,
    },
  ],
};

type Started = [number, unknown] | "lost";

let sessions: ManagedTestSessions;
let daemon: TestDaemon;
let client: Client;
/** The reply of `GET /api/agents`. */
let reply: AgentsReply;
/** The reply of `POST /api/sessions`; by default the session has started. */
let started: (body: NewSessionBody) => Started | Promise<Started>;

// jsdom does not implement scrolling.
Element.prototype.scrollIntoView ??= () => undefined;

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/new");
  sessions = createManagedTestSessions();
  daemon = await startTestDaemon(sessions);
  started = ({ session_id }) => {
    sessions.say(session_id, { title: "A new one", control: control({ state: "working" }) });
    sessions.add(session_id);
    return [201, { session_id }];
  };
  reply = AGENTS;
  daemon.answer(({ route, body }) =>
    route === "GET /api/agents"
      ? [200, reply]
      : route === "POST /api/sessions"
        ? // The page's own type of what it sends.
          started(body as NewSessionBody)
        : undefined,
  );
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const bodies = () =>
  daemon.asked.filter(({ route }) => route.startsWith("POST")).map(({ body }) => body as NewSessionBody);
const promptField = () => screen.findByRole("textbox", { name: "Prompt" });
const folder = () => screen.getByRole("combobox", { name: "Folder" }) as HTMLInputElement;

test("one key opens the form with the last choices, ready for the prompt", async () => {
  history.replaceState(null, "", "/");
  render(<App client={client} />);
  await userEvent.keyboard("n");
  const prompt = await promptField();
  expect(location.pathname).toBe("/new");
  expect(screen.getByRole("radio", { name: /OpenRouter/ })).toHaveProperty("checked", true);
  expect(screen.getByRole("textbox", { name: "Model" })).toHaveProperty("value", "vendor/model-2");
  expect(folder().value).toBe("/home/op/site");
  await waitFor(() => expect(document.activeElement).toBe(prompt));
});

test("starting opens the live session, and clears the draft", async () => {
  render(<App client={client} />);
  await userEvent.type(await promptField(), "Repair the uploader{Enter}");
  expect(await screen.findByRole("heading", { level: 1, name: "A new one" })).toBeTruthy();
  const [sent] = bodies();
  expect(sent).toMatchObject({
    agent: "openrouter",
    model: "vendor/model-2",
    cwd: "/home/op/site",
    prompt: { text: "Repair the uploader" },
  });
  expect(location.pathname).toBe(`/session/${sent?.session_id}`);
  expect(Object.keys(localStorage).filter((key) => /draft|new-session/.test(key))).toEqual([]);
});

/** Sends the form and goes back to the list before the session has started. */
async function leaveWhileStarting(): Promise<() => void> {
  let begin = (): void => {};
  const succeed = started;
  started = async (body) => {
    await new Promise<void>((resolve) => {
      begin = resolve;
    });
    return succeed(body);
  };
  render(<App client={client} />);
  await userEvent.type(await promptField(), "Repair the uploader{Enter}");
  await screen.findByRole("button", { name: "Starting" });
  await userEvent.click(screen.getByRole("link", { name: "Sessions" }));
  return () => begin();
}

test("a session that starts after leaving the form does not navigate", async () => {
  const begin = await leaveWhileStarting();
  begin();
  expect(await screen.findByRole("link", { name: /A new one/ })).toBeTruthy();
  await waitFor(() =>
    expect(Object.keys(localStorage).filter((key) => /draft|new-session/.test(key))).toEqual([]),
  );
  expect(location.pathname).toBe("/");
});

test("a session that starts while another prompt is written keeps that prompt", async () => {
  const begin = await leaveWhileStarting();
  act(() => navigate("/new"));
  await userEvent.clear(await promptField());
  await userEvent.type(await promptField(), "Then test it");
  begin();
  await userEvent.click(screen.getByRole("link", { name: "Sessions" }));
  expect(await screen.findByRole("link", { name: /A new one/ })).toBeTruthy();
  act(() => navigate("/new"));
  expect(await promptField()).toHaveProperty("value", "Then test it");
});

test("choices and text survive a reload", async () => {
  const first = render(<App client={client} />);
  await userEvent.type(await promptField(), "Half a thou");
  await userEvent.click(screen.getByRole("radio", { name: /Anthropic/ }));
  await userEvent.clear(folder());
  await userEvent.type(folder(), "/srv/other");
  first.unmount();
  const again = clientOf(daemon);
  render(<App client={again} />);
  expect(await screen.findByDisplayValue("Half a thou")).toBeTruthy();
  expect(screen.getByRole("radio", { name: /Anthropic/ })).toHaveProperty("checked", true);
  expect(folder().value).toBe("/srv/other");
  again.close();
});

test("a choice without text survives a reload, and is not shared with other tabs, whose prompts it could overwrite", async () => {
  const first = render(<App client={client} />);
  await promptField();
  await userEvent.clear(folder());
  await userEvent.type(folder(), "/srv/other");
  expect(Object.keys(localStorage).filter((key) => key.includes("draft"))).toEqual([]);
  first.unmount();
  render(<App client={client} />);
  await promptField();
  expect(folder().value).toBe("/srv/other");
});

test("a form that was started in another tab and changed here starts another session", async () => {
  const asked: NewSessionBody[] = [];
  started = (body) => {
    asked.push(body);
    return new Promise(() => {});
  };
  const one = within(render(<App client={client} />).container);
  await userEvent.type(await one.findByRole("textbox", { name: "Prompt" }), "Tidy up");
  sessionStorage.clear();
  const otherTab = clientOf(daemon);
  const two = within(render(<App client={otherTab} />).container);
  await userEvent.type(await two.findByRole("textbox", { name: "Prompt" }), " the tests{Enter}");
  await waitFor(() => expect(asked).toHaveLength(1));
  await userEvent.type(one.getByRole("textbox", { name: "Prompt" }), "{Enter}");
  await waitFor(() => expect(asked).toHaveLength(2));
  const [second, first] = asked;
  expect([first?.prompt.text, second?.prompt.text]).toEqual(["Tidy up", "Tidy up the tests"]);
  expect(second?.session_id).not.toBe(first?.session_id);
  expect(second?.prompt.message_id).not.toBe(first?.prompt.message_id);
  otherTab.close();
});

test("a chosen agent does not get the model of another agent that was used since", async () => {
  reply = { ...AGENTS, recent: [{ agent: "opencode", cwd: "/home/op/site" }] };
  render(<App client={client} />);
  await userEvent.type(await promptField(), "Tidy up");
  reply = AGENTS;
  const looks = () => daemon.asked.filter(({ route }) => route === "GET /api/agents").length;
  const before = looks();
  window.dispatchEvent(new Event("focus"));
  await waitFor(() => expect(looks()).toBeGreaterThan(before));
  await userEvent.type(await promptField(), "{Enter}");
  expect(await screen.findByRole("heading", { level: 1, name: "A new one" })).toBeTruthy();
  expect(bodies()[0]).toMatchObject({ agent: "opencode", cwd: "/home/op/site" });
  expect(bodies()[0]).not.toHaveProperty("model");
});

test("a known model is selected with its price, others may be typed", async () => {
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("radio", { name: /Anthropic/ }));
  const models = screen.getByRole("combobox", { name: "Model" });
  expect(models).toHaveProperty("value", "claude-x");
  expect(
    screen.getByText("200k tokens of context · $3 per million tokens in, $15 per million out"),
  ).toBeTruthy();
  await userEvent.selectOptions(models, "Another model…");
  await userEvent.type(screen.getByRole("textbox", { name: "Model ID" }), "claude-next");
  await userEvent.type(await promptField(), "Go{Enter}");
  await waitFor(() => expect(bodies()[0]).toMatchObject({ agent: "anthropic", model: "claude-next" }));
});

test("unavailable agents show what is missing and the remedy, and scripted ones are marked", async () => {
  render(<App client={client} />);
  await userEvent.click(await screen.findByText("1 needs setup"));
  const gemini = (await screen.findByRole("radio", { name: /Gemini/ })).closest("li") as HTMLElement;
  expect(gemini.textContent).toContain("There is no key for Gemini.");
  await userEvent.click(within(gemini).getByRole("radio"));
  expect(gemini.textContent).toContain("Set GEMINI_API_KEY and start again.");
  await userEvent.type(await promptField(), "Go{Enter}");
  expect((await screen.findByRole("alert")).textContent).toContain("Set GEMINI_API_KEY");
  expect(bodies()).toEqual([]);
  await userEvent.click(screen.getByRole("radio", { name: /Scripted.*script, no model/ }));
  expect(screen.getByRole("combobox", { name: "Script" })).toHaveProperty("value", "discovery");
  expect(screen.getByRole("button", { name: "Add images" }).hasAttribute("disabled")).toBe(true);
});

test("a custom script is named by its file", async () => {
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("radio", { name: /Scripted/ }));
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Script" }), "Another script…");
  const file = screen.getByRole("textbox", { name: "Script file" });
  expect(file.getAttribute("placeholder")).toBe("file:/path.json");
  await userEvent.type(await promptField(), "Go{Enter}");
  expect(await screen.findByText("Choose a script.")).toBeTruthy();
  await userEvent.type(file, "file:/home/op/own.json");
  await userEvent.type(await promptField(), "{Enter}");
  await waitFor(() =>
    expect(bodies()[0]).toMatchObject({ agent: "scripted", model: "file:/home/op/own.json" }),
  );
});

test("each error is shown at its field, and the first one is focused", async () => {
  started = () => [
    400,
    {
      error: {
        code: "cwd",
        message: "`cwd`: no such folder: /home/op/site.",
        remedy: "Make it, or name another.",
      },
    },
  ];
  render(<App client={client} />);
  await promptField();
  await userEvent.clear(folder());
  await userEvent.click(screen.getByRole("button", { name: "Start" }));
  expect(screen.getByText("Enter a prompt.").id).toBe((await promptField()).getAttribute("aria-describedby"));
  expect(folder().getAttribute("aria-invalid")).toBe("true");
  const field = await promptField();
  await waitFor(() => expect(document.activeElement).toBe(field));
  await userEvent.type(folder(), "/home/op/site");
  expect(folder().getAttribute("aria-invalid")).toBeNull();
  await userEvent.type(await promptField(), "Go{Enter}");
  const said = await screen.findByText("No such folder: /home/op/site. Make it, or name another.");
  expect(said.id).toBe(folder().getAttribute("aria-describedby"));
  expect(await screen.findByDisplayValue("Go")).toBeTruthy();
});

test("a start whose reply was lost is retried with the same id when the daemon is back", async () => {
  let tries = 0;
  const succeed = started;
  started = (body) => {
    tries += 1;
    return tries === 1 ? "lost" : succeed(body);
  };
  render(<App client={client} />);
  await screen.findByText("live");
  await userEvent.type(await promptField(), "Once{Enter}");
  expect(await screen.findByRole("heading", { level: 1, name: "A new one" })).toBeTruthy();
  const [first, second] = bodies();
  expect(second).toEqual(first);
});

test("nothing is changed while a session starts, so that a lost reply does not start a second one", async () => {
  let lose = (): void => {};
  const asked: NewSessionBody[] = [];
  const succeed = started;
  started = async (body) => {
    asked.push(body);
    if (asked.length > 1) return succeed(body);
    await new Promise<void>((resolve) => {
      lose = resolve;
    });
    return "lost";
  };
  render(<App client={client} />);
  await screen.findByText("live");
  await userEvent.type(await promptField(), "Once{Enter}");
  await waitFor(() => expect(asked).toHaveLength(1));
  await userEvent.type(screen.getByRole("textbox", { name: "Model" }), "-large");
  await userEvent.type(folder(), "/docs");
  await userEvent.click(screen.getByRole("radio", { name: /Anthropic/ }));
  lose();
  expect(await screen.findByRole("heading", { level: 1, name: "A new one" })).toBeTruthy();
  const [first, second] = asked;
  expect(second).toEqual(first);
});

test("choices and text made while an image is read are kept", async () => {
  const pictures = holdPictures();
  render(<App client={client} />);
  await userEvent.type(await promptField(), "Look");
  fireEvent.paste(await promptField(), { clipboardData: pasted([picture()]) });
  await userEvent.click(screen.getByRole("radio", { name: /Anthropic/ }));
  fireEvent.change(folder(), { target: { value: "/srv/other" } });
  await userEvent.type(await promptField(), " at this");
  await pictures.read();
  await screen.findByRole("img", { name: "Image 1" });
  expect(folder().value).toBe("/srv/other");
  await userEvent.type(await promptField(), "{Enter}");
  await waitFor(() => expect(bodies()).toHaveLength(1));
  expect(bodies()[0]).toMatchObject({
    agent: "anthropic",
    model: "claude-x",
    cwd: "/srv/other",
    prompt: { text: "Look at this", images: [PICTURE] },
  });
});

test("an image that is being read while leaving is present on return", async () => {
  const pictures = holdPictures();
  render(<App client={client} />);
  await userEvent.type(await promptField(), "Look at this");
  fireEvent.paste(await promptField(), { clipboardData: pasted([picture()]) });
  await userEvent.click(screen.getByRole("link", { name: "Sessions" }));
  await pictures.read();
  act(() => navigate("/new"));
  expect(await promptField()).toHaveProperty("value", "Look at this");
  expect(await screen.findByRole("img", { name: "Image 1" })).toBeTruthy();
});

test("two simultaneous pastes with too many images: the rest is named and not sent", async () => {
  const pictures = holdPictures();
  render(<App client={client} />);
  await userEvent.type(await promptField(), "Look");
  for (const count of [6, 5])
    fireEvent.paste(await promptField(), {
      clipboardData: pasted(Array.from({ length: count }, picture)),
    });
  // Both pastes read their images alternately.
  for (let read = 0; read < 11; read++) await pictures.read();
  expect((await screen.findByRole("alert")).textContent).toContain("A prompt can have at most 10 images");
  expect(screen.getAllByRole("img", { name: /^Image / })).toHaveLength(10);
});

test("rejected images are reported until others are read, and nothing starts without them", async () => {
  render(<App client={client} />);
  const field = await promptField();
  await userEvent.type(field, "Look");
  await refuseAmongPictures(field);
  expect(bodies()).toEqual([]);
});

test("a start that a proxy answered for the daemon is retried with the same id", async () => {
  let tries = 0;
  const succeed = started;
  started = (body) => {
    tries += 1;
    return tries === 1 ? [502, "<h1>Bad Gateway</h1>"] : succeed(body);
  };
  render(<App client={client} />);
  await screen.findByText("live");
  await userEvent.type(await promptField(), "Once{Enter}");
  expect(await screen.findByRole("heading", { level: 1, name: "A new one" })).toBeTruthy();
  const [first, second] = bodies();
  expect(second).toEqual(first);
});

test("a draft that is changed after an unconfirmed start starts another session", async () => {
  started = () => [503, { error: { code: "disk", message: "It is not on disk yet." } }];
  render(<App client={client} />);
  await screen.findByText("live");
  await userEvent.type(await promptField(), "Delete the branch{Enter}");
  expect(await screen.findByText("Not started. It is not on disk yet.")).toBeTruthy();
  await userEvent.type(await promptField(), ", not the tag{Enter}");
  await waitFor(() => expect(bodies()).toHaveLength(2));
  const [first, second] = bodies();
  expect(second?.session_id).not.toBe(first?.session_id);
  expect(second?.prompt.message_id).not.toBe(first?.prompt.message_id);
});

test("replacing a missing agent starts another session", async () => {
  reply = { ...AGENTS, recent: [{ agent: "opencode", cwd: "/home/op/site" }] };
  const succeed = started;
  started = () => [503, { error: { code: "disk", message: "It is not on disk yet." } }];
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("radio", { name: /Anthropic/ }));
  await userEvent.type(await promptField(), "Once{Enter}");
  const problem = await screen.findByText("Not started. It is not on disk yet.");
  started = succeed;
  reply = { ...reply, agents: reply.agents.filter(({ id }) => id !== "anthropic") };
  window.dispatchEvent(new Event("focus"));
  await waitFor(() =>
    expect(screen.getByRole("radio", { name: /opencode/ })).toHaveProperty("checked", true),
  );
  expect(problem.isConnected).toBe(false);
  expect(bodies()).toHaveLength(1);
  await userEvent.type(await promptField(), "{Enter}");
  expect(await screen.findByRole("heading", { level: 1, name: "A new one" })).toBeTruthy();
  const [first, second] = bodies();
  expect([first?.agent, second?.agent]).toEqual(["anthropic", "opencode"]);
  expect(second).not.toHaveProperty("model");
  expect(second?.session_id).not.toBe(first?.session_id);
  expect(second?.prompt.message_id).not.toBe(first?.prompt.message_id);
});

test("a missing agent during a start does not start another one", async () => {
  let agents = AGENTS.agents;
  let lose = (): void => {};
  daemon.answer(({ route }) =>
    route === "GET /api/agents"
      ? [200, { ...AGENTS, agents }]
      : route === "POST /api/sessions"
        ? new Promise((resolve) => {
            lose = () => resolve("lost");
          })
        : undefined,
  );
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("radio", { name: /Anthropic/ }));
  await userEvent.type(await promptField(), "Once{Enter}");
  await screen.findByRole("button", { name: "Starting" });
  agents = agents.filter(({ id }) => id !== "anthropic");
  window.dispatchEvent(new Event("focus"));
  await waitFor(() => expect(screen.queryByRole("radio", { name: /Anthropic/ })).toBeNull());
  lose();
  await screen.findByRole("button", { name: "Start" });
  expect(screen.queryByText(/The session starts as soon as it does/)).toBeNull();
});

test("nothing can be changed while Enter waits for an image, and the session starts with the submitted prompt", async () => {
  const pictures = holdPictures();
  render(<App client={client} />);
  await userEvent.type(await promptField(), "Look");
  fireEvent.paste(await promptField(), { clipboardData: pasted([picture()]) });
  await userEvent.type(await promptField(), "{Enter}");
  await userEvent.type(screen.getByRole("textbox", { name: "Model" }), "-large");
  await userEvent.type(folder(), "/docs");
  await userEvent.click(screen.getByRole("radio", { name: /Anthropic/ }));
  await pictures.read();
  expect(await screen.findByRole("heading", { level: 1, name: "A new one" })).toBeTruthy();
  expect(bodies()).toMatchObject([
    {
      agent: "openrouter",
      model: "vendor/model-2",
      cwd: "/home/op/site",
      prompt: { text: "Look", images: [PICTURE] },
    },
  ]);
});

test("a missing agent while Enter waits for an image does not start another one", async () => {
  const pictures = holdPictures();
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("radio", { name: /Anthropic/ }));
  await userEvent.type(await promptField(), "Look");
  fireEvent.paste(await promptField(), { clipboardData: pasted([picture()]) });
  await userEvent.type(await promptField(), "{Enter}");
  reply = { ...AGENTS, agents: AGENTS.agents.filter(({ id }) => id !== "anthropic") };
  window.dispatchEvent(new Event("focus"));
  await waitFor(() => expect(screen.queryByRole("radio", { name: /Anthropic/ })).toBeNull());
  await pictures.read();
  await screen.findByRole("img", { name: "Image 1" });
  expect(await screen.findByRole("button", { name: "Start" })).toHaveProperty("disabled", false);
  expect(bodies()).toEqual([]);
});
