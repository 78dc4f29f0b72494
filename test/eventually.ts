import { vi } from "vitest";

/**
 * Waits until a check passes. The limit is for a check that never will: it must not fail a good run on a machine that is
 * busy, as `vi.waitFor`'s own limit of a second does.
 */
export function eventually<Result>(
  check: () => Result | Promise<Result>,
  limit_ms = 60_000,
): Promise<Result> {
  return vi.waitFor(check, { timeout: limit_ms, interval: 10 });
}
