/** The size of an image in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The decoded size of a PNG, JPEG, GIF or WebP image, as declared in its header. `undefined`: another format, or an incomplete
 * header.
 */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const size = declaredSize(bytes);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function declaredSize(bytes: Uint8Array): ImageSize | undefined {
  const name = (at: number, length: number): string =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  if (name(0, 8) === "\x89PNG\r\n\x1a\n" && name(12, 4) === "IHDR")
    return { width: big(bytes, 16, 4), height: big(bytes, 20, 4) };
  if (name(0, 3) === "\xff\xd8\xff") return jpegSize(bytes);
  if (/^GIF8[79]a/.test(name(0, 6))) return gifSize(bytes);
  if (name(0, 4) === "RIFF" && name(8, 4) === "WEBP") return webpSize(bytes, name(12, 4));
  return undefined;
}

/** A big-endian number. `NaN` if the bytes are incomplete. */
function big(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = at; index < at + length; index++) value = value * 256 + (bytes[index] ?? Number.NaN);
  return value;
}

/** A little-endian number. `NaN` if the bytes are incomplete. */
function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = at + length - 1; index >= at; index--) value = value * 256 + (bytes[index] ?? Number.NaN);
  return value;
}

/** The size of the first frame. Segments before it (metadata, a preview) have a length and are skipped. */
function jpegSize(bytes: Uint8Array): ImageSize | undefined {
  for (let at = 2; at < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    // There may be any bytes between segments, and a marker may begin with several 0xff bytes.
    if (bytes[at] !== 0xff || marker === 0xff) at++;
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { width: big(bytes, at + 7, 2), height: big(bytes, at + 5, 2) };
    else if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9)) at += 2;
    else at += 2 + big(bytes, at + 2, 2);
  }
  return undefined;
}

/** The logical screen's size. Browsers enlarge it to the first image if that is larger. */
function gifSize(bytes: Uint8Array): ImageSize | undefined {
  const flags = bytes[10] ?? 0;
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  // Extensions: two bytes of type, then blocks with a length prefix, ending with an empty one.
  while (bytes[at] === 0x21) {
    at += 2;
    for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) at += 1 + length;
    at++;
  }
  if (bytes[at] !== 0x2c) return undefined;
  const width = littleEndian(bytes, at + 1, 2) + littleEndian(bytes, at + 5, 2);
  const height = littleEndian(bytes, at + 3, 2) + littleEndian(bytes, at + 7, 2);
  return {
    width: Math.max(width, littleEndian(bytes, 6, 2)),
    height: Math.max(height, littleEndian(bytes, 8, 2)),
  };
}

function webpSize(bytes: Uint8Array, chunk: string): ImageSize | undefined {
  switch (chunk) {
    case "VP8 ":
      return { width: littleEndian(bytes, 26, 2) & 0x3fff, height: littleEndian(bytes, 28, 2) & 0x3fff };
    case "VP8X":
      return { width: littleEndian(bytes, 24, 3) + 1, height: littleEndian(bytes, 27, 3) + 1 };
    case "VP8L": {
      const sides = littleEndian(bytes, 21, 4);
      if (Number.isNaN(sides)) return undefined;
      return { width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}
