const isMutated = process.env.VERBATIM_MUTATION_FILES !== undefined;

/** At every byte; only at a few while mutants run (`test/mutation`), for which tests must be quick. */
export function everyByte({ length }: Uint8Array): number[] {
  const step = isMutated ? Math.ceil((length + 1) / 4) : 1;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);
}

/** Positions at which a file is split in two: before and after each line end, and at each seventh byte between. */
export function cutsOf(bytes: Uint8Array): number[] {
  const isBorder = (at: number) => bytes[at] === 10 || bytes[at - 1] === 10;
  return everyByte(bytes).filter((at) => isMutated || at % 7 === 0 || at === bytes.length || isBorder(at));
}
