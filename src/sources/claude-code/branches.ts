/** A turn, and the record that opened it, where that has a name. */
interface BranchTurn {
  uuid: string | undefined;
}

/** Prompts that were typed under one record, by their uuid: the second in which each was typed. */
interface Siblings {
  prompts: Map<string, number>;
  seconds: Set<number>;
}

/**
 * The branches of one conversation. A prompt that is typed under the same record as an earlier one rewinds it: what hangs on
 * the earlier prompt is abandoned. Prompts of one second are no rewind, nor is a prompt's own copy.
 */
export class Branches<Turn extends BranchTurn> {
  /** By a record's uuid, that of the record it hangs on. */
  private readonly parents = new Map<string, string>();
  /** By a record's uuid, that of the typed prompt it hangs on or is. */
  private readonly prompts = new Map<string, string>();
  /** By what they hang on; `null`: on nothing. */
  private readonly siblings = new Map<string | null, Siblings>();
  /** The last line without a parent: where it is no typed prompt, the conversation began anew with it. */
  private root: string | undefined;
  /** Turns that nothing abandoned. */
  private turns: Turn[] = [];

  /** A record that says what it hangs on. */
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

  /** What stands under nothing from here on is no branch of what stood there before. */
  reset(): void {
    this.siblings.delete(null);
  }

  /** The typed prompt that a record hangs on. */
  promptOf(uuid: string): string | undefined {
    return this.prompts.get(uuid);
  }

  open(turn: Turn): void {
    this.turns.push(turn);
  }

  /** A prompt was typed. `second`: when, in whole seconds. Returns the turns that are abandoned with it, oldest first. */
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

  /** Whether a record hangs, at whatever distance, on such a one: each record is looked at once, however many ask. */
  private isBelow(isAncestor: (uuid: string) => boolean): (uuid: string) => boolean {
    const known = new Map<string, boolean>();
    return (uuid) => {
      const walked: string[] = [];
      let isDescendant: boolean | undefined = false;
      for (let at: string | undefined = uuid; at !== undefined; at = this.parents.get(at)) {
        isDescendant = isAncestor(at) || known.get(at);
        if (isDescendant !== undefined) break;
        // Foreign records may hang on each other in a circle.
        known.set(at, false);
        walked.push(at);
      }
      for (const at of walked) known.set(at, isDescendant === true);
      return isDescendant === true;
    };
  }
}
