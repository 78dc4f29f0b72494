import { vi } from "vitest";

/**
 * Waits until a check passes. The limit is long, so that it only ends checks that never pass: `vi.waitFor`'s default of a second
 * fails good runs on a busy machine. After a check that takes long there is a longer pause, so that the checks leave the
 * processor to what they wait for.
 */
export function eventually<Result>(
  check: () => Result | Promise<Result>,
  limit_ms = 60_000,
): Promise<Result> {
  let pause_until = 0;
  let failure: unknown;
  const checkUnlessPaused = async (): Promise<Result> => {
    const start = performance.now();
    if (start < pause_until) throw failure;
    try {
      return await check();
    } catch (error) {
      failure = error;
      const end = performance.now();
      pause_until = end + 2 * (end - start);
      throw error;
    }
  };
  return vi.waitFor(checkUnlessPaused, { timeout: limit_ms, interval: 10 });
}
