import { expect, it } from "vitest";
import { createReadQueue } from "../../src/server/import/read-queue.ts";

/** Files by size. `read` blocks on each until it is released. */
function readings(sizes: readonly number[]) {
  const begun: number[] = [];
  const held: (() => void)[] = [];
  const queue = createReadQueue<number>({
    at_once: 3,
    bytes_at_once: 100,
    modifiedAt: (file) => file,
    sizeOf: (file) => sizes[file] ?? 0,
    read(file) {
      begun.push(file);
      return new Promise<void>((resolve) => held.push(resolve));
    },
  });
  for (const file of sizes.keys()) queue.add(file);
  queue.start();
  return { queue, begun, letGo: () => held.shift()?.() };
}

it("reads the newest first, with a limit of concurrent long files", async () => {
  const { queue, begun, letGo } = readings([500, 500, 500, 500, 500]);
  expect(begun).toEqual([4, 3, 2]);
  expect(queue.waiting).toBe(2);
  letGo();
  await expect.poll(() => begun).toEqual([4, 3, 2, 1]);
  expect(queue.idle).toBe(false);
});

it("reads as many short files at a time as their bytes allow", async () => {
  const { queue, begun, letGo } = readings([...Array<number>(20).fill(10)]);
  expect(begun.length).toBe(10);
  expect(queue.waiting).toBe(10);
  letGo();
  await expect.poll(() => begun.length).toBe(11);
});

it("is idle when nothing is queued or being read", async () => {
  const { queue, letGo } = readings([10]);
  expect(queue.idle).toBe(false);
  letGo();
  await expect.poll(() => queue.idle).toBe(true);
});
