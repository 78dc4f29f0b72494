import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../../model/narrow.ts";
import type { FileIdentity, Notice } from "../../store/contract.ts";
import { deleteIndex, openSqliteIndex, prepareIndex } from "../../store/index/sqlite.ts";

/** Rises when a reader makes other parts of the same bytes: what was indexed before is indexed again. */
const READERS_VERSION = 7;

/** What the daemon knows of its part index: which sources are indexed, and in which state. The rows are other threads' work. */
export interface IndexState {
  readonly path: string;
  /** This daemon writes it. */
  readonly writable: boolean;
  /** Rises when the file is deleted and made anew: what was opened before is another file. */
  readonly generation: number;
  /** What a source was like when it was indexed; `undefined`: it is not. */
  stampOf(key: string): string | undefined;
  /** Sources that are indexed. */
  keys(): Iterable<string>;
  written(generation: number, stamps: readonly { key: string; stamp: string }[]): void;
  removed(keys: readonly string[]): void;
  /** It is damaged: it is deleted, and everything is indexed again. Called by several threads, done once a generation. */
  rebuild(generation: number): void;
  onRebuild(listener: () => void): void;
  readonly notices: readonly Notice[];
  /** Once no thread has the index open: moves what its log still holds into the file. */
  close(): void;
}

/** Opens the index of a data folder, or makes an empty one. Never throws: without an index there is no search, and all else works. */
export async function openIndexState(path: string, writable: boolean): Promise<IndexState> {
  const listeners = new Set<() => void>();
  const stamps = new Map<string, string>();
  let generation = 1;
  let notice: Notice | undefined;

  function prepare(): boolean {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      prepareIndex(path);
      notice = undefined;
      return true;
    } catch (error) {
      notice = {
        level: "warning",
        text: `The search index ${path} cannot be made: ${messageOf(error)}. Sessions cannot be searched.`,
        remedy: "Make room on the disk of the data folder, then start Verbatim again.",
      };
      return false;
    }
  }

  async function load(): Promise<void> {
    const index = openSqliteIndex(path, { read_only: true });
    try {
      for (const { key, stamp } of await index.sources()) if (stamp !== "") stamps.set(key, stamp);
    } finally {
      await index.close();
    }
  }

  const ready = writable && prepare();
  if (ready) {
    await load().catch(() => {
      deleteIndex(path);
      prepare();
    });
  }

  return {
    path,
    writable: ready,
    get generation() {
      return generation;
    },
    stampOf: (key) => stamps.get(key),
    keys: () => stamps.keys(),
    written(of, given) {
      if (of !== generation) return;
      for (const { key, stamp } of given) stamps.set(key, stamp);
    },
    removed(keys) {
      for (const key of keys) stamps.delete(key);
    },
    rebuild(of) {
      if (of !== generation || !ready) return;
      generation += 1;
      stamps.clear();
      deleteIndex(path);
      if (prepare()) for (const listener of listeners) listener();
    },
    onRebuild: (listener) => void listeners.add(listener),
    get notices() {
      return notice ? [notice] : [];
    },
    close() {
      // SQLite merges the log when the last connection closes; threads that were ended did not close theirs.
      if (ready) prepare();
    },
  };
}

/** What tells one state of a file, read by these readers, from another. */
export function fileStamp({ inode, size, modified_at, head, tail }: FileIdentity, side_stamp = ""): string {
  return [READERS_VERSION, inode, size, modified_at, head.slice(0, 16), tail.slice(0, 16), side_stamp].join(
    " ",
  );
}

/** The same of a session that no file holds, from what its row says. */
export function sessionStamp(row: {
  turns: number;
  steps: number;
  parts: number;
  byte_size: number;
  last_activity_at: number;
}): string {
  return [READERS_VERSION, row.turns, row.steps, row.parts, row.byte_size, row.last_activity_at].join(" ");
}
