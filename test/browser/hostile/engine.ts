import type { BrowserContext } from "playwright-core";
import { launchChromium } from "../launch-chromium.ts";

/** A page of some browser. `run` sends a function as its source and waits for its result (JSON). */
export interface EnginePage {
  goto(url: string): Promise<void>;
  run<Argument, Result>(
    what: (argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
}

/** A browser whose only way out is a proxy. */
export interface Engine {
  readonly name: string;
  /** Hosts that the browser itself calls, whatever page it shows. */
  readonly background: RegExp;
  newPage(): Promise<EnginePage>;
  /** Requests that the browser itself reports, in addition to the proxy's list: address and whether it was a navigation. */
  readonly reported?: { url: string; navigation: boolean }[];
  close(): Promise<void>;
}

/** Chromium with name resolution disabled, so that only requests through the proxy can succeed. */
export async function openChromium(proxyPort: number): Promise<Engine> {
  const browser = await launchChromium([
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  ]);
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 1280, height: 1_500 },
    // Many rows in view at once, but few pixels to paint.
    deviceScaleFactor: 0.25,
  });
  const reported: { url: string; navigation: boolean }[] = [];
  context.on("request", (request) =>
    reported.push({ url: request.url(), navigation: request.isNavigationRequest() }),
  );
  return {
    name: `Chromium ${browser.version()}`,
    // Its updates and accounts, which no flag disables completely.
    background: /(?:^|\.)(?:google|googleapis|gvt1|gstatic)\.com(?::\d+)?$/,
    reported,
    async newPage() {
      const page = await context.newPage();
      // Playwright's own way to run a string would also violate the page's policy.
      const protocol = await context.newCDPSession(page);
      return {
        goto: async (url) => {
          await page.goto(url);
        },
        run: async (what, argument) => {
          const { result, exceptionDetails } = await protocol.send("Runtime.evaluate", {
            expression: `(${what.toString()})(${JSON.stringify(argument) ?? ""})`,
            awaitPromise: true,
            returnByValue: true,
          });
          if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
          return result.value;
        },
      };
    },
    close: () => browser.close(),
  };
}
