import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { seriousFindings } from "./findings.ts";
import { BROKEN_CONNECTION, createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { type Rest, restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

// Scripts of the page that cannot be loaded, or that belong to another build.

let browser: TestBrowser;
let home: Home;
let daemon: Daemon;
let rest: Rest;
beforeAll(async () => {
  home = await createHome();
  daemon = await startDaemon(home, ["--replay-pace", "1000"]);
  rest = restOf(home, daemon);
  browser = await openTestBrowser();
});
afterEach(() => browser.close());
afterAll(async () => {
  await daemon.stop();
  await home.remove();
});

/** The daemon with a launch link for one more browser. */
const anotherLaunch = async (): Promise<Daemon> => ({ ...daemon, launch: await rest.link() });

it("highlights code after a lost connection prevented loading the worker", async () => {
  const context = await browser.newContext();
  let refused = 0;
  await context.route(/highlight-worker/, (route) => {
    refused += 1;
    return refused <= 2 ? route.abort() : route.continue();
  });
  const { page, complaints } = await enter(context, await anotherLaunch(), BROKEN_CONNECTION);
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page
    .locator("code", { hasText: "return { start: midnight" })
    .locator(".code-keyword")
    .first()
    .waitFor();
  expect(refused).toBe(3);
  expect(await page.getByText("not highlighted").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("reports a screen whose script cannot be fetched, and shows it once it can", async () => {
  const context = await browser.newContext();
  let refused = true;
  await context.route(/SessionScreen-.*\.js/, (route) => (refused ? route.abort() : route.continue()));
  const { page, complaints } = await enter(context, await anotherLaunch(), [
    ...BROKEN_CONNECTION,
    /dynamically imported module/,
  ]);
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page.getByRole("heading", { name: "This page cannot be shown" }).waitFor();
  await page.getByText("The daemon was probably updated").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  refused = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("region", { name: "Transcript", exact: true }).locator("article").first().waitFor();
  expect(complaints).toEqual([]);
});

it("reports a part of a screen whose script cannot be fetched, and shows it once it can", async () => {
  const context = await browser.newContext();
  let refused = true;
  await context.route(/Find-.*\.js/, (route) => (refused ? route.abort() : route.continue()));
  const { page, complaints } = await enter(context, await anotherLaunch(), BROKEN_CONNECTION);
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page.getByRole("region", { name: "Transcript", exact: true }).locator("article").first().waitFor();
  await page.keyboard.press("/");
  const alert = page.getByRole("alert").filter({ hasText: "This part of the page could not be loaded." });
  await alert.getByRole("button", { name: "Reload the page" }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  refused = false;
  await page.keyboard.press("Escape");
  await alert.waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.getByRole("searchbox", { name: "Find in this session" }).waitFor();
  expect(complaints).toEqual([]);
});

it("reports a page of an older build above the screen", async () => {
  const context = await browser.newContext();
  const { page, complaints } = await enter(context, await anotherLaunch());
  let other = false;
  await context.route("**/api/status", async (route) => {
    const response = await route.fetch();
    const status = (await response.json()) as object;
    await route.fulfill({ response, json: { ...status, ...(other && { build: "/assets/index-other.js" }) } });
  });
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  const transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await transcript.locator("article").first().waitFor();
  const told = page.getByRole("alert").filter({ hasText: "The daemon was updated" });
  expect(await told.count()).toBe(0);
  other = true;
  await page.reload();
  await told.waitFor();
  await transcript.locator("article").first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  const width = async () => (await page.locator(".blank").boundingBox())?.width;
  await page.goto(new URL("/nowhere", page.url()).href);
  await told.waitFor();
  const besideNotice = await width();
  other = false;
  await page.reload();
  await expect.poll(() => told.count()).toBe(0);
  expect(besideNotice).toBe(await width());
  other = true;
  await page.goBack();
  await told.waitFor();
  // At the click and not earlier: a page that asks again would learn that it has the right build.
  page.on("request", (request) => {
    if (request.isNavigationRequest()) other = false;
  });
  await told.getByRole("button", { name: "Reload" }).click();
  await transcript.locator("article").first().waitFor();
  expect(await told.count()).toBe(0);
  expect(complaints).toEqual([]);
});
