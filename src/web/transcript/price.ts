/** `$0.0042`, `$1.27`: US dollars, with more digits for small sums. */
export function price(dollars: number): string {
  if (dollars > 0 && dollars < 0.0001) return "< $0.0001";
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}
