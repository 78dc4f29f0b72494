/** A text or a thought of a step, as it was told last. */
export interface Block {
  kind: "text" | "thinking";
  text: string;
  signature: string | undefined;
  part_id: string;
  /** The line that told it last, by its byte. */
  toldAt: number;
}

/** What a line says. */
export type Words = Omit<Block, "part_id">;

/** Blocks with the same words, in the order in which they came to have them. */
interface Alike {
  blocks: Block[];
  /** All before it have other words, or were told by the line at `toldAt`. */
  next: number;
  toldAt: number;
}

type ByWords = Map<string | undefined, Alike>;

/** The texts and thoughts of one step: which of them a later line repeats or continues, however many they are. */
export class Blocks {
  private readonly blocks: Block[] = [];
  /** The first `indexed` blocks, by their text or, where that is empty, their signature. Most steps need none. */
  private index: Record<Block["kind"], { texts: ByWords; signatures: ByWords }> | undefined;
  private indexed = 0;

  get last(): Block | undefined {
    return this.blocks.at(-1);
  }

  at(index: number): Block | undefined {
    return this.blocks[index];
  }

  add(block: Block): void {
    this.blocks.push(block);
  }

  /** Gives a block other words. */
  change(block: Block, text: string, signature: string | undefined): void {
    const before = text === block.text ? undefined : this.alikeOf(block);
    // Not every length of a long text that grows is kept.
    if (before?.blocks.length === 1 && before.blocks[0] === block) this.mapOf(block)?.delete(keyOf(block));
    block.text = text;
    block.signature = signature;
    if (before !== undefined) this.file(block);
  }

  /** A block with these words that their line has not told yet. */
  equalTo(words: Words): Block | undefined {
    this.index ??= {
      text: { texts: new Map(), signatures: new Map() },
      thinking: { texts: new Map(), signatures: new Map() },
    };
    for (; this.indexed < this.blocks.length; this.indexed += 1) {
      const block = this.blocks[this.indexed];
      if (block !== undefined) this.file(block);
    }
    const alike = this.alikeOf(words);
    if (alike === undefined) return undefined;
    if (alike.toldAt !== words.toldAt) {
      alike.toldAt = words.toldAt;
      alike.next = 0;
    }
    for (; alike.next < alike.blocks.length; alike.next += 1) {
      const block = alike.blocks[alike.next];
      if (block === undefined) break;
      if (isEqual(block, words) && block.toldAt !== words.toldAt) return block;
    }
    return undefined;
  }

  private file(block: Block): void {
    const alike = this.alikeOf(block);
    if (alike !== undefined) alike.blocks.push(block);
    else this.mapOf(block)?.set(keyOf(block), { blocks: [block], next: 0, toldAt: block.toldAt });
  }

  private alikeOf(words: Words): Alike | undefined {
    return this.mapOf(words)?.get(keyOf(words));
  }

  private mapOf({ kind, text }: Words): ByWords | undefined {
    return this.index?.[kind][text === "" ? "signatures" : "texts"];
  }
}

/** Whether a block says the same; of thoughts without a text, their signatures tell. */
export function isEqual(block: Block, { kind, text, signature }: Words): boolean {
  return block.kind === kind && block.text === text && (text !== "" || block.signature === signature);
}

const keyOf = ({ text, signature }: Words): string | undefined => (text === "" ? signature : text);
