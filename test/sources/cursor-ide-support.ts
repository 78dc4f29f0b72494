import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { cursorIde } from "../../src/sources/cursor-ide/format.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

/** The tables of Cursor's databases. `ON CONFLICT REPLACE`: Cursor inserts a changed row again. */
const TABLES = `
  CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
  CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
`;

/** A folder of Cursor's, `User`, with its database of all workspaces. */
export interface CursorUser {
  /** `globalStorage/state.vscdb`. */
  path: string;
  database: DatabaseSync;
  /** Writes a row of `cursorDiskKV`. Text is stored as it is. */
  put(key: string, value: unknown): void;
  /** Writes a bubble. */
  bubble(conversation: string, id: string, value: object): void;
  /** Writes a conversation with these bubbles, of type 1 if their name begins with `u`. */
  conversation(id: string, bubbles: readonly string[], more?: object): void;
  /** Creates a workspace of this folder. Its database lists the conversations. */
  workspace(name: string, folder: string, conversations?: readonly string[]): void;
}

export function createCursorUser(folder: string): CursorUser {
  const user = join(folder, "Cursor/User");
  mkdirSync(join(user, "globalStorage"), { recursive: true });
  const path = join(user, "globalStorage/state.vscdb");
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; ${TABLES}`);
  const insert = database.prepare("INSERT INTO cursorDiskKV (key, value) VALUES (?, ?)");
  const put = (key: string, value: unknown) =>
    void insert.run(key, typeof value === "string" ? value : JSON.stringify(value));
  return {
    path,
    database,
    put,
    bubble: (conversation, id, value) =>
      put(`bubbleId:${conversation}:${id}`, { _v: 3, bubbleId: id, lints: [], images: [], ...value }),
    conversation(id, bubbles, more = {}) {
      put(`composerData:${id}`, {
        _v: 16,
        composerId: id,
        createdAt: Date.parse("2026-06-01T10:00:00Z"),
        fullConversationHeadersOnly: bubbles.map((bubbleId) => ({
          bubbleId,
          type: bubbleId.startsWith("u") ? 1 : 2,
        })),
        blobEncryptionKey: "a secret key",
        ...more,
      });
    },
    workspace(name, place, conversations) {
      const storage = join(user, "workspaceStorage", name);
      mkdirSync(storage, { recursive: true });
      writeFileSync(join(storage, "workspace.json"), JSON.stringify({ folder: place }));
      if (conversations === undefined) return;
      const own = new DatabaseSync(join(storage, "state.vscdb"));
      own.exec(TABLES);
      const list = { allComposers: conversations.map((composerId) => ({ composerId })) };
      own
        .prepare("INSERT INTO ItemTable VALUES ('composer.composerData', ?)")
        .run(Buffer.from(JSON.stringify(list)));
      own.close();
    },
  };
}

/** The time of a bubble, `minute` minutes after ten. */
export const at = (minute: number): string => new Date(Date.UTC(2026, 5, 1, 10, minute)).toISOString();

/** `toolFormerData`: its arguments and result are JSON in strings. */
export const toolData = (
  name: string,
  {
    args,
    params,
    result,
    ...more
  }: { args?: object; params?: object; result?: object; [name: string]: unknown },
): object => ({
  tool: 1,
  name,
  status: result === undefined ? "loading" : "completed",
  toolCallId: `tool_${name}`,
  ...(args && { rawArgs: JSON.stringify(args) }),
  ...(params && { params: JSON.stringify(params) }),
  ...(result && { result: JSON.stringify(result) }),
  additionalData: {},
  ...more,
});

export type Sessions = Map<string, FollowedSession>;

/** Reads all conversations, or what is new since they were read. */
export const readAll = ({ path }: CursorUser, known?: Sessions): Sessions =>
  look(cursorIde, openStore(path), known);

export function closedOf(
  sessions: Sessions,
  name: string,
): { transcript: Transcript; parts: TranscriptPart[] } {
  const session = sessions.get(name);
  if (session === undefined) throw new Error(`No session ${name}`);
  return closed(session);
}

export const resultsIn = (parts: readonly TranscriptPart[]) =>
  parts.filter((part) => part.type === "tool_result");

/** The facts of a session. */
export const patchesOf = (sessions: Sessions, name: string): object =>
  Object.assign(
    {},
    ...(sessions.get(name)?.records ?? []).flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
    ),
  );
