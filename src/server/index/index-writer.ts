import { messageOf } from "../../model/narrow.ts";
import { StoreError } from "../../store/contract.ts";
import type { PartIndex, SourceUpdate } from "../../store/index/contract.ts";
import { openSqliteIndex } from "../../store/index/sqlite.ts";
import type { WrittenSources } from "./index-state.ts";

/** The index file to write to, and its generation. */
export interface IndexTarget {
  path: string;
  generation: number;
}

/** A writer's report: sources that are on disk, or the reason why some are not. */
export type IndexReport =
  | ({ type: "indexed"; generation: number; keys: string[] } & WrittenSources)
  | { type: "index_failed"; generation: number; keys: string[]; broken: boolean; message: string };

/** Characters of text per write. Many small writes cost far more than a large one. */
const BATCH = 4_000_000;

/** Collects rows and writes them in large transactions, on the calling thread. */
export interface IndexWriter {
  add(target: IndexTarget, update: SourceUpdate): Promise<void>;
  /** Writes collected rows. */
  flush(): Promise<void>;
}

export function createIndexWriter(report: (report: IndexReport) => void): IndexWriter {
  let opened: { target: IndexTarget; index: PartIndex } | undefined;
  let waiting: SourceUpdate[] = [];
  let target: IndexTarget | undefined;
  let characters = 0;

  async function indexOf(wanted: IndexTarget): Promise<PartIndex> {
    if (opened && opened.target.path === wanted.path && opened.target.generation === wanted.generation)
      return opened.index;
    await close();
    opened = { target: wanted, index: openSqliteIndex(wanted.path) };
    return opened.index;
  }

  async function close(): Promise<void> {
    const closing = opened?.index;
    opened = undefined;
    await closing?.close();
  }

  async function flush(): Promise<void> {
    if (!target || waiting.length === 0) return;
    const updates = waiting;
    const to = target;
    waiting = [];
    characters = 0;
    const keys = [...new Set(updates.map(({ key }) => key))];
    try {
      await (await indexOf(to)).write(updates);
      const stamps = updates.flatMap(({ key, stamp }) => (stamp === undefined ? [] : [{ key, stamp }]));
      const segments = updates.flatMap(({ key, segments: starts = [] }) =>
        starts.map(({ segment }) => ({ key, segment })),
      );
      report({ type: "indexed", generation: to.generation, keys, stamps, segments });
    } catch (error) {
      const broken = error instanceof StoreError && error.kind === "broken";
      if (broken) await close().catch(() => {});
      report({ type: "index_failed", generation: to.generation, keys, broken, message: messageOf(error) });
    }
  }

  return {
    async add(to, update) {
      if (target && (target.path !== to.path || target.generation !== to.generation)) await flush();
      target = to;
      waiting.push(update);
      for (const { parts } of update.sessions) for (const { text } of parts) characters += text.length;
      if (characters >= BATCH) await flush();
    },
    flush,
  };
}
