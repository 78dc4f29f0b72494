import { parse, v5 } from "uuid";
import { isUuid } from "./is-uuid.ts";
import { sha1Start } from "./sha1.ts";

/** The namespace of ids derived from names that are not UUIDs. */
const NAMESPACE = "6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71";

/**
 * Derives a UUID (version 5) from a name. `namespace`: a UUID, or other text from which one is derived. Half a surrogate pair
 * counts as U+FFFD, because it has no bytes to hash.
 */
export function uuidFrom(namespace: string, name: string): string {
  if (namespace !== lastNamespace) {
    lastNamespace = namespace;
    input.set(parse(isUuid(namespace) ? namespace : v5(encoder.encode(namespace), NAMESPACE)));
  }
  const [a, b, c, d] = sha1Start(...message(name));
  const [one, two, three, four] = [
    hexadecimal(a),
    hexadecimal((b & 0xffff0fff) | 0x5000),
    hexadecimal((c & 0x3fffffff) | 0x80000000),
    hexadecimal(d),
  ];
  return `${one}-${two.slice(0, 4)}-${two.slice(4)}-${three.slice(0, 4)}-${three.slice(4)}${four}`;
}

/** What is hashed: the bytes of the namespace, then those of the name. */
function message(name: string): [bytes: Uint8Array, length: number] {
  if (name.length <= MAX_SHORT) {
    let at = 0;
    while (at < name.length) {
      const unit = name.charCodeAt(at);
      if (unit > 0x7f) break;
      input[16 + at] = unit;
      at += 1;
    }
    if (at === name.length) return [input, 16 + at];
  }
  const bytes = encoder.encode(name);
  const whole = new Uint8Array(16 + bytes.length);
  whole.set(input.subarray(0, 16));
  whole.set(bytes, 16);
  return [whole, whole.length];
}

/** Eight hexadecimal digits. `toString` is slow for numbers above 2³¹. */
function hexadecimal(word: number): string {
  return `${pairs[word >>> 24]}${pairs[(word >>> 16) & 0xff]}${pairs[(word >>> 8) & 0xff]}${pairs[word & 0xff]}`;
}
const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const encoder = new TextEncoder();
const MAX_SHORT = 256;
/** Begins with the bytes of the last namespace: a whole file is read with the same one. */
const input = new Uint8Array(16 + MAX_SHORT);
let lastNamespace = NAMESPACE;
input.set(parse(NAMESPACE));

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
  return `${head}${mark}${hexadecimal(mixed ^ (mixed >>> 16))}`;
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
