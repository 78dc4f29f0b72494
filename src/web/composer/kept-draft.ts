import { newId } from "../new-id.ts";

/** What was typed and not sent yet. Kept in this browser, so that a reload or a crash loses nothing. */
export interface KeptDraft {
  /** Made once for a draft: sent twice, it is one prompt. */
  message_id: string;
  text: string;
  /** Data URLs. */
  images: readonly string[];
  /** It was sent at least once: it may have arrived, or may still, when the daemon could not write it to disk at once. */
  tried: boolean;
  /** Images that had no room in the browser's storage and are gone since the last reload. */
  lost_images: number;
}

/** A browser keeps about 5 MB for a site: images beyond this many characters are not stored. */
const STORED_IMAGES = 1_500_000;
const keyOf = (place: string): string => `verbatim.draft.${place}`;

export const emptyDraft = (): KeptDraft => ({
  message_id: newId(),
  text: "",
  images: [],
  tried: false,
  lost_images: 0,
});

/** Images stand beside the words: they are written when they change, not with every letter. */
const imagesKeyOf = (place: string): string => `${keyOf(place)}.images`;

/** The draft of a place: a session's id, or `new`. */
export function loadDraft(place: string): KeptDraft {
  const words = read(keyOf(place));
  if (typeof words !== "object" || words === null) return emptyDraft();
  // Written by `saveDraft` alone; what else may stand there is checked field by field.
  const { message_id, text, tried, lost_images } = words as Partial<KeptDraft>;
  if (typeof message_id !== "string" || typeof text !== "string") return emptyDraft();
  const images = read(imagesKeyOf(place));
  const kept = Array.isArray(images) ? images.filter((image) => typeof image === "string") : [];
  stored.set(place, kept);
  return {
    message_id,
    text,
    images: kept,
    tried: tried === true,
    lost_images: typeof lost_images === "number" ? Math.max(0, lost_images - kept.length) : 0,
  };
}

function read(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    // Storage is blocked or holds something else.
    return undefined;
  }
}

/** The images that were last written, or tried to, for each place. */
const stored = new Map<string, readonly string[]>();

export function saveDraft(place: string, draft: KeptDraft): void {
  const { images, ...words } = draft;
  try {
    if (stored.get(place) !== images) {
      stored.set(place, images);
      localStorage.removeItem(imagesKeyOf(place));
      const length = images.reduce((sum, image) => sum + image.length, 0);
      if (length > 0 && length <= STORED_IMAGES) {
        try {
          localStorage.setItem(imagesKeyOf(place), JSON.stringify(images));
        } catch {
          // No room for the images: the words go before them.
        }
      }
    }
    if (draft.text === "" && images.length === 0) localStorage.removeItem(keyOf(place));
    else
      localStorage.setItem(
        keyOf(place),
        // How many there are: those that are not found when it is read again are lost.
        JSON.stringify({ ...words, lost_images: Math.max(words.lost_images, images.length) }),
      );
  } catch {
    // Storage is full or blocked: the draft holds until the page is closed.
  }
}
