import type { Usage } from "./messages/message.ts";

const OPTIONAL = ["cache_read", "cache_write", "cache_write_1h", "reasoning", "cost"] as const;

/** The sum of two calls' figures (`sign` -1: the difference). A figure is absent only if both lack it. */
function combine(left: Usage, right: Usage, sign: 1 | -1): Usage {
  const sum: Usage = {
    input: left.input + sign * right.input,
    output: left.output + sign * right.output,
  };
  for (const key of OPTIONAL) {
    if (left[key] !== undefined || right[key] !== undefined) {
      sum[key] = (left[key] ?? 0) + sign * (right[key] ?? 0);
    }
  }
  return sum;
}

/** `total` with a message's figures counted once. `before`: what was counted for the same message so far. */
export function countUsage(total: Usage | undefined, before: Usage | undefined, now: Usage): Usage {
  const without = total !== undefined && before !== undefined ? combine(total, before, -1) : total;
  return without === undefined ? combine({ input: 0, output: 0 }, now, 1) : combine(without, now, 1);
}
