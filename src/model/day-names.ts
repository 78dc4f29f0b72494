/** The offsets of all time zones are multiples of this. */
const QUARTER_MS = 900_000;

/** The day of a time in a zone, as `2026-09-16`. Throws a `RangeError` for an unknown zone. */
export function createDayNames(zone: string): (at: number) => string {
  // The Swedish locale formats dates as ISO 8601.
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  const known = new Map<number, string>();
  return (at) => {
    const quarter = Math.floor(at / QUARTER_MS);
    const day = known.get(quarter) ?? format.format(quarter * QUARTER_MS);
    known.set(quarter, day);
    return day;
  };
}
