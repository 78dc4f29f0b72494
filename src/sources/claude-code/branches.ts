/** A turn and the uuid of the record that opened it, if it has one. */
interface BranchTurn {
  uuid: string | undefined;
}

/** Prompts with the same parent, by uuid, with the second in which each was typed. */
interface Siblings {
  prompts: Map<string, number>;
  seconds: Set<number>;
}

/**
 * The branches of one conversation. A prompt with the same parent as an earlier prompt is a rewind: everything below the
 * earlier prompt is abandoned. Prompts of the same second are not a rewind, nor is a copy of a prompt.
 */
export class Branches<Turn extends BranchTurn> {
  /** Parent uuids by record uuid. */
  private readonly parents = new Map<string, string>();
  /** The uuid of the nearest typed prompt (an ancestor, or the record itself), by record uuid. */
  private readonly prompts = new Map<string, string>();
  /** Prompts by parent; `null`: no parent. */
  private readonly siblings = new Map<string | null, Siblings>();
  /** The last line without a parent. If it is no typed prompt, the conversation restarted there. */
  private root: string | undefined;
  /** Turns that were not abandoned. */
  private turns: Turn[] = [];

  /** Adds a record's parent. */
  recordParent(uuid: string, parent: string | null): void {
    if (parent !== null) {
      if (this.parents.has(uuid)) return;
      this.parents.set(uuid, parent);
      const prompt = this.prompts.get(parent);
      if (prompt !== undefined) this.prompts.set(uuid, prompt);
      return;
    }
    if (this.root === undefined || this.siblings.get(null)?.prompts.has(this.root) !== true) this.reset();
    this.root = uuid;
  }

  /** From here on, records without a parent are no branches of earlier ones. */
  reset(): void {
    this.siblings.delete(null);
  }

  /** The nearest typed prompt above a record. */
  promptOf(uuid: string): string | undefined {
    return this.prompts.get(uuid);
  }

  open(turn: Turn): void {
    this.turns.push(turn);
  }

  /** Adds a typed prompt. `second`: its time in whole seconds. Returns the turns that it abandons, oldest first. */
  type(uuid: string, parent: string | null, second: number): Turn[] {
    const { prompts, seconds } = this.siblings.get(parent) ?? { prompts: new Map(), seconds: new Set() };
    const abandoned: Turn[] = [];
    if (seconds.size > (seconds.has(second) ? 1 : 0)) {
      const isAbandoned = this.isBelow((each) => each !== uuid && (prompts.get(each) ?? second) !== second);
      const kept: Turn[] = [];
      for (const turn of this.turns) {
        (turn.uuid !== undefined && isAbandoned(turn.uuid) ? abandoned : kept).push(turn);
      }
      this.turns = kept;
    }
    this.prompts.set(uuid, uuid);
    prompts.set(uuid, second);
    seconds.add(second);
    this.siblings.set(parent, { prompts, seconds });
    return abandoned;
  }

  /**
   * Returns a function that tells whether a record has such an ancestor. Results are cached, so each record is visited once.
   */
  private isBelow(isAncestor: (uuid: string) => boolean): (uuid: string) => boolean {
    const known = new Map<string, boolean>();
    return (uuid) => {
      const walked: string[] = [];
      let isDescendant: boolean | undefined = false;
      for (let at: string | undefined = uuid; at !== undefined; at = this.parents.get(at)) {
        isDescendant = isAncestor(at) || known.get(at);
        if (isDescendant !== undefined) break;
        // Malformed files may contain cycles.
        known.set(at, false);
        walked.push(at);
      }
      for (const at of walked) known.set(at, isDescendant === true);
      return isDescendant === true;
    };
  }
}
