/** 128 bits as four integers of 32 bits. */
export type Words128 = readonly [number, number, number, number];

/**
 * The first 128 bits of the SHA-1 hash of a prefix of 128 bits and a text in UTF-8, for UUIDs of version 5. The text may be given in
 * two pieces, because joining them first would take half as long as hashing them. Readers derive thousands of ids from texts of one
 * block each: creating a hash object of the runtime costs several times as much as hashing such a block. Half a surrogate pair
 * counts as U+FFFD.
 */
export function sha1Start(prefix: Words128, text: string, rest = ""): Words128 {
  if (!addAscii(prefix, text, rest)) addBytes(prefix, encoder.encode(text + rest));
  return [word(state, 0), word(state, 1), word(state, 2), word(state, 3)];
}

const encoder = new TextEncoder();
const PREFIX_WORDS = 4;
const state = new Int32Array(5);
/** The 16 words of a block, then those derived from them. */
const words = new Int32Array(80);

// The index is always inside the array.
const word = (array: Int32Array, at: number): number => array[at] ?? 0;

/** Starts a message. Assignments, because `set` of a typed array takes as long as hashing a quarter of a block. */
function begin([a, b, c, d]: Words128): void {
  state[0] = 1732584193;
  state[1] = -271733879;
  state[2] = -1732584194;
  state[3] = 271733878;
  state[4] = -1009589776;
  words[0] = a;
  words[1] = b;
  words[2] = c;
  words[3] = d;
}

/** Derives the words after the 16 of a block. Kept in variables, because reading them back would take twice as long. */
function deriveWords(): void {
  let w0 = word(words, 0);
  let w1 = word(words, 1);
  let w2 = word(words, 2);
  let w3 = word(words, 3);
  let w4 = word(words, 4);
  let w5 = word(words, 5);
  let w6 = word(words, 6);
  let w7 = word(words, 7);
  let w8 = word(words, 8);
  let w9 = word(words, 9);
  let w10 = word(words, 10);
  let w11 = word(words, 11);
  let w12 = word(words, 12);
  let w13 = word(words, 13);
  let w14 = word(words, 14);
  let w15 = word(words, 15);
  for (let at = 16; at < 80; at += 16) {
    words[at] = w0 = rotated(w13 ^ w8 ^ w2 ^ w0);
    words[at + 1] = w1 = rotated(w14 ^ w9 ^ w3 ^ w1);
    words[at + 2] = w2 = rotated(w15 ^ w10 ^ w4 ^ w2);
    words[at + 3] = w3 = rotated(w0 ^ w11 ^ w5 ^ w3);
    words[at + 4] = w4 = rotated(w1 ^ w12 ^ w6 ^ w4);
    words[at + 5] = w5 = rotated(w2 ^ w13 ^ w7 ^ w5);
    words[at + 6] = w6 = rotated(w3 ^ w14 ^ w8 ^ w6);
    words[at + 7] = w7 = rotated(w4 ^ w15 ^ w9 ^ w7);
    words[at + 8] = w8 = rotated(w5 ^ w0 ^ w10 ^ w8);
    words[at + 9] = w9 = rotated(w6 ^ w1 ^ w11 ^ w9);
    words[at + 10] = w10 = rotated(w7 ^ w2 ^ w12 ^ w10);
    words[at + 11] = w11 = rotated(w8 ^ w3 ^ w13 ^ w11);
    words[at + 12] = w12 = rotated(w9 ^ w4 ^ w14 ^ w12);
    words[at + 13] = w13 = rotated(w10 ^ w5 ^ w15 ^ w13);
    words[at + 14] = w14 = rotated(w11 ^ w6 ^ w0 ^ w14);
    words[at + 15] = w15 = rotated(w12 ^ w7 ^ w1 ^ w15);
  }
}

const rotated = (mixed: number): number => (mixed << 1) | (mixed >>> 31);

/** Adds the block in `words` to `state`. A sum of more than two integers would be computed with floating-point numbers. */
function addBlock(): void {
  deriveWords();
  let a = word(state, 0);
  let b = word(state, 1);
  let c = word(state, 2);
  let d = word(state, 3);
  let e = word(state, 4);
  let at = 0;
  // Four loops without a condition inside take half the time of a single one.
  for (; at < 20; at += 1) {
    const next = add(a, e, ((d ^ (b & (c ^ d))) + 1518500249) | 0, at);
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (; at < 40; at += 1) {
    const next = add(a, e, ((b ^ c ^ d) + 1859775393) | 0, at);
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (; at < 60; at += 1) {
    const next = add(a, e, (((b & c) | (d & (b | c))) - 1894007588) | 0, at);
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (; at < 80; at += 1) {
    const next = add(a, e, ((b ^ c ^ d) - 899497514) | 0, at);
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  state[0] = word(state, 0) + a;
  state[1] = word(state, 1) + b;
  state[2] = word(state, 2) + c;
  state[3] = word(state, 3) + d;
  state[4] = word(state, 4) + e;
}

const add = (a: number, e: number, mixed: number, at: number): number =>
  (((((a << 5) | (a >>> 27)) + mixed) | 0) + ((e + word(words, at)) | 0)) | 0;

/** Hashes a text in two pieces without encoding it first; `false`: it is not ASCII. */
function addAscii(prefix: Words128, text: string, rest: string): boolean {
  const length = text.length + rest.length;
  begin(prefix);
  let used = PREFIX_WORDS;
  let filling = 0;
  let all = 0;
  for (let at = 0; at < length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : rest.charCodeAt(at - text.length);
    all |= code;
    filling = (filling << 8) | code;
    if ((at & 3) === 3) used = addWord(used, filling);
  }
  if (all > 0x7f) return false;
  end(used, filling, length);
  return true;
}

function addBytes(prefix: Words128, bytes: Uint8Array): void {
  begin(prefix);
  let used = PREFIX_WORDS;
  let filling = 0;
  for (const [at, byte] of bytes.entries()) {
    filling = (filling << 8) | byte;
    if ((at & 3) === 3) used = addWord(used, filling);
  }
  end(used, filling, bytes.length);
}

/** Appends a word to the block. Returns the number of its words. */
function addWord(used: number, next: number): number {
  words[used] = next;
  if (used < 15) return used + 1;
  addBlock();
  return 0;
}

/**
 * Appends the rest of the message, a bit that ends it, zeros, and its length in bits. `filling`: the bytes after the last word.
 * `length`: bytes after the prefix.
 */
function end(words_used: number, filling: number, length: number): void {
  let used = addWord(words_used, ((filling << 8) | 0x80) << (24 - 8 * (length & 3)));
  while (used !== 14) used = addWord(used, 0);
  const bytes = length + 4 * PREFIX_WORDS;
  used = addWord(used, Math.floor(bytes / 0x20000000));
  addWord(used, bytes << 3);
}
