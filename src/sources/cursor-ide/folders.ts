import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore } from "../contract.ts";
import { localPath } from "../conversation/path-url.ts";
import { parseObject } from "../lines/parse-object.ts";
import { hasTable } from "../tables/tables.ts";

/** What Cursor's list of conversations says about one. */
export interface ListEntry {
  title?: string;
  /** The folder, if the entry contains it. */
  folder?: string;
  /** The name of the workspace's folder below `workspaceStorage`. */
  workspace?: string;
  archived?: boolean;
  /** Time of the last activity in milliseconds. */
  active_at?: number;
}

const HEADS = "composerHeaders";

/**
 * Cursor's list of conversations, which is not complete: the table `composerHeaders` (since 3.9), and before it the open tabs in
 * `ItemTable`. No other key of `ItemTable` is read: it contains secrets.
 */
export function listEntries(store: OpenStore): Map<string, ListEntry> {
  const entries = new Map<string, ListEntry>();
  if (hasTable(store, "ItemTable", ["key", "value"])) {
    const list = itemOf(store.rows(ITEM, "composer.composerHeaders"));
    for (const each of asArray(list?.allComposers)) {
      const head = asObject(each);
      const id = asText(head?.composerId);
      if (head !== undefined && id !== undefined) entries.set(id, entryOf(head));
    }
  }
  if (!hasTable(store, HEADS, ["composerId", "workspaceId", "isArchived", "recency", "value"]))
    return entries;
  for (const row of store.rows(`SELECT composerId, workspaceId, isArchived, recency, value FROM ${HEADS}`)) {
    const entry = entryOf(parseObject(asString(row.value) ?? "") ?? {});
    const workspace = asText(row.workspaceId);
    const active_at = asNumber(row.recency);
    entries.set(String(row.composerId), {
      ...entry,
      ...(workspace !== undefined && { workspace }),
      ...(active_at !== undefined && { active_at }),
      archived: row.isArchived === 1,
    });
  }
  return entries;
}

const ITEM = "SELECT CAST(value AS TEXT) AS text FROM ItemTable WHERE key = ?";

function itemOf(rows: Iterable<JsonObject>): JsonObject | undefined {
  const [row] = [...rows];
  return parseObject(asString(row?.text) ?? "");
}

function entryOf(head: JsonObject): ListEntry {
  const title = asText(head.name);
  const active_at = asNumber(head.lastUpdatedAt);
  return {
    ...workspaceOf(head),
    ...(title !== undefined && { title }),
    ...(active_at !== undefined && { active_at }),
    ...(head.isArchived === true && { archived: true }),
  };
}

/** Reads `workspaceIdentifier`: `{id, uri}`. A window without a folder has no `uri`. */
export function workspaceOf(head: JsonObject): Pick<ListEntry, "folder" | "workspace"> {
  const identifier = asObject(head.workspaceIdentifier);
  const uri = asObject(identifier?.uri);
  const folder = asText(uri?.fsPath) ?? asText(uri?.path);
  const workspace = asText(identifier?.id);
  return { ...(folder !== undefined && { folder }), ...(workspace !== undefined && { workspace }) };
}

/** The folders of workspaces: by the name of a workspace, and by the conversations that its own database lists. */
export interface Folders {
  ofWorkspace(name: string): string | undefined;
  ofConversation(id: string): string | undefined;
}

/**
 * Reads `workspaceStorage/<name>/workspace.json`, and if a conversation is not known otherwise, the databases beside these files:
 * before 3.0 only those said which conversation belongs to which workspace.
 */
export function createFolders(store: OpenStore): Folders {
  const user = /^(.*)[\\/]globalStorage[\\/][^\\/]+$/.exec(store.path)?.[1];
  const storage = `${user}/workspaceStorage`;
  let listed: Map<string, string> | undefined;

  function ofWorkspace(name: string): string | undefined {
    if (user === undefined || /[\\/]/.test(name)) return undefined;
    const workspace = parseObject(store.readText(`${storage}/${name}/workspace.json`) ?? "");
    const folder = asText(workspace?.folder);
    return folder === undefined ? undefined : pathOf(folder);
  }

  return {
    ofWorkspace,
    ofConversation(id) {
      if (user === undefined) return undefined;
      listed ??= new Map(
        store.list(storage).flatMap((name) => {
          const folder = ofWorkspace(name);
          if (folder === undefined) return [];
          return conversationsIn(store, `${storage}/${name}/state.vscdb`).map((each) => [each, folder]);
        }),
      );
      return listed.get(id);
    },
  };
}

function conversationsIn(store: OpenStore, file: string): string[] {
  try {
    const list = itemOf(store.rowsIn(file, ITEM, "composer.composerData"));
    return asArray(list?.allComposers).flatMap((each) => asText(asObject(each)?.composerId) ?? []);
  } catch {
    // A damaged database of one workspace must not hide the conversations of all.
    return [];
  }
}

/** The path in a URI of VS Code: `file:///home/ada`, or `vscode-remote://wsl%2Bubuntu/home/ada` on another computer. */
export function pathOf(uri: string): string {
  const [, remote] = /^vscode-remote:\/\/[^/]+(\/.*)$/s.exec(uri) ?? [];
  return localPath(remote === undefined ? uri : `file://${remote}`);
}
