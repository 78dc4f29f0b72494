import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import {
  BROKEN_CONNECTION,
  createHome,
  type Daemon,
  enterAt,
  type Home,
  settled,
  startDaemon,
} from "./harness.ts";
import { listed, restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
let transcript: Locator;
const session = generateClaudeSession({ parts: 4, turns: 1, seed: 3 });
/** Enough that only the ends of a selection over all of them are rendered. */
const PARAGRAPHS = 120;

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-report");
  await mkdir(folder, { recursive: true });
  const { message, ...last } = JSON.parse(session.lines.at(-1) ?? "{}");
  const record = (type: "user" | "assistant", content: object[], at: number): string =>
    JSON.stringify({
      ...last,
      uuid: `cccccccc-0000-4000-8000-${String(at).padStart(12, "0")}`,
      type,
      message: type === "user" ? { role: "user", content } : { ...message, id: `msg_report_${at}`, content },
    });
  const text = (words: string, at: number) => record("assistant", [{ type: "text", text: words }], at);
  const lines = [
    ...session.lines,
    ...Array.from({ length: PARAGRAPHS }, (_, at) => text(`Paragraph ${at} of the report.\n\nMore.`, at)),
    text("The **end** of it.", 100),
    record("assistant", [{ type: "tool_use", id: "toolu_ls", name: "Bash", input: { command: "ls" } }], 101),
    record(
      "user",
      [{ type: "tool_result", tool_use_id: "toolu_ls", content: "one\ntwo", is_error: false }],
      102,
    ),
    text("Then:\n\n```sh\nnpm test\n```\n\nThat is all.", 103),
  ];
  await writeFile(join(folder, `${session.session_id}.jsonl`), `${lines.join("\n")}\n`);
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: daemon.origin });
  await listed(restOf(home, daemon), session.session_id);
  const path = `/session/${session.session_id}`;
  ({ page, complaints } = await enterAt(path, context, daemon, BROKEN_CONNECTION));
  transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await transcript.getByText("That is all.").waitFor();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

it("copies the text of a selection over several parts, without page elements", async () => {
  await transcript.evaluate((box) => {
    const bodies = [...box.querySelectorAll("article .part-body")].slice(-3);
    const range = document.createRange();
    const [first, last] = [bodies[0], bodies.at(-1)];
    if (first === undefined || last === undefined) throw new Error("no parts");
    range.setStart(first, 0);
    range.setEnd(last, last.childNodes.length);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
  });
  await page.keyboard.press("Control+c");
  const copied = async () => (await page.evaluate(() => navigator.clipboard.readText())).split(/\s*\n\s*/);
  await expect
    .poll(copied)
    .toEqual(["The end of it.", "[OK]", "Bash", "ls", "Then:", "npm test", "That is all."]);
  expect(complaints).toEqual([]);
});

/** Scrolls to one end by a key. A press before the scroll event, which no person is fast enough for, would lose its click. */
async function jump(key: "Home" | "End"): Promise<void> {
  if (key === "Home") await transcript.focus();
  await page.keyboard.press(key);
  await settled(transcript);
}

it("copies everything between a click and a distant Shift+click, without rendering it", async () => {
  const atWords = { position: { x: 1, y: 8 } };
  const paragraph = (at: number) => transcript.getByText(`Paragraph ${at} of the report.`, { exact: true });
  await jump("Home");
  await paragraph(0).click(atWords);
  await jump("End");
  await paragraph(PARAGRAPHS - 1).click({ ...atWords, modifiers: ["Shift"] });
  const copied = async () => {
    await page.keyboard.press("Control+c");
    const text = await page.evaluate(() => navigator.clipboard.readText());
    return [...text.matchAll(/^Paragraph (\d+) of the report\.$/gm)].map(([, at]) => Number(at));
  };
  await page.evaluate(() => {
    // After the page's own listener, before a frame.
    addEventListener("copy", () => {
      document.body.dataset.rows = String(document.querySelectorAll("article").length);
    });
  });
  await expect.poll(copied).toEqual(Array.from({ length: PARAGRAPHS - 1 }, (_, at) => at));
  expect(Number(await page.locator("body").getAttribute("data-rows"))).toBeLessThan(PARAGRAPHS);
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("copies the turn from a prompt to the other end of a selection", async () => {
  const atWords = { position: { x: 1, y: 8 } };
  await jump("Home");
  const heading = transcript.locator(".turn-title").first();
  const words = await heading.innerText();
  await heading.click(atWords);
  await jump("End");
  await transcript.getByText("That is all.").click({ ...atWords, modifiers: ["Shift"] });
  const copied = async () => {
    await page.keyboard.press("Control+c");
    const text = await page.evaluate(() => navigator.clipboard.readText());
    const paragraphs = [...text.matchAll(/^Paragraph (\d+) of the report\.$/gm)].map(([, at]) => Number(at));
    return { begins: text.trimStart().slice(0, words.length), paragraphs };
  };
  const all = Array.from({ length: PARAGRAPHS }, (_, at) => at);
  await expect.poll(copied).toEqual({ begins: words, paragraphs: all });
  await expect.poll(() => transcript.locator("article").count()).toBeLessThan(PARAGRAPHS);
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("copies the same after a restart of the daemon", async () => {
  const atWords = { position: { x: 1, y: 8 } };
  await jump("Home");
  await transcript.locator(".turn-title").first().click(atWords);
  await jump("End");
  await transcript.getByText("That is all.").click({ ...atWords, modifiers: ["Shift"] });
  const copied = async () => {
    await page.keyboard.press("Control+c");
    return page.evaluate(() => navigator.clipboard.readText());
  };
  await expect.poll(copied).toContain("Paragraph 60 of the report.");
  const before = await copied();
  await daemon.stop();
  await page.getByText("Disconnected").first().waitFor();
  daemon = await startDaemon(home, ["--no-samples", "--port", String(daemon.port)]);
  await page.locator(".connection", { hasText: /^live$/ }).waitFor();
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await expect.poll(copied).toBe(before);
  expect(await page.getByRole("button", { name: "below" }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("copies loaded parts while the daemon is away", async () => {
  await page.waitForFunction(() =>
    performance.getEntriesByType("resource").some(({ name }) => /\/copied-text-/.test(name)),
  );
  await daemon.stop();
  await page.getByText("Disconnected").waitFor();
  await transcript.getByRole("button", { name: "Copy this text" }).last().press("Enter");
  await transcript.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("That is all.");
});

it("selects the row beside a selection that begins in the gutter", async () => {
  const row = transcript.locator("article", { hasText: "The end of it." });
  const [gutter, next] = [row.locator(".part-time"), transcript.getByText("That is all.")];
  const [from, to] = [await gutter.boundingBox(), await next.boundingBox()];
  if (from === null || to === null) throw new Error("not on screen");
  await page.mouse.move(from.x + 2, from.y + 4);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width, to.y + to.height / 2, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.press("Control+c");
  const copied = async () =>
    (await page.evaluate(() => navigator.clipboard.readText())).trim().split(/\s*\n\s*/);
  await expect
    .poll(copied)
    .toEqual(["The end of it.", "[OK]", "Bash", "ls", "Then:", "npm test", "That is all."]);
  expect(complaints).toEqual([]);
});

it("copies a time in the gutter if nothing else is selected", async () => {
  const time = transcript.locator("article .part-time").last();
  const words = await time.innerText();
  await time.evaluate((element) => getSelection()?.selectAllChildren(element));
  await page.keyboard.press("Control+c");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(words);
  expect(complaints).toEqual([]);
});

it("prints the whole session, and restores the screen", async () => {
  const paragraphs = transcript.getByText(/^Paragraph \d+ of the report\.$/);
  const pages = (pdf: Buffer): number => (pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g) ?? []).length;
  const look = () =>
    transcript.evaluate((box) => ({ top: box.scrollTop, rows: box.querySelectorAll("article").length }));
  let before = await look();
  // Wait until the layout is stable: estimated heights are measured while it is laid out.
  for (let was: typeof before | undefined; !isDeepStrictEqual(was, before); ) {
    was = before;
    await settled(transcript);
    before = await look();
  }
  expect(pages(await page.pdf({ format: "A4" }))).toBeGreaterThan(4);
  await expect.poll(look).toEqual(before);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  expect(await paragraphs.count()).toBe(PARAGRAPHS);
  expect(await transcript.evaluate((box) => box.scrollHeight - box.clientHeight)).toBe(0);
  for (const name of ["Copy", "Find"]) expect(await page.getByRole("button", { name }).count()).toBe(0);
  expect(await page.locator(".print-note").count()).toBe(0);
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await expect.poll(look).toEqual(before);
  expect(complaints).toEqual([]);
});
