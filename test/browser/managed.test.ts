import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { overflow, seriousFindings } from "./findings.ts";
import {
  BROKEN_CONNECTION,
  createHome,
  type Daemon,
  enter,
  type Home,
  readTranscript,
  startDaemon,
} from "./harness.ts";
import { restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

/** An image of one pixel. */
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

let home: Home;
let daemon: Daemon;
let folder: string;
let browser: TestBrowser;
beforeEach(async () => {
  home = await createHome();
  folder = join(home.path, "harbour");
  await mkdir(folder);
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** Another profile, which is another browser for the daemon. */
const newContext = (
  options: BrowserContextOptions = { viewport: { width: 1200, height: 900 } },
): Promise<BrowserContext> => browser.newContext(options);

/** Starts a session in the page, from the list, by keyboard if possible. */
async function start(page: Page, script: string, prompt: string): Promise<void> {
  await page.getByRole("link", { name: "New session" }).waitFor();
  await page.keyboard.press("n");
  await page.getByRole("radio", { name: /script, no model/ }).check();
  await page.getByRole("combobox", { name: "Script" }).selectOption(script);
  await page.getByRole("combobox", { name: "Folder" }).fill(folder);
  await promptField(page).fill(prompt);
  await promptField(page).press("Enter");
  await page.getByRole("region", { name: "Transcript" }).waitFor();
}
const promptField = (page: Page) => page.getByRole("textbox", { name: "Prompt", exact: true });
const transcript = (page: Page) => page.getByRole("region", { name: "Transcript" });
const badge = (page: Page, text: string) => page.locator(".session-heading").getByText(text, { exact: true });

/** The transcript's text without times, which change between two reads. */
async function words(page: Page): Promise<[string, string][]> {
  return [...(await readTranscript(page))].map(([id, text]) => [
    id,
    text.replace(/\b\d+(\.\d+)? (ms|s|min|h)\b/g, "").replace(/\s+/g, " "),
  ]);
}

describe("a session that is started in the page", () => {
  it("streams, and is the same after a reload in the middle and at the end", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "long", "Tell me about tides");
    await page.getByText("script, no model").waitFor();
    await transcript(page).getByText("What a tide is").waitFor();
    await badge(page, "[RUNNING]").waitFor();
    await page.reload();
    await transcript(page).getByText("What a tide is").waitFor();
    await badge(page, "[OK]").waitFor();
    await page.locator(".turn-foot").getByText("end of turn").waitFor();
    const live = await words(page);
    await page.reload();
    await transcript(page).getByText("What a tide is").waitFor();
    await expect.poll(() => words(page)).toEqual(live);
    expect(complaints).toEqual([]);
  });

  it("asks before it runs a command, shows it completely, and runs exactly that", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "approval", "Make a file");
    const card = transcript(page).getByRole("region", { name: "Approval" });
    const command = card.getByRole("group", { name: "Exactly what runs" });
    await command.getByText("printf 'Hello, harbour.\\n' > greeting.txt && cat greeting.txt").waitFor();
    await expect.poll(() => page.title()).toMatch(/^\(1\) \[WAITING\]/);
    await page.reload();
    await card.getByRole("button", { name: "Allow", exact: true }).click();
    await transcript(page).getByText("Now I'd like to change a word in it.").waitFor();
    expect(await readFile(join(folder, "greeting.txt"), "utf8")).toBe("Hello, harbour.\n");
    // The edit, by keyboard.
    await card.getByRole("button", { name: "Allow", exact: true, disabled: false }).waitFor();
    await page.keyboard.press("w");
    await page.keyboard.press("Shift+Y");
    await transcript(page).getByText("That is all.").waitFor();
    expect(await readFile(join(folder, "greeting.txt"), "utf8")).toBe("Good evening, harbour.\n");
    expect(await transcript(page).getByText("Allowed", { exact: true }).count()).toBe(2);
    await expect.poll(() => page.title()).not.toMatch(/^\(/);
    expect(complaints).toEqual([]);
  });

  it("does not run a command that is rejected with a reason", async () => {
    const { page } = await enter(await newContext(), daemon);
    await start(page, "approval", "Make a file");
    const card = transcript(page).getByRole("region", { name: "Approval" });
    await card.getByRole("textbox", { name: /Reason/ }).fill("not in this folder");
    await card.getByRole("button", { name: "Deny" }).click();
    await transcript(page).getByText("Denied, “not in this folder”").waitFor();
    await expect(readFile(join(folder, "greeting.txt"))).rejects.toThrow();
  });

  it("asks a question that is answered once, which the other browser shows immediately", async () => {
    const first = await enter(await newContext(), daemon);
    await start(first.page, "question", "Write the report");
    const second = await enter(await newContext(), { ...daemon, launch: await restOf(home, daemon).link() });
    await second.page.getByRole("link", { name: /^waiting / }).click();
    for (const { page } of [first, second])
      await transcript(page).getByRole("form", { name: "Question" }).waitFor();
    await second.page.getByRole("radio", { name: "21 November 2026", exact: true }).check();
    await second.page.getByRole("button", { name: "Answer" }).click();
    for (const { page } of [first, second]) {
      await transcript(page).getByText("Answered: 21 November 2026").waitFor();
      await transcript(page).getByText("I'll write them that way.").waitFor();
      await badge(page, "[OK]").waitFor();
      await page.locator(".turn-foot").waitFor();
    }
    await expect.poll(() => words(first.page)).toEqual(await words(second.page));
    expect([...first.complaints, ...second.complaints]).toEqual([]);
  });

  it("accepts the first of two browsers' answers to an approval, and shows it in both", async () => {
    const first = await enter(await newContext(), daemon);
    await start(first.page, "approval", "Make a file");
    const second = await enter(await newContext(), { ...daemon, launch: await restOf(home, daemon).link() });
    await second.page.goto(first.page.url());
    const buttons = await Promise.all(
      [first.page, second.page].map((page, index) =>
        transcript(page)
          .getByRole("button", { name: index === 0 ? "Allow" : "Deny", exact: true })
          .first()
          .elementHandle(),
      ),
    );
    // The slower one's button may have disappeared by then, on which a mouse click would fail.
    await Promise.all(buttons.map((button) => button?.evaluate((element: HTMLElement) => element.click())));
    const outcome = /^(Allowed|Denied)$/;
    const said = await Promise.all(
      [first.page, second.page].map((page) =>
        transcript(page).locator(".request-outcome").first().innerText(),
      ),
    );
    expect(said[0]).toMatch(outcome);
    expect(said[1]).toBe(said[0]);
  });

  it("queues a prompt, withdraws it, and stops the agent at the second Esc", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "endless", "Go on");
    await transcript(page).getByText("The tide comes in").first().waitFor();
    await promptField(page).fill("Never mind");
    await promptField(page).press("Enter");
    const queue = page.getByRole("list", { name: "Prompts queued until this turn ends" });
    await queue.getByText("Never mind").waitFor();
    await queue.getByRole("button", { name: "Withdraw Never mind" }).click();
    await queue.waitFor({ state: "detached" });
    await expect.poll(() => promptField(page).inputValue()).toBe("Never mind");
    // The hint about Esc is also shown where the transcript takes the space.
    await page.setViewportSize({ width: 1200, height: 500 });
    await page.keyboard.press("Escape");
    await page.getByText("Press Esc again to stop").first().waitFor();
    await badge(page, "[RUNNING]").waitFor();
    await promptField(page).press("Escape");
    await badge(page, "stopped").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    const stopped = await words(page);
    await page.reload();
    await expect.poll(() => words(page)).toEqual(stopped);
    expect(complaints).toEqual([]);
  });

  it("holds queued prompts after a stop, also after a reload, and sends them on request", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "endless", "Go on");
    await transcript(page).getByText("The tide comes in").first().waitFor();
    await promptField(page).fill("In German, please");
    await promptField(page).press("Enter");
    await page.getByText("queued", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await badge(page, "stopped").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.reload();
    await page.getByText("Held: the previous turn was stopped.").waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Send now: In German, please" }).click();
    await badge(page, "[RUNNING]").waitFor();
    await page.getByRole("list", { name: "Held prompts" }).waitFor({ state: "detached" });
    await transcript(page).getByText("In German, please").waitFor();
    expect(complaints).toEqual([]);
  });

  it("sends images, which the transcript shows", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "hello", "Good morning");
    await badge(page, "[OK]").waitFor();
    await page.locator(".prompt-input input[type=file]").setInputFiles({
      name: "dot.png",
      mimeType: "image/png",
      buffer: Buffer.from(DOT, "base64"),
    });
    const isSeen = (name: string) =>
      page
        .getByRole("img", { name })
        .first()
        .evaluate((image) => image instanceof HTMLImageElement && image.naturalWidth > 0);
    await expect.poll(() => isSeen("Image 1")).toBe(true);
    await promptField(page).fill("What is this?");
    await promptField(page).press("Enter");
    const heading = transcript(page).locator(".turn-heading", { hasText: "What is this?" });
    await heading.getByRole("button", { name: /1 attached/ }).click();
    await expect
      .poll(() => heading.locator("img").evaluate((image) => (image as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(0);
    expect(await page.getByRole("img", { name: "Image 1", exact: true }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("steers the running turn with Alt+Enter, and shows the prompt inside it", async () => {
    const { page } = await enter(await newContext(), daemon);
    await start(page, "approval", "Make a file");
    await transcript(page).getByRole("button", { name: "Allow", exact: true }).first().waitFor();
    await promptField(page).fill("In English, please");
    await promptField(page).press("Alt+Enter");
    await expect.poll(() => promptField(page).inputValue()).toBe("");
    await transcript(page).getByRole("button", { name: "Allow", exact: true }).first().click();
    await transcript(page).getByText("In English, please").waitFor();
    expect(await transcript(page).locator(".turn-heading").count()).toBe(1);
  });

  it("shows a question three levels down on every session above it", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "agents", "Look around");
    const banner = page.locator(".waiting-banner");
    await banner.getByText("Which line width should the code keep to?").waitFor();
    const card = transcript(page).getByRole("article", { name: /Review the conventions/ });
    await card.getByRole("link", { name: "sub-agent waiting for you" }).waitFor();
    await banner.getByRole("link", { name: "Which line width should the code keep to?" }).click();
    await transcript(page).getByRole("form", { name: "Question" }).waitFor();
    await page.getByRole("radio", { name: "100 characters" }).check();
    await page.getByRole("button", { name: "Answer" }).click();
    await transcript(page).getByText("Answered: 100 characters").waitFor();
    expect(complaints).toEqual([]);
  });

  it("gives the title of a waiting session priority over its folder in the list", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "agents", "Look around the whole of it");
    await page.goto(`${daemon.origin}/`);
    await page.getByRole("button", { name: "Time", exact: true }).click();
    const row = page.getByRole("link", { name: /sub-agent waiting for you/ });
    await row.waitFor();
    const boxOf = (selector: string) =>
      row.locator(selector).evaluate((element) => element.getBoundingClientRect());
    for (const width of [1280, 820, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await expect.poll(async () => (await boxOf(".session-title")).width).toBeGreaterThan(48);
      expect((await boxOf(".session-folder")).right).toBeLessThanOrEqual(
        (await boxOf(".session-name")).right,
      );
    }
    expect(complaints).toEqual([]);
  });

  it("shows the full name of a waiting run, and each figure completely or not at all", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "agents", "Look around");
    const line = transcript(page).getByRole("article", { name: /Review the conventions/ });
    await line.getByRole("link", { name: "sub-agent waiting for you" }).waitFor();
    const boxOf = (selector: string) =>
      line.locator(selector).evaluate((element) => element.getBoundingClientRect());
    for (const width of [1280, 900]) {
      await page.setViewportSize({ width, height: 800 });
      await expect
        .poll(async () => (await boxOf(".line-time")).left - (await boxOf(".run-link")).right)
        .toBeGreaterThanOrEqual(0);
      const counts = await boxOf(".run-counts");
      for (const figure of await line.locator(".run-counts > span").all()) {
        const { top, right } = await figure.evaluate((element) => element.getBoundingClientRect());
        expect(top >= counts.bottom || right <= counts.right).toBe(true);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await expect
      .poll(async () => (await boxOf(".line-subject")).right - (await boxOf(".run-name")).right)
      .toBeGreaterThanOrEqual(0);
    expect(complaints).toEqual([]);
  });

  it("forks a session at an earlier prompt, and rewinds to one", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "hello", "Good morning");
    await badge(page, "[OK]").waitFor();
    await promptField(page).fill("And good night");
    await promptField(page).press("Enter");
    await transcript(page).getByRole("heading", { name: "And good night" }).waitFor();
    await expect.poll(() => transcript(page).locator(".turn-foot").count()).toBe(2);
    const before = page.url();
    const second = transcript(page).locator(".turn-heading").nth(1);
    await second.hover();
    await second.getByRole("button", { name: "Branch" }).click();
    await page.getByRole("button", { name: "New session from here" }).click();
    await expect.poll(() => page.url()).not.toBe(before);
    await expect.poll(() => promptField(page).inputValue()).toBe("And good night");
    await transcript(page).getByRole("heading", { name: "Good morning" }).waitFor();
    expect(await transcript(page).locator(".turn-heading").count()).toBe(1);

    await page.goto(before);
    await second.hover();
    await second.getByRole("button", { name: "Branch" }).click();
    await page.getByRole("button", { name: "Rewind to here" }).click();
    await expect.poll(() => promptField(page).inputValue()).toBe("And good night");
    await transcript(page)
      .getByText(/Withdrawn:/)
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it("keeps all actions of a prompt reachable at any width", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "hello", "Good morning");
    await badge(page, "[OK]").waitFor();
    const heading = transcript(page).locator(".turn-heading");
    for (const width of [561, 860, 1_200]) {
      await page.setViewportSize({ width, height: 600 });
      await heading.hover();
      const actions = await heading.locator(".part-actions > *").all();
      expect(actions).toHaveLength(5);
      for (const action of actions) await action.click({ trial: true });
    }
    expect(complaints).toEqual([]);
  });

  it("uses most of a window of 320 × 256 pixels (400 % zoom) for reading, with everything else reachable", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "approval", "Make a file");
    await page.setViewportSize({ width: 320, height: 256 });
    await transcript(page).getByRole("region", { name: "Approval" }).waitFor();
    await expect.poll(async () => (await transcript(page).boundingBox())?.height).toBeGreaterThan(128);
    for (const name of ["Find", "Turns", "More", "Stop"])
      await page.getByRole("button", { name, exact: true }).click({ trial: true });
    await promptField(page).fill("And another");
    await page.getByRole("button", { name: "Queue", exact: true }).click({ trial: true });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("has room for the transcript and the input at 400 % zoom with three waiting runs", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "agents", "Look around");
    const asking = page.getByRole("region", { name: "Waiting for you" });
    await expect.poll(() => asking.getByRole("link").count()).toBe(3);
    await page.setViewportSize({ width: 320, height: 256 });
    await expect.poll(async () => (await transcript(page).boundingBox())?.height).toBeGreaterThan(100);
    await page.getByRole("button", { name: "Stop", exact: true }).click({ trial: true });
    await asking.getByRole("link").last().click({ trial: true });
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("keeps path, title, state and mark of a nested run visible", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await start(page, "agents", "Look around");
    await page.getByRole("link", { name: "Which line width should the code keep to?" }).click();
    await page.getByRole("link", { name: "Review the conventions" }).waitFor();
    await page.getByText("script, no model").waitFor();
    for (const width of [700, 620, 570]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await overflow(page)]).toEqual([width, 0]);
    }
    expect(complaints).toEqual([]);
  });

  it("shows problems at their fields, and loses nothing in a reload", async () => {
    const { page } = await enter(await newContext(), daemon, [/status of 400/]);
    await page.getByRole("link", { name: "New session" }).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("radio", { name: /script, no model/ }).check();
    const cwd = page.getByRole("combobox", { name: "Folder" });
    await cwd.fill(join(home.path, "nowhere"));
    await promptField(page).fill("Half a thought");
    await page.reload();
    await expect.poll(() => promptField(page).inputValue()).toBe("Half a thought");
    expect(await cwd.inputValue()).toBe(join(home.path, "nowhere"));
    await promptField(page).press("Enter");
    await page.getByText(`No such folder: ${join(home.path, "nowhere")}.`).waitFor();
    expect(await cwd.getAttribute("aria-invalid")).toBe("true");
  });

  it("fits the input to its text at any width, if the browser does not", async () => {
    const { page, complaints } = await enter(await newContext(), daemon);
    await page.getByRole("link", { name: "New session" }).click();
    await promptField(page).evaluate((field) => field.style.setProperty("field-sizing", "fixed"));
    await promptField(page).fill("Some words ".repeat(30));
    const height = () => promptField(page).evaluate(({ clientHeight }) => clientHeight);
    const hidden = () =>
      promptField(page).evaluate(({ clientHeight, scrollHeight }) => scrollHeight - clientHeight);
    const wide = await height();
    expect(await hidden()).toBe(0);
    await page.setViewportSize({ width: 480, height: 900 });
    await expect.poll(hidden).toBe(0);
    expect(await height()).toBeGreaterThan(wide);
    await page.setViewportSize({ width: 1200, height: 900 });
    await expect.poll(height).toBe(wide);
    expect(complaints).toEqual([]);
  });

  it("continues without a browser, and accepts a prompt that was sent while the daemon was away", async () => {
    const context = await newContext();
    const { page } = await enter(context, daemon, BROKEN_CONNECTION);
    await start(page, "hello", "Good morning");
    const address = page.url();
    await page.close();
    const { port } = daemon;
    const again = await context.newPage();
    await again.goto(address);
    await badge(again, "[OK]").waitFor();
    await daemon.stop("SIGKILL");
    await again.getByText("Disconnected").waitFor();
    await promptField(again).fill("Are you there");
    await promptField(again).press("Enter");
    await again.getByText("It is sent as soon as it does.").waitFor();
    daemon = await startDaemon(home, ["--no-samples", "--port", String(port)]);
    await transcript(again).getByRole("heading", { name: "Are you there" }).waitFor();
    await expect.poll(() => transcript(again).locator(".turn-foot").count()).toBe(2);
    expect(await transcript(again).getByRole("heading", { name: "Are you there" }).count()).toBe(1);
    expect(await promptField(again).inputValue()).toBe("");
  });
});

describe.each([
  { name: "dark", options: { colorScheme: "dark" as const, viewport: { width: 1280, height: 900 } } },
  {
    name: "light on a phone",
    options: { colorScheme: "light" as const, viewport: { width: 390, height: 844 } },
  },
])("starting and answering, $name", ({ options }) => {
  it("has no serious axe findings, and does not scroll horizontally", async () => {
    const { page, complaints } = await enter(await newContext(options), daemon);
    await page.getByRole("link", { name: "New session" }).click();
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("Enter a prompt.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.getByRole("link", { name: "Sessions" }).click();
    for (const [script, role] of [
      ["approval", "region"],
      ["question", "form"],
    ] as const) {
      await start(page, script, "Go");
      await transcript(page)
        .getByRole(role, { name: /Approval|Question/ })
        .waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      // The field and its buttons are in view.
      await promptField(page).fill("One line\nand another");
      const send = await page.getByRole("button", { name: "Queue", exact: true }).boundingBox();
      expect((send?.y ?? 0) + (send?.height ?? 0)).toBeLessThanOrEqual(options.viewport.height);
      await page.goto(`${daemon.origin}/`);
    }
    expect(complaints).toEqual([]);
  });
});
