import { shortNumber } from "../ui/size.ts";
import type { TimeUnit } from "./en/page.ts";
import { t } from "./text.ts";

/** Formats numbers and times: short forms for lines, exact forms for tooltips. */
export { exactNumber, shortNumber } from "../ui/size.ts";

/** `1 token`, `8.2k tokens`. */
export const shortTokens = (count: number): string => t.count.shortTokens(count, shortNumber(count));

const UNITS: [milliseconds: number, letter: TimeUnit][] = [
  [86_400_000 * 365, "y"],
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];
/** `4 s`, `12 min`, `3 h`, `5 d`: rounded down to the largest unit. */
export function shortDuration(milliseconds: number): string {
  for (const [unit, letter] of UNITS)
    if (milliseconds >= unit) return t.time.unit(Math.floor(milliseconds / unit), letter);
  return t.time.unit(0, "s");
}
const two = (value: number): string => String(value).padStart(2, "0");
/** `14:03:22`, in the user's time zone. */
export function clockTime(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
/** `2026-09-14` */
export function dayName(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
/** `12 %`: a part of a whole, rounded down, but at least 1 % if it is not 0. */
export function share(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (100 * part) / whole;
  return `${percent > 0 && percent < 1 ? 1 : Math.floor(percent)} %`;
}

export const WEEK = 7 * 86_400_000;
/** `now`, `12 min ago`, or the date if it is older than a week. A time in the future, from another clock, is `now`. */
export function ago(at: number, now: number): string {
  if (now - at < 5_000) return t.time.now;
  return now - at < WEEK ? t.time.ago(shortDuration(now - at)) : dayName(at);
}
/**
 * A time in the session list: `12 min ago` today, `07-16 20:21` this year, otherwise `2025-07-16`. Times of the last hour are
 * always relative, even if they were yesterday.
 */
export function listTime(at: number, now: number): string {
  const [day, today] = [dayName(at), dayName(now)];
  if (day === today || now - at < 3_600_000) return ago(at, now);
  return day.slice(0, 4) === today.slice(0, 4) ? `${day.slice(5)} ${clockTime(at).slice(0, 5)}` : day;
}
/** `2026-09-14 14:03:22`, in the user's time zone. */
export const exactTime = (at: number): string => `${dayName(at)} ${clockTime(at)}`;

/** A short form of a path: its last two segments, or `~` for a home folder. */
export function shortPath(path: string): string {
  const home = path.replace(
    /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\]|$)/,
    "~",
  );
  const names = home.split(/[/\\]/);
  return names.length <= 4 ? home : `…/${names.slice(-2).join("/")}`;
}
