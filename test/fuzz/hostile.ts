import fc from "fast-check";
import { formats } from "../../src/sources/index.ts";
import { payloads, stringPaths, withHostile } from "../sources/hostile.ts";
import { encode, joined, recordIn, sourceFixtures } from "../sources/source-fixtures.ts";
import { type Damage, damaged, damages } from "./damage.ts";
import { expectRead } from "./readers.ts";
import { type TargetList, target } from "./target.ts";

/** Longer payloads would leave time for few cases. In UTF-16 code units of JSON. */
const LONGEST = 20_000;
const short = payloads.filter(({ value }) => JSON.stringify(value).length <= LONGEST);

/** Verbatim writes record logs itself, each entry in its place. Only a disk damages them. */
const ON_DISK: ReadonlySet<Damage["kind"]> = new Set(["lose", "join", "tear", "insert", "flip"]);

/** A session of each source with hostile values in some of its strings, and often damaged too. */
export const hostileTargets: TargetList = (watch) =>
  formats.map((format) => {
    const files = sourceFixtures.filter((file) => file.format === format);
    const places = files.map(({ lines }) =>
      lines.flatMap((line, index) => stringPaths(recordIn(line)).map((path) => ({ index, path }))),
    );
    const changes = fc.array(fc.record({ at: fc.nat(9_999), payload: fc.constantFrom(...short) }), {
      minLength: 1,
      maxLength: 4,
    });
    const input = fc.record({
      file: fc.nat(Math.max(0, files.length - 1)),
      changes,
      damage: fc.oneof(fc.constant<Damage[]>([]), damages),
      cuts: fc.array(fc.nat(200_000), { maxLength: 4 }),
    });
    return target(watch, `hostile ${format.id}`, input, ({ file, changes: all, damage, cuts }) => {
      const isLog = files[file]?.isLog === true;
      let lines = files[file]?.lines ?? [];
      const known = places[file] ?? [];
      for (const { at, payload } of all) {
        const place = known[at % Math.max(1, known.length)];
        if (place !== undefined) lines = withHostile(lines, place.index, place.path, payload.value);
      }
      // A log without its header is not a log.
      const header = isLog ? lines.slice(0, 1) : [];
      const applied = isLog ? damage.filter(({ kind }) => ON_DISK.has(kind)) : damage;
      const rest = encode(damaged(lines.slice(header.length), applied));
      expectRead(format, Buffer.concat([joined(header), rest]), cuts);
    });
  });
