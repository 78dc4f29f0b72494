import type { Usage } from "./messages/message.ts";

/** Tokens that the model was given: new ones, and those that a cache had or took. */
export const tokensIn = ({ input, cache_read = 0, cache_write = 0 }: Usage): number =>
  input + cache_read + cache_write;

/** Tokens that it was given and made. */
export const tokensOf = (usage: Usage): number => tokensIn(usage) + usage.output;
