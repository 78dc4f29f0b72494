import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** Names of Chromium in `PATH`. */
const COMMANDS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The name of Chromium's headless shell in `PATH`. */
const HEADLESS_SHELL = "chromium-headless-shell";

/** Paths of browsers that Playwright installed, below its cache. */
const PLAYWRIGHT = [
  "chrome-linux/chrome",
  "chrome-linux64/chrome",
  "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
  "chrome-mac-arm64/Chromium.app/Contents/MacOS/Chromium",
  "chrome-win/chrome.exe",
];

/** Fixed paths, if none is in `PATH`. */
const PLACES = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * The Chromium that the browser tests drive: `CHROMIUM_PATH`, then `PATH`, then Playwright's cache, then the usual places.
 * @returns {string | undefined}
 */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`CHROMIUM_PATH is ${named}, where there is no file.`);
  }
  const inPath = findInPath(COMMANDS);
  if (inPath) return inPath;
  for (const cache of playwrightCaches()) {
    if (!existsSync(cache)) continue;
    const browsers = readdirSync(cache).filter((name) => name.startsWith("chromium-"));
    for (const browser of browsers.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }))) {
      const found = PLAYWRIGHT.map((path) => join(cache, browser, path)).find((path) => existsSync(path));
      if (found) return found;
    }
  }
  return PLACES.find((path) => existsSync(path));
}

/**
 * Chromium's headless shell: the same engine without windows, which takes a tenth less CPU time. It has no push messages. `undefined`:
 * it is not in `PATH`, or `CHROMIUM_PATH` names a browser to test with.
 * @returns {string | undefined}
 */
export function findHeadlessShell() {
  return process.env.CHROMIUM_PATH ? undefined : findInPath([HEADLESS_SHELL]);
}

/** @param {readonly string[]} commands */
function findInPath(commands) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const command of commands) {
      const path = join(folder, command);
      if (folder !== "" && existsSync(path)) return path;
    }
  }
  return undefined;
}

function playwrightCaches() {
  const named = process.env.PLAYWRIGHT_BROWSERS_PATH;
  return [
    ...(named ? [named] : []),
    join(homedir(), ".cache/ms-playwright"),
    join(homedir(), "Library/Caches/ms-playwright"),
    join(homedir(), "AppData/Local/ms-playwright"),
  ];
}
