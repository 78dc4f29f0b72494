// Takes the pictures of README.md and docs/guide.md with the built-in samples: `npm run build && node_modules/.bin/node docs/images/take.mjs`. Needs Chromium
// (CHROMIUM_PATH). The pictures of a request in a terminal need an agent and are not taken here.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const images = import.meta.dirname;
const home = await mkdtemp(join(tmpdir(), "verbatim-pictures-"));
const daemon = spawn(
  process.execPath,
  [join(images, "../../dist/server/main.js"), "--port", "0", "--data-dir", join(home, "data")],
  { env: { PATH: process.env.PATH, HOME: home }, stdio: ["ignore", "pipe", "inherit"] },
);
const launch = await new Promise((resolve) => {
  let text = "";
  daemon.stdout.on("data", (chunk) => {
    text += chunk;
    const [address] = /http:\/\/\S+(?=\s)/.exec(text) ?? [];
    if (address !== undefined) resolve(address);
  });
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium" });

/** Opens the list in a window of a size and theme. */
async function open(width, height, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, ...(await signedIn) });
  const page = await context.newPage();
  await page.goto(new URL("/", launch).href);
  await page.getByRole("link", { name: /File an issue/ }).waitFor();
  return page;
}
async function signIn() {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(launch);
  await page.getByRole("link", { name: /File an issue/ }).waitFor();
  return { storageState: await context.storageState() };
}
const signedIn = signIn();

/** Opens a sample by its title. */
async function openSample(page, title) {
  await page.getByRole("link", { name: title }).first().click();
  await page.getByRole("region", { name: "Transcript", exact: true }).waitFor();
  await page.mouse.move(0, 0);
  // Rows are placed, and code is highlighted in a worker.
  await page.waitForTimeout(2_000);
}
const take = (page, name) => page.screenshot({ path: join(images, `${name}.png`) });

try {
  const page = await open(1280, 760, "dark");
  await page.waitForTimeout(5_000);
  await take(page, "list-dark");
  await page.setViewportSize({ width: 1440, height: 900 });
  await openSample(page, /File an issue/);
  await page.keyboard.press("Home");
  await page.waitForTimeout(1_000);
  await take(page, "session-dark");
  await page.keyboard.press("i");
  await page.waitForTimeout(1_500);
  await take(page, "context-dark");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+F");
  await page.waitForTimeout(1_500);
  await take(page, "figures-dark");

  const wide = await open(1920, 1000, "dark");
  await openSample(wide, /chart legend/);
  await wide.keyboard.press("d");
  await wide.waitForTimeout(2_500);
  await take(wide, "changes-dark");

  const runs = await open(1440, 900, "dark");
  await openSample(runs, /API process grow/);
  await runs.keyboard.press("Shift+T");
  await runs.waitForTimeout(1_500);
  await take(runs, "timeline-dark");
} finally {
  await browser.close();
  daemon.kill();
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}
