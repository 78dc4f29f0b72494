import { vi } from "vitest";

/**
 * Waits until a check passes. The limit is long, so that it only ends checks that never pass: `vi.waitFor`'s default of a second
 * fails good runs on a busy machine.
 */
export function eventually<Result>(
  check: () => Result | Promise<Result>,
  limit_ms = 60_000,
): Promise<Result> {
  return vi.waitFor(check, { timeout: limit_ms, interval: 10 });
}
