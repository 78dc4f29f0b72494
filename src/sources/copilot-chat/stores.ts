import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { stemOf } from "../conversation/paths.ts";
import { pointerOf } from "../documents/document.ts";
import { parseObject } from "../lines/parse-object.ts";
import { replay } from "./mutation-log.ts";
import { recordsOfRequest } from "./request-records.ts";
import { itemsOf } from "./response.ts";
import { runsOf, withoutRuns } from "./runs.ts";

// A session is `<id>.jsonl`, a log of changes, or `<id>.json` (before VS Code 1.109), a document that is rewritten: in the
// folder `chatSessions` of a workspace's storage, which has `workspace.json` beside it, or in a folder of all windows without a
// workspace. The file of a session that was opened again in 1.109 or later remains beside its log.

const IN_WORKSPACE = /^(.*)\/chatSessions\/[^/]+\.jsonl?$/;
const WITHOUT_WORKSPACE = /^((?:.*\/)?(?:emptyWindow|transferred)ChatSessions)\/[^/]+\.jsonl?$/;
const SESSION_FILE = /\.jsonl?$/;

/** The folder of a workspace's storage, or that of sessions without a workspace, by one of its session files. */
export const storeOf = (path: string): string | undefined =>
  (IN_WORKSPACE.exec(path) ?? WITHOUT_WORKSPACE.exec(path))?.[1];

/**
 * Whether a folder below an editor's data may contain session files: `workspaceStorage/<id>/chatSessions`, whose siblings
 * belong to extensions and may be huge, and `globalStorage/<name>ChatSessions`.
 */
export function mayContainSessions(path: string): boolean {
  const [, below] = /(?:^|\/)workspaceStorage\/[^/]+\/(.+)$/.exec(path) ?? [];
  return below === undefined || below === "chatSessions";
}

/** Whether the store is a session file, or a folder for them, which may be empty. */
export function hasSession(store: OpenStore): boolean {
  if (SESSION_FILE.test(store.path)) return isSession(readSession(store, store.path));
  return isSessionFolder(store.path) || store.list(store.path).includes("chatSessions");
}

const isSessionFolder = (path: string): boolean =>
  /(?:^|\/)(?:emptyWindow|transferred)ChatSessions$/.test(path);

/** Whether an object is a session, stored or exported. */
export const isSession = (value: JsonObject): boolean =>
  Array.isArray(value.requests) && (typeof value.responderUsername === "string" || hasSessionId(value));

const hasSessionId = (value: JsonObject): boolean =>
  asText(value.sessionId) !== undefined && asNumber(value.creationDate) !== undefined;

/** Every session of the store. A file that has not changed is not read. */
export function* chatSessions(store: OpenStore): Generator<SnapshotSession> {
  for (const file of filesOf(store)) {
    // Read before the content: a change in between makes another stamp.
    const modified_at = store.modifiedAt(file);
    if (modified_at === undefined) continue;
    yield {
      name: stemOf(file),
      kind: "session",
      stamp: `${file} ${modified_at}`,
      modified_at,
      records: () => recordsOf(file, readSession(store, file), store),
    };
  }
}

/** The session files of a store. Of a session with two files, only its log is read. */
function filesOf(store: OpenStore): string[] {
  if (SESSION_FILE.test(store.path)) return [store.path];
  const folder = isSessionFolder(store.path) ? store.path : `${store.path}/chatSessions`;
  const names = store.list(folder).filter((name) => SESSION_FILE.test(name));
  const logs = new Set(names.filter((name) => name.endsWith(".jsonl")));
  return names.filter((name) => !logs.has(`${name}l`)).map((name) => `${folder}/${name}`);
}

/** Reads a session file. Throws if it is incomplete: it may be being written, and the daemon reads it again. */
function readSession(store: OpenStore, file: string): JsonObject {
  const text = store.readText(file) ?? "";
  const session = file.endsWith(".jsonl") ? replay(text) : asObject(JSON.parse(text));
  if (session === undefined) throw new Error(`${file} contains no whole session`);
  return session;
}

function* recordsOf(file: string, session: JsonObject, store: OpenStore): Generator<SnapshotRecord> {
  const requests = asArray(session.requests).map((request) => asObject(request) ?? { raw: request });
  if (requests.length === 0) return;
  const documentPlace = (path: readonly (string | number)[]) =>
    ({ kind: "document", file, pointer: pointerOf(path) }) as const;
  const head = headOf(session, stemOf(file), folderOf(store, file, session));
  yield { key: "head", place: documentPlace([]), text: JSON.stringify(head) };
  const keys = new Set<string>();
  for (const [index, request] of requests.entries()) {
    const id = idOf(request, index, keys);
    const path = ["requests", index];
    const items = itemsOf(request.response);
    yield* recordsOfRequest({
      key: `request:${id}`,
      id,
      request,
      items: withoutRuns(items),
      path,
      documentPlace,
    });
    for (const run of runsOf(request, items))
      yield* recordsOfRequest({ ...run, key: `run:${run.id}`, path, documentPlace });
  }
}

/** The id of a request, or its index if it has none. A second request with the same id gets another one. */
function idOf(request: JsonObject, index: number, keys: Set<string>): string {
  const id = asText(request.requestId) ?? String(index);
  const unique = keys.has(id) ? `${id}@${index}` : id;
  keys.add(unique);
  return unique;
}

function headOf(session: JsonObject, name: string, folder: string | undefined): JsonObject {
  const { customTitle, computedTitle, creationDate, initialLocation, repoData } = session;
  const { localBranch, remoteUrl } = asObject(repoData) ?? {};
  return {
    sessionId: asText(session.sessionId) ?? name,
    customTitle: customTitle ?? computedTitle,
    creationDate,
    initialLocation,
    folder,
    localBranch,
    remoteUrl,
  };
}

/** The address of the folder that the session belongs to. A workspace of several folders names none. */
function folderOf(store: OpenStore, file: string, session: JsonObject): string | undefined {
  const own = asText(session.workingDirectory);
  const [, storage] = /^(.*)\/chatSessions\/[^/]+$/.exec(file) ?? [];
  if (own !== undefined || storage === undefined) return own;
  return asString(parseObject(store.readText(`${storage}/workspace.json`) ?? "")?.folder);
}
