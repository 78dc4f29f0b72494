import { describe, expect, it } from "vitest";
import { imageSize } from "../../src/model/image-size.ts";

const pixelsOf = (bytes: Uint8Array): number | undefined => {
  const size = imageSize(bytes);
  return size && size.width * size.height;
};

const bytes = (...given: (number | string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(
    given.flatMap((each) =>
      typeof each === "string"
        ? Array.from(each, (character) => character.charCodeAt(0))
        : typeof each === "number"
          ? [each]
          : each,
    ),
  );
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

// 300 is 0x012c, 200 is 0x00c8.
const PNG = bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", [0, 0, 1, 0x2c, 0, 0, 0, 0xc8], zeros(5));
const frame = (marker: number) => [0xff, marker, 0, 17, 8, 0, 0xc8, 1, 0x2c, 3, ...zeros(9)];
const NOTES = [0xff, 0xe1, 0, 8, 0xff, 0xc0, 0, 0, 0, 0];
const JPEG = bytes([0xff, 0xd8, ...NOTES, ...frame(0xc2)]);
const screen = (flags: number) => bytes("GIF89a", [0x2c, 1, 0xc8, 0, flags, 0, 0]);
const gif = (flags: number, ...rest: number[]) => Uint8Array.from([...screen(flags), ...rest]);
const LOOP = [0x21, 0xff, 2, 0x2c, 0x2c, 1, 0, 0];
const PICTURE = [0x2c, 0, 0, 0, 0, 10, 0, 10, 0, 0];
const WIDE = [0x2c, 5, 0, 0, 0, 0xff, 0xff, 10, 0, 0];
const webp = (chunk: string, ...body: number[]) => bytes("RIFF", zeros(4), "WEBP", chunk, zeros(4), body);

describe("the size of an image", () => {
  it.each<[string, Uint8Array]>([
    ["PNG", PNG],
    ["JPEG, behind notes that look like a frame", JPEG],
    ["JPEG, with tables before its frame", bytes([0xff, 0xd8, 0xff, 0xc4, 0, 2, ...frame(0xc0)])],
    ["JPEG, with bytes between its segments", bytes([0xff, 0xd8, 0xff, 0xff, 0xd0, 7, 0xff, ...frame(0xc1)])],
    ["GIF", gif(0, ...PICTURE)],
    ["GIF with colours", gif(0x81, ...zeros(12), ...PICTURE)],
    ["animated GIF", gif(0, ...LOOP, ...PICTURE)],
    ["lossy WebP", webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0x2c, 0x41, 0xc8, 0x80)],
    ["lossless WebP", webp("VP8L", 0x2f, ...[0x2b, 0xc1, 0x31, 0])],
    ["extended WebP", webp("VP8X", 0, 0, 0, 0, 0x2b, 1, 0, 0xc7, 0, 0)],
  ])("is read from the header of a %s", (_name, image) => {
    expect(imageSize(image)).toEqual({ width: 300, height: 200 });
  });

  it("is that of a GIF's first image if it is larger than the screen", () => {
    expect(pixelsOf(gif(0, ...WIDE))).toBe((5 + 0xffff) * 200);
  });

  it("is correct up to the largest possible values", () => {
    const png = PNG.map((byte, index) => (index >= 16 && index < 24 ? 0xff : byte));
    expect(pixelsOf(png)).toBe(0xffff_ffff ** 2);
    expect(pixelsOf(webp("VP8X", 0, 0, 0, 0, ...[255, 255, 255, 255, 255, 255]))).toBe(2 ** 48);
  });

  it("is unknown for other data and truncated headers", () => {
    expect(pixelsOf(bytes())).toBeUndefined();
    expect(pixelsOf(bytes("<svg width='300' height='200'/>"))).toBeUndefined();
    expect(pixelsOf(bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "CgBI", zeros(20)))).toBeUndefined();
    expect(pixelsOf(bytes("RIFF", zeros(4), "WEBP", "ALPH", zeros(20)))).toBeUndefined();
    const lossless = webp("VP8L", 0x2f, ...[0x2b, 0xc1, 0x31, 0]);
    for (const image of [
      PNG.subarray(0, 23),
      JPEG.subarray(0, 2 + NOTES.length + 8),
      lossless.subarray(0, 24),
    ])
      expect(pixelsOf(image)).toBeUndefined();
    for (const image of [PNG.subarray(0, 18), JPEG.subarray(0, 12), gif(0), gif(0, ...LOOP)])
      expect(pixelsOf(image)).toBeUndefined();
  });
});
