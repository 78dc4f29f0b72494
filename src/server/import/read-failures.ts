import type { Notice } from "../../store/contract.ts";
import type { SessionFile } from "./session-file.ts";
import { NO_PERMISSION, whyUnread } from "./watch.ts";

export const MAX_NOTICES = 20;
/** A file that cannot be read is tried again after one tick, then half as often each time, down to once in so many. */
const MAX_RETRY_TICKS = 60;

/** Runs the work on each file in order, keeps the errors for the page, and says which files are to be tried again. */
export interface ReadFailures {
  readonly notices: Iterable<Notice>;
  /** The same by the path of the file. */
  readonly byPath: ReadonlyMap<string, Notice>;
  has(entry: SessionFile): boolean;
  /** Queues work behind the work on the same file. An error becomes a notice, and the result `undefined`. */
  run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  report(path: string, notice: Notice): void;
  /** Drops the notice of a path. */
  dismiss(path: string): void;
  /** The file was read, or is gone. */
  clear(entry: SessionFile): void;
  /** Retries the files whose pause is over, one after the other: they may have failed because too many were open at once. */
  retry(again: (entry: SessionFile) => Promise<void> | void): Promise<void>;
}

/** `tick`: the shortest pause between two attempts, in milliseconds. */
export function createReadFailures({ tick, isClosed }: { tick: number; isClosed(): boolean }): ReadFailures {
  const notices = new Map<string, Notice>();
  /** No change on disk tells that the reason is gone, so these files are tried again. */
  const failed = new Map<SessionFile, { pause: number; again_at: number }>();

  function run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined> {
    const result = entry.queue.then(work).catch((error: unknown) => {
      const pause = Math.min(2 * (failed.get(entry)?.pause ?? tick / 2), MAX_RETRY_TICKS * tick);
      failed.set(entry, { pause, again_at: performance.now() + pause });
      report(entry.path, unreadNotice(entry.path, whyUnread(error)));
      return undefined;
    });
    entry.queue = result;
    return result;
  }

  function report(path: string, notice: Notice) {
    if (notices.size < MAX_NOTICES || notices.has(path)) notices.set(path, notice);
  }

  return {
    get notices() {
      return notices.values();
    },
    byPath: notices,
    has: (entry) => failed.has(entry),
    run,
    report,
    dismiss: (path) => notices.delete(path),
    clear(entry) {
      failed.delete(entry);
      notices.delete(entry.path);
    },
    async retry(again) {
      for (const [entry, { again_at }] of failed) {
        if (isClosed()) return;
        if (performance.now() < again_at) continue;
        await run(entry, async () => {
          if (entry.gone) failed.delete(entry);
          else await again(entry);
        });
      }
    },
  };
}

export const unreadNotice = (path: string, why: string): Notice => ({
  level: "warning",
  text: `${path}: ${why}.`,
  ...(why === NO_PERMISSION && { remedy: "Let whoever runs Verbatim read it; it looks again by itself." }),
  unread: true,
});
