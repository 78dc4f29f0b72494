const isMutated = process.env.VERBATIM_MUTATION_FILES !== undefined;

/** At every byte. While mutants run (`test/mutation`), each of which the tests must notice within a moment, at a few only. */
export function everyByte({ length }: Uint8Array): number[] {
  const step = isMutated ? Math.ceil((length + 1) / 4) : 1;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);
}

/** Where a file is cut into two: before and behind each line's end, and at each seventh byte between. */
export function cutsOf(bytes: Uint8Array): number[] {
  const isBorder = (at: number) => bytes[at] === 10 || bytes[at - 1] === 10;
  return everyByte(bytes).filter((at) => isMutated || at % 7 === 0 || at === bytes.length || isBorder(at));
}
