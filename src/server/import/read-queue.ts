/** Files to be read in the background, newest first. */
interface ReadQueue<Entry> {
  /** Whether the queue is empty and nothing is being read. */
  readonly idle: boolean;
  /** Number of queued files. */
  readonly waiting: number;
  add(entry: Entry): void;
  delete(entry: Entry): void;
  /** The next files to be read, at most `most`. */
  next(most: number): Entry[];
  /** Starts reading. Until then entries are only collected. */
  start(): void;
  stop(): void;
}

/** Maximum number of short files that are read concurrently. */
const MAX_AT_ONCE = 64;

/**
 * `at_once`: number of concurrent reads; `bytes_at_once`: more are read as long as they have no more bytes in total. `read` must
 * not reject.
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
