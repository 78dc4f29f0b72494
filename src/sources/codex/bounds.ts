/*
 * The state that a reader keeps of a thread is bounded, so that it fits into a checkpoint (`MAX_CHECKPOINT`) however long the
 * thread is. One rule applies to all of it: the newest entries are kept, up to a number of entries and of bytes.
 *
 * | kept                                     | KB  | beyond                                                        |
 * |------------------------------------------|-----|---------------------------------------------------------------|
 * | calls: arguments, facts, output          | 104 | an evicted call keeps the result that it had                  |
 * | ids of evicted calls                     |  16 | a fact about an older call is shown as a separate call        |
 * | ids of turns                             |  12 | a roll-back of more turns retracts only these                 |
 * | the model's outputs in the turn          |  32 | a copy of an older output is shown again                      |
 * | prompts and commands without an answer   |  24 | a copy of an older prompt is shown again                      |
 * | a thought that events report in pieces   |  12 | the next piece begins another thought                         |
 * | runs that calls started                  |  28 | an older run is linked to the session, but not to the call    |
 * | commands in the background               |   6 | input to an older command does not name it                    |
 *
 * One call that is larger than that is kept in addition while it waits for its output (see call-table.ts). Until then, there is no
 * checkpoint.
 */

/** Upper bound of the size of a value's JSON, in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  const json = JSON.stringify(value);
  return hasOnlyAscii(json) ? json.length : json.length * 3;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them.
const hasOnlyAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

/** Maximum length of a text that is its own key. */
const MAX_PLAIN = 64;

/**
 * The key by which a text is recognized: the text itself if it is short, otherwise its length and two hashes of 32 bits. They
 * need not resist forgery, which could only hide a copy of the forger's own text.
 */
export function keyOfText(text: string): string {
  if (text.length <= MAX_PLAIN) return text;
  if (text !== lastText) {
    lastText = text;
    lastKey = hashed(text);
  }
  return lastKey;
}
/** Several logs contain the same text consecutively. */
let lastText = "";
let lastKey = "";

/**
 * Four independent sums, each over every fourth unit, so that the CPU can compute them in parallel. All are signed 32-bit
 * integers.
 */
function hashed(text: string): string {
  let a = 0x011c9dc5;
  let b = 0x01000193;
  let c = 0x27d4eb2f;
  let d = 0x165667b1;
  const { length } = text;
  const whole = length - (length % 4);
  for (let at = 0; at < whole; at += 4) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x85ebca6b);
    b = Math.imul(b ^ text.charCodeAt(at + 1), 0xc2b2ae35);
    c = Math.imul(c ^ text.charCodeAt(at + 2), 0x9e3779b1);
    d = Math.imul(d ^ text.charCodeAt(at + 3), 0x27d4eb2d);
  }
  for (let at = whole; at < length; at += 1) a = mixed(a, text.charCodeAt(at));
  const one = mixed(mixed(mixed(a, b), c), d);
  const other = mixed(mixed(mixed(d, c), b), a);
  return `${length}:${(one >>> 0).toString(36)}:${(other >>> 0).toString(36)}`;
}

function mixed(sum: number, value: number): number {
  const product = Math.imul(sum ^ value, 0x85ebca6b);
  return Math.imul(product ^ (product >>> 13), 0xc2b2ae35);
}

/** Adds an entry to a list of at most `max`, oldest first. */
export function keepNewest<Entry>(list: Entry[], entry: Entry, max: number): void {
  list.push(entry);
  if (list.length > max) list.splice(0, list.length - max);
}

/** Removes the oldest entries until the rest has at most `max` bytes of JSON. */
export function keepWithin<Entry>(list: Entry[], max: number, bytesOf: (entry: Entry) => number): void {
  let sum = 0;
  for (let at = list.length - 1; at >= 0; at -= 1) {
    const entry = list[at];
    sum += entry === undefined ? 0 : bytesOf(entry);
    if (sum <= max) continue;
    list.splice(0, at + 1);
    return;
  }
}

/** A name as it is kept and shown: truncated if it is longer than any name should be. */
export const keptName = (name: string): string => (name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name);
const MAX_NAME = 300;
