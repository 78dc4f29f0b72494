import { characterEntities } from "character-entities";
import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeNamedCharacterReference } from "../../../src/web/markdown/character-reference.ts";

it("decodes every name of the HTML standard", () => {
  const names = Object.keys(characterEntities);
  expect(names.length).toBe(2_125);
  const decoded = names.map((name) => [name, decodeNamedCharacterReference(name)]);
  expect(Object.fromEntries(decoded)).toEqual(characterEntities);
});

it("decodes no other name, however similar", () => {
  const names = Object.keys(characterEntities);
  const near = fc
    .tuple(fc.constantFrom(...names), fc.stringMatching(/^[a-zA-Z0-9;&<]{0,4}$/), fc.nat(40))
    .map(([name, more, cut]) => name.slice(0, cut) + more);
  fc.assert(
    fc.property(fc.oneof(near, fc.string()), (name) => {
      const expected = Object.hasOwn(characterEntities, name) ? characterEntities[name] : false;
      expect(decodeNamedCharacterReference(name)).toBe(expected);
    }),
    { numRuns: 2_000, examples: [["notit"], ["copycat"], ["constructor"], ["semi;"], ["amp;lt"], [""]] },
  );
});
