import { type ImageSize, imageSize } from "../model/image-size.ts";

/** An image in a request: a parsed data URL, or a URL. */
export type SentImage = { type: "data"; media_type: string; data: string } | { type: "url"; url: string };

const MAX_IMAGE_BYTES = 5_000_000;
const MAX_SIDE = 8_000;
/** Number of images in a request above which providers accept only smaller images. */
const MANY_IMAGES = 20;
const MAX_SIDE_OF_MANY = 2_000;
/** Maximum total size of images. The strictest limit of a request is 32 MB, and Base64 adds a third. */
const MAX_TOTAL_BYTES = 20_000_000;

/**
 * Parses the URL of an image; `undefined`: it cannot be sent. The media type is detected, because providers reject a wrong one.
 */
export function sentImage(url: string): SentImage | undefined {
  if (/^https?:/i.test(url)) return { type: "url", url };
  const [, declared, data] = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/is.exec(url) ?? [];
  if (declared === undefined || data === undefined || data === "") return undefined;
  const plain = data.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  return { type: "data", media_type: mimeOf(plain) ?? declared.toLowerCase(), data: plain };
}

function dataUrl({ media_type, data }: Extract<SentImage, { type: "data" }>): string {
  return `data:${media_type};base64,${data}`;
}

/** The URL of an image of either kind. */
export function imageUrl(image: SentImage): string {
  return image.type === "url" ? image.url : dataUrl(image);
}

/**
 * Tells for each image of a request whether it can be sent. If there are too many, the oldest are dropped, so that equal
 * histories drop the same images.
 */
export function imagesThatFit(images: readonly SentImage[]): boolean[] {
  const largest = images.length > MANY_IMAGES ? MAX_SIDE_OF_MANY : MAX_SIDE;
  const fits = images.map((image) => isSmallEnough(image, largest));
  let total = 0;
  for (let at = images.length - 1; at >= 0; at -= 1) {
    const image = images[at];
    if (image?.type !== "data" || fits[at] !== true) continue;
    total += bytesOf(image.data);
    if (total > MAX_TOTAL_BYTES) fits[at] = false;
  }
  return fits;
}

function isSmallEnough(image: SentImage, largest: number): boolean {
  if (image.type === "url") return true;
  if (bytesOf(image.data) > MAX_IMAGE_BYTES) return false;
  const size = sizeOf(image);
  return size === undefined || (size.width <= largest && size.height <= largest);
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

/** The media type according to the first bytes. */
function mimeOf(base64: string): string | undefined {
  if (base64.startsWith("iVBORw0KGg")) return "image/png";
  if (base64.startsWith("/9j/")) return "image/jpeg";
  if (base64.startsWith("R0lGOD")) return "image/gif";
  if (base64.startsWith("UklGR") && firstBytes(base64, 12).slice(8) === "WEBP") return "image/webp";
  return undefined;
}

/** The first bytes as a string with one character per byte; empty if the text is not Base64. */
function firstBytes(base64: string, count: number): string {
  const start = base64.slice(0, Math.ceil(count / 3) * 4);
  try {
    return atob(start).slice(0, count);
  } catch {
    return "";
  }
}

/** The size in pixels, if the first bytes contain it. Most formats need only a few bytes, photos many. */
function sizeOf({ data }: { data: string }): ImageSize | undefined {
  const read = (count: number) =>
    imageSize(Uint8Array.from(firstBytes(data, count), (byte) => byte.charCodeAt(0)));
  return read(30) ?? read(65_536);
}
