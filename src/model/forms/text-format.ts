/** Formats of text that a form can ask for. */
const FORMATS = {
  email: "An email address",
  uri: "An address like https://example.org",
  date: "A date like 2026-01-31",
  "date-time": "A date and time like 2026-01-31T12:00:00Z",
} as const;
export type TextFormat = keyof typeof FORMATS;

export const isKnownFormat = (format: unknown): format is TextFormat =>
  typeof format === "string" && Object.hasOwn(FORMATS, format);

/** What a text of this format is, for a person. */
export const nameOfFormat = (format: TextFormat): string => FORMATS[format];

/** Whether a text has a format. Of an email address, only what every address has is checked. */
export function hasFormat(text: string, format: TextFormat): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text);
    case "uri":
      return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text);
    case "date":
      return /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text);
    case "date-time":
      return (
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text) &&
        isDay(text.slice(0, 10)) &&
        !Number.isNaN(Date.parse(text))
      );
    default:
      return format satisfies never;
  }
}

/** Whether the month has the day: `Date.parse` takes 31 February for a day in March. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
