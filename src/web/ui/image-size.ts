/**
 * How many pixels a browser would decode of a PNG, JPEG, GIF or WebP image, as its header declares it. `undefined`: it is none
 * of these, or the header is not in these bytes.
 */
export function pixelsOf(bytes: Uint8Array): number | undefined {
  const name = (at: number, length: number): string =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  const pixels =
    name(0, 8) === "\x89PNG\r\n\x1a\n" && name(12, 4) === "IHDR"
      ? big(bytes, 16, 4) * big(bytes, 20, 4)
      : name(0, 3) === "\xff\xd8\xff"
        ? jpegPixels(bytes)
        : /^GIF8[79]a/.test(name(0, 6))
          ? gifPixels(bytes)
          : name(0, 4) === "RIFF" && name(8, 4) === "WEBP"
            ? webpPixels(bytes, name(12, 4))
            : 0;
  return pixels > 0 ? pixels : undefined;
}

/** A number of these bytes, the most significant first; what is not there counts as 0. */
function big(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = at; index < at + length; index++) value = value * 256 + (bytes[index] ?? 0);
  return value;
}

/** The same, the least significant first. */
function little(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = at + length - 1; index >= at; index--) value = value * 256 + (bytes[index] ?? 0);
  return value;
}

/** The first frame's; what stands before it (a camera's notes, a preview) has a length of its own. */
function jpegPixels(bytes: Uint8Array): number {
  for (let at = 2; at < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    // Between segments anything may stand, and a marker may begin with any number of these bytes.
    if (bytes[at] !== 0xff || marker === 0xff) at++;
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return big(bytes, at + 5, 2) * big(bytes, at + 7, 2);
    else if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9)) at += 2;
    else at += 2 + big(bytes, at + 2, 2);
  }
  return 0;
}

/** The screen's, which browsers widen to the first picture where that is larger. */
function gifPixels(bytes: Uint8Array): number {
  const flags = bytes[10] ?? 0;
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  // Extensions: two bytes of name, then blocks, each behind its length, up to an empty one.
  while (bytes[at] === 0x21) {
    at += 2;
    for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) at += 1 + length;
    at++;
  }
  if (bytes[at] !== 0x2c) return 0;
  const width = little(bytes, at + 1, 2) + little(bytes, at + 5, 2);
  const height = little(bytes, at + 3, 2) + little(bytes, at + 7, 2);
  return Math.max(width, little(bytes, 6, 2)) * Math.max(height, little(bytes, 8, 2));
}

function webpPixels(bytes: Uint8Array, chunk: string): number {
  if (chunk === "VP8 ") return (little(bytes, 26, 2) & 0x3fff) * (little(bytes, 28, 2) & 0x3fff);
  if (chunk === "VP8X") return (little(bytes, 24, 3) + 1) * (little(bytes, 27, 3) + 1);
  if (chunk !== "VP8L") return 0;
  const sides = little(bytes, 21, 4);
  return ((sides & 0x3fff) + 1) * (((sides >>> 14) & 0x3fff) + 1);
}
