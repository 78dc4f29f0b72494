import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ClaudeSessionFile } from "../claude-session-file.ts";
import { uuidOf } from "../uuid-of.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const SESSION = uuidOf("session with a failed run");
const started_at = Date.UTC(2026, 10, 20, 9);

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];

beforeEach(async () => {
  home = await createHome();
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  const context = await browser.newContext({ viewport: { width: 1400, height: 800 } });
  ({ page, complaints } = await enter(context, daemon));
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** Writes a session with a run whose command failed, and a failed command after it. `fields`: of the call's result. */
async function write(fields: { is_error?: true }): Promise<void> {
  const folder = join(home.claude, "projects/-home-ada-tide");
  await mkdir(join(folder, SESSION, "subagents"), { recursive: true });
  const run = new ClaudeSessionFile(SESSION, started_at, "a1");
  run.prompt("Read the basin");
  run.call("Bash", { command: "cat depth.csv" }, "no such file", { is_error: true });
  run.text("It could not be read.");
  await writeFile(join(folder, SESSION, "subagents/agent-a1.jsonl"), run.content());
  const main = new ClaudeSessionFile(SESSION, started_at);
  main.prompt("Survey the harbour");
  main.call("Bash", { command: "ls" }, "a.txt");
  const input = { description: "Basin", prompt: "Read the basin", subagent_type: "general-purpose" };
  main.call("Agent", input, "It could not be read.", { ...fields, result: { agentId: "a1" } });
  main.call("Bash", { command: "plot" }, "nothing to plot", { is_error: true });
  main.text("That is all.");
  await writeFile(join(folder, `${SESSION}.jsonl`), main.content());
}

it.each([
  ["that succeeded", {}],
  ["that failed", { is_error: true } as const],
])("goes to the next error, down into a run of a call %s, and back", async (_name, fields) => {
  await write(fields);
  await page.locator(`[data-session="${SESSION}"]`).waitFor();
  await page.goto(`${daemon.origin}/session/${SESSION}`);
  const main = page.locator(".pane:not(.pane-beside)");
  const beside = page.locator(".pane-beside");
  await main.getByText("That is all.").waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");

  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await beside.getByText("cat depth.csv").waitFor();
  await main.getByText("Errors in the run Read the basin").waitFor();
  await expect.poll(() => beside.evaluate((pane) => pane.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("e");
  await expect.poll(focused).toContain("cat depth.csv");
  // The first removes the mark, the second closes the run.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await beside.waitFor({ state: "detached" });
  await page.keyboard.press("e");
  await expect.poll(focused).toContain("nothing to plot");
  await page.keyboard.press("E");
  await beside.getByText("cat depth.csv").waitFor();
  expect(complaints).toEqual([]);
});

it("lists the errors beside the transcript in a wide window, and over it in a narrow one", async () => {
  await write({ is_error: true });
  await page.locator(`[data-session="${SESSION}"]`).waitFor();
  await page.goto(`${daemon.origin}/session/${SESSION}`);
  const transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await transcript.getByText("That is all.").waitFor();
  const errors = page.getByRole("button", { name: "2 errors", exact: true });
  const plot = page.getByRole("link", { name: /^Bash plot/ });

  await errors.click();
  const dialog = page.getByRole("dialog", { name: "Errors" });
  await dialog.getByRole("heading", { name: "1 sub-agent with errors" }).waitFor();
  await plot.click();
  await dialog.waitFor({ state: "detached" });
  await page.locator('article[aria-current="location"][aria-label="Bash: plot, failed"]').waitFor();

  await page.setViewportSize({ width: 1800, height: 900 });
  await errors.click();
  const panel = page.getByRole("complementary", { name: "Inspector" });
  await plot.click();
  await page.locator('article[aria-current="location"][aria-label="Bash: plot, failed"]').waitFor();
  expect(await panel.isVisible()).toBe(true);
  const widthOf = async (): Promise<number> => (await panel.boundingBox())?.width ?? 0;
  const before = await widthOf();
  await page.getByRole("separator", { name: "Width of the inspector" }).press("ArrowLeft");
  await expect.poll(widthOf).toBeGreaterThan(before);
  await page.getByRole("separator", { name: "Width of the inspector" }).press("Escape");
  await panel.waitFor({ state: "detached" });
  expect(await transcript.isVisible()).toBe(true);
  expect(complaints).toEqual([]);
});
