import fc from "fast-check";
import { v5 } from "uuid";
import { expect, it } from "vitest";
import { partId, uuidFrom } from "../../src/model/uuid.ts";
import { anyCharacter } from "../any-character.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

it("derives the UUID of version 5 from a name of any length in a namespace", () => {
  const name = fc.oneof(
    fc.string({ maxLength: 600 }),
    fc.string({ unit: anyCharacter, maxLength: 300 }),
    fc.nat(600).map((length) => "x".repeat(length)),
  );
  fc.assert(
    fc.property(fc.uuid(), fc.array(name, { minLength: 1, maxLength: 4 }), (namespace, names) => {
      for (const each of names) expect(uuidFrom(namespace, each)).toBe(v5(bytesOf(each), namespace));
    }),
    { numRuns: 300 },
  );
});

it.each(Array.from({ length: 140 }, (_, length) => length))("pads a name of %i bytes", (length) => {
  const namespace = "6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71";
  expect(uuidFrom(namespace, "a".repeat(length))).toBe(v5("a".repeat(length), namespace));
});

it("takes any text for a namespace, and half a surrogate pair for U+FFFD", () => {
  expect(uuidFrom("a path", "x")).toBe(
    uuidFrom(uuidFrom("6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71", "a path"), "x"),
  );
  expect(uuidFrom("a path", "\ud800")).toBe(uuidFrom("a path", "\ufffd"));
});

it("takes a name in two pieces for the same name", () => {
  const piece = fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: anyCharacter, maxLength: 40 }));
  fc.assert(
    fc.property(fc.uuid(), piece, piece, (namespace, name, rest) => {
      expect(uuidFrom(namespace, name, rest)).toBe(uuidFrom(namespace, name + rest));
    }),
    { numRuns: 300 },
  );
});

it("derives the same part ids from a message's id wherever that comes from", () => {
  const namespace = "6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71";
  const ofDerived = Array.from({ length: 200 }, (_, index) => {
    const message_id = uuidFrom(namespace, `record:${index}`);
    return { message_id, part_ids: [partId(message_id, 0), partId(message_id, 1)] };
  });
  for (const { message_id, part_ids } of ofDerived)
    expect([partId(message_id, 0), partId(message_id, 1)]).toEqual(part_ids);
});
