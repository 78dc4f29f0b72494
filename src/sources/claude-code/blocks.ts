import { fingerprint } from "../fingerprint.ts";
import { MAX_BLOCK_TEXT, MAX_BLOCKS, MAX_REVISIONS } from "./memory.ts";

/** The latest value of a text or thought of a step, remembered by its length and fingerprint. */
export interface Block {
  kind: "text" | "thinking";
  length: number;
  print: number;
  /** The text itself, only in the newest step and while there is room for it. */
  text: string | undefined;
  /** Fingerprint of its signature. */
  signature: number | undefined;
  part_id: string;
  /** Byte offset of the last line that contained it. */
  recordedAt: number;
  /** Length and fingerprint of its earlier, shorter values. */
  earlier?: [length: number, print: number][];
}

/** The content of a block in a line. */
export interface BlockContent {
  kind: Block["kind"];
  text: string;
  print: number;
  signature: number | undefined;
  recordedAt: number;
}

export function contentOf(
  kind: Block["kind"],
  text: string,
  signature: string | undefined,
  recordedAt: number,
): BlockContent {
  const sign = signature === undefined ? undefined : fingerprint(signature);
  return { kind, text, print: fingerprint(text), signature: sign, recordedAt };
}

/** The texts and thoughts of one step, the newest `MAX_BLOCKS` of them. Finds the block that a later line repeats or extends. */
export class Blocks {
  private readonly blocks: Block[] = [];
  /** Number of blocks that were forgotten. */
  private before = 0;
  /** Number of further characters of text that fit. */
  private room = MAX_BLOCK_TEXT;

  get last(): Block | undefined {
    return this.blocks.at(-1);
  }

  at(index: number): Block | undefined {
    return this.blocks[index - this.before];
  }

  add({ kind, text, print, signature, recordedAt }: BlockContent, part_id: string): Block {
    const block: Block = {
      kind,
      length: text.length,
      print,
      text: undefined,
      signature,
      part_id,
      recordedAt,
    };
    this.keepText(block, text);
    this.blocks.push(block);
    if (this.blocks.length > MAX_BLOCKS) {
      const oldest = this.blocks.shift();
      this.room += oldest?.text?.length ?? 0;
      this.before += 1;
    }
    return block;
  }

  /** Changes the content of a block. A line without a signature does not change the block's signature. */
  change(block: Block, { text, print, signature }: BlockContent): void {
    if (block.length < text.length && block.length > 0) {
      const earlier = [...(block.earlier ?? [])];
      earlier.push([block.length, block.print]);
      block.earlier = earlier.slice(-MAX_REVISIONS);
    }
    block.length = text.length;
    block.print = print;
    block.signature = signature ?? block.signature;
    this.keepText(block, text);
  }

  /** Called when another step begins. */
  forgetTexts(): void {
    for (const block of this.blocks) block.text = undefined;
    this.room = 0;
  }

  private keepText(block: Block, text: string): void {
    this.room += block.text?.length ?? 0;
    block.text = text.length > this.room ? undefined : text;
    this.room -= block.text?.length ?? 0;
  }

  /** A block with the same content that this line has not matched yet. */
  equalTo(content: BlockContent): Block | undefined {
    return this.blocks.find((block) => isEqual(block, content) && block.recordedAt !== content.recordedAt);
  }
}

/** Whether a block has the same content. Thoughts without text are compared by signature. */
export function isEqual(block: Block, { kind, text, print, signature }: BlockContent): boolean {
  if (block.kind !== kind || block.length !== text.length || block.print !== print) return false;
  return text !== "" || block.signature === signature;
}

/** Whether a text continues that of a block. */
export function continues(text: string, block: Block): boolean {
  return text.length >= block.length && fingerprint(text, block.length) === block.print;
}

/** Whether a text is that of a block, an earlier value of it or, if the block's text is kept, its beginning. */
export function wasOf({ text, print }: BlockContent, block: Block): boolean {
  if (block.length === text.length && block.print === print) return true;
  if (block.text?.startsWith(text) === true) return true;
  return block.earlier?.some(([length, before]) => length === text.length && before === print) === true;
}
