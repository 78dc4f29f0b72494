import type { Browser, BrowserContext } from "playwright-core";
import { findHeadlessShell } from "./find-chromium.mjs";
import { launchChromium } from "./launch-chromium.ts";

/** A test's browser: a profile of its own for each context. */
export interface TestBrowser extends Pick<Browser, "newContext" | "newPage" | "version"> {
  /** Closes its contexts. Chromium stays open for the next test. */
  close(): Promise<void>;
}

/**
 * The Chromium of all test files of this worker, because starting one takes longer than many tests. Playwright closes it when
 * the worker ends.
 */
let chromium: Browser | undefined;

/**
 * Opens a browser for one test, a headless shell if there is one. For tests that measure Chromium or its connections, or need more
 * than the engine: `openBrowser`.
 */
export async function openTestBrowser(): Promise<TestBrowser> {
  if (chromium?.isConnected() !== true) chromium = await launchChromium([], findHeadlessShell());
  const browser = chromium;
  const own: BrowserContext[] = [];
  return {
    async newContext(options) {
      const context = await browser.newContext(options);
      own.push(context);
      return context;
    },
    async newPage(options) {
      const page = await browser.newPage(options);
      own.push(page.context());
      return page;
    },
    version: () => browser.version(),
    async close() {
      await Promise.all(own.splice(0).map((context) => context.close()));
    },
  };
}
