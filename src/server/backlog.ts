/** Files to be read in the background, the newest first. */
export interface Backlog<Entry> {
  /** Whether nothing waits and nothing is being read. */
  readonly idle: boolean;
  add(entry: Entry): void;
  delete(entry: Entry): void;
  /** Those that will be read next, at most so many. */
  next(most: number): Entry[];
  /** Reading begins: until then entries only gather. */
  start(): void;
  stop(): void;
}

/** `at_once`: how many are read at a time. `read` must not reject. */
export function createBacklog<Entry>(options: {
  at_once: number;
  modifiedAt(entry: Entry): number;
  read(entry: Entry): Promise<unknown>;
}): Backlog<Entry> {
  const { modifiedAt } = options;
  const waiting = new Set<Entry>();
  let active = 0;
  let running = false;
  let ordered: Entry[] = [];
  let arrivals: Entry[] = [];

  function pump() {
    while (running && active < options.at_once && waiting.size > 0) {
      const entry = newest();
      if (!entry) return;
      active += 1;
      void options.read(entry).finally(() => {
        active -= 1;
        pump();
      });
    }
  }

  const byTime = () => [...waiting].sort((one, other) => modifiedAt(one) - modifiedAt(other));

  function newest(): Entry | undefined {
    if (arrivals.length > 256 || ordered.length === 0) {
      ordered = byTime();
      arrivals = [];
    }
    let entry = ordered.at(-1);
    for (const arrival of arrivals) {
      if (waiting.has(arrival) && (!entry || modifiedAt(arrival) > modifiedAt(entry))) entry = arrival;
    }
    if (entry === ordered.at(-1)) ordered.pop();
    if (entry) waiting.delete(entry);
    return entry;
  }

  return {
    get idle() {
      return waiting.size === 0 && active === 0;
    },
    add(entry) {
      if (waiting.has(entry)) return;
      waiting.add(entry);
      arrivals.push(entry);
      pump();
    },
    delete: (entry) => waiting.delete(entry),
    next: (most) => byTime().slice(-most).reverse(),
    start() {
      running = true;
      pump();
    },
    stop() {
      running = false;
    },
  };
}
