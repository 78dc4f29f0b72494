import { describe, expect, it } from "vitest";
import { addName, hasName, takeNames } from "../../src/sources/recent-names.ts";

describe("recent names", () => {
  it("keeps the newest names and finds only these", () => {
    const names: string[] = [];
    for (const name of ["a", "b", "c"]) addName(names, name, 2);
    expect(names).toEqual(["b", "c"]);
    expect(["a", "b", "c"].map((name) => hasName(names, name))).toEqual([false, true, true]);
  });

  it("does not find names that were taken", () => {
    const names: string[] = [];
    for (const name of ["a", "b", "c"]) addName(names, name, 10);
    expect(takeNames(names, 1)).toEqual(["b", "c"]);
    expect(names).toEqual(["a"]);
    expect(["a", "b", "c"].map((name) => hasName(names, name))).toEqual([true, false, false]);
    addName(names, "b", 10);
    expect(hasName(names, "b")).toBe(true);
  });

  it("finds the names of a list that was saved", () => {
    const names: string[] = JSON.parse(JSON.stringify(["a", "b"]));
    expect(hasName(names, "b")).toBe(true);
    addName(names, "c", 2);
    expect(["a", "b", "c"].map((name) => hasName(names, name))).toEqual([false, true, true]);
  });
});
