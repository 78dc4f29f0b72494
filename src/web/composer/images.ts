import { MAX_IMAGES } from "../../protocol.ts";

/** Of one image, as the daemon takes it. */
const MAX_BYTES = 5 * 1024 * 1024;

const TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** For the `accept` of a file's input. */
export const ACCEPTED = [...TYPES].join(",");

const TOO_MANY = `A prompt takes ${MAX_IMAGES} images: send the others with the next one.`;

/** What came of reading images: data URLs, and one sentence for each that cannot be sent. */
export interface ReadImages {
  readonly images: readonly string[];
  readonly refused: readonly string[];
}

/** Reads pictures. `room`: how many more there may be. */
export async function readImages(files: readonly File[], room: number): Promise<ReadImages> {
  const refused: string[] = [];
  const taken = files.filter((file) => {
    const name = file.name === "" ? "The image" : file.name;
    if (!TYPES.has(file.type))
      refused.push(`${name} is not a picture that a model reads: PNG, JPEG, GIF or WebP are.`);
    else if (file.size > MAX_BYTES) refused.push(`${name} is larger than 5 MB: send a smaller copy.`);
    else return true;
    return false;
  });
  if (taken.length > room) refused.push(TOO_MANY);
  const images: string[] = [];
  for (const file of taken.slice(0, Math.max(0, room))) {
    try {
      images.push(await dataUrl(file));
    } catch {
      refused.push(`${file.name} could not be read.`);
    }
  }
  return { images, refused };
}

/** Puts what was read behind what is there by then: others may have been read meanwhile, into the same room. */
export function joined({ images, refused }: ReadImages, read: ReadImages): ReadImages {
  const room = Math.max(0, MAX_IMAGES - images.length);
  const cut = read.images.length > room ? [TOO_MANY] : [];
  return {
    images: [...images, ...read.images.slice(0, room)],
    refused: [...new Set([...refused, ...read.refused, ...cut])],
  };
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** The bytes of a data URL: the page's policy shows blobs, and no data URLs. */
export function blobOf(image: string): Blob {
  const [, type = "", base64 = ""] = /^data:([^;,]*);base64,(.*)$/s.exec(image) ?? [];
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type });
}
