import fc from "fast-check";
import { LONG } from "./long.ts";

/** In `npm test` properties are tried with the same values every time; `npm run test:long` draws new ones. */
if (!LONG) fc.configureGlobal({ seed: 20_261_122 });
