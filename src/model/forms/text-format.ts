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

/** The name of a format, for display. */
export const nameOfFormat = (format: TextFormat): string => FORMATS[format];

/** Whether a text has a format. For email addresses, checks only what all addresses have in common. */
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

/** Whether the date exists: `Date.parse` accepts 31 February as a day in March. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
