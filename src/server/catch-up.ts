import type { Entry } from "./entry.ts";
import { isSame, openRegular, readAt } from "./follow.ts";
import type { Keeper } from "./keeper.ts";

/** Bytes that are read at a time. */
const BLOCK = 256 * 1024;
/** Bytes of a file that are copied before others have their turn with it. */
const TURN = 4 * 1024 * 1024;

/** Files whose archive is behind what was read, and what brings it up to that. */
interface CatchUp {
  add(entry: Entry): void;
  /** Copies into the archive what was read for the list alone, or while it could not be written, a block at a time. */
  work(): Promise<void>;
}

export function createCatchUp(options: {
  keeper: Keeper<Entry>;
  isClosed(): boolean;
  run(entry: Entry, work: () => Promise<boolean>): Promise<boolean | undefined>;
}): CatchUp {
  const { keeper, isClosed, run } = options;
  const lagging = new Set<Entry>();
  const buffer = new Uint8Array(BLOCK);

  /** Copies some of what the archive does not have; `true`: there is more. */
  async function archiveSome(entry: Entry): Promise<boolean> {
    const { identity } = entry;
    if (entry.gone || !identity || keeper.archivedTo(entry.id) >= identity.size) return false;
    const opened = await openRegular(entry.path);
    if (!opened) return false;
    try {
      if (!(await isSame(opened, identity))) return false;
      for (let copied = 0; copied < TURN; ) {
        const at = keeper.archivedTo(entry.id);
        if (isClosed() || at >= identity.size) return false;
        const bytes = await readAt(opened.handle, at, Math.min(BLOCK, identity.size - at), buffer);
        if (bytes.length === 0 || !(await keeper.append(entry.id, at, bytes))) return false;
        copied += bytes.length;
      }
      return true;
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
        // Whoever wants to see the session waits for no more than one turn.
        for (let more = !entry.sample; more; ) more = (await run(entry, () => archiveSome(entry))) ?? false;
        if (keeper.failing) lagging.add(entry);
        looked += 1;
        if (looked % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      if (lagging.size === 0 && !keeper.failing) await keeper.caughtUp();
    },
  };
}
