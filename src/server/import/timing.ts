/** Durations in milliseconds. */
export interface SessionsTiming {
  /** Poll interval of active files, and of all files. */
  hot: number;
  list: number;
  /** After this time without a write, a last line without a newline is read. */
  last_line: number;
  /** After this time without a write, a file is complete: a torn last line is shown as such. */
  close: number;
  /** Changes of the list within this time are published together. */
  publish: number;
  /** Interval between writes to the store. */
  persist: number;
  /** Interval between retries after a failed write to the store. */
  retry: number;
  /** An open turn without activity for this time, and without a process in the registry, has ended. */
  silence: number;
  /** A file that did not change for this time and has no viewers keeps only its row. */
  idle: number;
  /** Poll interval of the process registries. */
  registry: number;
  /** Interval at which statuses that depend on time are updated. */
  tick: number;
}

export const TIMING: SessionsTiming = {
  hot: 1_000,
  list: 10_000,
  last_line: 250,
  close: 3_600_000,
  publish: 50,
  persist: 500,
  retry: 30_000,
  silence: 60_000,
  idle: 300_000,
  registry: 250,
  tick: 1_000,
};
