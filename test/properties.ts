import fc from "fast-check";
import { LONG } from "./long.ts";

/** In `npm test` properties use a fixed seed; `npm run test:long` draws new values. */
if (!LONG) fc.configureGlobal({ seed: 20_261_122 });
