import { describe, it } from "vitest";
import { hostileSuite } from "../browser/hostile/suite.ts";
import { findFirefox, openFirefox } from "./firefox.ts";
import { findWebKit, openWebKit } from "./webkit.ts";

/** Chromium's long run also clicks everything under the policy. */
const EXTENT = { every: 1, clickedUnderPolicy: 5 };

if (findFirefox() !== undefined) hostileSuite("Firefox", openFirefox, EXTENT);
else describe("Firefox", () => it.skip("is not here: install firefox-esr", () => undefined));

if (findWebKit() !== undefined) hostileSuite("WebKitGTK", openWebKit, EXTENT);
else describe("WebKitGTK", () => it.skip("is not here: install webkit2gtk-driver and xvfb", () => undefined));
