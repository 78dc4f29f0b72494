import fc from "fast-check";
import { expect, it } from "vitest";
import { type Block, Blocks, isEqual } from "../../src/sources/claude-code/blocks.ts";

const words = fc.record({
  kind: fc.constantFrom<Block["kind"]>("text", "text", "text", "thinking"),
  text: fc.constantFrom("", "a", "a", "ab"),
  signature: fc.constantFrom(undefined, "a"),
});
/** What lines do with the blocks of their step, in any order. */
const action = fc.oneof(
  fc.record({ do: fc.constant("add" as const), words }),
  fc.record({ do: fc.constant("find" as const), words, isNewLine: fc.boolean() }),
  fc.record({ do: fc.constant("change" as const), index: fc.nat(9), more: fc.constantFrom("", "b", "b") }),
);

it("of a step's blocks one that says the same is found as long as its line has not told it, whatever was said and changed before", () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 40, maxLength: 80 }), (actions) => {
      const blocks = new Blocks();
      const all: Block[] = [];
      let toldAt = 0;
      for (const each of actions) {
        switch (each.do) {
          case "add": {
            const block = { ...each.words, part_id: String(all.length), toldAt };
            all.push(block);
            blocks.add(block);
            break;
          }
          case "find": {
            if (each.isNewLine) toldAt += 1;
            const wanted = { ...each.words, toldAt };
            const found = blocks.equalTo(wanted);
            const free = all.filter((block) => isEqual(block, wanted) && block.toldAt !== toldAt);
            expect(found === undefined).toBe(free.length === 0);
            if (found === undefined) break;
            expect(free).toContain(found);
            found.toldAt = toldAt;
            break;
          }
          case "change": {
            const block = all[each.index];
            // A thought without a text is told by its signature: no line makes another of it.
            if (block === undefined || block.text === "") break;
            block.toldAt = toldAt;
            blocks.change(block, block.text + each.more, `${each.index}`);
            expect(block).toMatchObject({ signature: `${each.index}` });
          }
        }
        expect(blocks.last).toBe(all.at(-1));
        expect(blocks.at(0)).toBe(all[0]);
      }
    }),
    { numRuns: 500 },
  );
});
