import type { Browser, BrowserContext } from "playwright-core";
import { afterAll } from "vitest";
import { openBrowser } from "./harness.ts";

/** A test's browser: a profile of its own for each context. */
export interface TestBrowser extends Pick<Browser, "newContext" | "newPage" | "version"> {
  /** Closes its contexts. Chromium stays open for the next test. */
  close(): Promise<void>;
}

/** The Chromium of this test file, because starting one for each test takes longer than many tests. */
let chromium: Browser | undefined;

afterAll(() => chromium?.close());

/** Opens a browser for one test. For tests that measure Chromium or its connections: `openBrowser`. */
export async function openTestBrowser(): Promise<TestBrowser> {
  if (chromium?.isConnected() !== true) chromium = await openBrowser();
  const browser = chromium;
  const others = new Set<BrowserContext>(browser.contexts());
  return {
    newContext: (options) => browser.newContext(options),
    newPage: (options) => browser.newPage(options),
    version: () => browser.version(),
    async close() {
      const own = browser.contexts().filter((context) => !others.has(context));
      await Promise.all(own.map((context) => context.close()));
    },
  };
}
