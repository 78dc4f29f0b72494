import { describe, expect, it } from "vitest";
import { addItem, hasItem, itemWithId, takeItems } from "../../src/sources/recent-items.ts";

const idsFound = (items: { id: string }[], ids: string) =>
  [...ids].flatMap((id) => itemWithId(items, id)?.id ?? []).join("");

describe("recent items", () => {
  it("keeps the newest items and finds only these", () => {
    const items: { id: string }[] = [];
    for (const id of "abcde") addItem(items, { id }, 3);
    expect(items.map(({ id }) => id).join("")).toBe("cde");
    expect(idsFound(items, "abcdef")).toBe("cde");
  });

  it("finds the items of a list that was saved", () => {
    const items: { id: string }[] = JSON.parse('[{"id":"a"},{"id":"b"}]');
    expect(idsFound(items, "abc")).toBe("ab");
    addItem(items, { id: "c" }, 2);
    expect(idsFound(items, "abc")).toBe("bc");
  });

  it("can be names", () => {
    const names: string[] = JSON.parse('["a","b"]');
    for (const name of "cd") addItem(names, name, 3);
    expect([..."abcd"].filter((name) => hasItem(names, name)).join("")).toBe("bcd");
    expect(itemWithId(names, "d")).toBe("d");
  });

  it("does not find items that were taken", () => {
    const names = [..."abc"];
    addItem(names, "d", 3);
    expect(takeItems(names, 1)).toEqual(["c", "d"]);
    expect(names).toEqual(["b"]);
    expect([..."bcd"].filter((name) => hasItem(names, name)).join("")).toBe("b");
    addItem(names, "c", 3);
    expect(itemWithId(names, "c")).toBe("c");
  });

  it("returns the item of the list, so that changes of it are kept", () => {
    const items: { id: string; length?: number }[] = [];
    addItem(items, { id: "a" }, 2);
    const item = itemWithId(items, "a");
    if (item) item.length = 7;
    expect(items).toEqual([{ id: "a", length: 7 }]);
  });
});
