import { newId } from "../new-id.ts";

/** What was typed and not sent yet. Kept in this browser, so that a reload or a crash loses nothing. */
export interface KeptDraft {
  /** Made once for a draft: sent twice, it is one prompt. */
  message_id: string;
  text: string;
  /** Data URLs. */
  images: readonly string[];
  /** It was sent at least once, and nobody knows whether it arrived. */
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

/** The draft of a place: a session's id, or `new`. */
export function loadDraft(place: string): KeptDraft {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(place)) ?? "null");
    if (typeof stored !== "object" || stored === null) return emptyDraft();
    // Written by `saveDraft` alone; what else may stand there is checked field by field.
    const { message_id, text, images, tried, lost_images } = stored as Partial<KeptDraft>;
    if (typeof message_id !== "string" || typeof text !== "string") return emptyDraft();
    return {
      message_id,
      text,
      images: Array.isArray(images) ? images.filter((image) => typeof image === "string") : [],
      tried: tried === true,
      lost_images: typeof lost_images === "number" ? lost_images : 0,
    };
  } catch {
    return emptyDraft();
  }
}

export function saveDraft(place: string, draft: KeptDraft): void {
  const { images, ...words } = draft;
  try {
    if (draft.text === "" && images.length === 0) {
      localStorage.removeItem(keyOf(place));
      return;
    }
    const fits = images.reduce((sum, image) => sum + image.length, 0) <= STORED_IMAGES;
    if (fits) {
      try {
        localStorage.setItem(keyOf(place), JSON.stringify({ ...words, images }));
        return;
      } catch {
        // No room for the images: the words go before them.
      }
    }
    localStorage.setItem(keyOf(place), JSON.stringify({ ...words, images: [], lost_images: images.length }));
  } catch {
    // Storage is full or blocked: the draft holds until the page is closed.
  }
}
