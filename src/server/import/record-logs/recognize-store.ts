import { dirname } from "node:path";
import type { Format } from "../../../sources/contract.ts";
import { openStore } from "./open-store.ts";

/**
 * The format of the store at this path, by its content; `undefined`: there is no known store. `head`: the file's first bytes;
 * absent for a folder. Formats that claim the path, or its folder, are tried first. Opens the store on the calling thread.
 */
export function recognizeStore(
  path: string,
  head: Uint8Array | undefined,
  formats: readonly Format[],
): Format | undefined {
  const isDatabase =
    head !== undefined && new TextDecoder("latin1").decode(head).startsWith("SQLite format 3\0");
  const withStores = formats.filter(({ snapshots }) => snapshots !== undefined);
  const named = withStores.filter(({ snapshots }) => {
    const store = snapshots?.storeOf(path);
    return store === path || (head !== undefined && store === dirname(path));
  });
  // Files that are neither documents nor databases are opened only by formats that know their first bytes.
  const isOther = head !== undefined && !isDatabase && !path.endsWith(".json");
  const others = isOther ? withStores.filter(({ detect }) => detect(head)) : withStores;
  return [...named, ...(named.length > 0 ? withStores : others)].find(({ snapshots }) => {
    const store = openStore(path);
    try {
      return snapshots?.recognizes(store) ?? false;
    } catch {
      // It may be another agent's store: each format checks for its own content.
      return false;
    } finally {
      store.close();
    }
  });
}
