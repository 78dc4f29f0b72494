import { IN_MEMORY_LIST, Recent } from "../recent.ts";
import { MAX_LINES, MAX_PROMPTS, MAX_TURNS } from "./memory.ts";

/** A turn, and the fingerprint of the nearest typed prompt at or above the record that opened it, if there is one. */
export interface BranchTurn {
  turn_id: string;
  prompt: number | undefined;
}

/** A typed prompt. */
interface TypedPrompt {
  uuid: number;
  /**
   * `null`: it has no parent. `undefined`: it has no parent either, but later prompts without a parent are not branches of it.
   */
  parent: number | null | undefined;
  /** The nearest typed prompt above it. */
  above: number | undefined;
  /** When it was typed, in seconds. */
  second: number;
}

/** In `Branches.above`: there is no typed prompt above the record. */
const NONE = 0;

/**
 * The branches of one conversation. A prompt with the same parent as an earlier prompt is a rewind: everything below the
 * earlier prompt is abandoned. Prompts of the same second are not a rewind, nor is a copy of a prompt. Records are identified by
 * the fingerprints of their uuids.
 */
export class Branches {
  /** The nearest typed prompt (an ancestor, or the record itself), by record. */
  private readonly above = new Recent<number, number>(MAX_LINES);
  /** The last record in it. */
  private newest = NONE;
  private newestAbove = NONE;
  /** The newest typed prompts, oldest first. */
  private readonly prompts: TypedPrompt[] = [];
  /** The last line without a parent. If it is not a typed prompt, the conversation restarted there. */
  private root: number | undefined;
  /** The newest turns that were not abandoned. */
  private turns: BranchTurn[] = [];

  /** Adds a record's parent. */
  recordParent(uuid: number, parent: number | null): void {
    if (parent !== null) {
      if (this.above.has(uuid)) return;
      // The parent of most records is the previous record.
      const above = parent === this.newest ? this.newestAbove : (this.above.get(parent) ?? NONE);
      this.setAbove(uuid, above);
      return;
    }
    const isTyped = this.prompts.some((prompt) => prompt.parent === null && prompt.uuid === this.root);
    if (!isTyped) this.reset();
    this.root = uuid;
  }

  /** From here on, records without a parent are not branches of earlier ones. */
  reset(): void {
    for (const prompt of this.prompts) if (prompt.parent === null) prompt.parent = undefined;
  }

  /** The nearest typed prompt at or above a record. */
  promptOf(uuid: number): number | undefined {
    return this.above.get(uuid) || undefined;
  }

  open(turn: BranchTurn): void {
    this.turns.push(turn);
    if (this.turns.length > MAX_TURNS * IN_MEMORY_LIST) this.turns.shift();
  }

  /**
   * Adds a typed prompt. `second`: its time in whole seconds. Returns the turns that it abandons, oldest first.
   */
  type(uuid: number, parent: number | null, second: number): BranchTurn[] {
    const siblings = this.prompts.filter((prompt) => prompt.parent === parent);
    const others = siblings.filter((prompt) => prompt.uuid !== uuid && prompt.second !== second);
    const abandoned = others.length === 0 ? [] : this.abandon(new Set(others.map((prompt) => prompt.uuid)));
    const same = siblings.find((prompt) => prompt.uuid === uuid);
    if (same !== undefined) same.second = second;
    else {
      // Its parent may have been evicted, but prompts with the same parent are still known.
      const above = this.above.get(uuid) || siblings[0]?.above;
      this.prompts.push({ uuid, parent, above: above === uuid ? undefined : above, second });
      if (this.prompts.length > MAX_PROMPTS * IN_MEMORY_LIST) this.prompts.shift();
    }
    this.setAbove(uuid, uuid);
    return abandoned;
  }

  private setAbove(uuid: number, above: number): void {
    this.newest = uuid;
    this.newestAbove = above;
    this.above.set(uuid, above);
  }

  /** Removes and returns the turns below the given prompts. Visits each prompt once. */
  private abandon(prompts: ReadonlySet<number>): BranchTurn[] {
    const parents = new Map(this.prompts.map(({ uuid, above }) => [uuid, above]));
    const known = new Map<number, boolean>();
    const isBelow = (prompt: number | undefined): boolean => {
      const visited: number[] = [];
      let isDescendant: boolean | undefined = false;
      for (let at = prompt; at !== undefined; at = parents.get(at)) {
        isDescendant = prompts.has(at) || known.get(at);
        if (isDescendant !== undefined) break;
        // Malformed files may contain cycles.
        known.set(at, false);
        visited.push(at);
      }
      for (const at of visited) known.set(at, isDescendant === true);
      return isDescendant === true;
    };
    const abandoned: BranchTurn[] = [];
    const kept: BranchTurn[] = [];
    for (const turn of this.turns) (isBelow(turn.prompt) ? abandoned : kept).push(turn);
    this.turns = kept;
    return abandoned;
  }
}
