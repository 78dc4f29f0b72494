import { NumberList } from "../number-list.ts";
import type { PartFold } from "../transcript/part-fold.ts";
import type { Transcript } from "../transcript/transcript-state.ts";

/** The positions of the calls that were added, in eight bytes each. */
export class CallFold implements PartFold<CallFold> {
  private hashes = new NumberList();
  private positions = new NumberList();

  add({ parts }: Pick<Transcript, "parts">, from: number, to: number): void {
    for (const [at, part] of parts.slice(from, to).entries()) {
      if (part?.type !== "tool_call") continue;
      this.hashes.push(hashOf(part.tool_call_id));
      this.positions.push(from + at);
    }
  }

  copy(): CallFold {
    const copy = new CallFold();
    copy.hashes = this.hashes.copy();
    copy.positions = this.positions.copy();
    return copy;
  }

  /** The positions of the calls that may have this id, newest first. Others can have the same hash. */
  *positionsOf(tool_call_id: string): Generator<number> {
    const hash = hashOf(tool_call_id);
    for (let at = this.hashes.length - 1; at >= 0; at -= 1) {
      const position = this.hashes.at(at) === hash ? this.positions.at(at) : undefined;
      if (position !== undefined) yield position;
    }
  }
}

/** FNV-1a over UTF-16 code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
