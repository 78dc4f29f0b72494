import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { stemOf } from "../conversation/paths.ts";
import { readDocument } from "../documents/document.ts";
import { withSaveTime } from "../documents/save-time.ts";
import { fingerprint } from "../fingerprint.ts";
import { itemsOf } from "./items.ts";

/**
 * Continue's sessions, `sessions/<id>.json`, rewritten at each change, and `sessions.json`, the list of them. The command line
 * version with `-p` writes a session only when a turn has succeeded. It stores sub-agents nowhere.
 *
 * Source: `continuedev/continue`, `core/index.d.ts` (`Session`, `ChatHistoryItem`), `core/util/history.ts`,
 * `core/util/conversationCompaction.ts`, `gui/src/redux/slices/sessionSlice.ts`, `gui/src/redux/thunks/session.ts`, and for the
 * command line version `extensions/cli/src/session.ts`, `compaction.ts` and `services/ChatHistoryService.ts`.
 */
export const continueSnapshots: Snapshots = {
  storeOf: (path) =>
    /(?:^|[\\/])sessions[\\/](?!sessions\.json$)[^\\/]+\.json$/.test(path) ? path : undefined,
  recognizes(store) {
    const session = readDocument(store, store.path)?.value;
    return isHead(session) && Array.isArray(session?.history);
  },
  *sessions(store) {
    const session = sessionIn(store);
    if (session !== undefined) yield session;
  },
};

export const isHead = (session: JsonObject | undefined): boolean =>
  asText(session?.sessionId) !== undefined && typeof session?.workspaceDirectory === "string";

function sessionIn(store: OpenStore): SnapshotSession | undefined {
  const document = readDocument(store, store.path);
  const saved = store.modifiedAt(store.path);
  // A session without messages is one that was not used.
  if (document === undefined || asArray(document.value.history).length === 0) return undefined;
  const { sessionId, title, workspaceDirectory, mode, chatModelTitle, usage } = document.value;
  const name = asText(sessionId) ?? stemOf(store.path);
  const record = (key: string, value: object): SnapshotRecord => ({
    key,
    place: { kind: "document", file: store.path, pointer: "" },
    text: JSON.stringify(value),
  });
  return {
    name,
    kind: "session",
    modified_at: saved ?? 0,
    *records() {
      const created = createdAt(store, name);
      const { records, summary } = itemsOf(document, asText(mode));
      yield record("head", { id: name, created, title, folder: workspaceDirectory, model: chatModelTitle });
      // The output of a running command changes the file many times a second. Only what is shown counts as a change.
      const revision = fingerprint(records.map((ordered) => ordered.record.text).join("\n")).toString(36);
      const save = { ...record("saved", { saved }), revision };
      // Without the time of its start, all of a session has the time of its last change.
      if (created === undefined) {
        yield save;
        yield* records.map((ordered) => ordered.record);
      } else yield* withSaveTime(records, save);
      const cost = asNumber(asObject(usage)?.totalCost);
      yield { ...record("end", { saved, cost, summary }), revision: `${revision} ${cost}` };
    },
  };
}

/** When the session began, in milliseconds, from the list of sessions beside it; `undefined`: it is not in the list. */
function createdAt(store: OpenStore, name: string): number | undefined {
  const listed = asArray(parsed(store.readText(store.path.replace(/[^\\/]*$/, "sessions.json"))))
    .map(asObject)
    .find((session) => session?.sessionId === name);
  const created = asString(listed?.dateCreated);
  return timeOf(created !== undefined && /^\d+$/.test(created) ? Number(created) : created);
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "[]");
  } catch {
    // It is being written.
    return [];
  }
}
