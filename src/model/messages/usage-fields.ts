import type { Usage } from "./message.ts";

// Separate from `message.ts`, because the page uses the names and no schemas.

/** The names of the fields of `Usage`. */
export const USAGE_FIELDS = [
  "input",
  "output",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "reasoning",
  "cost",
] as const satisfies readonly (keyof Usage)[];
