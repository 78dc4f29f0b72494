import { asArray, asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { firstMembers } from "../conversation/head.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { readDocument } from "../documents/document.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { clineReader, isSummary } from "./reader.ts";

/** A document in a session's folder. `CLINE_SESSION_DATA_DIR` names a folder of sessions that may have any name. */
const SESSION = /^(.*(?:^|\/)sessions\/[^/]+)\/[^/]+\.json$/;
const NAMED = /^((?:.*\/)?([^/]+))\/(?:\2(?:\.messages)?|agent_[^/]+\.messages)\.json$/;

/** Cline CLI 3: `~/.cline/data/sessions/<id>/`, with one document per agent and one for the session. */
export const cline = recordLinesFormat({
  id: "cline",
  name: "Cline",
  root: {
    variable: "CLINE_DIR",
    home: ".cline",
    folders: ["data/sessions"],
    others: [
      { variable: "CLINE_DATA_DIR", folders: ["sessions"] },
      { variable: "CLINE_SESSION_DATA_DIR", folders: ["."] },
    ],
  },
  classify: () => undefined,
  detect: (head) => isOwn(firstMembers(head)),
  snapshots: {
    /** The session's folder: an agent's activity and the session's end are in different files. */
    storeOf: (path) => (SESSION.exec(path) ?? NAMED.exec(path))?.[1],
    recognizes(store) {
      const first = store.list(store.path).find((name) => name.endsWith(".messages.json"));
      return isOwn(readDocument(store, first === undefined ? store.path : `${store.path}/${first}`)?.value);
    },
    sessions,
  },
  reader: clineReader,
});

function isOwn(document: JsonObject | undefined): boolean {
  const origin = asObject(document?.origin);
  return (
    asText(document?.agent) !== undefined && asText(document?.sessionId) !== undefined && origin !== undefined
  );
}

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const isFile = store.path.endsWith(".json");
  const paths = isFile
    ? [store.path]
    : store
        .list(store.path)
        .flatMap((name) => (name.endsWith(".messages.json") ? [`${store.path}/${name}`] : []));
  for (const path of paths) {
    const changed = store.modifiedAt(path);
    if (changed === undefined) continue;
    const name = stemOf(path).replace(/\.messages$/, "");
    const state = isFile || name !== namesOf(store.path).at(-1) ? undefined : `${store.path}/${name}.json`;
    const ended = state === undefined ? undefined : store.modifiedAt(state);
    const compacted = store.modifiedAt(compactionOf(path)) ?? 0;
    yield {
      name: isFile ? path : state === undefined ? `${namesOf(store.path).at(-1)}/${name}` : name,
      kind: state === undefined && !isFile ? "run" : "session",
      stamp: `${changed} ${ended ?? 0} ${compacted}`,
      modified_at: Math.max(changed, ended ?? 0, compacted),
      records: () => recordsOf(store, path, state),
    };
  }
}

/** The file with the messages that replaced older ones for the model, next to the one with all messages. */
const compactionOf = (path: string): string => path.replace(/\.messages\.json$/, ".compaction.json");

/** The records in reading order. The end from `<id>.json` comes last. */
function* recordsOf(store: OpenStore, path: string, state: string | undefined): Generator<SnapshotRecord> {
  const document = readDocument(store, path);
  if (document === undefined) return;
  // Omit the time of the last change: it would create a new head revision each time.
  const { messages, system_prompt, updated_at: _, ...head } = document.value;
  yield recordOf("head", path, "", head);
  if (asText(system_prompt) !== undefined)
    yield recordOf("system", path, "/system_prompt", { system_prompt });
  const compaction = path.endsWith(".messages.json") ? compactionRecord(store, path) : undefined;
  for (const [index, message] of asArray(messages).entries()) {
    if (index === compaction?.before) yield compaction.record;
    const id = asText(asObject(message)?.id) ?? String(index);
    yield document.record(`message:${id}`, ["messages", index], message);
  }
  if (compaction !== undefined && compaction.before >= asArray(messages).length) yield compaction.record;
  const session = state === undefined ? undefined : readDocument(store, state)?.value;
  if (state === undefined || session === undefined) return;
  const { metadata, prompt: __, ...facts } = session;
  const { systemPrompt: ___, ...known } = asObject(metadata) ?? {};
  yield recordOf("session", state, "", { ...facts, metadata: known });
}

/** The last compaction, and the number of messages that it covers. */
function compactionRecord(
  store: OpenStore,
  path: string,
): { before: number; record: SnapshotRecord } | undefined {
  const file = compactionOf(path);
  const { source_message_count, updated_at, messages } = readDocument(store, file)?.value ?? {};
  const before = asNumber(source_message_count);
  if (before === undefined) return undefined;
  const summary = asArray(messages).map(asObject).find(isSummary);
  const record = recordOf(`compaction:${before}`, file, "", {
    updated_at,
    source_message_count,
    ...(summary !== undefined && { summary: summary.content }),
  });
  return { before, record };
}

function recordOf(key: string, file: string, pointer: string, value: JsonObject): SnapshotRecord {
  return { key, place: { kind: "document", file, pointer }, text: JSON.stringify(value) };
}
