/** Work that is done again and again. */
export interface Timers {
  /** Does the work after each `interval`, which begins at the end of the work before. Milliseconds. */
  every(interval: number, work: () => Promise<void>): void;
  close(): void;
}

/** Creates timers, all of which end with `close`. */
export function createTimers(): Timers {
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  function every(interval: number, work: () => Promise<void>) {
    const timer = setTimeout(async () => {
      timers.delete(timer);
      await work();
      if (!closed) every(interval, work);
    }, interval);
    timers.add(timer);
  }

  return {
    every,
    close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
