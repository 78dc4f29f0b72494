/** Runs work repeatedly. */
export interface Timers {
  /** Runs `work` until `close`, waiting `interval` milliseconds before the first run and between runs. */
  every(interval: number, work: () => Promise<void>): void;
  close(): void;
}

/** Creates timers that are all cancelled by `close`. */
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
