import { createHash } from "node:crypto";
import type { OpenStore, Snapshots } from "../../../sources/contract.ts";
import { changesOf } from "../../../sources/record-log/changes.ts";
import { entryLine, headerLine, logName } from "../../../sources/record-log/log-line.ts";
import type { GivenFile } from "../../sessions/opened-files.ts";

/** A store of documents in memory. Databases in it cannot be read. */
export function givenStore(path: string, files: ReadonlyMap<string, GivenFile>): OpenStore {
  return {
    path,
    readText(file) {
      const found = files.get(file);
      return found && new TextDecoder().decode(found.bytes);
    },
    list(folder) {
      const names = new Set<string>();
      for (const file of files.keys())
        if (file.startsWith(`${folder}/`)) names.add(file.slice(folder.length + 1).split("/", 1)[0] ?? "");
      return [...names].sort();
    },
    modifiedAt: (file) => files.get(file)?.modified_at,
    rows() {
      throw new Error("it is a database");
    },
    rowsIn() {
      throw new Error("it is a database");
    },
    decompress() {
      throw new Error("it is a database");
    },
  };
}

/** The sessions of a store, each as the bytes of a record log. Throws if the store cannot be read. */
export function* recordLogs(
  agent: string,
  snapshots: Snapshots,
  store: OpenStore,
): Generator<{ path: string; bytes: Uint8Array; modified_at: number }> {
  const digest = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 16);
  for (const session of snapshots.sessions(store)) {
    const entries = [...changesOf(session, new Map(), digest)].map(entryLine);
    const header = headerLine({ agent, session: session.name, file: store.path });
    yield {
      path: `${store.path}/${logName(session.name)}`,
      bytes: Buffer.from(header + entries.join("")),
      modified_at: session.modified_at,
    };
  }
}
