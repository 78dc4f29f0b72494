import type { Checkpoint, Format, LinkFacts, Reader, ReadRecord } from "../../src/sources/contract.ts";

/** The result of reading a file with a reader that is repeatedly replaced by one that resumes from a checkpoint. */
export interface Resumed {
  records: ReadRecord[];
  facts: LinkFacts;
  /** Number of resumed readers. */
  resumes: number;
  /** The largest state, in bytes of JSON. */
  largest: number;
}

/** Reads a file without interruption. `settle`: also settles at each cut. */
export function readOn(
  format: Format,
  path: string,
  bytes: Uint8Array,
  cuts: readonly number[],
  settle = false,
): Pick<Resumed, "records" | "facts"> {
  const reader = format.createReader({ path });
  const records: ReadRecord[] = [];
  let from = 0;
  for (const cut of cuts) {
    records.push(...reader.push(bytes.subarray(from, cut)), ...(settle ? reader.settle() : []));
    from = cut;
  }
  records.push(...reader.push(bytes.subarray(from)), ...reader.close());
  return { records, facts: reader.linkFacts() };
}

/** Reads a file and stops at each cut: the state is saved as JSON text, and a new reader resumes from it. */
export function readResumed(
  format: Format,
  path: string,
  bytes: Uint8Array,
  cuts: readonly number[],
  settle = false,
): Resumed {
  let reader = format.createReader({ path });
  let from = 0;
  const out: Resumed = { records: [], facts: { sessions: [] }, resumes: 0, largest: 0 };
  for (const cut of cuts) {
    out.records.push(...reader.push(bytes.subarray(from, cut)), ...(settle ? reader.settle() : []));
    from = cut;
    const saved = reader.checkpoint?.();
    if (saved === undefined) continue;
    out.largest = Math.max(out.largest, new TextEncoder().encode(saved.state).length);
    out.resumes += 1;
    reader = resume(format, path, saved);
    from = saved.byte;
  }
  out.records.push(...reader.push(bytes.subarray(from)), ...reader.close());
  out.facts = reader.linkFacts();
  return out;
}

function resume(format: Format, path: string, saved: Checkpoint): Reader {
  const checkpoint = JSON.parse(JSON.stringify(saved)) as Checkpoint;
  return format.createReader({ path, checkpoint });
}

/** The end of every line, thinned out evenly to `most`. */
export function lineEnds(bytes: Uint8Array, most = Number.POSITIVE_INFINITY): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at + 1);
  const step = Math.ceil(ends.length / most);
  return ends.filter((_, index) => index % step === 0);
}
