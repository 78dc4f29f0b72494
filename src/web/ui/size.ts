const whole = new Intl.NumberFormat("en");

/** `1,234,567`: a number in English format. */
export const exactNumber = (value: number): string => whole.format(value);

/** `1 turn`, `2,000 turns` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${exactNumber(count)} ${count === 1 ? one : many}`;

/** `812`, `8.2k`, `1.2M`: a rounded count. */
export function shortNumber(value: number): string {
  const [number, unit] = scaled(value);
  return unit === "K" ? `${number}k` : `${number}${unit}`;
}

function scaled(value: number): [number: string, unit: string] {
  if (value < 1_000) return [String(Math.round(value)), ""];
  const [divisor, unit] =
    value < 999_500 ? [1_000, "K"] : value < 999_500_000 ? [1_000_000, "M"] : [1_000_000_000, "G"];
  const number = value / divisor;
  return [number < 99.95 ? number.toFixed(1).replace(/\.0$/, "") : String(Math.round(number)), unit];
}

/** `1.2 MB`: a length in bytes, or in characters, nearly all of which are single bytes. */
export function byteSize(units: number): string {
  const [number, unit] = scaled(units);
  return `${number} ${unit}B`;
}
