/**
 * The first 128 bits of the SHA-1 hash of some bytes, as four integers of 32 bits, for UUIDs of version 5. Readers derive thousands
 * of ids from texts of one block each: creating a hash object of the runtime costs several times as much as hashing such a block.
 */
export function sha1Start(bytes: Uint8Array, length: number): readonly [number, number, number, number] {
  let a0 = 1732584193;
  let b0 = -271733879;
  let c0 = -1732584194;
  let d0 = 271733878;
  let e0 = -1009589776;
  const blocks = (length + 72) >> 6;
  for (let block = 0; block < blocks; block += 1) {
    fill(bytes, length, block << 6);
    if (block === blocks - 1) {
      // The length in bits.
      words[14] = Math.floor(length / 0x20000000);
      words[15] = length << 3;
    }
    for (let at = 16; at < 80; at += 1) {
      const word =
        (words[at - 3] ?? 0) ^ (words[at - 8] ?? 0) ^ (words[at - 14] ?? 0) ^ (words[at - 16] ?? 0);
      words[at] = (word << 1) | (word >>> 31);
    }
    let a = a0;
    let b = b0;
    let c = c0;
    let d = d0;
    let e = e0;
    for (let at = 0; at < 80; at += 1) {
      // A sum of more than two integers would be computed with floating-point numbers.
      const mixed =
        at < 20
          ? ((d ^ (b & (c ^ d))) + 1518500249) | 0
          : at < 40
            ? ((b ^ c ^ d) + 1859775393) | 0
            : at < 60
              ? (((b & c) | (d & (b | c))) - 1894007588) | 0
              : ((b ^ c ^ d) - 899497514) | 0;
      const rotated = (((a << 5) | (a >>> 27)) + mixed) | 0;
      const next = (rotated + ((e + (words[at] ?? 0)) | 0)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    a0 = (a0 + a) | 0;
    b0 = (b0 + b) | 0;
    c0 = (c0 + c) | 0;
    d0 = (d0 + d) | 0;
    e0 = (e0 + e) | 0;
  }
  return [a0, b0, c0, d0];
}

const words = new Int32Array(80);

/** Fills the first words with a block: the message, a bit that ends it, and zeros. */
function fill(bytes: Uint8Array, length: number, from: number): void {
  for (let word = 0; word < 16; word += 1) {
    const at = from + (word << 2);
    words[word] =
      (byteAt(bytes, length, at) << 24) |
      (byteAt(bytes, length, at + 1) << 16) |
      (byteAt(bytes, length, at + 2) << 8) |
      byteAt(bytes, length, at + 3);
  }
}

function byteAt(bytes: Uint8Array, length: number, at: number): number {
  if (at < length) return bytes[at] ?? 0;
  return at === length ? 0x80 : 0;
}
