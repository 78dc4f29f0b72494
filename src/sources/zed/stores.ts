import { asArray, asObject, asString, asText, messageOf } from "../../model/narrow.ts";
import type { OpenStore, Row, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { withSaveTime } from "../documents/save-time.ts";
import { columnsOf, hasTable } from "../tables/tables.ts";
import { type OpenThread, openThread } from "./thread.ts";

/**
 * Zed's threads: `threads/threads.db`, table `threads`, one row each, whose `data` is the whole thread as JSON, mostly compressed
 * with zstd. Zed replaces the row at each change.
 *
 * Source: `zed-industries/zed`, `crates/agent/src/db.rs` (table, `DbThread` 0.3.0), `thread.rs` and `thread/message.rs`
 * (`Message`, `UserMessage`, `AgentMessage`), `legacy_thread.rs` (versions until 0.2.0), `crates/util/src/path_list.rs`.
 */
export const zedSnapshots: Snapshots = {
  storeOf: (path) => /^((?:.*[\\/])?threads[\\/]threads\.db)(?:-wal|-shm|-journal)?$/.exec(path)?.[1],
  recognizes: (store) => hasTable(store, "threads", ["id", "summary", "updated_at", "data_type", "data"]),
  sessions,
};

/** Columns that Zed has added to the table. */
const ADDED = ["parent_id", "created_at", "folder_paths", "folder_paths_order"] as const;

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const known = columnsOf(store, "threads");
  const added = ADDED.map((name) => (known.includes(name) ? name : `NULL AS ${name}`)).join(", ");
  // The length is known without reading the data.
  const rows = store.rows(`SELECT id, summary, updated_at, ${added}, length(data) AS size FROM threads`);
  for (const row of rows) {
    const name = asText(row.id);
    if (name === undefined) continue;
    yield {
      name,
      kind: asText(row.parent_id) === undefined ? "session" : "run",
      stamp: JSON.stringify(Object.values(row).map(String)),
      modified_at: timeOf(row.updated_at) ?? 0,
      records: () => recordsOf(store, name, row),
    };
  }
}

function* recordsOf(store: OpenStore, name: string, row: Row): Generator<SnapshotRecord> {
  const place = { kind: "row", file: store.path, table: "threads", key: name } as const;
  const record = (key: string, value: object) => ({ key, place, text: JSON.stringify(value) });
  const [data] = store.rows("SELECT data_type, data FROM threads WHERE id = ?", name);
  if (data === undefined) return;
  let thread: OpenThread;
  try {
    thread = openThread(textOf(store, data));
  } catch (error) {
    yield record("head", { id: name, title: row.summary });
    yield record("thread", { unreadable: messageOf(error) });
    return;
  }
  // A thread without a message is a draft.
  if (thread.messages.length === 0) return;
  yield record("head", headOf(name, row, thread));
  const messages = thread.messages.map(({ key, text, isPrompt }) => ({
    record: { key, place, text },
    isPrompt,
  }));
  yield* withSaveTime(messages, record("saved", { updated_at: row.updated_at }));
  yield record("end", { updated_at: row.updated_at });
}

/** The JSON of a thread. Throws if it is damaged. */
function textOf(store: OpenStore, { data_type, data }: Row): string {
  if (data_type !== "json" && data_type !== "zstd") throw new Error(`Unknown data type: ${data_type}`);
  if (!(data instanceof Uint8Array)) return asString(data) ?? "";
  return data_type === "zstd" ? store.decompress(data) : new TextDecoder().decode(data);
}

/** The facts of a thread that are shown. */
function headOf(name: string, row: Row, { value }: OpenThread): object {
  const context = asObject(value.subagent_context);
  const worktree = asObject(asArray(asObject(value.initial_project_snapshot)?.worktree_snapshots)[0]);
  return {
    id: name,
    title: row.summary,
    created_at: row.created_at ?? undefined,
    folder: folderOf(row) ?? asText(worktree?.worktree_path),
    branch: asText(asObject(worktree?.git_state)?.current_branch),
    model: asObject(value.model),
    parent: asText(row.parent_id) ?? asText(context?.parent_thread_id),
    depth: context?.depth,
  };
}

/** The first folder of the workspace. The paths are sorted. `folder_paths_order` has the place of each. */
function folderOf(row: Row): string | undefined {
  const paths = (asText(row.folder_paths) ?? "").split("\n");
  const order = (asText(row.folder_paths_order) ?? "").split(",").map(Number);
  const first = order.length === paths.length ? order.indexOf(0) : 0;
  return asText(paths[Math.max(first, 0)]);
}
