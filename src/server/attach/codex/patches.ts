import { asObject, asText, type JsonObject } from "../../../model/narrow.ts";

/** Number of patches whose changes are remembered until they are applied. */
const MAX_PATCHES = 100;

/** The changes of patches that are not applied yet. */
export interface Patches {
  changesOf(item_id: string): unknown;
  /** Remembers the changes of a patch for the later approval request. */
  follow(method: string, params: JsonObject | undefined): void;
}

/** Remembers the changes of patches by item id. */
export function createPatches(): Patches {
  const patches = new Map<string, unknown>();
  return {
    changesOf: (item_id) => patches.get(item_id),
    follow(method: string, params: JsonObject | undefined) {
      const item = asObject(params?.item);
      const id = asText(item?.id);
      if (id === undefined || item?.type !== "fileChange") return;
      if (method === "item/completed") patches.delete(id);
      else if (method === "item/started") patches.set(id, item.changes);
      const [oldest] = patches.keys();
      if (patches.size > MAX_PATCHES && oldest !== undefined) patches.delete(oldest);
    },
  };
}
