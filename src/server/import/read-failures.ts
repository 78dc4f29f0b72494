import type { CodedText } from "../../model/text/catalog.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type Notice, noticeOf } from "../../store/contract.ts";
import type { SessionFile } from "./session-file.ts";
import { whyUnread } from "./watch/why-unread.ts";

export const MAX_NOTICES = 20;
/** A failed file is retried after one tick, then at doubling intervals up to this many ticks. */
const MAX_RETRY_TICKS = 60;

/** Serializes the work on each file, keeps its errors for the page, and schedules retries. */
export interface ReadFailures {
  readonly notices: Iterable<Notice>;
  /** The notices by path of the file. */
  readonly byPath: ReadonlyMap<string, Notice>;
  has(entry: SessionFile): boolean;
  /** Queues work after other work on the same file. An error becomes a notice, and the result is `undefined`. */
  run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  report(path: string, notice: Notice): void;
  /** Removes the notice of a path. */
  dismiss(path: string): void;
  /** Called when the file was read or is gone. */
  clear(entry: SessionFile): void;
  /** Retries the files that are due, one after the other: they may have failed because too many files were open. */
  retry(again: (entry: SessionFile) => Promise<void> | void): Promise<void>;
}

/** `tick`: the shortest pause between two attempts, in milliseconds. */
export function createReadFailures({ tick, isClosed }: { tick: number; isClosed(): boolean }): ReadFailures {
  const notices = new Map<string, Notice>();
  /** Failed files. A fix may change nothing on disk, so they are retried by time. */
  const failed = new Map<SessionFile, { pause: number; again_at: number }>();

  function run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined> {
    const result = entry.queue.then(work).catch((error: unknown) => {
      const pause = Math.min(2 * (failed.get(entry)?.pause ?? tick / 2), MAX_RETRY_TICKS * tick);
      failed.set(entry, { pause, again_at: performance.now() + pause });
      report(entry.path, unreadNotice(whyUnread(entry.path, error)));
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

export const unreadNotice = (why: CodedText): Notice => ({
  ...noticeOf("warning", why, why.code === "path_no_permission" ? daemonText("give_permission") : undefined),
  unread: true,
});
