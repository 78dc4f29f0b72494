import type { Usage } from "../../model/messages/message.ts";

/** The increase of a total; `undefined`: none. */
export function growthOf(before: Usage | undefined, now: Usage): Usage | undefined {
  if (before === undefined) return now;
  const input = now.input - before.input;
  const output = now.output - before.output;
  if (input <= 0 && output <= 0) return undefined;
  const cache_read = (now.cache_read ?? 0) - (before.cache_read ?? 0);
  const cache_write = (now.cache_write ?? 0) - (before.cache_write ?? 0);
  return {
    input: Math.max(0, input),
    output: Math.max(0, output),
    ...(cache_read > 0 && { cache_read }),
    ...(cache_write > 0 && { cache_write }),
  };
}
