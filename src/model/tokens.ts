import type { Usage } from "./messages/message.ts";

/** Input tokens of a model call: new ones, and those read from or written to a cache. */
export const tokensIn = ({ input, cache_read = 0, cache_write = 0 }: Usage): number =>
  input + cache_read + cache_write;

/** Input and output tokens of a model call. */
export const tokensOf = (usage: Usage): number => tokensIn(usage) + usage.output;
