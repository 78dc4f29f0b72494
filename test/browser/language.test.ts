import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { overflow, seriousFindings } from "./findings.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
const { session_id, lines } = generateClaudeSession({ parts: 10, turns: 1, seed: 3 });

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-language");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${session_id}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
});
afterEach(async () => {
  expect(complaints).toEqual([]);
  await browser.close();
  await daemon.stop();
  await home.remove();
});

async function open(options: BrowserContextOptions): Promise<void> {
  ({ page, complaints } = await enter(await browser.newContext(options), daemon));
  await page.locator("[data-session]").first().waitFor();
}
const language = () => page.evaluate(() => document.documentElement.lang);
/** Whether the page has fetched the Chinese texts. */
const hasChinese = () =>
  page.evaluate(() =>
    performance.getEntriesByType("resource").some(({ name }) => /\/assets\/zh-[\w-]+\.js$/.test(name)),
  );

it("switches the language in the settings, keeps it after a reload, and loads no other for English", async () => {
  await open({ locale: "en-GB" });
  expect(await language()).toBe("en");
  expect(await hasChinese()).toBe(false);
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("radio", { name: "中文" }).click();
  await page.getByRole("button", { name: "设置" }).waitFor();
  expect(await language()).toBe("zh-CN");
  expect(await hasChinese()).toBe(true);

  await page.reload();
  await page.getByText("1 个会话").first().waitFor();
  expect(await language()).toBe("zh-CN");
  await page.getByRole("button", { name: "设置" }).click();
  expect(await page.getByRole("radio", { name: "中文" }).isChecked()).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("radio", { name: "English" }).click();
  await page.getByRole("button", { name: "Settings" }).waitFor();
  expect(await language()).toBe("en");
});

it("shows Chinese on a Chinese system, and fits a phone", async () => {
  await open({ locale: "zh-CN", viewport: { width: 390, height: 844 } });
  await page.getByRole("button", { name: "设置" }).waitFor();
  expect(await overflow(page)).toBe(0);
  await page.locator(`[data-session="${session_id}"]`).click();
  await page.getByRole("region", { name: "对话记录" }).waitFor();
  expect(await overflow(page)).toBe(0);
});
