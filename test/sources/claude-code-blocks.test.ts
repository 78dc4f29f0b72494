import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type Block,
  Blocks,
  contentOf,
  continues,
  isEqual,
  wasOf,
} from "../../src/sources/claude-code/blocks.ts";
import { MAX_BLOCKS } from "../../src/sources/claude-code/memory.ts";

const words = fc.record({
  kind: fc.constantFrom<Block["kind"]>("text", "text", "text", "thinking"),
  text: fc.constantFrom("", "a", "a", "ab"),
  signature: fc.constantFrom(undefined, "a"),
});
/** Operations of lines on the blocks of their step, in any order. */
const action = fc.oneof(
  fc.record({ do: fc.constant("add" as const), words }),
  fc.record({ do: fc.constant("find" as const), words, isNewLine: fc.boolean() }),
  fc.record({ do: fc.constant("change" as const), index: fc.nat(9), more: fc.constantFrom("", "b", "b") }),
);

it("finds an equal block of a step until its line has shown it, regardless of earlier blocks and changes", () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 40, maxLength: 80 }), (actions) => {
      const blocks = new Blocks();
      const all: Block[] = [];
      const texts = new Map<Block, string>();
      let recordedAt = 0;
      for (const each of actions) {
        switch (each.do) {
          case "add": {
            const { kind, text, signature } = each.words;
            const block = blocks.add(contentOf(kind, text, signature, recordedAt), String(all.length));
            all.push(block);
            texts.set(block, text);
            break;
          }
          case "find": {
            if (each.isNewLine) recordedAt += 1;
            const { kind, text, signature } = each.words;
            const wanted = contentOf(kind, text, signature, recordedAt);
            const found = blocks.equalTo(wanted);
            const free = all.filter((block) => isEqual(block, wanted) && block.recordedAt !== recordedAt);
            for (const block of free) expect(texts.get(block)).toBe(text);
            expect(found === undefined).toBe(free.length === 0);
            if (found === undefined) break;
            expect(free).toContain(found);
            found.recordedAt = recordedAt;
            break;
          }
          case "change": {
            const block = all[each.index];
            // A thought without text is identified by its signature, which no line changes.
            const before = block && texts.get(block);
            if (block === undefined || before === undefined || before === "") break;
            block.recordedAt = recordedAt;
            const changed = contentOf(block.kind, before + each.more, `${each.index}`, recordedAt);
            expect(continues(changed.text, block)).toBe(true);
            blocks.change(block, changed);
            texts.set(block, changed.text);
            expect(block.signature).toBe(changed.signature);
            expect(wasOf(contentOf(block.kind, before, undefined, recordedAt), block)).toBe(true);
          }
        }
        expect(blocks.last).toBe(all.at(-1));
        expect(blocks.at(0)).toBe(all[0]);
      }
    }),
    { numRuns: 500 },
  );
});

it("remembers the newest blocks of a step, with their positions", () => {
  const blocks = new Blocks();
  const all = Array.from({ length: MAX_BLOCKS + 10 }, (_, n) =>
    blocks.add(contentOf("text", `text ${n}`, undefined, n), String(n)),
  );
  expect(blocks.at(9)).toBeUndefined();
  expect(blocks.at(10)).toBe(all[10]);
  expect(blocks.equalTo(contentOf("text", "text 9", undefined, 100))).toBeUndefined();
  expect(blocks.equalTo(contentOf("text", "text 10", undefined, 100))).toBe(all[10]);
});

it("recognizes any prefix of a text until the next step, and then only its former values", () => {
  const blocks = new Blocks();
  const block = blocks.add(contentOf("text", "one", undefined, 0), "0");
  blocks.change(block, contentOf("text", "one two", undefined, 1));
  const isOf = (text: string) => wasOf(contentOf("text", text, undefined, 2), block);
  expect(["one two", "one", "on", "two"].map(isOf)).toEqual([true, true, true, false]);
  blocks.forgetTexts();
  expect(["one two", "one", "on", "two"].map(isOf)).toEqual([true, true, false, false]);
});
