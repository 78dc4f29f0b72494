/*
 * What a reader keeps of a thread is bounded, so that its state fits into a checkpoint (`MAX_CHECKPOINT`) however long the thread
 * is. One rule holds for all of it: the newest is kept, up to a number of entries and of bytes.
 *
 * | kept                                     | KB  | beyond                                                        |
 * |------------------------------------------|-----|---------------------------------------------------------------|
 * | calls: arguments, facts, output          | 104 | an evicted call keeps the result that it had                  |
 * | ids of evicted calls                     |  16 | a fact about an older call is shown as a call of its own      |
 * | ids of turns                             |  12 | a roll-back of more turns retracts only these                 |
 * | the model's outputs in the turn          |  40 | a copy of an older output is shown again                      |
 * | prompts and commands without an answer   |  24 | a copy of an older prompt is shown again                      |
 * | a thought that events tell in pieces     |  12 | the next piece begins another thought                         |
 * | runs that calls started                  |  32 | an older run is linked to the session, but not to the call    |
 * | commands in the background               |   6 | input to an older command does not name it                    |
 *
 * One call that is larger than that is kept in addition while it waits for its output (see call-table.ts). There is no checkpoint
 * until then.
 */

/** Upper bound of a value's JSON in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  const json = JSON.stringify(value);
  return hasOnlyAscii(json) ? json.length : json.length * 3;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them.
const hasOnlyAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

/** Text that is no longer in JSON. */
const PLAIN = /^[\w .:@/-]{0,40}$/;

/**
 * A text in the form in which it is kept to be recognized: itself if it is short and plain, otherwise its length and two hashes of 32
 * bits. They need not resist forgery, which could only hide a copy of the forger's own words.
 */
export function keyOfText(text: string): string {
  if (text.length <= 40 && PLAIN.test(text)) return text;
  let one = 0x811c9dc5;
  let other = 0x1000193;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x85ebca6b);
    other = Math.imul(other ^ unit, 0xc2b2ae35);
  }
  one = Math.imul(one ^ (one >>> 16), 0xc2b2ae35) ^ other;
  other = Math.imul(other ^ (other >>> 13), 0x85ebca6b) ^ one;
  return `${text.length}:${(one >>> 0).toString(36)}:${(other >>> 0).toString(36)}`;
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

/** A name that is kept and shown: its first characters, if it has more than any name should. */
export const keptName = (name: string): string => (name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name);
const MAX_NAME = 300;
