import { newId } from "../app/new-id.ts";

/** What was chosen for a session that does not exist yet, apart from the prompt. */
export interface Choice {
  agent?: string;
  model?: string;
  cwd?: string;
}

/** What was typed and not sent yet. Kept in this browser, so that a reload or a crash loses nothing. */
export interface KeptDraft {
  /** Of these very words, images and choice: sent twice, they are one prompt. */
  message_id: string;
  text: string;
  /** Data URLs. */
  images: readonly string[];
  /** Kept with the words: what one tab wrote is never started as another one chose. */
  choice?: Choice;
  /** It was sent at least once: it may have arrived, or may still, when the daemon could not write it to disk at once. */
  tried: boolean;
  /** Images that had no room in the browser's storage and are gone since the last reload. */
  lost_images: number;
}

/** A browser keeps about 5 MB for a site: images beyond this many characters are not stored. */
const STORED_IMAGES = 1_500_000;
const keyOf = (place: string): string => `verbatim.draft.${place}`;

/** Under an id of its own: the next prompt is none that was sent. */
export const emptyDraft = (): KeptDraft => ({
  message_id: newId(),
  text: "",
  images: [],
  tried: false,
  lost_images: 0,
});

/** Images stand beside the words: they are written when they change, not with every letter. */
const imagesKeyOf = (place: string): string => `${keyOf(place)}.images`;

interface StoredDraft extends Omit<KeptDraft, "images"> {
  /** Which images were written beside it: where another tab put its own there, they are not written yet. */
  images_id?: string;
}

/** The draft of a place (a session's id, or `new`): this tab's own, else what any tab wrote last. */
export function loadDraft(place: string): KeptDraft {
  const tab = read("sessionStorage", keyOf(place));
  const storage = tab === undefined ? "localStorage" : "sessionStorage";
  const words = tab ?? read(storage, keyOf(place));
  if (words === undefined) return emptyDraft();
  const { message_id, text, choice, tried, lost_images, images_id } = words;
  if (typeof message_id !== "string" || typeof text !== "string") return emptyDraft();
  // Images that no word of theirs names are another tab's, which had not been heard of when these words were written.
  const images = images_id === undefined ? [] : read(storage, imagesKeyOf(place));
  const kept = Array.isArray(images) ? images.filter((image) => typeof image === "string") : [];
  if (typeof images_id === "string") imagesIds.set(kept, images_id);
  own.set(place, message_id);
  return {
    message_id,
    text,
    images: kept,
    ...(typeof choice === "object" && choice !== null ? { choice: choiceOf(choice) } : {}),
    tried: tried === true,
    lost_images: typeof lost_images === "number" ? Math.max(0, lost_images - kept.length) : 0,
  };
}

function choiceOf(stored: object): Choice {
  const given = (["agent", "model", "cwd"] as const).flatMap((name) => {
    const value: unknown = Reflect.get(stored, name);
    return typeof value === "string" ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}

type Storages = "sessionStorage" | "localStorage";

function read(storage: Storages, key: string): Partial<StoredDraft> | undefined {
  try {
    const value: unknown = JSON.parse(window[storage].getItem(key) ?? "null");
    // Written by `saveDraft` alone; what else may stand there is checked field by field.
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Storage is blocked or holds something else.
    return undefined;
  }
}

/** Made for each list of images when it is first written. */
const imagesIds = new WeakMap<readonly string[], string>();

function imagesIdOf(images: readonly string[]): string | undefined {
  if (images.length === 0) return undefined;
  const id = imagesIds.get(images) ?? newId();
  imagesIds.set(images, id);
  return id;
}

/** The draft that this tab last read or wrote at each place. */
const own = new Map<string, string>();

/**
 * Keeps it for this tab's reload and, where it has words or images, for whoever opens the place next. What is empty takes
 * nothing away but what this tab left there: browsers let a tab hear a little later what another one wrote, and a choice
 * alone, written over it, would be the end of a prompt.
 */
export function saveDraft(place: string, draft: KeptDraft): void {
  write("sessionStorage", place, draft);
  if (draft.text !== "" || draft.images.length > 0) {
    own.set(place, draft.message_id);
    write("localStorage", place, draft);
  } else if (own.has(place) && own.get(place) === read("localStorage", keyOf(place))?.message_id) {
    write("localStorage", place, emptyDraft());
  }
}

function write(storage: Storages, place: string, { images, ...words }: KeptDraft): void {
  const images_id = imagesIdOf(images);
  try {
    const kept = window[storage];
    if (read(storage, keyOf(place))?.images_id !== images_id) {
      kept.removeItem(imagesKeyOf(place));
      const length = images.reduce((sum, image) => sum + image.length, 0);
      if (length > 0 && length <= STORED_IMAGES) {
        try {
          kept.setItem(imagesKeyOf(place), JSON.stringify(images));
        } catch {
          // No room for the images: the words go before them.
        }
      }
    }
    if (words.text === "" && images.length === 0 && words.choice === undefined) kept.removeItem(keyOf(place));
    else
      kept.setItem(
        keyOf(place),
        // How many there are: those that are not found when it is read again are lost.
        JSON.stringify({ ...words, images_id, lost_images: Math.max(words.lost_images, images.length) }),
      );
  } catch {
    // Storage is full or blocked: the draft holds until the page is closed.
  }
}
