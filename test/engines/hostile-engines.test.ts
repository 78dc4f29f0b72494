import { describe, it } from "vitest";
import { hostileSuite } from "../browser/hostile/suite.ts";
import { findFirefox, openFirefox } from "./firefox.ts";
import { findWebKit, openWebKit } from "./webkit.ts";

if (findFirefox() !== undefined) hostileSuite("Firefox", openFirefox);
else describe("Firefox", () => it.skip("is not here: install firefox-esr", () => undefined));

if (findWebKit() !== undefined) hostileSuite("WebKitGTK", openWebKit);
else describe("WebKitGTK", () => it.skip("is not here: install webkit2gtk-driver and xvfb", () => undefined));
