import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { parseObject } from "../lines/parse-object.ts";
import { columnsOf, hasTable, rowText } from "../tables/tables.ts";

/** The name of a database, of opencode or its fork Kilo, and of the files beside it. */
const DATABASE = /^((?:opencode|kilo)(?:-[\w.-]+)?\.db)(?:-wal|-shm|-journal)?$/;

/**
 * opencode's session stores: `opencode.db` (`opencode-<channel>.db`; SQLite, since 1.2), or the older folder `storage`. The
 * records of a session are ordered by id, which is chronological: the session, its messages and their parts, and for each ended
 * assistant message a `finish` after its last part, created from the same row. opencode 2 stores whole messages, in
 * `session_message`, each of which is an `entry`. The table `event` repeats all changes and is not read. `opencode export` prints
 * the same data as one document, which is opened by name.
 */
export const openCodeSnapshots: Snapshots = {
  storeOf(path) {
    const segments = path.split("/");
    const database = DATABASE.exec(segments.at(-1) ?? "")?.[1];
    if (database !== undefined) return [...segments.slice(0, -1), database].join("/");
    const at = segments.indexOf("storage");
    const kind = segments[at + 1];
    if (at === -1 || !path.endsWith(".json") || !["session", "message", "part"].includes(kind ?? ""))
      return undefined;
    return segments.slice(0, at + 1).join("/");
  },
  recognizes(store) {
    if (isFolder(store)) return store.list(`${store.path}/session`).length > 0;
    if (isExport(store)) return exportOf(store) !== undefined;
    return hasV1(store) || hasV2(store);
  },
  sessions: (store) =>
    isFolder(store)
      ? storageSessions(store)
      : isExport(store)
        ? exportedSessions(store)
        : databaseSessions(store),
  skips: ["snapshot", "log", "bin", "tool-output", "worktree", "repos"],
};

const hasV1 = (store: OpenStore): boolean =>
  hasTable(store, "session", ["id"]) &&
  hasTable(store, "message", ["id", "session_id", "data"]) &&
  hasTable(store, "part", ["id", "message_id", "session_id", "data"]);
const hasV2 = (store: OpenStore): boolean =>
  hasTable(store, "session_v2", ["id"]) &&
  hasTable(store, "session_message", ["id", "session_id", "type", "seq", "time_updated", "data"]);

const isExport = ({ path }: OpenStore): boolean => path.endsWith(".json");
const isFolder = ({ path }: OpenStore): boolean => /(?:^|\/)storage$/.test(path);

/** A message or part in its store. */
interface Item {
  id: string;
  /** For parts: the message's id. */
  message_id?: string;
  revision: string;
  created_at: number;
  place: SnapshotRecord["place"];
  /** JSON text of opencode's `data`. */
  data(): string;
}

// --- The database ---------------------------------------------------------------------------------------------------

/**
 * The sessions of both generations. opencode 2 uses the same file: it copies all sessions to tables of its own, under the same
 * ids, and then writes only there. The copies have less than the originals, so only what follows them is read from there.
 */
function* databaseSessions(store: OpenStore): Generator<SnapshotSession> {
  const isV2 = hasV2(store);
  // Reading a database without either reports what is wrong with it.
  const isV1 = !isV2 || hasV1(store);
  const updated = isV1 && columnsOf(store, "part").includes("time_updated") ? "time_updated" : "time_created";
  const figures = (table: string, exists: boolean, column: string) =>
    new Map(
      (exists
        ? [
            ...store.rows(
              `SELECT session_id, count(*) AS count, max(${column}) AS latest, sum(${column} % 1000003) AS sum FROM ${table} GROUP BY session_id`,
            ),
          ]
        : []
      ).map((row) => [String(row.session_id), row]),
    );
  const tables = [
    figures("message", isV1, updated),
    figures("part", isV1, updated),
    ...(isV2 ? [figures("session_message", isV2, "time_updated")] : []),
  ];
  const moved = new Set<string>();
  for (const table of [...(isV2 ? ["session_v2"] : []), ...(isV1 ? ["session"] : [])]) {
    for (const row of store.rows(`SELECT * FROM ${table}`)) {
      const name = asText(row.id);
      if (name === undefined || moved.has(name)) continue;
      if (table === "session_v2") moved.add(name);
      const text = rowText(row);
      const counts = tables.map((figuresOf) => figuresOf.get(name));
      const latest = Math.max(
        0,
        asNumber(row.time_updated) ?? 0,
        ...counts.map((each) => asNumber(each?.latest) ?? 0),
      );
      yield {
        name,
        kind: asText(row.parent_id) === undefined ? "session" : "run",
        stamp: JSON.stringify([
          text,
          ...counts.map((each) => [each?.count, each?.latest, each?.sum].map(Number)),
        ]),
        modified_at: latest,
        ...(asNumber(row.time_archived) !== undefined && { archived: true }),
        records: () => {
          const place = { kind: "row" as const, file: store.path, table, key: name };
          const session = { key: "session", place, text };
          const revert = parseObject(asString(row.revert) ?? "");
          const records = isV1 ? databaseRecords(store, session, name, updated, revert) : [session];
          return table === "session" ? records : [...records, ...entriesOf(store, name, records, revert)];
        },
      };
    }
  }
}

/** The messages of opencode 2 that are not copies of `known` ones. */
function entriesOf(
  store: OpenStore,
  session: string,
  known: readonly SnapshotRecord[],
  revert: JsonObject | undefined,
): SnapshotRecord[] {
  const copied = new Set(known.map(({ key }) => key));
  const rows = [
    ...store.rows(
      "SELECT id, type, seq, time_updated, length(data) AS length FROM session_message WHERE session_id = ? ORDER BY seq",
      session,
    ),
  ];
  const boundary = asText(revert?.messageID);
  const undone = rows.findIndex(({ id }) => boundary !== undefined && id === boundary);
  return rows.flatMap((row, at): SnapshotRecord[] => {
    const id = String(row.id);
    if (copied.has(`message:${id}`)) return [];
    const reverted = undone !== -1 && at >= undone;
    const head = JSON.stringify({ id, type: row.type, ...(reverted && { reverted }) });
    const dataOf = () =>
      asString([...store.rows("SELECT data FROM session_message WHERE id = ?", id)][0]?.data) ?? "null";
    return [
      {
        key: `entry:${id}`,
        revision: `${row.time_updated}.${row.length}${reverted ? ".reverted" : ""}`,
        place: { kind: "row", file: store.path, table: "session_message", key: id },
        text: () => `${head.slice(0, -1)},"data":${dataOf()}}`,
      },
    ];
  });
}

function databaseRecords(
  store: OpenStore,
  record: SnapshotRecord,
  session: string,
  updated: string,
  revert: JsonObject | undefined,
): SnapshotRecord[] {
  const items = (table: "message" | "part"): Item[] => {
    // Messages are small and their end is needed. Parts are large and only read once they have changed.
    const columns = table === "part" ? "message_id" : "data";
    const found = store.rows(
      `SELECT id, ${columns}, time_created, ${updated} AS updated, length(data) AS length FROM ${table} WHERE session_id = ? ORDER BY rowid`,
      session,
    );
    return [...found].map((each) => {
      const id = String(each.id);
      return {
        id,
        ...(table === "part" && { message_id: String(each.message_id) }),
        // Two updates in the same millisecond usually differ in length.
        revision: `${each.updated}.${each.length}`,
        created_at: asNumber(each.time_created) ?? 0,
        place: { kind: "row", file: store.path, table, key: id },
        data: () =>
          asString(each.data) ??
          asString([...store.rows(`SELECT data FROM ${table} WHERE id = ?`, id)][0]?.data) ??
          "",
      };
    });
  };
  return recordsOf(record, items("message"), items("part"), revert);
}

// --- The folder -----------------------------------------------------------------------------------------------------

function* storageSessions(store: OpenStore): Generator<SnapshotSession> {
  // The upgrade to the database copied everything and left the folder in place.
  const folder = store.path.slice(0, store.path.lastIndexOf("/"));
  if (store.list(folder).some((name) => DATABASE.test(name))) return;
  for (const project of store.list(`${store.path}/session`)) {
    for (const name of store.list(`${store.path}/session/${project}`)) {
      const path = `${store.path}/session/${project}/${name}`;
      const text = name.endsWith(".json") ? store.readText(path) : undefined;
      const value = text === undefined ? undefined : parseObject(text);
      if (text === undefined) continue;
      const id = asText(value?.id) ?? name.slice(0, -".json".length);
      const messages = filesIn(store, `${store.path}/message/${id}`);
      const parts = messages.flatMap((message) =>
        filesIn(store, `${store.path}/part/${message.id}`).map((part) => ({
          ...part,
          message_id: message.id,
        })),
      );
      const place = { kind: "document" as const, file: path, pointer: "" };
      const changed = [...messages, ...parts].map(({ revision }) => Number(revision.split(".")[0]));
      yield {
        name: id,
        kind: asText(value?.parentID) === undefined ? "session" : "run",
        modified_at: Math.max(store.modifiedAt(path) ?? 0, ...changed),
        records: () => recordsOf({ key: "session", place, text }, messages, parts, asObject(value?.revert)),
      };
    }
  }
}

function filesIn(store: OpenStore, folder: string): Item[] {
  return store.list(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    const modified_at = name.endsWith(".json") ? store.modifiedAt(path) : undefined;
    if (modified_at === undefined) return [];
    const text = store.readText(path) ?? "";
    const value = parseObject(text);
    return [
      {
        id: asText(value?.id) ?? name.slice(0, -".json".length),
        revision: `${modified_at}.${text.length}`,
        created_at: asNumber(asObject(value?.time)?.created) ?? asNumber(asObject(value?.time)?.start) ?? 0,
        place: { kind: "document" as const, file: path, pointer: "" },
        data: () => text,
      },
    ];
  });
}

// --- The document of `opencode export` ------------------------------------------------------------------------------

/** Reads `{info: <session>, messages: [{info: <message>, parts: [<part>]}]}`; `undefined`: the file is something else. */
function exportOf(store: OpenStore): { id: string; info: JsonObject; messages: JsonObject[] } | undefined {
  const value = parseObject(store.readText(store.path) ?? "");
  const info = asObject(value?.info);
  const id = asText(info?.id);
  if (info === undefined || id === undefined || !Array.isArray(value?.messages)) return undefined;
  const messages = value.messages.map((each: unknown) => asObject(each) ?? {});
  return messages.every((each) => asObject(each.info) !== undefined && Array.isArray(each.parts))
    ? { id, info, messages }
    : undefined;
}

function* exportedSessions(store: OpenStore): Generator<SnapshotSession> {
  const exported = exportOf(store);
  if (exported === undefined) return;
  const { id, info, messages } = exported;
  const item = (value: unknown, pointer: string, message_id?: string): Item[] => {
    const object = asObject(value);
    const id = asText(object?.id);
    if (object === undefined || id === undefined) return [];
    const time = asObject(object.time);
    const text = JSON.stringify(object);
    return [
      {
        id,
        ...(message_id !== undefined && { message_id }),
        revision: `${text.length}`,
        created_at: asNumber(time?.created) ?? asNumber(time?.start) ?? 0,
        place: { kind: "document", file: store.path, pointer },
        data: () => text,
      },
    ];
  };
  yield {
    name: id,
    kind: asText(info.parentID) === undefined ? "session" : "run",
    modified_at: asNumber(asObject(info.time)?.updated) ?? store.modifiedAt(store.path) ?? 0,
    records: () =>
      recordsOf(
        {
          key: "session",
          place: { kind: "document", file: store.path, pointer: "/info" },
          text: JSON.stringify(info),
        },
        messages.flatMap((message, at) => item(message.info, `/messages/${at}/info`)),
        messages.flatMap((message, at) =>
          asArray(message.parts).flatMap((part, index) =>
            item(part, `/messages/${at}/parts/${index}`, asText(asObject(message.info)?.id)),
          ),
        ),
        asObject(info.revert),
      ),
  };
}

// --- Records --------------------------------------------------------------------------------------------------------

/** Current ids: twelve digits of time and counter, then a random suffix. Others keep the order of their store. */
const TIMED = /^(?:msg|prt)_([0-9a-f]{12})/;

function recordsOf(
  session: SnapshotRecord,
  messages: readonly Item[],
  parts: readonly Item[],
  revert: JsonObject | undefined,
): SnapshotRecord[] {
  const byMessage = new Map<string, Item[]>();
  for (const part of parts) {
    const others = byMessage.get(part.message_id ?? "");
    if (others) others.push(part);
    else byMessage.set(part.message_id ?? "", [part]);
  }
  const isTimed = [...messages, ...parts].every(({ id }) => TIMED.test(id));
  const timeOf = ({ id }: Item) => id.slice("msg_".length);
  const inOrder = (one: Item, other: Item) =>
    isTimed ? compare(timeOf(one), timeOf(other)) : one.created_at - other.created_at;
  const reverted = revertedFrom(revert);
  const sorted: { at: string; record: SnapshotRecord }[] = [];
  for (const message of [...messages].sort(inOrder)) {
    const begun = timeOf(message);
    const isReverted = reverted.message(message.id);
    sorted.push({ at: begun, record: recordOf("message", message, isReverted) });
    let last = begun;
    for (const part of (byMessage.get(message.id) ?? []).sort((one, other) =>
      isTimed ? compare(one.id, other.id) : 0,
    )) {
      // Parts of a message follow its start.
      last = max(last, timeOf(part));
      sorted.push({
        at: last,
        record: recordOf("part", part, isReverted || reverted.part(message.id, part.id)),
      });
    }
    byMessage.delete(message.id);
    const finish = finishOf(message);
    if (finish !== undefined) sorted.push({ at: last, record: finish });
  }
  // Parts whose message does not exist (yet).
  for (const part of [...byMessage.values()].flat())
    sorted.push({ at: timeOf(part), record: recordOf("part", part, false) });
  if (isTimed) sorted.sort((one, other) => compare(one.at, other.at));
  return [session, ...sorted.map(({ record }) => record)];
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const max = (one: string, other: string): string => (one < other ? other : one);

function recordOf(kind: "message" | "part", item: Item, reverted: boolean): SnapshotRecord {
  const { id, message_id, place, data } = item;
  const head = {
    id,
    ...(message_id !== undefined && { messageID: message_id }),
    ...(reverted && { reverted }),
  };
  return {
    key: `${kind}:${id}`,
    revision: `${item.revision}${reverted ? ".reverted" : ""}`,
    place,
    text: () => `${JSON.stringify(head).slice(0, -1)},"data":${data() || "null"}}`,
  };
}

/** The end of an assistant message; `undefined`: it has none, or is a person's. */
function finishOf(message: Item): SnapshotRecord | undefined {
  const value = parseObject(message.data());
  const time = asObject(value?.time);
  if (value?.role !== "assistant") return undefined;
  const { error, finish, cost, tokens, mode, summary } = value;
  if (asNumber(time?.completed) === undefined && error === undefined && finish === undefined)
    return undefined;
  return {
    key: `finish:${message.id}`,
    place: message.place,
    text: JSON.stringify({ id: message.id, time, finish, error, cost, tokens, mode, summary }),
  };
}

/** The start of the content that an undo removed: a message, or a part of it. */
function revertedFrom(revert: JsonObject | undefined) {
  const message = asText(revert?.messageID);
  const part = asText(revert?.partID);
  return {
    message: (id: string) => message !== undefined && (part === undefined ? id >= message : id > message),
    part: (message_id: string, id: string) =>
      message !== undefined && part !== undefined && message_id === message && id >= part,
  };
}
