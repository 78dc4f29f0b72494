/**
 * A 53-bit hash of a text (cyrb53), for state that remembers which texts it has seen without storing them. Not cryptographic. Two
 * texts of the same session collide in about one of several billion sessions.
 */
export function fingerprint(text: string, length = text.length): number {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x9e3779b1);
    other = Math.imul(other ^ code, 0x5f356495);
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  other = Math.imul(other ^ (other >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return (other & 0x1fffff) * 0x1_0000_0000 + (one >>> 0);
}
