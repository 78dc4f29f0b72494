import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { createHome, type Daemon, enter, type Home, openBrowser, startDaemon } from "./harness.ts";

// What one reads holds still while the agent writes on.

const session = generateClaudeSession({ parts: 60, turns: 3, seed: 11 });
let home: Home;
let file: string;
let daemon: Daemon;
let browser: Browser;
let page: Page;
let complaints: string[];
let transcript: Locator;
let said: number;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  said = 0;
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-long-session");
  await mkdir(folder, { recursive: true });
  file = join(folder, `${session.session_id}.jsonl`);
  await writeFile(file, session.lines.map((line) => `${line}\n`).join(""));
  daemon = await startDaemon(home, ["--no-samples"]);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  ({ page, complaints } = await enter(context, daemon));
  await page.goto(`${daemon.origin}/session/${session.session_id}`);
  transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await say("The last one so far.");
  await transcript.getByText("The last one so far.").waitFor();
});
afterEach(async () => {
  expect(complaints).toEqual([]);
  await page.context().close();
  await daemon.stop();
  await home.remove();
});

/** The agent writes texts, each of some lines. */
async function say(...texts: string[]): Promise<void> {
  const { message, ...record } = JSON.parse(session.lines.at(-1) ?? "{}");
  for (const text of texts) {
    said += 1;
    const uuid = `aaaaaaaa-0000-4000-8000-${String(said).padStart(12, "0")}`;
    const content = [{ type: "text", text: `${text}\n\n${"It has some words more. ".repeat(20)}` }];
    await appendFile(
      file,
      `${JSON.stringify({ ...record, uuid, message: { ...message, id: uuid, content } })}\n`,
    );
  }
}
const twelve = (name: string) => Array.from({ length: 12 }, (_, at) => `${name} ${at + 1}.`);
const newBelow = (count: number) => page.getByRole("button", { name: `${count} new below`, exact: true });
const top = (element: Element): number => element.getBoundingClientRect().top;
const focused = () => page.locator("article:focus");

it("a row that was stepped to at the end stays where it is, and following goes on at the last row", async () => {
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

it("a row keeps the focus when it scrolls out of view, and the transcript does when it is loaded", async () => {
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

  // The next step is taken from what is in view.
  await page.keyboard.press("j");
  const inFocus = () => transcript.evaluate(({ ownerDocument }) => ownerDocument.activeElement?.className);
  expect(await inFocus()).toContain("part-row-missing");
  load();
  await eventually(async () => expect(await inFocus()).toMatch(/scroller|part-row-(?!missing|placed)/));
});

it("what the Tab key reached at the end stays where it is", async () => {
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
