import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { namesOf } from "../conversation/paths.ts";
import { parseObject } from "../lines/parse-object.ts";
import { hasTable } from "../tables/tables.ts";

/**
 * The chats of Cursor's CLI, one database each: `chats/<folder>/<id>/store.db`. Blobs are named by the digest of their content.
 * JSON blobs are messages, in writing order. Others are Cursor's lists of them.
 */
export const chats: Snapshots = {
  storeOf: (path) => /^(.*(?:^|\/)chats\/.+\/store\.db)(?:-wal|-shm|-journal)?$/.exec(path)?.[1],
  recognizes: (store) =>
    hasTable(store, "blobs", ["id", "data"]) && hasTable(store, "meta", ["key", "value"]),
  *sessions(store: OpenStore): Generator<SnapshotSession> {
    const head = headOf(store);
    const name = asText(head.agentId) ?? namesOf(store.path).at(-2) ?? store.path;
    yield {
      name,
      kind: asObject(head.subagentInfo) === undefined ? "session" : "run",
      modified_at: Math.max(store.modifiedAt(store.path) ?? 0, store.modifiedAt(`${store.path}-wal`) ?? 0),
      records: () => recordsOf(store, { ...head, agentId: name }),
    };
  },
};

/** The chat's head: row `0` of `meta` (hex-encoded JSON), and `meta.json` next to the database. */
function headOf(store: OpenStore): JsonObject {
  const [row] = [...store.rows("SELECT value FROM meta WHERE key = '0'")];
  const digits = asString(row?.value) ?? "";
  const bytes = /^(?:[0-9a-f]{2})+$/i.test(digits)
    ? Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : new TextEncoder().encode(digits);
  const metadata = parseObject(store.readText(store.path.replace(/store\.db$/, "meta.json")) ?? "");
  const title = asText(metadata?.title);
  const cwd = asText(metadata?.cwd);
  // The encryption key is not copied.
  const { blobEncryptionKey: _, ...head } = parseObject(new TextDecoder().decode(bytes)) ?? {};
  return { ...head, ...(title !== undefined && { name: title }), ...(cwd !== undefined && { cwd }) };
}

function* recordsOf(store: OpenStore, head: JsonObject): Generator<SnapshotRecord> {
  const place = (table: string, key: string) => ({ kind: "row" as const, file: store.path, table, key });
  // It names the last list of blobs, which changes with each message.
  const { latestRootBlobId: _, ...facts } = head;
  yield { key: "head", place: place("meta", "0"), text: JSON.stringify(facts) };
  const rows = store.rows(
    "SELECT id, CAST(data AS TEXT) AS text FROM blobs WHERE hex(substr(data, 1, 1)) = '7B' ORDER BY rowid",
  );
  for (const { id, text } of rows) {
    const key = String(id);
    const json = String(text);
    if (typeof parseObject(json)?.role !== "string") continue;
    yield { key: `blob:${key}`, revision: "", place: place("blobs", key), text: json };
  }
}
