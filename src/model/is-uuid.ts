const PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a value is a UUID in its text form: 36 characters, any version, upper or lower case. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && PATTERN.test(value);
}
