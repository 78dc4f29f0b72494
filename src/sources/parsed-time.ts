const MINUTE = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:/;
/** The minute that was last parsed, as text up to its seconds. Consecutive records usually share it. */
let minute = "-";
let minuteAt = Number.NaN;

/**
 * Like `Date.parse`, which takes a sixth of the time of parsing a record, but faster for the format of most agents,
 * `2026-01-31T12:34:56.789Z`: if the minute is the same as in the previous call, only the seconds are parsed.
 */
export function parsedTime(text: string): number {
  if (text.length !== 24 || !text.endsWith("Z") || text[19] !== ".") return Date.parse(text);
  const seconds = digits(text, 17, 19);
  const thousandths = digits(text, 20, 23);
  // True for `NaN` too.
  if (!(seconds < 60 && thousandths >= 0)) return Date.parse(text);
  if (!text.startsWith(minute)) {
    if (!MINUTE.test(text)) return Date.parse(text);
    minute = text.slice(0, 17);
    minuteAt = Date.parse(`${minute}00.000Z`);
  }
  return minuteAt + seconds * 1_000 + thousandths;
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
