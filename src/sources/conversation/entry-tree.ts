/** What one entry of a session made, as far as a later branch may withdraw it. */
export type Made = "turn" | "step" | "parts";

interface Entry {
  id: string;
  /** Key of its record: ids of what it made are made from it. */
  key: string;
  /** Index of the entry that it follows; -1: none, or one that is not remembered. */
  parent: number;
  made: Made;
  /** It is on no active branch, and its parts were withdrawn. */
  abandoned?: true;
}

/** Entries of a session as they hang on one another: plain data, bounded. */
export interface EntryTree {
  entries: Entry[];
  /** Index of the entry that was written last; -1: none. */
  leaf: number;
}

/** A branch that begins with an entry. */
export interface Branch {
  /** What the branch before it had behind the place where they part, oldest first. */
  abandoned: { key: string; made: Made }[];
  /** It goes on from an entry that was abandoned before. */
  resumes: boolean;
}

/** Entries kept in memory. A branch from an older entry is shown as a branch and retracts nothing. */
const MAX_ENTRIES = 1_024;
/** Forgotten at once, so that forgetting costs nothing per entry. */
const FORGOTTEN = 256;

export const emptyTree = (): EntryTree => ({ entries: [], leaf: -1 });

/**
 * Whether an entry that names `parentId` begins a branch: it follows another entry than the one that was written last.
 * `undefined`: it goes on.
 */
export function branchAt(tree: EntryTree, parentId: string | undefined): Branch | undefined {
  const { entries, leaf } = tree;
  if (leaf === -1 || entries[leaf]?.id === parentId) return undefined;
  const parent = parentId === undefined ? -1 : entries.findLastIndex(({ id }) => id === parentId);
  if (parentId !== undefined && parent === -1) return { abandoned: [], resumes: false };
  const kept = new Set<number>();
  for (let at = parent; at >= 0; at = entries[at]?.parent ?? -1) kept.add(at);
  const abandoned: Entry[] = [];
  for (let at = leaf; at >= 0 && !kept.has(at); at = entries[at]?.parent ?? -1) {
    const entry = entries[at];
    if (entry === undefined || entry.abandoned) continue;
    entry.abandoned = true;
    abandoned.push(entry);
  }
  tree.leaf = parent;
  return { abandoned: abandoned.reverse(), resumes: entries[parent]?.abandoned === true };
}

/** Adds the entry that was read last behind `tree.leaf`. */
export function addEntry(tree: EntryTree, entry: { id: string; key: string; made: Made }): void {
  const { entries } = tree;
  entries.push({ ...entry, parent: tree.leaf });
  tree.leaf = entries.length - 1;
  if (entries.length <= MAX_ENTRIES) return;
  entries.splice(0, FORGOTTEN);
  for (const each of entries) each.parent = Math.max(-1, each.parent - FORGOTTEN);
  tree.leaf -= FORGOTTEN;
}

/** What a branch left behind, as frames withdraw it: a turn as a whole, or what stands in the turn that goes on. */
export function withdrawn({ abandoned }: Branch): { turns: number; records: { key: string; made: Made }[] } {
  const records: { key: string; made: Made }[] = [];
  let turns = 0;
  for (const entry of abandoned) {
    if (entry.made === "turn") turns += 1;
    // What follows in a turn that is withdrawn as a whole needs no word of its own.
    if (entry.made === "turn" || turns === 0) records.push({ key: entry.key, made: entry.made });
  }
  return { turns, records };
}
