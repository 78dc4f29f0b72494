import { t } from "../text/text.ts";
/** `0.4 s`, `12 s`, `3 min 20 s`, `1 h 4 min`, `3 d 2 h`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1_000;
  if (seconds < 0.95) return t.time.seconds(seconds < 0.05 ? "0" : seconds.toFixed(1));
  if (seconds < 9.95) return t.time.seconds(seconds.toFixed(1).replace(/\.0$/, ""));
  if (seconds < 59.5) return t.time.seconds(String(Math.round(seconds)));
  const minutes = Math.floor((seconds + 0.5) / 60);
  if (minutes < 60) {
    const rest = Math.round(seconds - minutes * 60);
    return t.time.minutes(minutes, rest);
  }
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return t.time.hours(hours, minutes % 60);
  return t.time.days(Math.floor(hours / 24), hours % 24);
}
