import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.mjs";

/**
 * Features of Chromium that tests switch off. Chromium reads only the last of several lists, so this one repeats what matters of
 * Playwright's own (`coreBundle.js`, `disabledFeatures`).
 */
const DISABLED_FEATURES = [
  // Each window starts a process for the suggestions of its address bar: half the CPU of an empty page.
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  // Each navigation starts a spare process.
  "SpareRendererForSitePerProcess",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

/**
 * Starts a headless Chromium, without its own requests to the network as far as flags prevent them.
 * @throws if none is installed
 */
export function launchChromium(
  flags: readonly string[] = [],
  executablePath: string | undefined = findChromium(),
): Promise<Browser> {
  if (executablePath === undefined) {
    throw new Error("No Chromium was found: run `npm test`, which installs it, or set CHROMIUM_PATH.");
  }
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${DISABLED_FEATURES.join(",")}`,
      ...flags,
    ],
  });
}
