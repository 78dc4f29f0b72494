import { afterEach, expect, it, vi } from "vitest";
import { fileChange } from "../../src/agent/file-change.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const file = (lines: number, changed: (n: number) => boolean = () => false) =>
  Array.from({ length: lines }, (_, n) => `${changed(n) ? "new" : "old"} line ${n}\n`).join("");

it("shows the same change on machines of any speed", () => {
  let now = 0;
  vi.spyOn(Date, "now").mockImplementation(() => {
    now += 1_000;
    return now;
  });
  const change = fileChange(
    "a",
    file(4_000),
    file(4_000, (n) => n % 10 === 0),
  );
  expect(change).toMatchObject({ additions: 400, deletions: 400 });
});

it("shows a change of more than a thousand lines as removing and adding all lines", () => {
  const most = fileChange(
    "a",
    file(2_000),
    file(2_000, (n) => n < 500),
  );
  expect(most).toMatchObject({ additions: 500, deletions: 500 });
  const more = fileChange(
    "a",
    file(2_000),
    file(2_000, (n) => n <= 500),
  );
  expect(more).toMatchObject({ additions: 2_000, deletions: 2_000 });
  expect(more.hunks).toHaveLength(1);
});
