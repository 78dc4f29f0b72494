import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createHome, type Daemon, enterAt, type Home, startDaemon } from "./harness.ts";
import { begin, restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
let main: Locator;
let run: Locator;

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.path, "work");
  await mkdir(folder);
  await writeFile(join(folder, "notes.md"), "notes\n");
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  const context = await browser.newContext({ viewport: { width: 1400, height: 800 } });
  const session_id = await begin(restOf(home, daemon), "agents", folder);
  ({ page, complaints } = await enterAt(`/session/${session_id}`, context, daemon));
  main = page.locator(".pane:not(.pane-beside)");
  run = page.locator(".pane-beside");
  await main
    .getByRole("button", { name: /in split view$/ })
    .first()
    .waitFor();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** Where the focus is: in the session, in the run beside it, or nowhere. */
const focused = () =>
  page.evaluate(() => {
    const pane = document.activeElement?.closest(".pane");
    return pane === null || pane === undefined
      ? "nowhere"
      : pane.classList.contains("pane-beside")
        ? "run"
        : "session";
  });
const opener = () => page.getByRole("button", { name: /in split view$/ }).first();
const openBeside = async (): Promise<void> => {
  await opener().click();
  await run.locator("article").first().waitFor();
};

it("moves the focus into a run in split view, and back", async () => {
  await openBeside();
  await expect.poll(focused).toBe("run");
  await page.keyboard.press("Escape");
  await run.waitFor({ state: "detached" });
  expect(await opener().evaluate((button) => button === document.activeElement)).toBe(true);
  await openBeside();
  await expect.poll(focused).toBe("run");
  await run.getByRole("link", { name: "Close" }).click();
  await run.waitFor({ state: "detached" });
  expect(await opener().evaluate((button) => button === document.activeElement)).toBe(true);

  // Its opener is in a list that was opened only for it.
  await page.setViewportSize({ width: 820, height: 800 });
  await opener().waitFor({ state: "detached" });
  await page.keyboard.press("o");
  await openBeside();
  await expect.poll(focused).toBe("run");
  await page.keyboard.press("Escape");
  await run.waitFor({ state: "detached" });
  await expect.poll(focused).toBe("session");
  expect(complaints).toEqual([]);
});

it("applies keys to the focused pane, including find and next error", async () => {
  await openBeside();
  await run.locator("article").first().focus();
  await page.keyboard.press("j");
  expect(await focused()).toBe("run");
  await main.locator("article").first().focus();
  await page.keyboard.press("j");
  expect(await focused()).toBe("session");

  await run.locator("article").first().focus();
  await page.keyboard.press("/");
  await page.keyboard.type("the");
  expect(await main.getByRole("search").count()).toBe(0);
  await expect.poll(() => run.locator(".find-count").innerText()).toMatch(/^(part|no match)/);
  await page.keyboard.press("Escape");
  expect(await run.getByRole("search").count()).toBe(0);
  expect(await focused()).toBe("run");
  await run.getByRole("button", { name: "Find" }).click();
  expect(await run.getByRole("searchbox").evaluate((input) => input === document.activeElement)).toBe(true);
  await page.keyboard.press("Escape");
  expect(await run.getByRole("button", { name: "Next error" }).count()).toBe(1);
  expect(complaints).toEqual([]);
});

it("applies keys to a run that covers its session, wherever the focus is", async () => {
  await page.setViewportSize({ width: 1000, height: 800 });
  await openBeside();
  await main.waitFor({ state: "hidden" });
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  expect(await focused()).toBe("nowhere");
  await page.keyboard.press("/");
  await page.keyboard.type("no such text");
  expect(await run.getByRole("searchbox").inputValue()).toBe("no such text");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await run.waitFor({ state: "detached" });
  await expect.poll(focused).toBe("session");
  expect(complaints).toEqual([]);
});

it("moves the focus into the transcript when the focused side panel closes", async () => {
  const inTranscript = () => main.getByRole("region", { name: "Transcript", exact: true });
  const isFocused = () => inTranscript().evaluate((shown) => shown === document.activeElement);
  await opener().focus();
  await page.keyboard.press("o");
  await opener().waitFor({ state: "hidden" });
  expect(await isFocused()).toBe(true);
  await page.setViewportSize({ width: 390, height: 800 });
  // The page learns that it is narrow with its next frame.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  for (const key of ["Escape", "o"]) {
    await page.keyboard.press("o");
    await opener().focus();
    await page.keyboard.press(key);
    await opener().waitFor({ state: "hidden" });
    expect(await isFocused()).toBe(true);
  }
});
