import fc from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any Unicode character. fast-check's unit "binary" generates the same ones, but first builds a table of a million of them, which
 * takes a second of CPU in each process and thread.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10ffff - SURROGATES)
  .map((code) => String.fromCodePoint(code < FIRST_SURROGATE ? code : code + SURROGATES));
