import fc from "fast-check";
import { expect, test } from "vitest";
import { createRowHeights, evenRowHeights } from "../../src/web/virtual-list/row-heights.ts";

const sum = (heights: readonly number[]): number => heights.reduce((total, height) => total + height, 0);

test("tops, totals and the row at an offset equal those of a plain list, after any changes", () => {
  const change = fc.oneof(
    fc.record({ do: fc.constant("append" as const), height: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ do: fc.constant("set" as const), at: fc.nat(200), height: fc.integer({ min: 0, max: 50 }) }),
  );
  const height = fc.integer({ min: 0, max: 50 });
  const initial = fc.oneof(
    fc.array(height).map((plain) => ({ plain, make: () => createRowHeights(plain) })),
    fc.tuple(fc.nat(100), height).map(([length, even]) => ({
      plain: new Array<number>(length).fill(even),
      make: () => evenRowHeights(length, even),
    })),
  );
  fc.assert(
    fc.property(initial, fc.array(change), ({ plain: before, make }, changes) => {
      const plain = [...before];
      const rows = make();
      for (const step of changes) {
        if (step.do === "append") {
          plain.push(step.height);
          rows.append(step.height);
        } else if (step.at < plain.length) {
          plain[step.at] = step.height;
          rows.set(step.at, step.height);
        }
      }
      expect(rows.length).toBe(plain.length);
      expect(rows.total).toBe(sum(plain));
      for (let index = 0; index <= plain.length; index += 1)
        expect(rows.top(index)).toBe(sum(plain.slice(0, index)));
      for (let offset = 0; offset < sum(plain); offset += 7) {
        const found = rows.at(offset);
        expect(rows.top(found)).toBeLessThanOrEqual(offset);
        expect(rows.top(found + 1)).toBeGreaterThan(offset);
      }
    }),
    { numRuns: 300 },
  );
});

test("a missing row cannot be set", () => {
  expect(() => createRowHeights([1, 2]).set(2, 5)).toThrow("No row 2: the list has 2.");
});

test("an offset past the end returns the last row with a height", () => {
  expect(createRowHeights([10, 20, 0]).at(1_000)).toBe(1);
  expect(createRowHeights([]).at(0)).toBe(-1);
});
