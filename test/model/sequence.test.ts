import fc from "fast-check";
import { expect, it, vi } from "vitest";
import {
  changedPositions,
  emptySequence,
  loadedItems,
  sequenceOf,
  sparseSequence,
} from "../../src/model/transcript/sequence.ts";

// A thousand sessions take a second or two, but much longer on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

it("appends, sets and reads like an array, without changing older versions", () => {
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

it("grows from empty past every level of its tree", () => {
  let sequence = emptySequence<number>();
  for (let index = 0; index < 40_000; index += 1) sequence = sequence.append(index);
  for (const index of [0, 31, 32, 1_023, 1_024, 32_767, 32_768, 39_999])
    expect(sequence.at(index)).toBe(index);
  expect(sequence.at(40_000)).toBeUndefined();
  expect(sequence.at(-1)).toBeUndefined();
});

it("has empty positions that are filled one by one", () => {
  const holes = sparseSequence<string>(100_000);
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

it("lists its items with their positions, without the empty ones", () => {
  fc.assert(
    fc.property(
      fc.nat(70_000),
      fc.array(fc.tuple(fc.nat(), fc.integer()), { maxLength: 40 }),
      (length, items) => {
        let sequence = sparseSequence<number>(length);
        for (const [pick, item] of items) if (length > 0) sequence = sequence.set(pick % length, item);
        const appended = sequence.append(7);
        const expected = [...appended].flatMap((item, index) => (item === undefined ? [] : [[index, item]]));
        expect([...loadedItems(appended)]).toEqual(expected);
      },
    ),
    { numRuns: 50 },
  );
});

it("rejects a position outside, with the length", () => {
  expect(() => sequenceOf([1, 2]).set(2, 3)).toThrow(/Position 2 is outside the sequence: it has 2 items/);
});

it("has nothing at an invalid position, and sets nothing there", () => {
  const sequence = sequenceOf([1, 2, 3]);
  for (const position of [-1, 3, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32]) {
    expect(sequence.at(position)).toBeUndefined();
    expect(() => sequence.set(position, 9)).toThrow(RangeError);
  }
  // The tree has more room than the sequence is long.
  expect(sequenceOf([1, 2, 3]).append(4).at(4)).toBeUndefined();
  expect(sequence.slice(-5, 99)).toEqual([1, 2, 3]);
  expect(sequence.slice(2, 1)).toEqual([]);
});

it("finds changes between versions of different heights, in both directions", () => {
  for (const [small, large] of [
    [20, 40],
    [32, 33],
    [20, 1_100],
    [1_024, 1_025],
    [1_000, 40_000],
  ] as const) {
    const before = sequenceOf(Array.from({ length: small }, (_, index) => index));
    let after = before;
    for (let index = small; index < large; index += 1) after = after.append(index);
    expect(changedPositions(before, after)).toEqual([]);
    const changed = after
      .set(3, -1)
      .set(small - 1, -1)
      .set(large - 1, -1);
    expect(changedPositions(before, changed)).toEqual([3, small - 1]);
    expect(changedPositions(changed, before)).toEqual([3, small - 1]);
    expect(changedPositions(sparseSequence<number>(large), before)).toHaveLength(small);
    expect(changedPositions(before, sparseSequence<number>(large))).toHaveLength(small);
  }
  expect(changedPositions(sparseSequence<number>(5), sparseSequence<number>(3_000))).toEqual([]);
});

it("fills its leaves completely", () => {
  for (const length of [0, 1, 31, 32, 33, 1_023, 1_024, 1_025, 32_768, 32_769]) {
    const items = Array.from({ length }, (_, index) => index);
    const sequence = sequenceOf(items);
    expect([...sequence]).toEqual(items);
    expect(sequence.append(-1).at(length)).toBe(-1);
    expect([...sequence.append(-1)]).toEqual([...items, -1]);
    expect(sparseSequence<number>(length).append(-1).slice()).toEqual([
      ...Array.from({ length }, () => undefined),
      -1,
    ]);
  }
});
