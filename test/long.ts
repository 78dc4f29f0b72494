/** `npm run test:long` runs suites with two figures with the larger one. */
export const LONG = process.env.VERBATIM_LONG === "1";

/** Number of repetitions: few in `npm test`, the full number in `npm run test:long`. */
export const times = (few: number, promised: number): number => (LONG ? promised : few);
