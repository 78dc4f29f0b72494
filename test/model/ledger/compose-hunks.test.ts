import { structuredPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeHunks } from "../../../src/model/ledger/compose-hunks.ts";
import type { DiffHunk } from "../../../src/model/parts/ui-extra.ts";

/** The hunks between two texts. `like_git`: an empty side names the line before it, not the one after it. */
function hunksBetween(
  before: readonly string[],
  after: readonly string[],
  context: number,
  like_git = false,
): DiffHunk[] {
  const startOf = (start: number, count: number) => (like_git && count === 0 ? start - 1 : start);
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  return structuredPatch("f", "f", text(before), text(after), "", "", { context }).hunks.map(
    ({ oldStart, oldLines, newStart, newLines, lines }) => ({
      old_start: startOf(oldStart, oldLines),
      old_lines: oldLines,
      new_start: startOf(newStart, newLines),
      new_lines: newLines,
      lines,
    }),
  );
}

/** The lines with the hunks applied. Throws if a hunk does not fit. */
function applied(before: readonly string[], hunks: readonly DiffHunk[]): string[] {
  const after: string[] = [];
  let read = 0;
  for (const { old_start, old_lines, new_start, new_lines, lines } of hunks) {
    const start = old_lines === 0 ? old_start : old_start - 1;
    after.push(...before.slice(read, start));
    read = start;
    expect(after.length).toBe(new_lines === 0 ? new_start : new_start - 1);
    for (const line of lines) {
      if (!line.startsWith("+")) expect(before[read]).toBe(line.slice(1));
      if (!line.startsWith("+")) read += 1;
      if (!line.startsWith("-")) after.push(line.slice(1));
    }
    expect(read - start).toBe(old_lines);
  }
  return [...after, ...before.slice(read)];
}

const texts = fc.array(fc.array(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), { maxLength: 30 }), {
  minLength: 2,
  maxLength: 6,
});

describe("composed diffs", () => {
  it("lead from the original to the final text", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(0, 1, 3), fc.boolean(), (versions, context, like_git) => {
        const edits = versions
          .slice(1)
          .map((after, at) => hunksBetween(versions[at] ?? [], after, context, like_git));
        const net = composeHunks(edits);
        expect(net).toBeDefined();
        expect(applied(versions[0] ?? [], net ?? [])).toEqual(versions.at(-1));
      }),
      { numRuns: 500 },
    );
  });

  it("are empty if a change was reverted", () => {
    const before = ["one", "two", "three"];
    const after = ["one", "TWO", "three", "four"];
    expect(composeHunks([hunksBetween(before, after, 3), hunksBetween(after, before, 3)])).toEqual([]);
  });

  it("contain the whole text of a created file", () => {
    const edits = [hunksBetween([], ["a", "b"], 3), hunksBetween(["a", "b"], ["a", "x", "b"], 3)];
    expect(composeHunks(edits, { isNew: true })).toEqual([
      { old_start: 0, old_lines: 0, new_start: 1, new_lines: 3, lines: ["+a", "+x", "+b"] },
    ]);
  });

  it("do not exist if a diff has no position or does not apply", () => {
    const hunk = { old_start: 2, old_lines: 1, new_start: 2, new_lines: 1, lines: ["-two", "+TWO"] };
    expect(composeHunks([[{ ...hunk, old_start: 0, new_start: 0 }]])).toBeUndefined();
    expect(composeHunks([[hunk], [{ ...hunk, lines: ["-three", "+x"] }]])).toBeUndefined();
    expect(composeHunks([[hunk]], { isNew: true })).toBeUndefined();
  });
});
