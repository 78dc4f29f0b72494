import { describe, expect, it } from "vitest";
import { addItem, itemWithId } from "../../src/sources/recent-items.ts";

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

  it("returns the item of the list, so that changes of it are kept", () => {
    const items: { id: string; length?: number }[] = [];
    addItem(items, { id: "a" }, 2);
    const item = itemWithId(items, "a");
    if (item) item.length = 7;
    expect(items).toEqual([{ id: "a", length: 7 }]);
  });
});
