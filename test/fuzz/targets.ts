import { hostileTargets } from "./hostile.ts";
import { pageTargets } from "./page.ts";
import { providerStreamTargets } from "./provider-streams.ts";
import { readerTargets } from "./readers.ts";
import type { CaseWatch, Corpora, Target } from "./target.ts";

/** All readers of foreign input that are fuzzed. */
export const targets = (watch: CaseWatch, corpora: Corpora): Target[] =>
  [readerTargets, hostileTargets, pageTargets, providerStreamTargets].flatMap((list) => list(watch, corpora));
