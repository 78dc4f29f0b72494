/**
 * Where a file of this many bytes is cut into two: at every byte. While mutants run (`test/mutation`), each of which the
 * tests must notice within a moment, at a few bytes only.
 */
export function cutsOf(size: number): number[] {
  const step = process.env.VERBATIM_MUTATION_FILES === undefined ? 1 : Math.ceil((size + 1) / 4);
  const cuts: number[] = [];
  for (let cut = 0; cut <= size; cut += step) cuts.push(cut);
  return cuts;
}
