import { newId } from "../app/new-id.ts";

/** The choices for a new session, apart from the prompt. */
export interface Choice {
  agent?: string;
  model?: string;
  cwd?: string;
}

/** A draft as stored in this browser, so that a reload or a crash loses nothing. */
export interface SavedDraft {
  /** Identifies exactly this text, these images and this choice. If sent twice, they are one prompt. */
  message_id: string;
  text: string;
  /** Data URLs. */
  images: readonly string[];
  /** Stored with the text, so that a prompt of one tab is never started with the choice of another. */
  choice?: Choice;
  /** The draft was sent at least once: it may have arrived, or may still arrive. */
  tried: boolean;
  /** Number of images that did not fit into the browser's storage and were lost on reload. */
  lost_images: number;
}

/** Maximum characters of stored images: browsers keep about 5 MB per site. */
const MAX_STORED_IMAGES = 1_500_000;
const keyOf = (place: string): string => `verbatim.draft.${place}`;

/** An empty draft with a new id. */
export const emptyDraft = (): SavedDraft => ({
  message_id: newId(),
  text: "",
  images: [],
  tried: false,
  lost_images: 0,
});

/** Images are stored separately, so that they are not written on every keystroke. */
const imagesKeyOf = (place: string): string => `${keyOf(place)}.images`;

interface StoredDraft extends Omit<SavedDraft, "images"> {
  /** Identifies the stored images of this draft, to notice when another tab has replaced them. */
  images_id?: string;
}

/** Loads the draft of a place (a session id, or `new`): this tab's own or, if there is none, the one that any tab wrote last. */
export function loadDraft(place: string): SavedDraft {
  const tab = read("sessionStorage", keyOf(place));
  const storage = tab === undefined ? "localStorage" : "sessionStorage";
  const words = tab ?? read(storage, keyOf(place));
  if (words === undefined) return emptyDraft();
  const { message_id, text, choice, tried, lost_images, images_id } = words;
  if (typeof message_id !== "string" || typeof text !== "string") return emptyDraft();
  // Images that the draft does not refer to were written by another tab.
  const images = images_id === undefined ? [] : read(storage, imagesKeyOf(place));
  const kept = Array.isArray(images) ? images.filter((image) => typeof image === "string") : [];
  if (typeof images_id === "string") imagesIds.set(kept, images_id);
  ownDraftIds.set(place, message_id);
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
    // Usually written by `saveDraft`; the callers check each field.
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Storage is blocked or contains something else.
    return undefined;
  }
}

/** The id of each list of images, created when the list is first written. */
const imagesIds = new WeakMap<readonly string[], string>();

function imagesIdOf(images: readonly string[]): string | undefined {
  if (images.length === 0) return undefined;
  const id = imagesIds.get(images) ?? newId();
  imagesIds.set(images, id);
  return id;
}

/** The id of the draft that this tab read or wrote last, by place. */
const ownDraftIds = new Map<string, string>();

/**
 * Stores a draft for a reload of this tab and, if it has text or images, for other tabs. An empty draft removes only what this
 * tab stored: tabs see each other's writes with a delay, so it could otherwise overwrite another tab's prompt.
 */
export function saveDraft(place: string, draft: SavedDraft): void {
  write("sessionStorage", place, draft);
  if (draft.text !== "" || draft.images.length > 0) {
    ownDraftIds.set(place, draft.message_id);
    write("localStorage", place, draft);
  } else if (
    ownDraftIds.has(place) &&
    ownDraftIds.get(place) === read("localStorage", keyOf(place))?.message_id
  ) {
    write("localStorage", place, emptyDraft());
  }
}

function write(storage: Storages, place: string, { images, ...words }: SavedDraft): void {
  const images_id = imagesIdOf(images);
  try {
    const kept = window[storage];
    if (read(storage, keyOf(place))?.images_id !== images_id) {
      kept.removeItem(imagesKeyOf(place));
      const length = images.reduce((sum, image) => sum + image.length, 0);
      if (length > 0 && length <= MAX_STORED_IMAGES) {
        try {
          kept.setItem(imagesKeyOf(place), JSON.stringify(images));
        } catch {
          // No room for the images: store only the text.
        }
      }
    }
    if (words.text === "" && images.length === 0 && words.choice === undefined) kept.removeItem(keyOf(place));
    else
      kept.setItem(
        keyOf(place),
        // Store their number, so that a reload can report how many were lost.
        JSON.stringify({ ...words, images_id, lost_images: Math.max(words.lost_images, images.length) }),
      );
  } catch {
    // Storage is full or blocked: the draft is lost when the page is closed.
  }
}
