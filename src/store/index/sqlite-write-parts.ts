import { indexForm } from "../../model/search/match.ts";
import { type IndexedPart, MAX_PARTS, type SessionUpdate, type WriteReport } from "./contract.ts";
import { BLOCK, isSameRow, pack, rowOf, unpack } from "./sqlite-rows.ts";
import { putPart, type WriteStatements } from "./sqlite-write-rows.ts";

/**
 * Changes to the text index that the current transaction has not written yet. It writes them after all other rows: SQLite opens
 * a savepoint for each `INSERT OR REPLACE`, and at a savepoint FTS5 flushes the texts so far into a segment of their own.
 */
export type TextChanges = { id: number; text: string; is_replaced: boolean }[];

/** Writes the changes to the text index, and empties them. */
export function writeTexts(statements: WriteStatements, text_changes: TextChanges): void {
  for (const { id, text, is_replaced } of text_changes) {
    if (is_replaced) statements.removeText.run(id);
    if (text !== "") statements.putText.run(id, indexForm(text));
  }
  text_changes.length = 0;
}

/** Writes the parts of a session that differ from their rows and texts. */
export function putParts(
  statements: WriteStatements,
  text_changes: TextChanges,
  { ref, isNew }: { ref: number; isNew: boolean },
  { parts }: SessionUpdate,
  report: WriteReport,
): void {
  const first = parts[0];
  const last = parts.at(-1);
  if (!first || !last) return;
  const base = ref * MAX_PARTS;
  const known = new Map<number, Omit<IndexedPart, "text">>();
  if (!isNew) {
    for (const row of statements.parts.iterate(base + first.seq, base + last.seq + 1)) {
      const part = rowOf(row);
      known.set(part.seq, part);
    }
  }
  /** The block that is being compared or changed. */
  let block = -1;
  let texts: string[] = [];
  let is_changed = false;
  const endBlock = () => {
    if (is_changed) statements.putBlock.run(base + block, pack(texts));
    is_changed = false;
  };
  for (const part of parts) {
    if (part.seq >= MAX_PARTS) break;
    const own_block = part.seq - (part.seq % BLOCK);
    if (own_block !== block) {
      endBlock();
      block = own_block;
      const stored = isNew ? undefined : statements.block.get(base + block);
      texts = stored?.texts instanceof Uint8Array ? unpack(stored.texts) : [];
    }
    const before = known.get(part.seq);
    const text_before = before && texts[part.seq - block];
    if (before && text_before === part.text && isSameRow(before, part)) {
      report.unchanged += 1;
      continue;
    }
    report.written += 1;
    putPart(statements, base, part);
    if (text_before === part.text) continue;
    text_changes.push({ id: base + part.seq, text: part.text, is_replaced: before !== undefined });
    texts[part.seq - block] = part.text;
    is_changed = true;
  }
  endBlock();
}

/**
 * Removes the parts of a session from a position on. Texts in the last block stay: no row refers to them, and the next part at
 * their position replaces them.
 */
export function removePartsFrom(
  statements: WriteStatements,
  text_changes: TextChanges,
  ref: number,
  seq: number,
): void {
  writeTexts(statements, text_changes);
  const from = ref * MAX_PARTS + seq;
  const end = (ref + 1) * MAX_PARTS;
  statements.removeTexts.run(from, end);
  statements.removeParts.run(from, end);
  statements.removeSteps.run(from, end);
  statements.removeBlocks.run(from, end);
}
