import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { Part } from "../../src/model/messages/part.ts";
import type { SendPromptBody } from "../../src/protocol.ts";
import { App } from "../../src/web/app/App.tsx";
import { openSession } from "../../src/web/app/open-session.ts";
import type { Client } from "../../src/web/app/store.ts";
import { COMPOSING } from "../composing.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import {
  answer,
  approval,
  at,
  control,
  createManagedTestSessions,
  type ManagedTestSessions,
  opened,
  openRequest,
  prompt,
  uuid,
} from "./managed-sessions.ts";
import { holdPictures, PICTURE, pasted, picture, refuseAmongPictures } from "./pictures.ts";

const SESSION = uuid(1);
const RUN = uuid(2);
const GRANDCHILD = uuid(3);
const FILE = uuid(4);

let sessions: ManagedTestSessions;
let daemon: TestDaemon;
let client: Client;

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
  sessions = createManagedTestSessions();
  sessions.say(SESSION, { title: "Repair the uploader", status: "completed", control: control() });
  sessions.say(FILE, { title: "Another's session", status: "completed" });
  sessions.add(SESSION, [prompt(SESSION, "Repair it.", 100), ...answer(SESSION, "It is repaired.", 110)]);
  sessions.add(FILE, [prompt(FILE, "Write it.", 300), ...answer(FILE, "DisplayText.", 310)]);
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const show = (id: string): void => {
  history.replaceState(null, "", `/session/${id}`);
  render(<App client={client} />);
};
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The page's requests to routes that change something. */
const posted = () => daemon.asked.filter(({ route }) => route.startsWith("POST"));
const sentPrompts = () => posted().map(({ body }) => (body as SendPromptBody).prompt);
const accept = (status = 200, body: unknown = {}) =>
  daemon.answer(({ route }) => (route.startsWith("POST") ? [status, body] : undefined));
/** A connection that died silently. */
const NEVER = new Promise<never>(() => {});
const promptField = () => screen.findByRole("textbox", { name: "Prompt" });

test("each key has one meaning in a session that this daemon runs", async () => {
  sessions.say(SESSION, { control: control({ can_steer: true }) });
  show(SESSION);
  await screen.findByText("It is repaired.");
  await userEvent.keyboard("?");
  const help = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  const keys = [...help.querySelectorAll("kbd")].map(({ textContent }) => textContent);
  expect(keys).toContain("Y");
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

describe("the composer", () => {
  test("is shown only below a session that this daemon runs", async () => {
    show(FILE);
    await screen.findByText("DisplayText.");
    expect(screen.queryByRole("textbox", { name: "Prompt" })).toBeNull();
    sessions.say(FILE, { control: control() });
    expect(await promptField()).toBeTruthy();
  });

  test("sends with Enter, starts a new line with Shift+Enter, and is empty after sending", async () => {
    accept();
    show(SESSION);
    await userEvent.type(await promptField(), "First line{Shift>}{Enter}{/Shift}second{Enter}");
    await waitFor(() => expect(posted()).toHaveLength(1));
    expect(posted()[0]).toMatchObject({
      route: `POST /api/sessions/${SESSION}/prompts`,
      body: { prompt: { text: "First line\nsecond" }, when: "queue" },
    });
    await waitFor(async () => expect((await promptField()).textContent).toBe(""));
    expect(Object.keys(localStorage).filter((key) => key.includes("draft"))).toEqual([]);
  });

  test("leaves Enter and Escape to an input method", async () => {
    show(SESSION);
    const field = await promptField();
    await userEvent.type(field, "日本");
    for (const composing of COMPOSING)
      for (const key of ["Enter", "Escape"])
        expect(fireEvent.keyDown(field, { key, ...composing })).toBe(true);
    expect(posted()).toEqual([]);
    expect(document.activeElement).toBe(field);
  });

  test("regains the focus when find, which was opened from it, closes", async () => {
    show(SESSION);
    const field = await promptField();
    await userEvent.type(field, "Half a thou{Control>}f{/Control}repaired");
    expect(await screen.findByText("part 1 of 1")).toBeTruthy();
    await userEvent.keyboard("{Escape}");
    expect(document.activeElement).toBe(field);
  });

  test("sends nothing when it is empty", async () => {
    accept();
    show(SESSION);
    await userEvent.type(await promptField(), "  {Enter}");
    expect(posted()).toEqual([]);
    expect(screen.getByRole("button", { name: "Send" }).hasAttribute("disabled")).toBe(true);
  });

  test("keeps a draft for each session across a reload", async () => {
    show(SESSION);
    await userEvent.type(await promptField(), "Half a thou");
    const reloaded = clientOf(daemon);
    document.body.innerHTML = "";
    render(<App client={reloaded} />);
    expect(await screen.findByDisplayValue("Half a thou")).toBeTruthy();
    reloaded.close();
  });

  test("keeps the draft of a tab across its reload, whatever another tab wrote and sent meanwhile", async () => {
    accept();
    show(SESSION);
    await userEvent.type(await promptField(), "Half a thought");
    const firstTab = { ...sessionStorage };
    sessionStorage.clear();
    localStorage.clear();
    document.body.innerHTML = "";
    const other = clientOf(daemon);
    render(<App client={other} />);
    await userEvent.type(await promptField(), "Quick question{Enter}");
    await waitFor(() => expect(posted()).toHaveLength(1));
    other.close();
    sessionStorage.clear();
    for (const [key, value] of Object.entries(firstTab)) sessionStorage.setItem(key, value);
    document.body.innerHTML = "";
    const reloaded = clientOf(daemon);
    render(<App client={reloaded} />);
    expect(await screen.findByDisplayValue("Half a thought")).toBeTruthy();
    reloaded.close();
  });

  test("keeps a draft that another tab wrote while it sent, for the next visit of the session", async () => {
    let taken = (): void => {};
    const reply = new Promise<[number, unknown]>((resolve) => {
      taken = () => resolve([200, {}]);
    });
    daemon.answer(({ route }) => (route.startsWith("POST") ? reply : undefined));
    show(SESSION);
    await userEvent.type(await promptField(), "Quick question{Enter}");
    for (const [key, kept] of Object.entries({ ...localStorage }))
      if (kept.includes("Quick question"))
        localStorage.setItem(
          key,
          JSON.stringify({ ...JSON.parse(kept), message_id: uuid(900), text: "Later" }),
        );
    taken();
    await waitFor(() => expect(screen.queryByDisplayValue("Quick question")).toBeNull());
    sessionStorage.clear();
    document.body.innerHTML = "";
    const next = clientOf(daemon);
    render(<App client={next} />);
    expect(await screen.findByDisplayValue("Later")).toBeTruthy();
    next.close();
  });

  test("keeps small images across a reload, and says how many were too large for that", async () => {
    show(SESSION);
    const small = new File([Uint8Array.of(1)], "small.png", { type: "image/png" });
    fireEvent.paste(await promptField(), { clipboardData: pasted([small]) });
    await screen.findByRole("img", { name: "Image 1" });
    await userEvent.type(await promptField(), "Look");
    let reloaded = clientOf(daemon);
    document.body.innerHTML = "";
    render(<App client={reloaded} />);
    expect(await screen.findByRole("img", { name: "Image 1" })).toBeTruthy();
    const large = new File([new Uint8Array(2_000_000)], "large.png", { type: "image/png" });
    fireEvent.paste(await promptField(), { clipboardData: pasted([large]) });
    await screen.findByRole("img", { name: "Image 2" });
    reloaded.close();
    reloaded = clientOf(daemon);
    document.body.innerHTML = "";
    render(<App client={reloaded} />);
    expect(await screen.findByText(/2 images were too large to keep/)).toBeTruthy();
    expect(await screen.findByDisplayValue("Look")).toBeTruthy();
    reloaded.close();
  });

  test("resends a prompt with the same id when its reply was lost", async () => {
    let replies = 0;
    daemon.answer(({ route }) => {
      if (!route.startsWith("POST")) return undefined;
      replies += 1;
      return replies === 1 ? "lost" : [200, {}];
    });
    show(SESSION);
    await userEvent.type(await promptField(), "Once, please{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("It is sent as soon as it does.");
    daemon.cut();
    await waitFor(() => expect(posted()).toHaveLength(2));
    const [first, second] = posted();
    expect(second?.body).toEqual(first?.body);
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
    expect(screen.queryByDisplayValue("Once, please")).toBeNull();
  });

  test("resends a prompt when its connection died silently", async () => {
    let asked = 0;
    daemon.answer(({ route }) => {
      if (!route.startsWith("POST")) return undefined;
      asked += 1;
      return asked === 1 ? NEVER : [200, {}];
    });
    show(SESSION);
    await userEvent.type(await promptField(), "Once, please{Enter}");
    await waitFor(() => expect(asked).toBe(1));
    daemon.cutSockets();
    await waitFor(() => expect(screen.queryByDisplayValue("Once, please")).toBeNull());
    expect(asked).toBe(2);
  });

  test.each([408, 502, 503, 504])(
    "resends a prompt when a proxy answers %i for the daemon",
    async (status) => {
      let replies = 0;
      daemon.answer(({ route }) => {
        if (!route.startsWith("POST")) return undefined;
        replies += 1;
        return replies === 1 ? [status, "<h1>Bad Gateway</h1>"] : [200, {}];
      });
      show(SESSION);
      await userEvent.type(await promptField(), "Once, please{Enter}");
      expect((await screen.findByRole("alert")).textContent).toContain("It is sent as soon as it does.");
      daemon.cut();
      await waitFor(() => expect(posted()).toHaveLength(2));
      const [first, second] = posted();
      expect(second?.body).toEqual(first?.body);
      await waitFor(() => expect(screen.queryByDisplayValue("Once, please")).toBeNull());
    },
  );

  test("sends a new prompt if the text is changed after the daemon could not store it yet", async () => {
    accept(503, { error: { code: "disk", message: "It is not on disk yet.", remedy: "Make room." } });
    show(SESSION);
    await userEvent.type(await promptField(), "Delete the branch{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("It is not on disk yet. Make room.");
    accept();
    await userEvent.type(await promptField(), ", not the tag{Enter}");
    await waitFor(() => expect(sentPrompts()).toHaveLength(2));
    const [first, second] = sentPrompts();
    expect(second?.text).toBe("Delete the branch, not the tag");
    expect(second?.message_id).not.toBe(first?.message_id);
  });

  test("is emptied when a prompt whose reply was lost appears in the transcript", async () => {
    daemon.answer(({ route }) => (route.startsWith("POST") ? "lost" : undefined));
    show(SESSION);
    await userEvent.type(await promptField(), "It arrived{Enter}");
    await screen.findByRole("alert");
    const sent = sentPrompts()[0];
    if (sent === undefined) throw new Error("Nothing was sent.");
    sessions.push(SESSION, [
      {
        session_id: SESSION,
        at,
        type: "user.message",
        message_id: sent.message_id,
        parts: [{ type: "text", text: "It arrived" }],
      },
    ]);
    await waitFor(() => expect(screen.queryByDisplayValue("It arrived")).toBeNull());
  });

  test("keeps a refused prompt with a remedy; a changed one is a new prompt", async () => {
    accept(409, { error: { code: "quota", message: "The quota is used up.", remedy: "Wait an hour." } });
    show(SESSION);
    await userEvent.type(await promptField(), "Try{Enter}");
    expect((await screen.findByRole("alert")).textContent).toBe(
      "Not sent. The quota is used up. Wait an hour.",
    );
    expect(screen.getByDisplayValue("Try")).toBeTruthy();
    daemon.answer(({ route }) => (route.startsWith("POST") ? "lost" : undefined));
    await userEvent.type(await promptField(), "{Enter}");
    await userEvent.click(await screen.findByRole("button", { name: "Edit" }));
    accept();
    await userEvent.type(await promptField(), " again{Enter}");
    await waitFor(() => expect(screen.queryByDisplayValue("Try again")).toBeNull());
    const ids = sentPrompts().map(({ message_id }) => message_id);
    expect(ids[0]).toBe(ids[1]);
    expect(ids.at(-1)).not.toBe(ids[0]);
  });

  test("queues while the agent works, and steers with Alt+Enter", async () => {
    accept();
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    show(SESSION);
    const field = await promptField();
    await userEvent.type(field, "Later{Enter}");
    await waitFor(() => expect(posted()).toHaveLength(1));
    await waitFor(() => expect(field.hasAttribute("readonly")).toBe(false));
    await userEvent.type(field, "Now{Alt>}{Enter}{/Alt}");
    await waitFor(() => expect(posted()).toHaveLength(2));
    expect(posted().map(({ body }) => (body as { when: string }).when)).toEqual(["queue", "steer"]);
  });

  describe("withdraws a queued prompt", () => {
    const PICTURE = "data:image/png;base64,iVBORw==";
    const WITHDRAW = `POST /api/sessions/${SESSION}/prompts/${uuid(700)}/withdraw`;
    const waits = (withdraw: [number, unknown] = [200, {}]): void => {
      daemon.answer(({ route }) => {
        if (route === `GET /api/sessions/${SESSION}/prompts/${uuid(700)}`)
          return [200, { message_id: uuid(700), text: "And the docs,\nall of them", images: [PICTURE] }];
        if (route !== WITHDRAW) return route.startsWith("POST") ? [200, {}] : undefined;
        if (withdraw[0] === 200) sessions.say(SESSION, { control: control({ state: "working" }) });
        return withdraw;
      });
      sessions.say(SESSION, {
        status: "running",
        control: control({ state: "working", queued: [{ message_id: uuid(700), text: "And the docs," }] }),
      });
      show(SESSION);
    };
    const withdraw = async (): Promise<void> =>
      userEvent.click(await screen.findByRole("button", { name: "Withdraw And the docs," }));

    test("into the field with its full text and images, to be edited and sent as a new one", async () => {
      waits();
      await withdraw();
      const field = await promptField();
      await waitFor(() => expect(field.textContent).toBe("And the docs,\nall of them"));
      expect(await screen.findByRole("img", { name: "Image 1" })).toBeTruthy();
      expect(document.activeElement).toBe(field);
      await waitFor(() => expect(screen.queryByRole("button", { name: /^Withdraw/ })).toBeNull());
      await userEvent.keyboard(" please{Enter}");
      await waitFor(() => expect(sentPrompts().at(-1)?.text).toBe("And the docs,\nall of them please"));
      expect(sentPrompts().at(-1)).toMatchObject({ images: [PICTURE] });
      expect(sentPrompts().at(-1)?.message_id).not.toBe(uuid(700));
    });

    test("before the text in the field", async () => {
      waits();
      await userEvent.type(await promptField(), "And the tests");
      await withdraw();
      await waitFor(async () =>
        expect((await promptField()).textContent).toBe("And the docs,\nall of them\n\nAnd the tests"),
      );
    });

    test("after the prompt that is being sent, which does not include it", async () => {
      waits();
      let arrive = (): void => {};
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      await userEvent.type(await promptField(), "On its way");
      daemon.answer(async ({ route }) => {
        if (route.startsWith("GET") && route.includes("/prompts/"))
          return [200, { message_id: uuid(700), text: "And the docs", images: [] }];
        if (route === `POST /api/sessions/${SESSION}/prompts`) await arrived;
        return route.startsWith("POST") ? [200, {}] : undefined;
      });
      await userEvent.keyboard("{Enter}");
      await withdraw();
      await waitFor(() => expect(posted().map(({ route }) => route)).toContain(WITHDRAW));
      expect((await promptField()).textContent).toBe("On its way");
      arrive();
      await waitFor(async () => expect((await promptField()).textContent).toBe("And the docs"));
      expect(sentPrompts().map((sent) => sent?.text)).toContain("On its way");
    });

    test("even if the reply to the withdrawal was lost", async () => {
      waits();
      let tries = 0;
      daemon.answer(({ route }) => {
        if (route.startsWith("GET") && route.includes("/prompts/"))
          return [200, { message_id: uuid(700), text: "And the docs,\nall of them" }];
        if (route !== WITHDRAW) return undefined;
        tries += 1;
        if (tries > 1) return [200, {}];
        sessions.say(SESSION, { control: control({ state: "working" }) });
        return "lost";
      });
      await withdraw();
      await waitFor(async () => expect((await promptField()).textContent).toBe("And the docs,\nall of them"));
      expect(screen.queryByRole("button", { name: /^Withdraw/ })).toBeNull();
    });

    test("but not one that somebody else withdrew, even if it is requested again", async () => {
      waits();
      let tries = 0;
      daemon.answer(({ route }) => {
        if (route.startsWith("GET") && route.includes("/prompts/"))
          return [200, { message_id: uuid(700), text: "And the docs,\nall of them" }];
        if (route !== WITHDRAW) return undefined;
        tries += 1;
        if (tries === 1) return "lost";
        return [404, { error: { code: "no_prompt", message: "This prompt was already withdrawn." } }];
      });
      await withdraw();
      await screen.findByText("This prompt was already withdrawn.");
      expect((await promptField()).textContent).toBe("");
      const asked = posted().filter(({ route }) => route === WITHDRAW);
      expect(asked).toHaveLength(2);
      expect(asked[0]?.body).toEqual({ withdrawal_id: expect.stringMatching(UUID) });
      expect(asked[1]?.body).toEqual(asked[0]?.body);
    });

    test("but not one that the agent already received", async () => {
      waits([409, { error: { code: "begun", message: "The agent already has this prompt." } }]);
      await withdraw();
      expect((await screen.findByRole("alert")).textContent).toContain("The agent already has this prompt.");
      expect((await promptField()).textContent).toBe("");
    });
  });

  test("a screen reader announces that a prompt is queued, and that it is held after a stop", async () => {
    const queued = [{ message_id: uuid(700), text: "And the docs" }];
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    show(SESSION);
    await promptField();
    const announced = () => screen.getAllByRole("status").map(({ textContent }) => textContent);
    const regions = announced().length;
    expect(announced()).not.toContain("1 prompt queued");
    sessions.say(SESSION, { status: "running", control: control({ state: "working", queued }) });
    await waitFor(() => expect(announced()).toContain("1 prompt queued"));
    sessions.say(SESSION, { status: "interrupted", control: control({ queued }) });
    await waitFor(() => expect(announced()).toContain("1 prompt held"));
    // It existed before anything was announced in it.
    expect(announced()).toHaveLength(regions);
  });

  test("a key's message is announced, because its live region exists before", async () => {
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    show(SESSION);
    await promptField();
    const regions = screen.getAllByRole("status");
    await userEvent.keyboard("w");
    const said = await screen.findByText("Nothing is waiting for you.");
    expect(regions).toContain(said.closest("[role=status]"));
  });

  test("typing costs the same however many prompts are queued", async () => {
    const queue = async (count: number): Promise<void> => {
      const queued = Array.from({ length: count }, (_, n) => ({
        message_id: uuid(700 + n),
        text: `${n} ${"and the docs ".repeat(1_500)}`,
      }));
      sessions.say(SESSION, { status: "running", control: control({ state: "working", queued }) });
      await waitFor(() => expect(screen.getAllByText("queued")).toHaveLength(count));
    };
    const cpuOfWriting = async (): Promise<number> => {
      const before = process.cpuUsage();
      await userEvent.keyboard("and so on, and so on");
      return process.cpuUsage(before).user / 1_000;
    };
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    show(SESSION);
    await userEvent.click(await promptField());
    await queue(1);
    await cpuOfWriting();
    const few = await cpuOfWriting();
    await queue(300);
    const many = await cpuOfWriting();
    expect(many).toBeLessThan(4 * few + 200);
  });

  describe("explains held prompts", () => {
    const held = (status: "interrupted" | "failed"): void => {
      sessions.say(SESSION, {
        status,
        control: control({
          queued: [
            { message_id: uuid(700), text: "And the docs" },
            { message_id: uuid(701), text: "And the tests" },
          ],
        }),
      });
      show(SESSION);
    };

    test.each([
      ["interrupted", "was stopped"],
      ["failed", "failed"],
    ] as const)(
      "with the reason if the previous turn was %s, and starts the first one on request",
      async (status, word) => {
        accept();
        held(status);
        const list = await screen.findByRole("list", { name: "Held prompts" });
        expect(within(list).getAllByText("held")).toHaveLength(2);
        screen.getByText(`Held: the previous turn ${word}.`, { exact: false });
        const buttons = within(list).getAllByRole("button", { name: /^Send now/ });
        expect(buttons.map(({ ariaLabel }) => ariaLabel)).toEqual(["Send now: And the docs"]);
        await userEvent.click(within(list).getByRole("button", { name: "Send now: And the docs" }));
        await waitFor(() =>
          expect(posted().map(({ route }) => route)).toEqual([
            `POST /api/sessions/${SESSION}/prompts/${uuid(700)}/begin`,
          ]),
        );
        expect(document.activeElement).toBe(await promptField());
        sessions.say(SESSION, {
          status: "running",
          control: control({ state: "working", queued: [{ message_id: uuid(701), text: "And the tests" }] }),
        });
        await screen.findByText("queued");
        expect(screen.queryByText(/^Held/)).toBeNull();
      },
    );

    test("after a rewind, also while a later prompt runs", async () => {
      const queued = [{ message_id: uuid(700), text: "And the docs", held: true }];
      sessions.say(SESSION, { status: "interrupted", control: control({ queued }) });
      show(SESSION);
      await screen.findByText(/^Held: the session was rewound\./);
      screen.getByRole("button", { name: "Send now: And the docs" });
      sessions.say(SESSION, { status: "running", control: control({ state: "working", queued }) });
      await waitFor(() => expect(screen.queryByRole("button", { name: /^Send now/ })).toBeNull());
      screen.getByText("held");
    });

    test("and says why one could not be started", async () => {
      accept(409, { error: { code: "closed", message: "Its agent is gone." } });
      held("failed");
      await userEvent.click(await screen.findByRole("button", { name: /^Send now/ }));
      expect((await screen.findByRole("alert")).textContent).toBe("Not sent. Its agent is gone.");
    });
  });

  test("has the focus after Stop, whose button disappears", async () => {
    accept();
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    show(SESSION);
    await userEvent.click(await screen.findByRole("button", { name: "Stop" }));
    sessions.say(SESSION, { status: "interrupted", control: control() });
    await waitFor(() => expect(screen.queryByRole("button", { name: "Stop" })).toBeNull());
    expect(document.activeElement).toBe(await promptField());
  });

  test("does not offer steering if the agent cannot be steered", async () => {
    accept();
    sessions.say(SESSION, { status: "running", control: control({ state: "working", can_steer: false }) });
    show(SESSION);
    await userEvent.type(await promptField(), "Now{Alt>}{Enter}{/Alt}");
    await waitFor(() => expect(posted()[0]?.body).toMatchObject({ when: "queue" }));
    expect(screen.queryByRole("button", { name: "Steer now" })).toBeNull();
  });

  test("stops the agent at the second Esc, with a hint at the first, wherever the focus is", async () => {
    accept();
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    show(SESSION);
    await userEvent.click(await promptField());
    await userEvent.keyboard("{Escape}");
    expect((await screen.findByRole("alert")).textContent).toBe("Press Esc again to stop");
    expect(posted()).toEqual([]);
    await userEvent.keyboard("{Escape}");
    await waitFor(() => expect(posted()[0]?.route).toBe(`POST /api/sessions/${SESSION}/stop`));
    sessions.say(SESSION, { status: "interrupted", control: control() });
    expect(await screen.findByRole("button", { name: "Send" })).toBeTruthy();
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    await screen.findByRole("button", { name: "Stop" });
    (document.activeElement as HTMLElement).blur();
    await userEvent.keyboard("{Escape}{Escape}");
    await waitFor(() => expect(posted()).toHaveLength(2));
  });

  test("names the turn on screen when it stops, and can stop the next one", async () => {
    accept();
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    show(SESSION);
    const start = (turn_id: string) =>
      act(() => sessions.push(SESSION, [{ session_id: SESSION, at, type: "turn.start", turn_id }]));
    start(uuid(700));
    const shown = openSession(client, SESSION).state;
    await waitFor(() => expect(shown.getState().transcript?.turns.length).toBe(2));
    await userEvent.click(await screen.findByRole("button", { name: "Stop" }));
    await waitFor(() => expect(posted()[0]?.body).toEqual({ turn_id: uuid(700) }));
    expect(screen.getByRole("button", { name: "Stop" }).hasAttribute("disabled")).toBe(true);
    start(uuid(800));
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Stop" }).hasAttribute("disabled")).toBe(false),
    );
    await userEvent.click(screen.getByRole("button", { name: "Stop" }));
    await waitFor(() => expect(posted()[1]?.body).toEqual({ turn_id: uuid(800) }));
  });

  test("accepts pasted, chosen and dropped images, shows them, and lets the user remove them", async () => {
    accept();
    show(SESSION);
    const field = await promptField();
    const picture = new File([Uint8Array.of(137, 80, 78, 71)], "shot.png", { type: "image/png" });
    const notes = new File(["text"], "notes.txt", { type: "text/plain" });
    fireEvent.paste(field, { clipboardData: pasted([picture, notes]) });
    expect(await screen.findByRole("img", { name: "Image 1" })).toBeTruthy();
    expect((await screen.findByRole("alert")).textContent).toContain("notes.txt is not an image");
    fireEvent.drop(field, { dataTransfer: { files: [picture], types: ["Files"] } });
    expect(await screen.findByRole("img", { name: "Image 2" })).toBeTruthy();
    for (const [left, number] of [
      [1, 2],
      [0, 1],
    ] as const) {
      await userEvent.click(screen.getByRole("button", { name: `Remove image ${number}` }));
      expect(screen.queryAllByRole("img")).toHaveLength(left);
      expect(document.activeElement).toBe(field);
    }
    fireEvent.paste(field, { clipboardData: pasted([picture]) });
    await screen.findByRole("img", { name: "Image 1" });
    await userEvent.type(field, "What is this?{Enter}");
    await waitFor(() =>
      expect(posted()[0]?.body).toMatchObject({ prompt: { images: ["data:image/png;base64,iVBORw=="] } }),
    );
  });

  test("names the rejected images of two simultaneous pastes with too many images", async () => {
    accept();
    const pictures = holdPictures();
    show(SESSION);
    const field = await promptField();
    for (const count of [6, 5])
      fireEvent.paste(field, { clipboardData: pasted(Array.from({ length: count }, picture)) });
    for (let read = 0; read < 11; read++) await pictures.read();
    expect((await screen.findByRole("alert")).textContent).toContain("A prompt can have at most 10 images");
    expect(screen.getAllByRole("img", { name: /^Image / })).toHaveLength(10);
  });

  test("keeps reporting rejected images while others are read, and sends nothing without them", async () => {
    accept();
    show(SESSION);
    const field = await promptField();
    fireEvent.change(field, { target: { value: "What are these?" } });
    await refuseAmongPictures(field);
    expect(field).toHaveProperty("value", "What are these?");
    expect(sentPrompts()).toEqual([]);
  });

  test("sends a prompt with an image pasted before Enter once the image is read", async () => {
    accept();
    show(SESSION);
    const field = await promptField();
    const picture = new File([Uint8Array.of(137, 80, 78, 71)], "shot.png", { type: "image/png" });
    fireEvent.change(field, { target: { value: "What is this?" } });
    fireEvent.paste(field, { clipboardData: pasted([picture]) });
    expect(screen.getByRole("button", { name: "Reading images" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Send" })).toHaveProperty("disabled", true);
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() =>
      expect(sentPrompts()).toMatchObject([
        { text: "What is this?", images: ["data:image/png;base64,iVBORw=="] },
      ]),
    );
    await waitFor(() => expect(field).toHaveProperty("value", ""));
    expect(screen.queryByRole("img")).toBeNull();
  });

  test("sends neither without an unreadable image, nor after Escape cancelled the submission", async () => {
    accept();
    show(SESSION);
    const field = await promptField();
    const picture = new File([Uint8Array.of(137, 80, 78, 71)], "shot.png", { type: "image/png" });
    const notes = new File(["text"], "notes.txt", { type: "text/plain" });
    fireEvent.change(field, { target: { value: "What is this?" } });
    fireEvent.paste(field, { clipboardData: pasted([picture, notes]) });
    fireEvent.keyDown(field, { key: "Enter" });
    expect((await screen.findByRole("alert")).textContent).toContain("notes.txt is not an image");
    fireEvent.paste(field, { clipboardData: pasted([picture]) });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(field).toHaveProperty("readOnly", true);
    fireEvent.keyDown(field, { key: "Escape" });
    expect(field).toHaveProperty("readOnly", false);
    await screen.findByRole("img", { name: "Image 2" });
    expect(posted()).toEqual([]);
    expect(field).toHaveProperty("value", "What is this?");
  });

  test("waits for an image even if the user leaves and returns, and sends both", async () => {
    accept();
    const pictures = holdPictures();
    show(SESSION);
    await userEvent.type(await promptField(), "What is this?");
    fireEvent.paste(await promptField(), { clipboardData: pasted([picture()]) });
    await userEvent.click(screen.getByRole("link", { name: "Sessions" }));
    await userEvent.click(await screen.findByRole("link", { name: /Repair the uploader/ }));
    expect(await screen.findByRole("button", { name: "Send" })).toHaveProperty("disabled", true);
    await userEvent.type(await promptField(), " And why?{Enter}");
    expect(await promptField()).toHaveProperty("readOnly", true);
    expect(posted()).toEqual([]);
    await pictures.read();
    await waitFor(() =>
      expect(sentPrompts()).toMatchObject([{ text: "What is this? And why?", images: [PICTURE] }]),
    );
    await waitFor(async () => expect(await promptField()).toHaveProperty("value", ""));
    expect(screen.queryByRole("img")).toBeNull();
  });

  test("sends a submitted prompt with its image after the user left", async () => {
    accept();
    const pictures = holdPictures();
    show(SESSION);
    await userEvent.type(await promptField(), "What are these?");
    for (const one of [picture(), picture()])
      fireEvent.paste(await promptField(), { clipboardData: pasted([one]) });
    await userEvent.type(await promptField(), "{Enter}");
    await userEvent.click(screen.getByRole("link", { name: "Sessions" }));
    await pictures.read();
    expect(posted()).toEqual([]);
    await pictures.read();
    await waitFor(() =>
      expect(sentPrompts()).toMatchObject([{ text: "What are these?", images: [PICTURE, PICTURE] }]),
    );
  });

  test("keeps the reason for a rejected image, and the unsent text, until the user returns", async () => {
    const pictures = holdPictures();
    const notes = new File(["text"], "notes.txt", { type: "text/plain" });
    show(SESSION);
    await userEvent.type(await promptField(), "What are these?");
    fireEvent.paste(await promptField(), { clipboardData: pasted([picture(), notes]) });
    await userEvent.type(await promptField(), "{Enter}");
    await userEvent.click(screen.getByRole("link", { name: "Sessions" }));
    await pictures.read();
    await userEvent.click(await screen.findByRole("link", { name: /Repair the uploader/ }));
    expect((await screen.findByRole("alert")).textContent).toContain("notes.txt is not an image");
    expect(screen.getByRole("img", { name: "Image 1" })).toBeTruthy();
    expect(await promptField()).toHaveProperty("value", "What are these?");
    expect(posted()).toEqual([]);
  });

  test("keeps text and image together if the text turns out to have arrived while the image was read", async () => {
    daemon.answer(({ route }) => (route.startsWith("POST") ? "lost" : undefined));
    const pictures = holdPictures();
    show(SESSION);
    await userEvent.type(await promptField(), "What is this?{Enter}");
    await waitFor(() => expect(posted()).toHaveLength(1));
    await userEvent.click(await screen.findByRole("button", { name: "Edit" }));
    fireEvent.paste(await promptField(), { clipboardData: pasted([picture()]) });
    const [sent] = sentPrompts();
    const arrived: Frame = {
      session_id: SESSION,
      at,
      type: "user.message",
      message_id: sent?.message_id ?? "",
      part_id: uuid(500),
      parts: [{ type: "text", text: "What is this?" }],
    };
    act(() => sessions.push(SESSION, [arrived]));
    expect(await screen.findByText("What is this?", { selector: ".turn-heading *" })).toBeTruthy();
    await pictures.read();
    expect(await screen.findByRole("img", { name: "Image 1" })).toBeTruthy();
    expect(await promptField()).toHaveProperty("value", "What is this?");
  });

  test("grows with wrapped text in a browser without automatic field sizing", async () => {
    const wrapped = vi.spyOn(Element.prototype, "scrollHeight", "get").mockImplementation(function (
      this: Element,
    ) {
      const { length } = this instanceof HTMLTextAreaElement ? this.value : "";
      return 16 + 24 * Math.ceil(Math.max(1, length) / 100);
    });
    show(SESSION);
    const field = await promptField();
    expect(field.style.height).toBe("40px");
    await userEvent.click(field);
    await userEvent.paste("word ".repeat(120));
    expect(field.style.height).toBe("160px");
    await userEvent.clear(field);
    expect(field.style.height).toBe("40px");
    wrapped.mockRestore();
  });

  test("pastes text of an office program, not the image of it", async () => {
    show(SESSION);
    const field = await promptField();
    const picture = new File([Uint8Array.of(137, 80, 78, 71)], "image.png", { type: "image/png" });
    // The default action is not prevented, so the browser pastes the text.
    const words = { "text/plain": "Words", "text/html": "<b>Words</b>" };
    expect(fireEvent.paste(field, { clipboardData: pasted([picture], words) })).toBe(true);
    // The name of a copied file, the markup of an image: neither is meant as text.
    const named = [
      { "text/plain": "sketch.png" },
      { "text/html": "<img src='sketch.png'>" },
      { "text/plain": "\r\n", "text/html": "<img src='sketch.png'>" },
    ];
    for (const [index, beside] of named.entries()) {
      expect(fireEvent.paste(field, { clipboardData: pasted([picture], beside) })).toBe(false);
      await screen.findByRole("img", { name: `Image ${index + 1}` });
    }
    expect(screen.getAllByRole("img")).toHaveLength(3);
  });

  test("refuses the eleventh image, one above 5 MB, and any if the model accepts none", async () => {
    show(SESSION);
    const field = await promptField();
    const pictures = Array.from(
      { length: 11 },
      (_, index) => new File([Uint8Array.of(index)], `${index}.png`, { type: "image/png" }),
    );
    fireEvent.paste(field, { clipboardData: pasted(pictures) });
    await waitFor(() => expect(screen.getAllByRole("img")).toHaveLength(10));
    expect((await screen.findByRole("alert")).textContent).toContain("A prompt can have at most 10 images");
    await userEvent.click(screen.getByRole("button", { name: "Remove image 1" }));
    const large = new File([new Uint8Array(5 * 1024 * 1024 + 1)], "large.png", { type: "image/png" });
    fireEvent.paste(field, { clipboardData: pasted([large]) });
    await waitFor(() =>
      expect(screen.getByRole("alert").textContent).toContain("large.png is larger than 5 MB"),
    );
    sessions.say(SESSION, { control: control({ takes_images: false }) });
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Add images" }).hasAttribute("disabled")).toBe(true),
    );
  });

  test("says why a session whose agent has ended accepts no prompts", async () => {
    sessions.say(SESSION, { control: control({ state: "closed" }) });
    show(SESSION);
    const region = await screen.findByRole("region", { name: "Message the agent" });
    expect(region.textContent).toContain("This session accepts no more prompts: its agent has ended.");
    expect(screen.queryByRole("textbox", { name: "Prompt" })).toBeNull();
  });
});

describe("a request that waits for a person", () => {
  const request = approval(500, "rm -rf build");
  beforeEach(() => {
    const shared = { status: "running" as const, control: control({ state: "working" }) };
    sessions.say(SESSION, shared);
    sessions.say(RUN, {
      ...shared,
      run: { name: "Explore", task: "Find the loop" },
      parent: { session_id: SESSION },
    });
    sessions.say(GRANDCHILD, {
      ...shared,
      run: { name: "Shell", task: "Clean up" },
      parent: { session_id: RUN },
      control: control({ state: "waiting" }),
      requests: [openRequest(request)],
    });
    sessions.add(RUN, [prompt(RUN, "Find it.", 200)]);
    sessions.add(GRANDCHILD, [prompt(GRANDCHILD, "Clean.", 400), opened(GRANDCHILD, request)]);
  });
  function closeRequest(how: Pick<Extract<Frame, { type: "request.close" }>, "outcome" | "answer">): void {
    sessions.say(GRANDCHILD, { requests: [] });
    sessions.push(GRANDCHILD, [
      { session_id: GRANDCHILD, at, type: "request.close", request_id: request.request_id, ...how },
    ]);
  }

  test("is shown in the list on all its ancestors, can be filtered, and is in the title", async () => {
    render(<App client={client} />);
    const row = await screen.findByRole("link", { name: /Repair the uploader/ });
    await waitFor(() =>
      expect(row.textContent).toContain("sub-agent waiting for you Clean up: Run a command"),
    );
    await waitFor(() => expect(document.title).toMatch(/^\(1\) /));
    await userEvent.click(screen.getByRole("button", { name: "Waiting for you 1" }));
    await waitFor(() => expect(screen.queryByRole("link", { name: /Another's session/ })).toBeNull());
    const asks = screen
      .getAllByRole("link")
      .find((link) => link.getAttribute("href") === `/session/${GRANDCHILD}`);
    expect(asks?.textContent).toMatch(/^waiting .*Run a command/);
  });

  test("is shown on the pages of all its ancestors, with a link", async () => {
    show(SESSION);
    const link = await screen.findByRole("link", { name: "Run a command" });
    expect(link.closest("p")?.textContent).toContain("Waiting for you Clean up: Run a command");
    expect(document.title).toMatch(/^\(1\) \[WAITING\]/);
    await userEvent.click(link);
    expect(await screen.findByRole("region", { name: /^Approval: / })).toBeTruthy();
    expect(location.pathname).toBe(`/session/${GRANDCHILD}`);
  });

  test("is one key away from anywhere, and can then be answered by keyboard", async () => {
    accept(200, { outcome: "answered", answer: { option_ids: ["once"] } });
    render(<App client={client} />);
    await screen.findByRole("link", { name: /Repair the uploader/ });
    await userEvent.keyboard("w");
    await screen.findByRole("region", { name: /^Approval: / });
    await waitFor(() => expect(document.activeElement?.id).toBe(`part-${request.request_id}`));
    // Again from another place in its own session, while another session stays open beside it.
    history.replaceState(null, "", `${location.pathname}?beside=${SESSION}${location.hash}`);
    act(() => {
      dispatchEvent(new PopStateEvent("popstate"));
    });
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    await userEvent.keyboard("w");
    await waitFor(() => expect(document.activeElement?.id).toBe(`part-${request.request_id}`));
    expect(location.search).toBe(`?beside=${SESSION}`);
    await userEvent.keyboard("y");
    expect(posted()).toEqual([]);
    await userEvent.keyboard("{Shift>}Y{/Shift}");
    await waitFor(() =>
      expect(posted()[0]).toMatchObject({
        route: `POST /api/sessions/${GRANDCHILD}/requests/${request.request_id}`,
        body: { answer: { option_ids: ["once"] } },
      }),
    );
    expect(await screen.findByText("Allowed once")).toBeTruthy();
  });

  test("can be answered again if the answer's connection died silently", async () => {
    let asked = 0;
    daemon.answer(({ route }) => {
      if (!route.startsWith("POST")) return undefined;
      asked += 1;
      return asked === 1 ? NEVER : [200, { outcome: "answered", answer: { option_ids: ["once"] } }];
    });
    show(GRANDCHILD);
    // By its key, because a click on new content counts as meant for the content before it.
    fireEvent.click(await screen.findByRole("button", { name: /Allow once/ }));
    await waitFor(() => expect(asked).toBe(1));
    daemon.cutSockets();
    expect(await screen.findByText(/The daemon does not answer/)).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /Allow once/ }));
    expect(await screen.findByText("Allowed once")).toBeTruthy();
  });

  test("is closed when another browser answers it", async () => {
    show(GRANDCHILD);
    await screen.findByRole("button", { name: /Allow once/ });
    closeRequest({ outcome: "answered", answer: { option_ids: ["no"], text: "not the build" } });
    expect(await screen.findByText("Denied (Reject), “not the build”")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Allow once/ })).toBeNull();
    await waitFor(() => expect(document.title).not.toMatch(/^\(1\)/));
  });

  test("leaves the focus in the transcript if it was closed while find had the focus", async () => {
    show(GRANDCHILD);
    await userEvent.type(
      await screen.findByRole("textbox", { name: /^Reason/ }),
      "not yet{Control>}f{/Control}",
    );
    closeRequest({ outcome: "expired" });
    await waitFor(() => expect(screen.queryByRole("textbox", { name: /^Reason/ })).toBeNull());
    await userEvent.keyboard("{Escape}");
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "Transcript" }));
  });
});

describe("a screen reader", () => {
  const request = approval(500, "rm -rf build");
  /** The announcements in a live region that existed before them. */
  const said = (region: Element): string[] => {
    const announced: string[] = [];
    new MutationObserver(() => {
      const words = region.textContent ?? "";
      if (words !== "") announced.push(words);
    }).observe(region, { childList: true, characterData: true, subtree: true });
    return announced;
  };
  const region = () => screen.findAllByRole("status").then(([first]) => first as HTMLElement);

  test("announces changes of the session on screen, but not how it had ended before", async () => {
    sessions.add(RUN, [prompt(RUN, "Another.", 200)]);
    sessions.say(RUN, { title: "Sort the tests", status: "running", control: control({ state: "working" }) });
    show(SESSION);
    const says = await region();
    const announced = said(says);
    // The announcing component renders after the page.
    await waitFor(() => expect(says.firstElementChild).not.toBeNull());
    const waits = { control: control({ state: "waiting" }), requests: [openRequest(request)] };
    sessions.say(RUN, waits);
    await waitFor(() =>
      expect(announced).toEqual(["Another session is waiting for you: Sort the tests: Run a command"]),
    );
    sessions.say(SESSION, { status: "running", control: control({ state: "working" }) });
    await waitFor(() => expect(announced.at(-1)).toBe("Working"));
    for (const number of [510, 511]) {
      sessions.say(SESSION, { requests: [openRequest(approval(number, "ls"))] });
      const count = number - 509;
      await waitFor(() =>
        expect(announced.filter((words) => words === "Waiting for you: Run a command")).toHaveLength(count),
      );
    }
    const second = { ...openRequest(approval(512, "pwd")), title: "Print the folder" };
    sessions.say(SESSION, { requests: [openRequest(approval(511, "ls")), second] });
    await waitFor(() => expect(announced.at(-1)).toBe("Waiting for you: Print the folder"));
    sessions.say(SESSION, { requests: [], status: "failed", control: control() });
    await waitFor(() => expect(announced.at(-1)).toBe("Failed"));
    sessions.say(SESSION, { status: "running" });
    await waitFor(() => expect(announced.at(-1)).toBe("Working"));
    sessions.say(SESSION, { status: "completed" });
    await waitFor(() => expect(announced.at(-1)).toBe("Done"));
  });

  test("announces that an opened session or a run below it waits", async () => {
    sessions.say(SESSION, { status: "running", requests: [openRequest(request)] });
    show(SESSION);
    const announced = said(await region());
    await waitFor(() => expect(announced).toEqual(["Waiting for you: Run a command"]));
    sessions.add(RUN, [prompt(RUN, "Find it.", 200)]);
    sessions.say(RUN, {
      run: { name: "Explore", task: "Find the loop" },
      parent: { session_id: SESSION },
      requests: [openRequest(approval(520, "ls"))],
    });
    await waitFor(() =>
      expect(announced.at(-1)).toBe(
        "A sub-agent of this session is waiting for you: Find the loop: Run a command",
      ),
    );
  });
});

describe("a session that this daemon runs", () => {
  test("shows agent, days, duration and cost in its header, and a turn's figures below it", async () => {
    sessions.say(SESSION, {
      model: "claude-x",
      provider: "anthropic",
      steps: 3,
      usage: { input: 9_000, output: 1_000, cost: 0.0421 },
      started_at: new Date(2026, 8, 14, 23, 59).getTime(),
      last_activity_at: new Date(2026, 8, 15, 0, 7).getTime(),
    });
    show(SESSION);
    const facts = await screen.findByRole("list", { name: "Facts" });
    expect(facts.textContent).toContain("2026-09-14 – 2026-09-15");
    expect(facts.textContent).toContain("claude-x");
    expect(facts.textContent).toContain("3 steps");
    expect(facts.textContent).toContain("$0.0421");
    expect(
      await screen.findByRole("button", {
        name: /end of turn · 1 min 2 s · 12k tokens in, 340 out · \$0.0421/,
      }),
    ).toBeTruthy();
    sessions.say(SESSION, { usage: { input: 9_000, output: 1_000 }, scripted: true });
    expect(await screen.findByText("script, no model")).toBeTruthy();
    sessions.say(SESSION, { scripted: false });
    await waitFor(() => expect(facts.textContent).toContain("cost unknown"));
  });

  describe("continues from an earlier prompt", () => {
    const PICTURE = "data:image/png;base64,iVBORw0KGgo=";
    /** Longer than the part that the page receives. */
    const long = `Repair it. ${"All of it. ".repeat(7_000)}And only that.`;
    const withParts = (...parts: Part[]): void =>
      sessions.rewrite(SESSION, [
        {
          session_id: SESSION,
          at,
          type: "user.message",
          message_id: uuid(100),
          part_id: uuid(101),
          parts: [{ type: "text", text: long }, ...parts],
        },
        ...answer(SESSION, "It is repaired.", 110),
      ]);
    /** Opens the dialog. Returns its buttons once the prompt is loaded. */
    const fromHere = async () => {
      show(SESSION);
      await userEvent.click(await screen.findByRole("button", { name: "Branch" }));
      return within(await screen.findByRole("dialog", { name: "From this prompt" }));
    };
    const press = async (dialog: ReturnType<typeof within>, name: string): Promise<void> => {
      const button = dialog.getByRole("button", { name });
      await waitFor(() => expect(button.hasAttribute("disabled")).toBe(false));
      await userEvent.click(button);
    };
    const takeForks = (): void =>
      daemon.answer(({ route, body }) => {
        if (!route.endsWith("/fork")) return undefined;
        const { session_id } = body as { session_id: string };
        sessions.say(session_id, { title: "Forked", status: "completed", control: control() });
        sessions.add(session_id, []);
        return [201, { session_id }];
      });

    test("in another session, with the prompt for editing", async () => {
      takeForks();
      await press(await fromHere(), "New session from here");
      expect(await screen.findByRole("heading", { level: 1, name: "Forked" })).toBeTruthy();
      expect(posted()[0]?.body).toMatchObject({ before: uuid(101) });
      const field = await screen.findByDisplayValue("Repair it.");
      await waitFor(() => expect(document.activeElement).toBe(field));
      expect(screen.getByText("Write the first prompt below.")).toBeTruthy();
    });

    test("in another session, with the full text of a long prompt and its images", async () => {
      takeForks();
      withParts({ type: "image_url", url: PICTURE });
      const dialog = await fromHere();
      await press(dialog, "New session from here");
      expect(await screen.findByRole("heading", { level: 1, name: "Forked" })).toBeTruthy();
      expect(await screen.findByDisplayValue(long)).toBeTruthy();
      expect(screen.getByRole("img", { name: "Image 1" })).toBeTruthy();
      accept();
      await userEvent.click(screen.getByRole("button", { name: "Send" }));
      await waitFor(() => expect(sentPrompts().at(-1)).toMatchObject({ text: long, images: [PICTURE] }));
    });

    test("and says which attachments are not included", async () => {
      accept();
      withParts(
        { type: "image_url", url: "https://a.test/picture.png" },
        { type: "file", mime: "text/plain", url: "data:text/plain;base64,YQ==" },
        { type: "image_url", url: PICTURE },
      );
      const dialog = await fromHere();
      expect(await dialog.findByText(/2 of its 3 attachments are not copied/)).toBeTruthy();
      await press(dialog, "Rewind to here");
      const field = await screen.findByDisplayValue(long);
      await waitFor(() => expect(document.activeElement).toBe(field));
      expect(screen.getAllByRole("img", { name: /^Image/ })).toHaveLength(1);
    });

    test("without images if the model accepts none, with a message", async () => {
      accept();
      sessions.say(SESSION, { control: control({ takes_images: false }) });
      withParts({ type: "image_url", url: PICTURE });
      const dialog = await fromHere();
      expect(await dialog.findByText(/Its attachment is not copied/)).toBeTruthy();
      await press(dialog, "Rewind to here");
      expect(await screen.findByDisplayValue(long)).toBeTruthy();
      expect(screen.queryByRole("img", { name: "Image 1" })).toBeNull();
    });

    test("only with the complete prompt: if it cannot be loaded, nothing starts and the reason is shown", async () => {
      daemon.answer(({ route }) =>
        route.endsWith("/whole")
          ? [500, { error: { code: "disk", message: "the disk is gone." } }]
          : undefined,
      );
      const dialog = await fromHere();
      expect((await dialog.findByRole("alert")).textContent).toBe(
        "The prompt could not be loaded. The disk is gone. Close this and try again.",
      );
      for (const name of ["New session from here", "Rewind to here"])
        expect(dialog.getByRole("button", { name }).hasAttribute("disabled")).toBe(true);
      expect(posted()).toEqual([]);
    });

    test("by a rewind, but not while its agent works", async () => {
      accept();
      sessions.say(SESSION, { control: control({ state: "working" }) });
      const dialog = await fromHere();
      await waitFor(() =>
        expect(dialog.getByRole("button", { name: /New session/ }).hasAttribute("disabled")).toBe(false),
      );
      expect(dialog.getByRole("button", { name: "Rewind to here" }).hasAttribute("disabled")).toBe(true);
      sessions.say(SESSION, { control: control() });
      await press(dialog, "Rewind to here");
      await waitFor(() =>
        expect(posted()[0]).toMatchObject({
          route: `POST /api/sessions/${SESSION}/rewind`,
          body: { before: uuid(101) },
        }),
      );
      expect(await screen.findByDisplayValue("Repair it.")).toBeTruthy();
    });
  });

  test("that plays a script can continue with another script, by name", async () => {
    sessions.say(SESSION, { agent: "scripted", model: "wander" });
    const agent = { id: "scripted", title: "Scripted", kind: "provider", scripted: true, takes_images: true };
    const models = [{ id: "wander" }, { id: "endless" }];
    daemon.answer(({ route }) =>
      route === "GET /api/agents"
        ? [200, { cwd: "/", recent: [], agents: [{ ...agent, models, any_model: true }] }]
        : undefined,
    );
    show(SESSION);
    await screen.findByText("It is repaired.");
    await userEvent.keyboard("a");
    expect(await screen.findByRole("combobox", { name: "Script" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Switch the script" })).toBeTruthy();
  });

  test("can be compacted, and can continue with another model", async () => {
    sessions.say(SESSION, { provider: "anthropic", model: "claude-x" });
    daemon.answer(({ route }) =>
      route === "GET /api/agents"
        ? [
            200,
            {
              cwd: "/",
              recent: [],
              agents: [
                {
                  id: "anthropic",
                  title: "Anthropic",
                  kind: "provider",
                  models: [{ id: "claude-x" }, { id: "claude-y" }],
                  any_model: true,
                  takes_images: true,
                },
              ],
            },
          ]
        : route.startsWith("POST")
          ? [200, {}]
          : undefined,
    );
    show(SESSION);
    await screen.findByText("It is repaired.");
    await userEvent.keyboard("a");
    const dialog = await screen.findByRole("dialog", { name: "Agent settings" });
    await userEvent.click(within(dialog).getByRole("button", { name: "Compact" }));
    await userEvent.selectOptions(await within(dialog).findByRole("combobox", { name: "Model" }), "claude-y");
    await userEvent.click(within(dialog).getByRole("button", { name: "Switch the model" }));
    await waitFor(() =>
      expect(posted()).toEqual([
        { route: `POST /api/sessions/${SESSION}/compact`, body: {} },
        { route: `POST /api/sessions/${SESSION}/model`, body: { model: "claude-y" } },
      ]),
    );
  });
});
