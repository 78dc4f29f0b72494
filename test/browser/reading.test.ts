import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { type GeneratedSession, generateClaudeSession } from "../generate-session.ts";
import { uuidOf } from "../uuid-of.ts";
import { createHome, type Daemon, enterAt, type Home, settled, startDaemon } from "./harness.ts";
import { begin, idle, listed, restOf, send, storedParts } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

// The rows in view do not move while the agent continues to write.

let home: Home;
let daemon: Daemon;
/** Whether the daemon runs sessions of its own, which would work beside the tests after this one. */
let has_begun: boolean;
let browser: TestBrowser;
let opened = 0;
let session: GeneratedSession;
let file: string;
let page: Page;
let complaints: string[];
let transcript: Locator;
let said: number;
beforeAll(async () => {
  browser = await openTestBrowser();
  await restart();
});
afterAll(async () => {
  await browser.close();
  await end();
});
beforeEach(async () => {
  said = 0;
  opened += 1;
  // Each test writes to a session of its own, with the same content.
  session = generateClaudeSession({ parts: 60, turns: 3, seed: 11, name: `reading ${opened}` });
  const folder = join(home.claude, "projects/-home-ada-long-session");
  await mkdir(folder, { recursive: true });
  file = join(folder, `${session.session_id}.jsonl`);
  await writeFile(file, session.lines.map((line) => `${line}\n`).join(""));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const rest = restOf(home, daemon);
  await listed(rest, session.session_id);
  const path = `/session/${session.session_id}`;
  ({ page, complaints } = await enterAt(path, context, { ...daemon, launch: await rest.link() }));
  transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await say("The last one so far.");
  await transcript.getByText("The last one so far.").waitFor();
});
afterEach(async () => {
  await page.context().close();
  if (has_begun) {
    await end();
    await restart();
  }
  expect(complaints).toEqual([]);
});

async function restart(): Promise<void> {
  has_begun = false;
  home = await createHome();
  daemon = await startDaemon(home, ["--no-samples"]);
}
async function end(): Promise<void> {
  await daemon.stop();
  await home.remove();
}
/** Starts a session of the daemon's own; returns its id. */
async function begun(script: string): Promise<string> {
  has_begun = true;
  return await begin(restOf(home, daemon), script, home.path);
}

async function write(type: "user" | "assistant", part: object): Promise<void> {
  const { message, ...record } = JSON.parse(session.lines.at(-1) ?? "{}");
  said += 1;
  const uuid = uuidOf(`${session.session_id} said ${said}`);
  const content = [part];
  const written = type === "user" ? { role: "user", content } : { ...message, id: uuid, content };
  await appendFile(file, `${JSON.stringify({ ...record, type, uuid, message: written })}\n`);
}
/** The agent writes texts of several lines each. */
async function say(...texts: string[]): Promise<void> {
  for (const text of texts)
    await write("assistant", { type: "text", text: `${text}\n\n${"It has some words more. ".repeat(20)}` });
}
/** The agent runs a command. */
async function run(command: string, is_error = false): Promise<void> {
  const id = `toolu_${command}`;
  const content = is_error ? "No." : "Yes.";
  await write("assistant", { type: "tool_use", id, name: "Bash", input: { command } });
  await write("user", { type: "tool_result", tool_use_id: id, content, is_error });
}
const fail = (command: string) => run(command, true);
const twelve = (name: string) => Array.from({ length: 12 }, (_, at) => `${name} ${at + 1}.`);
const newBelow = (count: number) => page.getByRole("button", { name: `${count} new below`, exact: true });
const top = (element: Element): number => element.getBoundingClientRect().top;
const focused = () => page.locator("article:focus");

it("shows the input of the last model call at the end, elsewhere of the one in view", async () => {
  const heading = page.getByText(/^Call [\d,]+ of [\d,]+$/);
  await page.keyboard.press("i");
  const [, call, calls] = /(\S+) of (\S+)/.exec(await heading.innerText()) ?? [];
  expect(call).toBe(calls);
  await page.keyboard.press("Escape");
  await heading.waitFor({ state: "detached" });
  await transcript.evaluate((box) => box.scrollTo(0, 0));
  await transcript.getByRole("heading").first().waitFor();
  await page.keyboard.press("i");
  await page.getByText(`Call 1 of ${calls}`, { exact: true }).waitFor();
});

it("outlines the turn in view, leads to its parts, and grows with it", async () => {
  await page.setViewportSize({ width: 1440, height: 800 });
  const outline = page.getByRole("navigation", { name: "Turns" });
  const entry = (name: string) => outline.getByRole("link", { name, exact: true });
  await entry("The last one so far.").waitFor();
  await run("ls");
  await run("pwd");
  await fail("plot");
  await say("It is all done.");
  await entry("2 Bash").waitFor();
  await entry("Error: Bash plot").waitFor();
  await entry("It is all done.").waitFor();

  const first = outline.locator(".outline-entry").first();
  const text = await first.innerText();
  await first.click();
  await expect.poll(() => entry(text).getAttribute("aria-current")).toBe("step");
  await page.keyboard.press("Shift+J");
  const second = outline.locator(".outline-entry").nth(1);
  await expect.poll(() => second.getAttribute("aria-current")).toBe("step");
  await page.keyboard.press("Shift+K");
  await expect.poll(() => first.getAttribute("aria-current")).toBe("step");
  const target = new URL((await entry("Error: Bash plot").getAttribute("href")) ?? "", daemon.origin);
  await page.goto(target.href);
  await transcript.locator(target.hash).waitFor();
});

it("stays at the end after a return from the back/forward cache", async () => {
  const fromEnd = await transcript.evaluate(async (box) => {
    // As WebKit does.
    box.scrollTop = 0;
    dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    return box.scrollHeight - box.clientHeight - box.scrollTop;
  });
  expect(fromEnd).toBeLessThanOrEqual(4);
  await say("DisplayText since.");
  await transcript.getByText("DisplayText since.").waitFor();
});

it("scrolls to the first row of a session, below a tall heading", async () => {
  const long = generateClaudeSession({ parts: 60, turns: 3, seed: 12 });
  const [first = "", ...others] = long.lines;
  const { message: _, ...record } = JSON.parse(first);
  const attachment = {
    type: "hook_success",
    hookName: "Start",
    hookEvent: "SessionStart",
    content: "Ready.",
  };
  const hook = { ...record, type: "attachment", uuid: long.session_id, attachment };
  const content = "Look at the harbour, the tides and the boats. ".repeat(12);
  const prompt = { ...record, message: { role: "user", content } };
  const lines = [JSON.stringify(hook), JSON.stringify(prompt), ...others];
  await writeFile(join(file, `../${long.session_id}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  await page.goto(`${daemon.origin}/session/${long.session_id}`);
  for (const go of [
    () => page.keyboard.press("Home"),
    () => transcript.evaluate((box) => box.scrollTo(0, 0)),
  ]) {
    await settled(transcript);
    await go();
    await transcript.getByText("Ready.").waitFor();
    await settled(transcript);
    expect(await transcript.evaluate((box) => box.scrollTop)).toBe(0);
    await page.keyboard.press("End");
    await page.reload();
    await transcript.waitFor();
  }
});

it("keeps a row at the end in place, and follows from the last row", async () => {
  await page.keyboard.press("k");
  await page.keyboard.press("End");
  await transcript.getByText("The last one so far.").waitFor();
  await transcript.locator("article").last().focus();
  await page.keyboard.press("k");
  const id = await focused().getAttribute("id");
  const before = await focused().evaluate(top);
  await say(...twelve("Behind the one that is read"));
  await newBelow(12).waitFor();
  expect(await focused().getAttribute("id")).toBe(id);
  expect(await focused().evaluate(top)).toBe(before);

  for (let step = 0; step < 13; step += 1) await page.keyboard.press("j");
  await eventually(async () => expect(await focused().innerText()).toContain("is read 12."));
  await newBelow(12).waitFor({ state: "detached" });
  await say("Followed again.");
  await transcript.getByText("Followed again.").waitFor();
  expect(await page.getByRole("button", { name: /below$/ }).count()).toBe(0);
});

it("opens and closes all parts at once, without rendering others again", async () => {
  await run("works");
  await say("Said after it.");
  const written = transcript.locator("article", { hasText: "Said after it." });
  const card = transcript.locator("article", { hasText: "works" }).locator("details").first();
  await written.evaluate((row) => row.setAttribute("data-known", ""));
  const isOpen = () => card.evaluate((details) => (details as HTMLDetailsElement).open);
  expect(await isOpen()).toBe(false);
  for (const [word, open] of [
    ["Expand all", true],
    ["Collapse all", false],
  ] as const) {
    await page.getByRole("button", { name: word, exact: true }).click();
    await expect.poll(isOpen).toBe(open);
  }
  await page.getByRole("button", { name: "Reset", exact: true }).click();
  await page.getByRole("button", { name: "Expand all", exact: true }).waitFor();
  await card.locator("summary").first().click();
  await expect.poll(isOpen).toBe(true);
  // Open all, close all: parts opened by hand are closed too.
  await page.keyboard.press("x");
  await page.keyboard.press("x");
  await expect.poll(isOpen).toBe(false);
  expect(await written.getAttribute("data-known")).toBe("");
});

it("shows a call's heading on a phone, and its time once opened", async () => {
  await run("make docs");
  const heading = page.getByRole("heading", { name: "Bash: make docs" });
  await heading.waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await heading.count()).toBe(1);
  const row = transcript.locator("article").filter({ has: heading });
  const timeWidth = async () => (await row.locator(".part-gutter").boundingBox())?.width ?? 0;
  expect(await timeWidth()).toBe(1);
  await row.locator("summary").click();
  await expect.poll(timeWidth).toBeGreaterThan(40);
  expect(await row.locator("time").innerText()).toMatch(/^\d\d:\d\d/);
  // On the line with its actions.
  const middleOf = async (part: string) => {
    const { y, height } = (await row.locator(part).boundingBox()) ?? { y: Number.NaN, height: 0 };
    return y + height / 2;
  };
  expect(Math.abs((await middleOf("time")) - (await middleOf(".part-actions")))).toBeLessThan(3);
});

it("moves the focus from rows and headings to their actions, also on a phone", async () => {
  await say("Nothing to open.");
  const row = transcript.locator("article", { hasText: "Nothing to open." });
  await row.waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  const copy = row.getByRole("button", { name: "Copy this text" });
  const clip = () => row.locator(".part-actions").evaluate((actions) => getComputedStyle(actions).clipPath);
  expect(await clip()).not.toBe("none");
  await row.focus();
  await page.keyboard.press("Tab");
  expect(await copy.evaluate((button) => button === document.activeElement)).toBe(true);
  expect(await clip()).toBe("none");
  await page.keyboard.press("[");
  await page.locator(".turn-heading:focus").waitFor();
  // Through "Show all" if the prompt is long.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  expect(await page.locator(".turn-heading .part-actions :focus").count()).toBe(1);
});

it("shows an error completely below its turn's heading of two lines", async () => {
  await page.goto("about:blank");
  await page.setViewportSize({ width: 390, height: 844 });
  await write("user", {
    type: "text",
    text: "Write the tides of the whole year down, and of the year behind it",
  });
  await fail("make tides");
  await say(...twelve("Behind it"));
  await write("user", { type: "text", text: "Go on." });
  await say(...twelve("Later"));
  await page.goto(`${daemon.origin}/session/${session.session_id}`);
  await transcript.getByText("Later 12.").waitFor();
  await page.keyboard.press("Shift+E");
  await expect.poll(() => focused().innerText()).toContain("make tides");
  const heading = page.locator(".turn-heading", { hasText: "Write the tides" });
  const gap = async () =>
    (await focused().evaluate(top)) -
    (await heading.evaluate((element) => element.getBoundingClientRect().bottom));
  await expect.poll(gap).toBeGreaterThanOrEqual(0);
  await expect.poll(gap).toBeLessThan(40);
});

it("begins a step at the top row in a low window, where headings scroll away", async () => {
  await page.setViewportSize({ width: 1280, height: 520 });
  await page.keyboard.press("Home");
  await transcript.getByText("Prompt 1:").waitFor();
  await settled(transcript);
  const id = await transcript.evaluate((box) => {
    const rows = [...box.querySelectorAll<HTMLElement>("article[id]")];
    const isLow = (row: HTMLElement | undefined) => row !== undefined && row.offsetHeight < 40;
    const row = rows.find((row, at) => at > 1 && isLow(row) && isLow(rows[at + 1]));
    if (row === undefined) return "";
    box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top;
    return row.id;
  });
  await settled(transcript);
  await page.keyboard.press("j");
  expect(await focused().getAttribute("id")).toBe(id);
  expect(await focused().evaluate(top)).toBe(await transcript.evaluate(top));
});

it("keeps the focus on a row that scrolls out of view, and on a transcript that loads", async () => {
  await page.keyboard.press("End");
  await transcript.locator("article").last().focus();
  const id = await focused().getAttribute("id");
  await say(...twelve("Followed"));
  await transcript.getByText("Followed 12.").waitFor();
  let load = (): void => {};
  const wanted = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route("**/parts?*", async (route) => {
    await wanted;
    await route.continue();
  });
  await page.keyboard.press("Home");
  await transcript.getByText("not loaded yet").first().waitFor();
  expect(await focused().getAttribute("id")).toBe(id);

  // The next step is relative to the view.
  await page.keyboard.press("j");
  const inFocus = () => transcript.evaluate(({ ownerDocument }) => ownerDocument.activeElement?.className);
  expect(await inFocus()).toContain("part-row-missing");
  load();
  await eventually(async () => expect(await inFocus()).toMatch(/scroller|part-row-(?!missing|placed)/));
});

it("keeps an element in place that Tab reached at the end", async () => {
  await page.keyboard.press("End");
  await transcript.locator("article").last().focus();
  await page.keyboard.press("k");
  await page.keyboard.press("End");
  await page.keyboard.press("Tab");
  const control = transcript.locator("article :focus");
  const before = await control.evaluate(top);
  await say(...twelve("Behind what has the focus"));
  await newBelow(12).waitFor();
  expect(await control.evaluate(top)).toBe(before);
});

it("never restores the focus behind a turn's heading", async () => {
  await write("user", { type: "text", text: "Look at the harbour, the tides and the boats. ".repeat(12) });
  for (const command of twelve("make").concat(twelve("test"))) await run(command);
  await page.setViewportSize({ width: 1280, height: 600 });
  await page.keyboard.press("End");
  const last = transcript.locator("article", { hasText: "test 12." });
  await last.waitFor();
  await last.focus();
  const controlsBehindHeading = () =>
    transcript.locator("article :focus").evaluateAll(
      (all) =>
        all.filter((control) => {
          const heading = control.closest(".turn")?.querySelector(".turn-heading");
          return heading && control.getBoundingClientRect().top < heading.getBoundingClientRect().bottom;
        }).length,
    );
  for (let back = 0; back < 90; back += 1) {
    await page.keyboard.press("Shift+Tab");
    expect(await controlsBehindHeading()).toBe(0);
  }
});

it("keeps following after Tab and a click", async () => {
  await page.keyboard.press("End");
  await page.keyboard.press("Tab");
  const row = transcript.locator("article").nth(-2);
  await row.hover();
  await row.getByRole("button", { name: "Copy" }).last().click();
  await say(...twelve("Followed all the same"));
  await transcript.getByText("Followed all the same 12.").waitFor();
  expect(await page.getByRole("button", { name: /below$/ }).count()).toBe(0);
});

const selection = () => page.evaluate(() => getSelection()?.toString() ?? "");
const selectText = (row: Locator) =>
  row.locator("p").evaluateAll(([first]) => {
    if (first !== undefined) getSelection()?.selectAllChildren(first);
  });

it("keeps selected text at the end in view, and follows again afterwards", async () => {
  const row = transcript.locator("article", { hasText: "The last one so far." });
  await selectText(row);
  const before = await row.evaluate(top);
  await say(...twelve("Behind the selection"));
  await newBelow(12).waitFor();
  expect(await row.evaluate(top)).toBe(before);
  expect(await selection()).toBe("The last one so far.");

  await page.keyboard.press("Home");
  await transcript.getByText("Prompt 1:").waitFor();
  expect(await selection()).toBe("The last one so far.");
  await page.keyboard.press("End");
  await say(...twelve("Followed all the same"));
  await transcript.getByText("Followed all the same 12.").waitFor();
  expect(await selection()).toBe("The last one so far.");

  await selectText(transcript.locator("article").last());
  await say("Not followed.");
  await newBelow(1).waitFor();
  await page.evaluate(() => getSelection()?.empty());
  await newBelow(1).waitFor({ state: "detached" });
  await say("Followed again.");
  await transcript.getByText("Followed again.").waitFor();
  expect(await page.getByRole("button", { name: /below$/ }).count()).toBe(0);
});

it("moves nothing under a pressed pointer, and keeps following after a click", async () => {
  const row = transcript.locator("article", { hasText: "The last one so far." });
  const before = await row.evaluate(top);
  await row.locator("p").first().hover();
  await page.mouse.down();
  await say(...twelve("Behind the pointer"));
  await newBelow(12).waitFor();
  expect(await row.evaluate(top)).toBe(before);
  await page.mouse.up();
  await transcript.getByText("Behind the pointer 12.").waitFor();
  await newBelow(12).waitFor({ state: "detached" });
});

it("allows selecting text that is being streamed, and continues afterwards", async () => {
  const rest = restOf(home, daemon);
  await page.goto(`${daemon.origin}/session/${await begun("endless")}`);
  const text = transcript.locator("article.part-row-text p");
  await text.waitFor();
  const { x = 0, y = 0 } = (await text.boundingBox()) ?? {};
  await page.mouse.move(x + 2, y + 8);
  await page.mouse.down();
  const changed = page.getByRole("button", { name: "Changed below" });
  await changed.waitFor();
  await page.mouse.move(x + 90, y + 8);
  const words = await selection();
  expect(words).toMatch(/^The tide/);
  const written = async () => {
    const parts = await storedParts(rest, page.url().split("/").at(-1) ?? "");
    return parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
  };
  const before = await written();
  await eventually(async () => expect(await written()).toBeGreaterThan(before + 100));
  expect(await selection()).toBe(words);
  await page.mouse.up();
  expect(await selection()).toBe(words);
  const shown = async () => (await text.innerText()).length;
  expect(await shown()).toBeLessThan(before);
  await page.evaluate(() => getSelection()?.empty());
  await changed.waitFor({ state: "detached" });
  await eventually(async () => expect(await shown()).toBeGreaterThan(before + 100));
});

const fromEnd = () =>
  transcript.evaluate((box) => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop));

it("offers a button to the end of a growing answer, which resumes following", async () => {
  await page.setViewportSize({ width: 1280, height: 420 });
  await page.goto(`${daemon.origin}/session/${await begun("endless")}`);
  const text = transcript.locator("article.part-row-text p").first();
  await text.hover();
  await eventually(async () =>
    expect(await transcript.evaluate((box) => box.scrollTop)).toBeGreaterThan(200),
  );
  const toEnd = page.getByRole("button", { name: "To the end" });
  expect(await toEnd.count()).toBe(0);
  await page.mouse.wheel(0, -150);
  await toEnd.waitFor();
  await settled(transcript);
  const before = await text.evaluate(top);
  const length = await transcript.evaluate((box) => box.scrollHeight);
  await expect.poll(() => transcript.evaluate((box) => box.scrollHeight)).toBeGreaterThan(length);
  expect(await text.evaluate(top)).toBe(before);
  await toEnd.click();
  await toEnd.waitFor({ state: "detached" });
  await expect.poll(fromEnd).toBeLessThanOrEqual(4);
  expect(await transcript.evaluate((box) => box === document.activeElement)).toBe(true);
});

it("keeps following when the input shrinks and grows at once", async () => {
  await page.setViewportSize({ width: 1280, height: 420 });
  await page.goto(`${daemon.origin}/session/${await begun("endless")}`);
  await expect.poll(() => transcript.evaluate((box) => box.scrollTop)).toBeGreaterThan(100);
  const scrolled = transcript.evaluate(
    (box) => new Promise((resolve) => box.addEventListener("scroll", resolve, { once: true })),
  );
  await page.evaluate(() => {
    const composer = document.querySelector<HTMLElement>(".composer");
    if (composer === null) throw new Error("There is no composer.");
    for (const margin of ["-24px", "24px"]) {
      composer.style.marginBlockEnd = margin;
      // Force a layout, so that the browser scrolls the content that is too high for the remaining space.
      composer.getBoundingClientRect();
    }
  });
  await scrolled;
  const length = await transcript.evaluate((box) => box.scrollHeight);
  await expect.poll(() => transcript.evaluate((box) => box.scrollHeight)).toBeGreaterThan(length);
  await expect.poll(fromEnd).toBeLessThanOrEqual(4);
});

it("scrolls to a sent prompt, and follows its answer", async () => {
  const rest = restOf(home, daemon);
  const session_id = await begun("long");
  await idle(rest, session_id);
  await page.setViewportSize({ width: 1280, height: 420 });
  await page.goto(`${daemon.origin}/session/${session_id}`);
  await transcript.locator(".turn-foot").waitFor();
  await transcript.press("Home");
  await settled(transcript);
  expect(await fromEnd()).toBeGreaterThan(100);
  await page.getByRole("textbox", { name: "Prompt", exact: true }).fill("Once more, please");
  await page.keyboard.press("Enter");
  await transcript.getByRole("heading", { name: "Once more, please" }).waitFor();
  await expect.poll(fromEnd).toBeLessThanOrEqual(4);
});

it("scrolls to a held prompt when it is sent", async () => {
  const rest = restOf(home, daemon);
  const session_id = await begun("endless");
  await page.setViewportSize({ width: 1280, height: 420 });
  await page.goto(`${daemon.origin}/session/${session_id}`);
  await expect.poll(() => transcript.evaluate((box) => box.scrollTop)).toBeGreaterThan(100);
  await send(rest, session_id, "In German, please");
  await page.getByText("queued", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  const sendNow = page.getByRole("button", { name: "Send now: In German, please" });
  await sendNow.waitFor();
  await transcript.press("Home");
  await settled(transcript);
  expect(await fromEnd()).toBeGreaterThan(100);
  await sendNow.click();
  await transcript.getByRole("heading", { name: "In German, please" }).waitFor();
  await expect.poll(fromEnd).toBeLessThanOrEqual(4);
});

it("wraps from the last error to the first, with a notice until scrolling or Esc", async () => {
  const first = page.getByText("Wrapped to the first error");
  const last = page.getByText("Wrapped to the last error");
  const marked = transcript.locator(".part-row-target");
  await fail("one");
  await say(...twelve("After"));
  await transcript.getByText("After 12.").waitFor();
  await page.getByRole("button", { name: "Next error" }).click();
  await first.waitFor();
  const earlier = (await marked.getAttribute("id")) ?? "";
  await transcript.hover();
  await page.mouse.wheel(0, 300);
  await first.waitFor({ state: "detached" });
  await page.keyboard.press("e");
  await expect.poll(() => marked.innerText()).toContain("one");
  expect(await last.count()).toBe(0);
  await page.keyboard.press("Shift+E");
  await expect.poll(() => marked.getAttribute("id")).toBe(earlier);
  await page.keyboard.press("Shift+E");
  await last.waitFor();
  expect(await marked.innerText()).toContain("one");
  await page.keyboard.press("Escape");
  await last.waitFor({ state: "detached" });
});

it("moves the focus to the target of a key or link, and from find to the matching row", async () => {
  await fail("one");
  await say(...twelve("After"));
  await transcript.getByText("After 12.").waitFor();
  await page.keyboard.press("Shift+E");
  await expect.poll(() => focused().allInnerTexts()).toEqual([expect.stringContaining("one")]);
  await page.keyboard.press("Tab");
  expect(await transcript.locator(".part-row-target :focus").count()).toBe(1);
  const heading = page.locator(".turn-heading:focus");
  await page.keyboard.press("[");
  const title = await heading.getByRole("heading").innerText();
  await page.getByRole("navigation", { name: "Turns" }).getByRole("link").first().press("Enter");
  await expect.poll(() => heading.count()).toBe(1);
  expect(await heading.getByRole("heading").innerText()).not.toBe(title);

  const button = page.getByRole("button", { name: "Next error" });
  await button.press("Enter");
  const name = (await transcript.locator(".part-row-target").getAttribute("aria-label")) ?? "";
  expect(name).toMatch(/, failed$/);
  await page.getByRole("status").getByText(name, { exact: true }).waitFor();
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);

  await page.keyboard.press("/");
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("After 7.");
  await page.getByText("part 1 of 1").waitFor();
  await page.keyboard.press("Escape");
  expect(await focused().innerText()).toContain("After 7.");
});

it("visits each error in order, whatever rows are in view", async () => {
  await page.setViewportSize({ width: 1280, height: 1600 });
  await fail("one");
  for (let call = 0; call < 20; call += 1) await run(`works-${call}`);
  await fail("two");
  await fail("three");
  await transcript.getByText("three").first().waitFor();
  const marked = transcript.locator(".part-row-target");
  await expect
    .poll(async () => {
      await page.keyboard.press("e");
      return marked.innerText();
    })
    .toContain("one");
  for (const command of ["two", "three"]) {
    await page.keyboard.press("e");
    await expect.poll(() => marked.innerText()).toContain(command);
  }
  await page.keyboard.press("e");
  await page.getByText("Wrapped to the first error").waitFor();
});

it("shows no hint about rows below while the last row is in view", async () => {
  const rest = restOf(home, daemon);
  const session_id = await begun("hello");
  await idle(rest, session_id);
  await page.setViewportSize({ width: 1280, height: 1600 });
  await page.goto(`${daemon.origin}/session/${session_id}`);
  await transcript.locator(".turn-foot").waitFor();
  await page.keyboard.press("Home");
  await send(rest, session_id, "Once more");
  await idle(rest, session_id);
  await expect.poll(() => transcript.locator(".turn-foot").count()).toBe(2);
  expect(await page.getByRole("button", { name: /below$/ }).count()).toBe(0);
});

it.each([
  { name: "fills half a screen", height: 1000 },
  { name: "is longer than the screen", height: 420 },
])(
  "follows an agent again after the user went to its requests and answered them, in a session that $name",
  async ({ height }) => {
    await page.setViewportSize({ width: 1280, height });
    await page.goto(`${daemon.origin}/session/${await begun("approval")}`);
    const waiting = transcript.locator(".request", { has: page.getByRole("button") });
    for (const request of [1, 2]) {
      await waiting.waitFor();
      await eventually(async () => {
        await page.keyboard.press("w");
        await page.keyboard.press("Shift+Y");
        expect(await transcript.locator(".request-outcome").count()).toBe(request);
      });
    }
    await transcript.getByText("That is all.").waitFor();
    await transcript.locator(".turn-foot").waitFor();
    const toEnd = (box: Element) => box.scrollHeight - box.clientHeight - box.scrollTop;
    await expect.poll(() => transcript.evaluate(toEnd)).toBeLessThanOrEqual(4);
    expect(await page.getByRole("button", { name: /below$/ }).count()).toBe(0);
    // In a lower view the end stays in place.
    await page.setViewportSize({ width: 1280, height: 300 });
    await expect.poll(() => transcript.evaluate(toEnd)).toBeLessThanOrEqual(4);
  },
);

const followLink = (to: string) =>
  page.evaluate((href) => {
    const link = Object.assign(document.createElement("a"), { href });
    document.body.append(link);
    link.click();
    link.remove();
  }, to);

it("follows a link from another screen, also twice, and restores the position on return", async () => {
  await page.keyboard.press("Home");
  const text = transcript.locator("article.part-row-text").first();
  const link = `/session/${session.session_id}#${await text.getAttribute("id")}`;
  const row = transcript.locator(`.part-row-target[id="${await text.getAttribute("id")}"]`);
  for (let time = 0; time < 2; time += 1) {
    await followLink("/");
    await page.getByRole("main", { name: "Sessions" }).waitFor();
    await followLink(link);
    await row.waitFor();
    await page.keyboard.press("End");
    await transcript.getByText("The last one so far.").waitFor();
  }
  await followLink("/");
  await page.getByRole("main", { name: "Sessions" }).waitFor();
  await page.goBack();
  await transcript.getByText("The last one so far.").waitFor();
  await page.reload();
  await transcript.getByText("The last one so far.").waitFor();
  expect(await row.count()).toBe(0);
});

it("keeps the mark of a linked part after a reload, and follows the link again", async () => {
  await page.keyboard.press("Home");
  const id = await transcript.locator("article.part-row-text").first().getAttribute("id");
  const marked = transcript.locator(`.part-row-target[id="${id}"]`);
  const link = `${daemon.origin}/session/${session.session_id}#${id}`;
  await page.goto("about:blank");
  await page.goto(link);
  await marked.waitFor();
  await page.reload();
  await marked.waitFor();

  await page.keyboard.press("End");
  await transcript.getByText("The last one so far.").waitFor();
  await page.reload();
  await transcript.getByText("The last one so far.").waitFor();
  await page.goto("about:blank");
  await page.goto(link);
  await marked.waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await transcript.locator(`[id="${id}"]`).waitFor();
  expect(await marked.count()).toBe(0);
});

it("restores the view, or following, after a return from a link in the same session", async () => {
  const last = (await transcript.locator("article").last().getAttribute("id")) ?? "";
  await page.keyboard.press("Home");
  await settled(transcript);
  const first = (await transcript.locator("article.part-row-text").first().getAttribute("id")) ?? "";
  const row = transcript.locator(`[id="${first}"]`);
  await page.keyboard.press("ArrowDown");
  await settled(transcript);
  const before = await row.evaluate(top);
  const follow = (id: string) => followLink(`#${id}`);
  await follow(last);
  await row.waitFor({ state: "detached" });
  await page.goBack();
  await row.waitFor();
  await expect.poll(() => row.evaluate(top)).toBe(before);

  await page.keyboard.press("End");
  await follow(first);
  await row.waitFor();
  await follow(last);
  await expect.poll(fromEnd).toBeLessThanOrEqual(4);
  await page.goBack();
  await row.waitFor();
  // A link to the current address navigates to its target.
  await page.keyboard.press("End");
  await row.waitFor({ state: "detached" });
  await follow(first);
  await row.waitFor();
  await page.goBack();
  await expect.poll(fromEnd).toBeLessThanOrEqual(4);
  await say("Followed again.");
  await transcript.getByText("Followed again.").waitFor();
  expect(await page.getByRole("button", { name: /below$/ }).count()).toBe(0);
});
