import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
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
const codex = new URL("../fixtures/codex/turns-0144.jsonl", import.meta.url);

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-sources");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${session_id}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  await writeFile(
    join(home.codex, "sessions/rollout-2026-11-20T10-00-00-turns.jsonl"),
    await readFile(codex),
  );
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
});
afterEach(async () => {
  expect(complaints).toEqual([]);
  await browser.close();
  await daemon.stop();
  await home.remove();
});

const row = () => page.locator(`[data-session="${session_id}"]`);
const section = () => page.getByRole("group", { name: "Agents", exact: true });
const claude = () => section().getByRole("checkbox", { name: "Claude Code", exact: true });
async function open(width = 900): Promise<void> {
  ({ page, complaints } = await enter(
    await browser.newContext({ viewport: { width, height: 844 } }),
    daemon,
  ));
}

it("switches an agent off and on in the settings, also over a restart", async () => {
  await open();
  await row().waitFor();
  await page.getByRole("button", { name: "Settings" }).click();
  await claude().waitFor();
  const item = section()
    .getByRole("listitem")
    .filter({ has: page.getByRole("checkbox", { name: "Claude Code", exact: true }) });
  await item.getByText("1 session").waitFor();
  await item.getByText(join(home.claude, "projects")).waitFor();
  await section()
    .getByText(/^Not found \(\d+\)$/)
    .click();
  await section().getByText(join(home.path, ".gemini/tmp")).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await claude().uncheck();
  await item.getByText("off", { exact: false }).waitFor();
  await row().waitFor({ state: "detached" });
  await page.keyboard.press("Escape");

  await page.close();
  await daemon.stop();
  daemon = await startDaemon(home, ["--no-samples"]);
  await open();
  // The other agent's session shows that the list is loaded.
  await page.locator("[data-session]").first().waitFor();
  expect(await row().count()).toBe(0);
  await page.getByRole("button", { name: "Settings" }).click();
  await claude().waitFor();
  expect(await claude().isChecked()).toBe(false);
  await claude().check();
  await row().waitFor();
});

it("fits the agents on a phone", async () => {
  await open(390);
  await row().waitFor();
  await page.getByRole("button", { name: "Settings" }).click();
  await claude().waitFor();
  expect(await overflow(page)).toBe(0);
  const cut = await section().evaluate((element) => element.scrollWidth - element.clientWidth);
  expect(cut).toBe(0);
});
