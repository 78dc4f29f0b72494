/** The latest value of a text or thought of a step. */
export interface Block {
  kind: "text" | "thinking";
  text: string;
  signature: string | undefined;
  part_id: string;
  /** Byte offset of the last line that contained it. */
  toldAt: number;
}

/** The content of a block in a line. */
export type Words = Omit<Block, "part_id">;

/** Blocks with the same content, in the order in which they got it. */
interface Alike {
  blocks: Block[];
  /** All earlier blocks have other content, or were matched by the line at `toldAt`. */
  next: number;
  toldAt: number;
}

type ByWords = Map<string | undefined, Alike>;

/** The texts and thoughts of one step. Finds the block that a later line repeats or extends in constant time. */
export class Blocks {
  private readonly blocks: Block[] = [];
  /** The first `indexed` blocks by their text or, if it is empty, their signature. Most steps need no index. */
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

  /** Changes the content of a block. */
  change(block: Block, text: string, signature: string | undefined): void {
    const before = text === block.text ? undefined : this.alikeOf(block);
    // Do not keep every intermediate value of a growing text.
    if (before?.blocks.length === 1 && before.blocks[0] === block) this.mapOf(block)?.delete(keyOf(block));
    block.text = text;
    block.signature = signature;
    if (before !== undefined) this.file(block);
  }

  /** A block with this content that the same line has not matched yet. */
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

/** Whether a block has the same content. Thoughts without text are compared by signature. */
export function isEqual(block: Block, { kind, text, signature }: Words): boolean {
  return block.kind === kind && block.text === text && (text !== "" || block.signature === signature);
}

const keyOf = ({ text, signature }: Words): string | undefined => (text === "" ? signature : text);
