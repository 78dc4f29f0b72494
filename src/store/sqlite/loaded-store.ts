import type { DatabaseSync } from "node:sqlite";
import type { StoreName } from "../../model/text/notice-texts.ts";
import type { Notice } from "../contract.ts";
import { openDatabase } from "./database.ts";

/** A store whose rows are all in memory once it is open: read states, notes, rules. */
interface LoadedStore {
  load(): unknown;
  close(): void;
}

/** How a data folder's store is opened. `read_only`: another daemon uses the folder. */
export interface StoreFolder {
  folder: string;
  now: () => number;
  read_only: boolean;
}

/** An opened store, or notices that explain why there is none or only a read-only one. */
export interface OpenedLoadedStore<Store> {
  store?: Store;
  read_only: boolean;
  notices: Notice[];
}

/** Opens `<file>.db` in a data folder. See `openDatabase`. Closing the store also releases its lock. */
export function openLoadedStore<Store extends LoadedStore>(
  place: StoreFolder,
  options: {
    name: StoreName;
    file: string;
    migrations: readonly string[];
    create(database: DatabaseSync): Store;
  },
): OpenedLoadedStore<Store> {
  const { name, file, migrations, create } = options;
  const { store, unlock, read_only, notices } = openDatabase<Store>({
    ...place,
    name,
    file: `${file}.db`,
    lock: `${file}-lock.db`,
    migrations,
    create(database) {
      const created = create(database);
      // Read all rows now, while a damaged store can still be replaced.
      created.load();
      return created;
    },
  });
  if (!store) return { read_only, notices };
  const close = () => {
    store.close();
    unlock();
  };
  return { store: { ...store, close }, read_only, notices };
}
