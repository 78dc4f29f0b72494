import { join } from "node:path";
import { openRegular, readAt } from "../files/follow.ts";
import type { WatchRoot } from "./watch/found-file.ts";

/** Titles that agents store next to their sessions, one file per root (`Format.titles`). */
export interface Titles {
  /** Reads the files that changed. Returns the sessions whose title changed. */
  refresh(): Promise<Set<string>>;
  of(session_id: string): string | undefined;
}

/** Maximum number of bytes read. In a longer file, only the end is read, which has the newest titles. */
const LIMIT = 8 * 1024 * 1024;

export function createTitles(roots: readonly WatchRoot[]): Titles {
  const known = new Map<string, { stamp: string; titles: Map<string, string> }>();

  async function read(path: string, parse: (text: string) => Map<string, string>): Promise<void> {
    const opened = await openRegular(path).catch(() => undefined);
    if (!opened) {
      known.delete(path);
      return;
    }
    const { handle, inode, size, modified_at } = opened;
    try {
      const stamp = `${inode}:${size}:${modified_at}`;
      if (known.get(path)?.stamp === stamp) return;
      const bytes = await readAt(handle, Math.max(0, size - LIMIT), Math.min(LIMIT, size));
      known.set(path, { stamp, titles: parse(new TextDecoder().decode(bytes)) });
    } catch {
      // It is being written or cannot be read: keep the titles until the next refresh.
    } finally {
      await handle.close();
    }
  }

  function of(session_id: string): string | undefined {
    for (const { titles } of known.values()) {
      const title = titles.get(session_id);
      if (title !== undefined) return title;
    }
    return undefined;
  }

  return {
    of,
    async refresh() {
      const before = [...known.values()].map(({ titles }) => titles);
      for (const { format, path } of roots) {
        if (format.titles) await read(join(path, format.titles.file), format.titles.read);
      }
      const after = [...known.values()].map(({ titles }) => titles);
      if (after.length === before.length && after.every((titles, n) => titles === before[n]))
        return new Set();
      const ids = new Set([...before, ...after].flatMap((titles) => [...titles.keys()]));
      const was = (id: string) => before.find((titles) => titles.has(id))?.get(id);
      return new Set([...ids].filter((id) => was(id) !== of(id)));
    },
  };
}
