import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { changedPositions, emptySequence, sequenceOf, sequenceWithHoles } from "../../src/model/sequence.ts";

// A thousand sessions take a second or two; a busy machine may need many more.
vi.setConfig({ testTimeout: 120_000 });

it("appends, sets and reads as an array does, and leaves every older version as it was", () => {
  fc.assert(
    fc.property(
      fc.nat(2_200),
      fc.array(fc.tuple(fc.nat(), fc.integer()), { maxLength: 60 }),
      (size, changes) => {
        const array = Array.from({ length: size }, (_, index) => index);
        let sequence = sequenceOf(array);
        const first = sequence;
        for (const [pick, value] of changes) {
          const before = sequence;
          if (pick % 3 === 0 || array.length === 0) {
            array.push(value);
            sequence = sequence.append(value);
          } else {
            array[pick % array.length] = value;
            sequence = sequence.set(pick % array.length, value);
          }
          expect(before.length === sequence.length || before.length + 1 === sequence.length).toBe(true);
        }
        expect([...sequence]).toEqual(array);
        expect(sequence.slice(3, size)).toEqual(array.slice(3, size));
        expect(first.slice()).toEqual(Array.from({ length: size }, (_, index) => index));
        const changed = changedPositions(first, sequence);
        expect(changed).toEqual(
          first.slice().flatMap((item, index) => (item === array[index] ? [] : [index])),
        );
      },
    ),
    { numRuns: 300 },
  );
});

it("grows from nothing past every level of its tree", () => {
  let sequence = emptySequence<number>();
  for (let index = 0; index < 40_000; index += 1) sequence = sequence.append(index);
  for (const index of [0, 31, 32, 1_023, 1_024, 32_767, 32_768, 39_999])
    expect(sequence.at(index)).toBe(index);
  expect(sequence.at(40_000)).toBeUndefined();
  expect(sequence.at(-1)).toBeUndefined();
});

it("holds holes that are filled one by one", () => {
  const holes = sequenceWithHoles<string>(100_000);
  const filled = holes.set(70_000, "a").set(5, "b").append("c");
  expect([filled.at(70_000), filled.at(5), filled.at(100_000), filled.at(6)]).toEqual([
    "a",
    "b",
    "c",
    undefined,
  ]);
  expect(changedPositions(holes, filled)).toEqual([5, 70_000]);
  expect(filled.slice(4, 7)).toEqual([undefined, "b", undefined]);
});

it("refuses a position outside, and says where the end is", () => {
  expect(() => sequenceOf([1, 2]).set(2, 3)).toThrow(/Position 2 is outside the sequence: it has 2 items/);
});
