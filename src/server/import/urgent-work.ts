/** Work that a viewer waits for. Background work pauses while there is any. */
export interface UrgentWork {
  run<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Resolves when no urgent work is left. `undefined`: there is none. */
  ended(): Promise<void> | undefined;
  /** Calls `onBegin` when urgent work begins, and `onEnd` when none is left. */
  subscribe(onBegin: () => void, onEnd: () => void): void;
}

export function createUrgentWork(): UrgentWork {
  const listeners: { onBegin(): void; onEnd(): void }[] = [];
  let count = 0;
  let end: PromiseWithResolvers<void> | undefined;

  return {
    async run(work) {
      count += 1;
      if (count === 1) {
        end = Promise.withResolvers();
        for (const { onBegin } of listeners) onBegin();
      }
      try {
        return await work();
      } finally {
        count -= 1;
        if (count === 0) {
          end?.resolve();
          end = undefined;
          for (const { onEnd } of listeners) onEnd();
        }
      }
    },
    ended: () => end?.promise,
    subscribe: (onBegin, onEnd) => listeners.push({ onBegin, onEnd }),
  };
}
