import type { PartIndex, SegmentStart } from "../../store/index/contract.ts";
import { openSqliteIndex } from "../../store/index/sqlite.ts";

/** The start of a segment without the reader's state. */
export type SegmentTranscripts = Omit<SegmentStart, "checkpoint">;

/** The starts of the segments of huge sources in the part index. */
export interface SegmentStarts {
  add(source: string, segment: number): void;
  remove(source: string): void;
  clear(): void;
  /** The known starts of a source. Rejects if the index cannot be read. */
  of(source: string): Promise<readonly SegmentTranscripts[]>;
  /** The start of a segment. Rejects if the index cannot be read. */
  get(source: string, segment: number): Promise<SegmentStart | undefined>;
}

/** `version`: of the readers whose checkpoints can be used. */
export function createSegmentStarts(path: string, version: number): SegmentStarts {
  /** The numbers of the known segments, by source. */
  const known = new Map<string, Set<number>>();
  /** The starts that were read last, because a page reads them with each request. */
  let recent: { source: string; starts: Promise<SegmentTranscripts[]> } | undefined;

  function read(source: string): Promise<SegmentTranscripts[]> {
    if (recent?.source === source) return recent.starts;
    const starts = readIndex(path, async (index) =>
      (await index.segmentsOf(source)).filter((start) => start.version === version),
    );
    recent = { source, starts };
    // Failures are not cached.
    starts.catch(() => {
      recent = undefined;
    });
    return starts;
  }

  return {
    add(source, segment) {
      known.set(source, (known.get(source) ?? new Set<number>()).add(segment));
      if (recent?.source === source) recent = undefined;
    },
    remove: (source) => void known.delete(source),
    clear() {
      known.clear();
      recent = undefined;
    },
    of: async (source) => (known.has(source) ? await read(source) : []),
    async get(source, segment) {
      if (!known.get(source)?.has(segment)) return undefined;
      const start = await readIndex(path, (index) => index.segment(source, segment));
      return start?.version === version ? start : undefined;
    },
  };
}

/** Reads the index over a connection of its own, because it may be deleted and created again. */
export async function readIndex<Value>(
  path: string,
  read: (index: PartIndex) => Promise<Value>,
): Promise<Value> {
  const index = openSqliteIndex(path, { read_only: true });
  try {
    return await read(index);
  } finally {
    await index.close();
  }
}
