import type { Format } from "../../../sources/contract.ts";
import { openStore } from "./open-store.ts";

/**
 * The format whose store is at this path, by what it holds; `undefined`: there is none. `head`: the file's first bytes; a folder
 * has none. Formats that claim the path are asked first. Opens the store on the thread that calls.
 */
export function recognizeStore(
  path: string,
  head: Uint8Array | undefined,
  formats: readonly Format[],
): Format | undefined {
  const isDatabase =
    head !== undefined && new TextDecoder("latin1").decode(head).startsWith("SQLite format 3\0");
  const withStores = formats.filter(({ snapshots }) => snapshots !== undefined);
  const named = withStores.filter(({ snapshots }) => snapshots?.storeOf(path) === path);
  if (head !== undefined && !isDatabase && !path.endsWith(".json") && named.length === 0) return undefined;
  return [...named, ...withStores].find(({ snapshots }) => {
    const store = openStore(path);
    try {
      return snapshots?.recognizes(store) ?? false;
    } catch {
      // It may be another agent's: each asks for what it knows.
      return false;
    } finally {
      store.close();
    }
  });
}
