/** `npm run test:long` runs the suites that name both figures with the larger one. */
export const LONG = process.env.VERBATIM_LONG === "1";

/** How often something is tried: few times in `npm test`, as often as promised in `npm run test:long`. */
export const times = (few: number, promised: number): number => (LONG ? promised : few);
