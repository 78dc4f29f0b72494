import { parse, v5 } from "uuid";
import { isUuid } from "./is-uuid.ts";

/** The namespace of ids derived from names that are not UUIDs. */
const NAMESPACE = "6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71";

/**
 * Derives a UUID (version 5) from a name. `namespace`: a UUID, or other text from which one is derived. Half a surrogate pair
 * counts as U+FFFD, because it has no bytes to hash.
 */
export function uuidFrom(namespace: string, name: string): string {
  if (namespace !== lastNamespace) {
    lastNamespace = namespace;
    lastBytes = parse(isUuid(namespace) ? namespace : v5(encoder.encode(namespace), NAMESPACE));
  }
  return v5(encoder.encode(name), lastBytes);
}
const encoder = new TextEncoder();
/** Caches the bytes of the last namespace: a whole file is read with the same one. */
let lastNamespace = NAMESPACE;
let lastBytes = parse(NAMESPACE);

/**
 * Derives a part's id from its index in the message: the index is mixed into the last nine digits of the message's UUID.
 * Multiplication is used instead of a hash, because a session has 100,000 of them. Distinct for every integer index from -2³¹ to
 * 2³¹ - 1, and never equal to the message's id.
 */
export function partId(message_id: string, index: number): string {
  // The parts of a message are handled consecutively.
  if (last.message_id !== message_id) last = takeApart(message_id);
  const { head, mark, tail } = last;
  // Each step is reversible, so different indexes stay different. Together they leave no pattern by which an id derived from a
  // derived id could equal the first.
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
