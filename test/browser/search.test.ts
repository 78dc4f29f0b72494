import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
let transcript: Locator;
const session = generateClaudeSession({ parts: 40, turns: 2, seed: 12 });
let written = 0;

/** A record like the session's last one, with another message. */
const record = (type: "user" | "assistant", content: unknown[]): string => {
  written += 1;
  const { message, ...last } = JSON.parse(session.lines.at(-1) ?? "{}");
  const uuid = `cccccccc-0000-4000-8000-${String(written).padStart(12, "0")}`;
  const said =
    type === "user" ? { role: "user", content } : { ...message, id: `msg_search_${written}`, content };
  return `${JSON.stringify({ ...last, uuid, type, message: said })}\n`;
};
const text = (words: string): string => record("assistant", [{ type: "text", text: words }]);
const command = (id: string, line: string, output: string): string =>
  record("assistant", [{ type: "tool_use", id, name: "Bash", input: { command: line } }]) +
  record("user", [{ type: "tool_result", tool_use_id: id, content: output, is_error: false }]);

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-search");
  await mkdir(folder, { recursive: true });
  const log = Array.from({ length: 120 }, (_, n) =>
    n === 60 ? "the ZEBRA left with the OKAPI" : `row ${n}`,
  );
  await writeFile(
    join(folder, `${session.session_id}.jsonl`),
    session.lines.map((line) => `${line}\n`).join("") +
      text("A ZEBRA alone.") +
      command("toolu_zebra", "cat log", log.join("\n")) +
      Array.from({ length: 30 }, () => text("Nothing to see. ".repeat(40))).join("") +
      text("The end."),
  );
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  ({ page, complaints } = await enter(context, daemon));
  transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await expect.poll(() => page.evaluate(countHits, "ZEBRA")).toBe(2);
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

async function countHits(query: string): Promise<number> {
  const reply = await fetch(`/api/search?q=${query}`, { headers: { "x-verbatim-client": "1" } });
  return (await reply.json()).hits?.length ?? 0;
}

/** The line of the current match, if it is in view. */
const current = () =>
  transcript.evaluate((box) => {
    const view = box.getBoundingClientRect();
    const [range] = [...(CSS.highlights.get("find-current") ?? [])].filter(
      (found): found is Range => found instanceof Range,
    );
    const rect = range?.getBoundingClientRect();
    if (range === undefined || rect === undefined || rect.height === 0) return "";
    if (rect.top < view.top || rect.bottom > view.bottom) return "";
    const content = range.startContainer.nodeValue ?? "";
    const line = content.lastIndexOf("\n", range.startOffset) + 1;
    return content.slice(line).split("\n", 1)[0] ?? "";
  });
const marked = () =>
  page.evaluate(() => [...(CSS.highlights.get("find") ?? [])].map((range) => range.toString()));

it("opens a search result at its expanded part with the match marked, also after a reload", async () => {
  await page.goto(`${daemon.origin}/search?q=zebra%20okapi`);
  await page.getByRole("option", { selected: true }).waitFor();
  await page.getByRole("combobox", { name: "Search" }).press("Enter");
  await expect.poll(current).toBe("the ZEBRA left with the OKAPI");
  // The other word is marked too; other occurrences are not, because they are out of view.
  expect(await marked()).toEqual(expect.arrayContaining(["ZEBRA", "OKAPI"]));
  expect(await page.locator(".find-count").innerText()).toBe("part 2 of 2");
  // The focus is on the part, not in the field.
  expect(await page.evaluate(() => document.activeElement?.matches("article"))).toBe(true);

  await page.reload();
  await expect.poll(current).toBe("the ZEBRA left with the OKAPI");
  expect(await page.locator(".find-count").innerText()).toBe("part 2 of 2");

  await page.getByRole("button", { name: "Previous match" }).click();
  await expect.poll(current).toBe("A ZEBRA alone.");

  await page.goBack();
  await page.getByRole("combobox", { name: "Search" }).waitFor();
  await page.goForward();
  await expect.poll(async () => (await marked()).length).toBeGreaterThan(0);

  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect.poll(marked).toEqual([]);
  expect(new URL(page.url()).search).toBe("");
  await page.reload();
  await transcript.waitFor();
  expect(await page.getByRole("searchbox", { name: "Find in this session" }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("marks the match of a regular expression", async () => {
  await page.goto(`${daemon.origin}/search?q=${encodeURIComponent("/OK[A-Z]{3}/")}`);
  await page.getByRole("option").click();
  await expect.poll(current).toBe("the ZEBRA left with the OKAPI");
  expect(new URL(page.url()).searchParams.getAll("find")).toEqual(["OKAPI"]);
  expect(complaints).toEqual([]);
});
