import { openChromium } from "./hostile/engine.ts";
import { hostileSuite } from "./hostile/suite.ts";

hostileSuite("Chromium", openChromium);
