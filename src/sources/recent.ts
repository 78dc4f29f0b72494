/**
 * In memory, maps and lists keep this many times as many entries as are saved. Lists keep fewer, because they are searched
 * linearly.
 */
export const IN_MEMORY = 64;
export const IN_MEMORY_LIST = 8;

/**
 * A saved `Recent`: its entries, oldest first. Numbers are packed into text; a value is written only if it differs from the
 * previous one.
 */
export interface SavedRecent {
  most: number;
  entries: string | [unknown, unknown][];
}

/**
 * A map that evicts its oldest entries, so that its size does not depend on the length of a session. The newest `most` entries
 * are saved. In memory it keeps at least half of `IN_MEMORY` times as many. Setting an entry makes it the newest; reading does
 * not.
 */
export class Recent<Key extends string | number, Value> {
  private newer = new Map<Key, Value>();
  /** The previous generation. Dropped as a whole, which costs nothing per entry. */
  private old = new Map<Key, Value>();
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  get(key: Key): Value | undefined {
    return this.newer.get(key) ?? (this.old.size === 0 ? undefined : this.old.get(key));
  }

  has(key: Key): boolean {
    return this.newer.has(key) || (this.old.size > 0 && this.old.has(key));
  }

  set(key: Key, value: Value): void {
    if (this.newer.size >= (this.most * IN_MEMORY) / 2 && !this.newer.has(key)) {
      this.old = this.newer;
      this.newer = new Map();
    }
    this.newer.set(key, value);
  }

  delete(key: Key): void {
    this.newer.delete(key);
    this.old.delete(key);
  }

  clear(): void {
    this.newer.clear();
    this.old.clear();
  }

  save(): SavedRecent {
    const newer = [...this.newer].slice(-this.most);
    const isFull = newer.length === this.most;
    const old = isFull ? [] : [...this.old].filter(([key]) => !this.newer.has(key));
    return { most: this.most, entries: packed([...old.slice(newer.length - this.most), ...newer]) };
  }

  static restore({ most, entries }: SavedRecent): Recent<string | number, unknown> {
    const recent = new Recent<string | number, unknown>(most);
    recent.newer = unpacked(entries);
    return recent;
  }
}

function packed(entries: [string | number, unknown][]): string | [unknown, unknown][] {
  const isNumeric = ([key, value]: (typeof entries)[number]) =>
    typeof key === "number" && typeof value === "number";
  if (entries.length === 0 || !entries.every(isNumeric)) return entries;
  let last: unknown;
  return entries
    .map(([key, value]) => {
      const text = Number(key).toString(36);
      if (value === last) return text;
      last = value;
      return `${text}:${Number(value).toString(36)}`;
    })
    .join(" ");
}

function unpacked(entries: SavedRecent["entries"]): Map<string | number, unknown> {
  // `packed` wrote them.
  if (typeof entries !== "string") return new Map(entries as [string | number, unknown][]);
  let value = 0;
  return new Map(
    entries.split(" ").map((entry) => {
      const [key = "", next] = entry.split(":");
      if (next !== undefined) value = Number.parseInt(next, 36);
      return [Number.parseInt(key, 36), value];
    }),
  );
}
