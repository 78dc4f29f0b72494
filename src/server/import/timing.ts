/** Times in milliseconds. */
export interface SessionsTiming {
  /** Between looks at the files that are followed closely, and between looks at everything. */
  hot: number;
  list: number;
  /** A file that nobody wrote to for so long may have its last line read without a newline. */
  last_line: number;
  /** A file that nobody wrote to for so long is not waited for: a torn last line is shown as such. */
  close: number;
  /** Changes of the list within this time are published together. */
  publish: number;
  /** Between writes to the store. */
  persist: number;
  /** Between two tries to write to a store that could not be written. */
  retry: number;
  /** An open turn of which nothing was heard for so long, and that no register calls alive, has ended. */
  silence: number;
  /** A file that did not change for so long, and that nobody looks at, keeps only its row. */
  idle: number;
  /** Between looks at the registers of running agents. */
  registry: number;
  /** Between looks at what time alone changes. */
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
