import type { Entry } from "./entry.ts";
import { isSame, openRegular, readAt } from "./follow.ts";
import type { Keeper } from "./keeper.ts";

/** Bytes that are read at a time. */
const BLOCK = 256 * 1024;

/** Files whose archive is behind what was read, and what brings it up to that. */
export interface CatchUp {
  add(entry: Entry): void;
  /** Copies into the archive what was read while it could not be written, a block at a time. */
  work(): Promise<void>;
}

export function createCatchUp(options: {
  keeper: Keeper<Entry>;
  isClosed(): boolean;
  run(entry: Entry, work: () => Promise<void>): Promise<unknown>;
}): CatchUp {
  const { keeper, isClosed, run } = options;
  const lagging = new Set<Entry>();

  async function archiveRest(entry: Entry): Promise<void> {
    const { identity } = entry;
    if (entry.gone || !identity || keeper.archivedTo(entry.id) >= identity.size) return;
    const opened = await openRegular(entry.path);
    if (!opened) return;
    try {
      if (!(await isSame(opened, identity))) return;
      for (;;) {
        const at = keeper.archivedTo(entry.id);
        if (isClosed() || at >= identity.size) return;
        const bytes = await readAt(opened.handle, at, Math.min(BLOCK, identity.size - at));
        if (bytes.length === 0 || !(await keeper.append(entry.id, at, bytes))) return;
      }
    } finally {
      await opened.handle.close();
    }
  }

  return {
    add: (entry) => lagging.add(entry),
    async work() {
      let looked = 0;
      for (const entry of lagging) {
        if (isClosed() || !keeper.writable || keeper.failing) return;
        lagging.delete(entry);
        if (!entry.gone && !entry.sample) await run(entry, () => archiveRest(entry));
        if (keeper.failing) lagging.add(entry);
        looked += 1;
        if (looked % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      if (lagging.size === 0 && !keeper.failing) await keeper.caughtUp();
    },
  };
}
