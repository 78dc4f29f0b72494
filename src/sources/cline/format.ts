import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { firstMembers } from "../conversation/head.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { readDocument } from "../documents/document.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { clineReader } from "./reader.ts";

const SESSION = /^(.*(?:^|\/)sessions\/[^/]+)\/[^/]+\.json$/;

/** Cline CLI 3: `~/.cline/data/sessions/<id>/`, with one document per agent and one for the session. */
export const cline = recordLinesFormat({
  id: "cline",
  name: "Cline",
  root: { variable: "CLINE_DIR", home: ".cline", folders: ["data/sessions"] },
  classify: () => undefined,
  detect: (head) => isOwn(firstMembers(head)),
  snapshots: {
    /** The session's folder: an agent's activity and the session's end are in different files. */
    storeOf: (path) => SESSION.exec(path)?.[1],
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
    yield {
      name: isFile ? path : state === undefined ? `${namesOf(store.path).at(-1)}/${name}` : name,
      kind: state === undefined && !isFile ? "run" : "session",
      stamp: `${changed} ${ended ?? 0}`,
      modified_at: Math.max(changed, ended ?? 0),
      records: () => recordsOf(store, path, state),
    };
  }
}

/** The records in reading order. The end from `<id>.json` comes last. */
function* recordsOf(store: OpenStore, path: string, state: string | undefined): Generator<SnapshotRecord> {
  const document = readDocument(store, path);
  if (document === undefined) return;
  // Omit the time of the last change: it would create a new head revision each time.
  const { messages, system_prompt, updated_at: _, ...head } = document.value;
  yield recordOf("head", path, "", head);
  if (asText(system_prompt) !== undefined)
    yield recordOf("system", path, "/system_prompt", { system_prompt });
  for (const [index, message] of asArray(messages).entries()) {
    const id = asText(asObject(message)?.id) ?? String(index);
    yield document.record(`message:${id}`, ["messages", index], message);
  }
  const session = state === undefined ? undefined : readDocument(store, state)?.value;
  if (state === undefined || session === undefined) return;
  const { metadata, prompt: __, ...facts } = session;
  const { systemPrompt: ___, ...known } = asObject(metadata) ?? {};
  yield recordOf("session", state, "", { ...facts, metadata: known });
}

function recordOf(key: string, file: string, pointer: string, value: JsonObject): SnapshotRecord {
  return { key, place: { kind: "document", file, pointer }, text: JSON.stringify(value) };
}
