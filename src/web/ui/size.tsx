import type { ReactNode } from "react";

const whole = new Intl.NumberFormat("en");

/** `1,234,567`, by English rules. */
export const exactNumber = (value: number): string => whole.format(value);

/** `1 turn`, `2,000 turns` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${exactNumber(count)} ${count === 1 ? one : many}`;

/** `812`, `8.2k`, `1.2M`: a count as a person reads it. */
export function shortNumber(value: number): string {
  const [number, unit] = scaled(value);
  return unit === "K" ? `${number}k` : `${number}${unit}`;
}

/** `1 token`, `8.2k tokens`. */
export const shortTokens = (count: number): string =>
  `${shortNumber(count)} ${count === 1 ? "token" : "tokens"}`;

function scaled(value: number): [number: string, unit: string] {
  if (value < 1_000) return [String(Math.round(value)), ""];
  const [divisor, unit] =
    value < 999_500 ? [1_000, "K"] : value < 999_500_000 ? [1_000_000, "M"] : [1_000_000_000, "G"];
  const number = value / divisor;
  return [number < 99.95 ? number.toFixed(1).replace(/\.0$/, "") : String(Math.round(number)), unit];
}

/** A length in bytes or, for text, in characters, which are as many bytes in nearly all output: `1.2 MB`. */
export function byteSize(units: number): string {
  const [number, unit] = scaled(units);
  return `${number} ${unit}B`;
}

export function Measure({ units }: { units: number }): ReactNode {
  return byteSize(units);
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `1 h 4 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1_000;
  if (seconds < 0.95) return seconds < 0.05 ? "0 s" : `${seconds.toFixed(1)} s`;
  if (seconds < 9.95) return `${seconds.toFixed(1).replace(/\.0$/, "")} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.floor((seconds + 0.5) / 60);
  if (minutes < 60) {
    const rest = Math.round(seconds - minutes * 60);
    return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`;
  }
  const rest = minutes % 60;
  return rest > 0 ? `${Math.floor(minutes / 60)} h ${rest} min` : `${Math.floor(minutes / 60)} h`;
}
