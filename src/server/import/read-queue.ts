/** Files to be read in the background, the newest first. */
interface ReadQueue<Entry> {
  /** Whether nothing waits and nothing is being read. */
  readonly idle: boolean;
  /** How many wait. */
  readonly waiting: number;
  add(entry: Entry): void;
  delete(entry: Entry): void;
  /** Those that will be read next, at most so many. */
  next(most: number): Entry[];
  /** Reading begins: until then entries only gather. */
  start(): void;
  stop(): void;
}

/** Of short files, as many as are read at a time where their bytes allow it. */
const MAX_AT_ONCE = 64;

/**
 * `at_once`: how many are read at a time at least; `bytes_at_once`: more are, as long as they are no longer than that
 * together. `read` must not reject.
 */
export function createReadQueue<Entry>(options: {
  at_once: number;
  bytes_at_once: number;
  modifiedAt(entry: Entry): number;
  /** In bytes. */
  sizeOf(entry: Entry): number;
  read(entry: Entry): Promise<unknown>;
}): ReadQueue<Entry> {
  const { modifiedAt, sizeOf } = options;
  const waiting = new Set<Entry>();
  let active = 0;
  let active_bytes = 0;
  let running = false;
  let ordered: Entry[] = [];
  let arrivals: Entry[] = [];

  function pump() {
    while (running && waiting.size > 0 && hasRoom()) {
      const entry = newest();
      if (entry === undefined) return;
      const bytes = sizeOf(entry);
      active += 1;
      active_bytes += bytes;
      void options.read(entry).finally(() => {
        active -= 1;
        active_bytes -= bytes;
        pump();
      });
    }
  }

  const hasRoom = () =>
    active < options.at_once || (active < MAX_AT_ONCE && active_bytes < options.bytes_at_once);

  const byTime = () => [...waiting].sort((one, other) => modifiedAt(one) - modifiedAt(other));

  function newest(): Entry | undefined {
    if (arrivals.length > 256 || ordered.length === 0) {
      ordered = byTime();
      arrivals = [];
    }
    let entry = ordered.at(-1);
    for (const arrival of arrivals) {
      if (waiting.has(arrival) && (entry === undefined || modifiedAt(arrival) > modifiedAt(entry)))
        entry = arrival;
    }
    if (entry === ordered.at(-1)) ordered.pop();
    if (entry !== undefined) waiting.delete(entry);
    return entry;
  }

  return {
    get idle() {
      return waiting.size === 0 && active === 0;
    },
    get waiting() {
      return waiting.size;
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
