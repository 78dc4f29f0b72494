import { v5 } from "uuid";

/** The namespace of ids that Verbatim makes from names which are not UUIDs themselves. */
const NAMESPACE = "6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71";

const PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === "string" && PATTERN.test(value);
}

/**
 * The same name always gives the same UUID (version 5). `namespace` is a UUID, or any other text, which is then made
 * into one first.
 */
export function uuidFrom(namespace: string, name: string): string {
  return v5(name, isUuid(namespace) ? namespace : v5(namespace, NAMESPACE));
}

/**
 * The id of a message's part from its place in the message: the message's UUID with the index mixed into its last eight
 * digits. A multiplication instead of a hash, because a session has 100,000 of them. Distinct for every integer index
 * from -2³¹ to 2³¹ - 2, and never the message's own id.
 */
export function partId(message_id: string, index: number): string {
  const tail = Number.parseInt(message_id.slice(-8), 16);
  const mixed = ((Number.isNaN(tail) ? 0 : tail) ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0;
  // The digit before them says that it is a part's: index -1 mixes in nothing.
  const mark = Number.parseInt(message_id.slice(-9, -8), 16);
  const marked = ((Number.isNaN(mark) ? 0 : mark) ^ 0x5).toString(16);
  const head = isUuid(message_id) ? message_id.slice(0, -9) : "00000000-0000-8000-8000-000";
  return `${head}${marked}${mixed.toString(16).padStart(8, "0")}`;
}
