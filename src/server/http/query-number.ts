/** Parses a position or count in a URL; `undefined`: not a number. */
export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
