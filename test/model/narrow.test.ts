import { expect, it } from "vitest";
import { asArray, asNumber, asObject, asString, asStrings, asText } from "../../src/model/narrow.ts";

const values = [
  undefined,
  null,
  0,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  "",
  " ",
  "a",
  true,
  [],
  [1],
  {},
];

it("narrows foreign JSON, and returns nothing for other types", () => {
  const kept = (narrow: (value: unknown) => unknown) => values.filter((value) => narrow(value) === value);
  expect(kept(asObject)).toEqual([undefined, {}]);
  expect(kept(asString)).toEqual([undefined, "", " ", "a"]);
  expect(kept(asText)).toEqual([undefined, "a"]);
  expect(kept(asNumber)).toEqual([undefined, 0, 1.5]);
  expect(kept(asArray)).toEqual([[], [1]]);
  for (const narrow of [asObject, asString, asText, asNumber]) {
    for (const value of values) expect([value, undefined]).toContain(narrow(value));
  }
  for (const value of values) if (!Array.isArray(value)) expect(asArray(value)).toEqual([]);
  expect(asStrings(["a", 1, "", null, "b"])).toEqual(["a", "", "b"]);
  expect(asStrings("ab")).toEqual([]);
});
