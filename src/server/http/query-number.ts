/** A number in an address: a position or a count; `undefined`: it is none. */
export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
