import { MAX_IMAGES } from "../../protocol.ts";
import { t } from "../text/text.ts";

/** Maximum size of an image, in bytes. The daemon has the same limit. */
const MAX_BYTES = 5 * 1024 * 1024;

const TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** The `accept` attribute of the file input. */
export const ACCEPTED = [...TYPES].join(",");

const tooMany = (): string => t.images.tooMany(MAX_IMAGES);

/** The result of reading images: data URLs, and a message for each image that cannot be sent. */
export interface ReadImages {
  readonly images: readonly string[];
  readonly imageProblems: readonly string[];
}

/** Reads images. `room`: how many more may be added. */
export async function readImages(files: readonly File[], room: number): Promise<ReadImages> {
  const imageProblems: string[] = [];
  const accepted = files.filter((file) => {
    const name = file.name === "" ? t.images.unnamed : file.name;
    if (!TYPES.has(file.type)) imageProblems.push(t.images.unsupported(name));
    else if (file.size > MAX_BYTES) imageProblems.push(t.images.tooLarge(name));
    else return true;
    return false;
  });
  if (accepted.length > room) imageProblems.push(tooMany());
  const images: string[] = [];
  for (const file of accepted.slice(0, Math.max(0, room))) {
    try {
      images.push(await dataUrl(file));
    } catch {
      imageProblems.push(t.images.unreadable(file.name));
    }
  }
  return { images, imageProblems };
}

/** Appends images that were read. Checks the limit again, because others may have been added meanwhile. */
export function appendImages({ images, imageProblems }: ReadImages, read: ReadImages): ReadImages {
  const room = Math.max(0, MAX_IMAGES - images.length);
  const excess = read.images.length > room ? [tooMany()] : [];
  return {
    images: [...images, ...read.images.slice(0, room)],
    imageProblems: [...new Set([...imageProblems, ...read.imageProblems, ...excess])],
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

/** The bytes of a data URL. The page's content security policy allows images from blobs, but not from data URLs. */
export function blobOf(image: string): Blob {
  const [, type = "", base64 = ""] = /^data:([^;,]*);base64,(.*)$/s.exec(image) ?? [];
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type });
}
