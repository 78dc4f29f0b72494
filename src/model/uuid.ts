import { parse, v5 } from "uuid";
import { isUuid } from "./is-uuid.ts";
import { sha1Start, type Words128 } from "./sha1.ts";

/** The namespace of ids derived from names that are not UUIDs. */
const NAMESPACE = "6d1f5c0e-6f0b-5b0a-9c39-1d2d6f5f3a71";

/**
 * Derives a UUID (version 5) from a name. `namespace`: a UUID, or other text from which one is derived. `rest`: the end of the
 * name, which is not joined to it (see `sha1Start`). Half a surrogate pair counts as U+FFFD, because it has no bytes to hash.
 */
export function uuidFrom(namespace: string, name: string, rest = ""): string {
  if (namespace !== lastNamespace) {
    lastNamespace = namespace;
    prefix = wordsOf(parse(isUuid(namespace) ? namespace : v5(encoder.encode(namespace), NAMESPACE)));
  }
  const [a, b, c, d] = sha1Start(prefix, name, rest);
  writeDigits(hashed, 0, a >>> 16);
  writeDigits(hashed, 4, a);
  writeDigits(hashed, 9, b >>> 16);
  writeDigits(hashed, 14, (b & 0x0fff) | 0x5000);
  writeDigits(hashed, 19, ((c >>> 16) & 0x3fff) | 0x8000);
  writeDigits(hashed, 24, c);
  writeDigits(hashed, 28, d >>> 16);
  writeDigits(hashed, 32, d);
  hashedTail = d;
  hashedText = decoder.decode(hashed);
  return hashedText;
}

function wordsOf(bytes: Uint8Array): Words128 {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  return [view.getInt32(0), view.getInt32(4), view.getInt32(8), view.getInt32(12)];
}

/** Writes the lower 16 bits of a word as four hexadecimal digits. */
function writeDigits(text: Uint8Array, at: number, word: number): void {
  text[at] = DIGITS[(word >>> 12) & 0xf] ?? 0;
  text[at + 1] = DIGITS[(word >>> 8) & 0xf] ?? 0;
  text[at + 2] = DIGITS[(word >>> 4) & 0xf] ?? 0;
  text[at + 3] = DIGITS[word & 0xf] ?? 0;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const DIGITS = encoder.encode("0123456789abcdef");
/** The value of each hexadecimal digit by its character code; -1: no digit. */
const VALUES = new Int8Array(128).fill(-1);
for (const text of ["0123456789abcdef", "0123456789ABCDEF"])
  encoder.encode(text).forEach((code, value) => {
    VALUES[code] = value;
  });
const HYPHEN = 0x2d;
/** The text of the UUID being written, as ASCII: decoding it is faster than joining strings, and the result is flat. */
const hashed = encoder.encode(NAMESPACE);
/** The last id that was derived from a name, and its last eight digits. */
let hashedText: string | undefined;
let hashedTail = 0;
/** The last namespace as words: a whole file is read with the same one. */
let prefix = wordsOf(parse(NAMESPACE));
let lastNamespace = NAMESPACE;

/**
 * Derives a part's id from its index in the message: the index is mixed into the last nine digits of the message's UUID.
 * Multiplication is used instead of a hash, because a session has 100,000 of them. Distinct for every integer index from -2³¹ to
 * 2³¹ - 1, and never equal to the message's id.
 */
export function partId(message_id: string, index: number): string {
  // The parts of a message are handled consecutively.
  if (lastMessage !== message_id) takeMessage(message_id);
  // Each step is reversible, so different indexes stay different. Together they leave no pattern by which an id derived from a
  // derived id could equal the first.
  let mixed = (tail + Math.imul(index, 0x9e3779b1)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  mixed ^= mixed >>> 16;
  writeDigits(part, 28, mixed >>> 16);
  writeDigits(part, 32, mixed);
  return decoder.decode(part);
}

/** The text of the last part id, as ASCII. Begins with that of the last message's id. */
const part = encoder.encode(NAMESPACE);
let lastMessage: string | undefined;
/** The last eight digits of its id. */
let tail = 0;

function takeMessage(message_id: string): void {
  lastMessage = message_id;
  let mark = 0;
  if (message_id === hashedText) {
    // Nearly always: readers derive the id of a message before those of its parts.
    part.set(hashed);
    mark = digitAt(27);
    tail = hashedTail;
  } else if (copyUuid(message_id)) {
    mark = digitAt(27);
    tail = 0;
    for (let at = 28; at < 36; at += 1) tail = (tail << 4) | digitAt(at);
  } else {
    encoder.encodeInto("00000000-0000-8000-8000-000", part);
    mark = digits(message_id.slice(-9, -8));
    tail = digits(message_id.slice(-8));
  }
  part[27] = DIGITS[mark ^ 0x5] ?? 0;
}

/** Copies a text into `part` if it is a UUID. `isUuid` followed by parsing would be several times slower. */
function copyUuid(text: string): boolean {
  if (text.length !== 36) return false;
  for (let at = 0; at < 36; at += 1) {
    const code = text.charCodeAt(at);
    const isHyphen = at === 8 || at === 13 || at === 18 || at === 23;
    if (isHyphen ? code !== HYPHEN : (VALUES[code] ?? -1) < 0) return false;
    part[at] = code;
  }
  return true;
}

/** The value of a hexadecimal digit in `part`. */
function digitAt(at: number): number {
  return VALUES[part[at] ?? 0] ?? 0;
}

function digits(hexadecimal: string): number {
  const value = Number.parseInt(hexadecimal, 16);
  return Number.isNaN(value) ? 0 : value;
}
