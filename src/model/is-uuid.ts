const PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether this is a UUID as it is written: 36 characters, of whatever version, in either case. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && PATTERN.test(value);
}
