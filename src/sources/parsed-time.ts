const DAY = /^\d{4}-\d\d-\d\dT$/;
/** The day that was last parsed, as text up to its hours. Consecutive records usually share it. */
let day = "-";
let dayAt = Number.NaN;

/**
 * Like `Date.parse`, which takes a sixth of the time of parsing a record, but faster for the format of most agents,
 * `2026-01-31T12:34:56.789Z`: if the day is the same as in the previous call, only the time is parsed.
 */
export function parsedTime(text: string): number {
  const isUsual =
    text.length === 24 && text[13] === ":" && text[16] === ":" && text[19] === "." && text[23] === "Z";
  if (!isUsual) return Date.parse(text);
  const hours = digits(text, 11, 13);
  const minutes = digits(text, 14, 16);
  const seconds = digits(text, 17, 19);
  const thousandths = digits(text, 20, 23);
  // True for `NaN` too.
  if (!(hours < 24 && minutes < 60 && seconds < 60 && thousandths >= 0)) return Date.parse(text);
  if (!text.startsWith(day)) {
    const start = text.slice(0, 11);
    if (!DAY.test(start)) return Date.parse(text);
    dayAt = Date.parse(`${start}00:00:00.000Z`);
    day = start;
  }
  return dayAt + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + thousandths;
}

/** The number written in `[from, to)`; `NaN` if it contains anything but digits. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
