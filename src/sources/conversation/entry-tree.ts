/** What an entry of a session created, for retraction by a later branch. */
export type Made = "turn" | "step" | "parts";

interface Entry {
  id: string;
  /** Key of its record, from which ids are derived. */
  key: string;
  /** Index of its parent entry; -1: none, or no longer remembered. */
  parent: number;
  made: Made;
  /** It is on no active branch, and its parts were retracted. */
  abandoned?: true;
}

/** The tree of a session's entries: plain data of bounded size. */
export interface EntryTree {
  entries: Entry[];
  /** Index of the last written entry; -1: none. */
  leaf: number;
}

/** A branch that starts with an entry. */
export interface Branch {
  /** What the previous branch has after the branching point, oldest first. */
  abandoned: { key: string; made: Made }[];
  /** It continues from an abandoned entry. */
  resumes: boolean;
}

/** Entries kept in memory. A branch from an older entry is shown as a branch and retracts nothing. */
const MAX_ENTRIES = 1_024;
/** Number of entries that are removed at once, so that removal is cheap per entry. */
const FORGOTTEN = 256;

export const emptyTree = (): EntryTree => ({ entries: [], leaf: -1 });

/** The id of the last written entry. */
export const leafOf = ({ entries, leaf }: EntryTree): string | undefined => entries[leaf]?.id;

/**
 * Returns the branch that an entry with this `parentId` starts, if its parent is not the last written entry. `undefined`: it
 * continues the current branch.
 */
export function branchAt(tree: EntryTree, parentId: string | undefined): Branch | undefined {
  const { entries, leaf } = tree;
  if (leaf === -1 || entries[leaf]?.id === parentId) return undefined;
  const parent = parentId === undefined ? -1 : entries.findLastIndex(({ id }) => id === parentId);
  if (parentId !== undefined && parent === -1) return { abandoned: [], resumes: false };
  const abandoned: Entry[] = [];
  // A parent always precedes its children, so both chains meet at their common entry.
  for (let at = leaf, kept = parent; at !== kept; ) {
    if (at < kept) {
      kept = entries[kept]?.parent ?? -1;
      continue;
    }
    const entry = entries[at];
    at = entry?.parent ?? -1;
    if (entry === undefined || entry.abandoned) continue;
    entry.abandoned = true;
    abandoned.push(entry);
  }
  tree.leaf = parent;
  return { abandoned: abandoned.reverse(), resumes: entries[parent]?.abandoned === true };
}

/** Appends an entry after `tree.leaf`. */
export function addEntry(tree: EntryTree, { id, key, made }: Omit<Entry, "parent">): void {
  const { entries } = tree;
  entries.push({ id, key, parent: tree.leaf, made });
  tree.leaf = entries.length - 1;
  if (entries.length <= MAX_ENTRIES) return;
  entries.splice(0, FORGOTTEN);
  for (const each of entries) each.parent = Math.max(-1, each.parent - FORGOTTEN);
  tree.leaf -= FORGOTTEN;
}

/** The retractions for an abandoned branch: whole turns, or records of the turn that continues. */
export function withdrawn({ abandoned }: Branch): { turns: number; records: { key: string; made: Made }[] } {
  const records: { key: string; made: Made }[] = [];
  let turns = 0;
  for (const entry of abandoned) {
    if (entry.made === "turn") turns += 1;
    // Records in a retracted turn need no retraction of their own.
    if (entry.made === "turn" || turns === 0) records.push({ key: entry.key, made: entry.made });
  }
  return { turns, records };
}
