import { parse, v5 } from "uuid";
import { isUuid } from "./is-uuid.ts";

/** The namespace of ids that Verbatim makes from names which are not UUIDs themselves. */
const NAMESPACE = "6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71";

/**
 * The same name always gives the same UUID (version 5). `namespace` is a UUID, or any other text, which is then made
 * into one first. Half a surrogate pair counts as U+FFFD: it has no bytes to hash.
 */
export function uuidFrom(namespace: string, name: string): string {
  if (namespace !== lastNamespace) {
    lastNamespace = namespace;
    lastBytes = parse(isUuid(namespace) ? namespace : v5(encoder.encode(namespace), NAMESPACE));
  }
  return v5(encoder.encode(name), lastBytes);
}
const encoder = new TextEncoder();
/** Whole files are read with one namespace, so that its bytes are worth keeping. */
let lastNamespace = NAMESPACE;
let lastBytes = parse(NAMESPACE);

/**
 * The id of a message's part from its place in the message: the message's UUID with the index mixed into its last nine
 * digits. A few multiplications instead of a hash, because a session has 100,000 of them. Distinct for every integer
 * index from -2³¹ to 2³¹ - 1, and never the message's own id.
 */
export function partId(message_id: string, index: number): string {
  // A message's parts follow one another.
  if (last.message_id !== message_id) last = takeApart(message_id);
  const { head, mark, tail } = last;
  // Each line is reversible, so different indexes stay different; together they leave no pattern by which an id that is
  // made from a made id could come back to the first.
  let mixed = (tail + Math.imul(index, 0x9e3779b1)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  mixed = (mixed ^ (mixed >>> 16)) >>> 0;
  return `${head}${mark}${mixed.toString(16).padStart(8, "0")}`;
}
let last = takeApart(NAMESPACE);

function takeApart(message_id: string): { message_id: string; head: string; mark: string; tail: number } {
  const tail = digits(message_id.slice(-8));
  const mark = (digits(message_id.slice(-9, -8)) ^ 0x5).toString(16);
  const head = isUuid(message_id) ? message_id.slice(0, -9) : "00000000-0000-8000-8000-000";
  return { message_id, head, mark, tail };
}

function digits(hexadecimal: string): number {
  const value = Number.parseInt(hexadecimal, 16);
  return Number.isNaN(value) ? 0 : value;
}
