import fc from "fast-check";
import { expect, test } from "vitest";
import { emptySummary } from "../../src/model/transcript/summarize.ts";
import { createChangeLog } from "../../src/server/live/change-log.ts";
import { uuidOf } from "../uuid-of.ts";

test("applying the changes after any kept change gives the current list, with each session changed at most once", () => {
  const MOST = 6;
  const ids = ["a", "b", "c", "d"].map(uuidOf);
  const one = fc.record({ id: fc.constantFrom(...ids), turns: fc.option(fc.nat(9), { nil: undefined }) });
  const change = fc.uniqueArray(one, { selector: ({ id }) => id, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const kept = createChangeLog(MOST);
      const lists: Map<string, number>[] = [new Map()];
      for (const [at, told] of changes.entries()) {
        kept.add({
          seq: at + 1,
          changed: told.flatMap(({ id, turns }) =>
            turns === undefined ? [] : [{ ...emptySummary(id, "agent", 0), turns }],
          ),
          removed: told.flatMap(({ id, turns }) => (turns === undefined ? [id] : [])),
        });
        const list = new Map(lists.at(-1));
        for (const { id, turns } of told) turns === undefined ? list.delete(id) : list.set(id, turns);
        lists.push(list);
      }
      for (const [seq, before] of lists.entries()) {
        const missed = kept.after(seq);
        // After the last change nothing is missing, which the channel knows by its number.
        if (seq === changes.length || changes.length - seq > MOST) {
          expect(missed).toBeUndefined();
          continue;
        }
        expect(missed?.map((each) => each.seq)).toEqual(
          Array.from({ length: changes.length - seq }, (_, at) => seq + at + 1),
        );
        const list = new Map(before);
        const named: string[] = [];
        for (const { changed, removed } of missed ?? []) {
          for (const { id, turns } of changed) list.set(id, turns);
          for (const id of removed) list.delete(id);
          named.push(...changed.map(({ id }) => id), ...removed);
        }
        expect(list).toEqual(lists.at(-1));
        expect(named.length).toBe(new Set(named).size);
      }
    }),
  );
});
