import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { createHome, type Daemon, enterAt, type Home, startDaemon } from "./harness.ts";
import { listed, restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
let transcript: Locator;
let file: string;
const session = generateClaudeSession({ parts: 40, turns: 2, seed: 11 });
let written = 0;

/** A record like the session's last one, with another message. */
const record = (type: "user" | "assistant", content: unknown[]): string => {
  written += 1;
  const { message, ...last } = JSON.parse(session.lines.at(-1) ?? "{}");
  const uuid = `bbbbbbbb-0000-4000-8000-${String(written).padStart(12, "0")}`;
  const said =
    type === "user" ? { role: "user", content } : { ...message, id: `msg_find_${written}`, content };
  return `${JSON.stringify({ ...last, uuid, type, message: said })}\n`;
};
const text = (words: string): string => record("assistant", [{ type: "text", text: words }]);
const call = (id: string, name: string, input: object, output: string): string =>
  record("assistant", [{ type: "tool_use", id, name, input }]) +
  record("user", [{ type: "tool_result", tool_use_id: id, content: output, is_error: false }]);
const command = (id: string, line: string, output: string): string =>
  call(id, "Bash", { command: line }, output);
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-find");
  await mkdir(folder, { recursive: true });
  file = join(folder, `${session.session_id}.jsonl`);
  await writeFile(
    file,
    session.lines.map((line) => `${line}\n`).join("") +
      command(
        "toolu_needle",
        "cat log",
        lines(300, (n) => (n === 150 ? "the NEEDLE is here" : `row ${n}`)),
      ) +
      text(lines(120, (n) => (n === 100 ? "A HAYFORK stands here.\n" : `Paragraph ${n} of many.\n`))) +
      command(
        "toolu_straw",
        "grep STRAW",
        lines(40, (n) => `STRAW ${n}`),
      ) +
      command(
        "toolu_huge",
        "cat huge",
        lines(20_000, (n) => (n === 9_000 ? "a BURIED word" : `filler ${n}`)),
      ) +
      text("One STRAW more.") +
      text("Now run `npm test` in the **src** folder.\nThe line goes on.") +
      command("toolu_quote", 'git commit -m "Fix the parser"\nls', "\u001b[32m3 passed\u001b[0m in 2 s") +
      call(
        "toolu_edit",
        "Edit",
        { file_path: "C:\\Users\\ada\\a.ts", old_string: 'const a = "x";', new_string: 'const a = "y";' },
        "ok",
      ) +
      text("\u1100\u1161\u1102\u1161 and ＡＢＣ") +
      lines(20, () => text("Nothing to see. ".repeat(40))) +
      text("The end."),
  );
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await listed(restOf(home, daemon), session.session_id);
  ({ page, complaints } = await enterAt(`/session/${session.session_id}`, context, daemon));
  transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await transcript.getByText("The end.").waitFor();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** The words around the current match, if it is completely visible. */
const current = () =>
  transcript.evaluate((box) => {
    const view = box.getBoundingClientRect();
    const [range] = [...(CSS.highlights.get("find-current") ?? [])].filter(
      (found): found is Range => found instanceof Range,
    );
    const rect = range?.getBoundingClientRect();
    if (range === undefined || rect === undefined || rect.height === 0) return "";
    const seen = document.elementFromPoint(rect.x + rect.width / 2, rect.y + rect.height / 2);
    if (rect.top < view.top || rect.bottom > view.bottom || !seen?.contains(range.startContainer)) return "";
    const content = range.startContainer.nodeValue ?? "";
    const line = content.lastIndexOf("\n", range.startOffset) + 1;
    return content.slice(line).split("\n", 1)[0] ?? "";
  });
const find = (words: string) => page.getByRole("searchbox", { name: "Find in this session" }).fill(words);
const label = () => page.locator(".find-count").innerText();

it("scrolls to a match anywhere in a part, even in truncated content", async () => {
  await page.keyboard.press("/");
  await find("NEEDLE");
  await expect.poll(current).toBe("the NEEDLE is here");
  expect(await label()).toBe("part 1 of 1");
  await find("HAYFORK");
  await expect.poll(current).toBe("A HAYFORK stands here.");
  // This text was not even loaded completely.
  await find("BURIED");
  await expect.poll(current).toBe("a BURIED word");
  expect(complaints).toEqual([]);
});

it("finds a match at the end of a long one-line prompt once, where it is visible", async () => {
  const prompt = `${"A line that was pasted without a break. ".repeat(150)}SPINDLE`;
  await appendFile(file, record("user", [{ type: "text", text: prompt }]) + text("Behind the long line."));
  await transcript.getByText("Behind the long line.").waitFor();
  await page.keyboard.press("/");
  await find("SPINDLE");
  await expect.poll(current).toContain("SPINDLE");
  expect(await label()).toBe("part 1 of 1");
  expect(complaints).toEqual([]);
});

it("visits all matches of a part before the next part with Enter, and backwards with Shift+Enter", async () => {
  await page.keyboard.press("/");
  await find("STRAW");
  await page.keyboard.press("Home");
  await expect.poll(label).toMatch(/^part \d of 3/);
  // There is no match after the end of the session, so the first match is the first of all.
  const stops: string[] = [];
  for (let stop = 0; stop < 50; stop += 1) {
    await expect.poll(current).not.toBe("");
    const words = await current();
    stops.push(words);
    if (words === "One STRAW more.") break;
    const before = await label();
    await page.keyboard.press("Enter");
    await expect.poll(label).not.toBe(before);
  }
  expect(stops.filter((words) => /^STRAW \d+$/.test(words))).toEqual(
    Array.from({ length: 40 }, (_, index) => `STRAW ${index}`),
  );
  expect(await label()).toBe("part 3 of 3");
  await page.keyboard.press("Shift+Enter");
  await expect.poll(current).toBe("STRAW 39");
  expect(await label()).toMatch(/^part 2 of 3, match (\d+) of \1$/);
  expect(complaints).toEqual([]);
});

it("counts matches that arrive during a search without moving the view", async () => {
  await page.keyboard.press("/");
  await find("NEEDLE");
  await expect.poll(label).toBe("part 1 of 1");
  await expect.poll(current).toBe("the NEEDLE is here");
  const top = await transcript.evaluate((element) => element.scrollTop);
  await appendFile(file, text("Another NEEDLE."));
  await expect.poll(label).toBe("part 1 of 2");
  expect(await transcript.evaluate((element) => element.scrollTop)).toBe(top);
  await page.keyboard.press("Enter");
  await expect.poll(current).toBe("Another NEEDLE.");
  expect(complaints).toEqual([]);
});

it("finds text as it is displayed, whatever markup it has", async () => {
  await page.keyboard.press("/");
  const marked = () =>
    page.evaluate(() =>
      [...(CSS.highlights.get("find-current") ?? [])].map((range) => range.toString()).join(),
    );
  for (const words of [
    "run npm test",
    "the src folder",
    'commit -m "Fix the parser"',
    "3 passed in 2 s",
    "C:\\Users\\ada",
    'const a = "y"',
    "\uac00\ub098 and ABC",
  ]) {
    await find(words);
    await expect.poll(async () => (await marked()).normalize("NFKC"), { message: words }).toBe(words);
    expect(await label()).toMatch(/^part 1 of 1(, match 1 of \d)?$/);
  }
  await find("folder. The line");
  await expect.poll(marked).toBe("folder.\nThe line");
  expect(complaints).toEqual([]);
});

it("keeps a match visible on a phone", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await find("STRAW");
  await expect.poll(label).toMatch(/^part 1 of /);
  const width = await page.getByRole("searchbox").evaluate((field) => field.clientWidth);
  expect(width).toBeGreaterThan(180);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

it("does not match across columns", async () => {
  await page.keyboard.press("/");
  const marked = () =>
    page.evaluate(() => [...(CSS.highlights.get("find") ?? [])].map((range) => range.toString()));
  await appendFile(file, command("toolu_host", "host localhost", "127.0.0.1") + text("A word: hhost."));
  await transcript.getByText("A word: hhost.").waitFor();
  await find("localhost");
  await expect.poll(marked).toContain("localhost");
  await find("hhost");
  await expect.poll(marked).toEqual(["hhost"]);
  expect(complaints).toEqual([]);
});
