import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import type {
  Format,
  OpenStore,
  Reader,
  ReadRecord,
  Row,
  SnapshotSession,
} from "../../src/sources/contract.ts";
import { type Cursor, changesOf } from "../../src/sources/record-log/changes.ts";
import { entryLine, headerLine, logName } from "../../src/sources/record-log/log-line.ts";

/** A store on disk, as the daemon opens one. */
export function openStore(path: string): OpenStore {
  const orAbsent = <Value>(read: () => Value): Value | undefined => {
    try {
      return read();
    } catch (error) {
      if (
        (error as NodeJS.ErrnoException).code === "ENOENT" ||
        (error as NodeJS.ErrnoException).code === "ENOTDIR"
      )
        return undefined;
      throw error;
    }
  };
  return {
    path,
    readText: (file) => orAbsent(() => readFileSync(file, "utf8")),
    list: (folder) => orAbsent(() => readdirSync(folder).sort()) ?? [],
    modifiedAt: (file) => orAbsent(() => statSync(file).mtimeMs),
    rows: (sql, ...parameters) => rowsOf(path, sql, parameters),
    rowsIn: (file, sql, ...parameters) => (existsSync(file) ? rowsOf(file, sql, parameters) : []),
    decompress: (value) => zstdDecompressSync(value).toString("utf8"),
  };
}

function rowsOf(path: string, sql: string, parameters: readonly (string | number | null)[]): Row[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    // Rows of SQLite are objects by column.
    return database.prepare(sql).all(...parameters) as Row[];
  } finally {
    database.close();
  }
}

/** One session of a store that is followed: its log so far, read as it grows. */
export interface FollowedSession {
  name: string;
  kind: SnapshotSession["kind"];
  records: ReadRecord[];
  /** The lines of the log, without the header. */
  lines: string[];
  reader: Reader;
  cursor: Cursor;
}

/** Reads a store again: new records are appended to the logs of its sessions, and read. */
export function look(
  format: Format,
  store: OpenStore,
  known: Map<string, FollowedSession> = new Map(),
): Map<string, FollowedSession> {
  if (format.snapshots === undefined) throw new Error(`${format.id} has no snapshots`);
  for (const session of format.snapshots.sessions(store)) {
    const { name, kind } = session;
    let followed = known.get(name);
    if (followed === undefined) {
      const path = `logs/${logName(name)}`;
      const reader = format.createReader({ path });
      followed = { name, kind, records: [], lines: [], reader, cursor: new Map() };
      known.set(name, followed);
      push(followed, headerLine({ agent: format.id, session: name, file: store.path }));
    }
    for (const entry of changesOf(session, followed.cursor, (text) => `${text.length}:${hash(text)}`)) {
      const line = entryLine(entry);
      followed.lines.push(line);
      push(followed, line);
    }
  }
  return known;
}

function push(session: FollowedSession, line: string): void {
  session.records.push(...session.reader.push(new TextEncoder().encode(line)));
}

function hash(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return sum;
}

/** Ends the reading of a session, and folds its frames. */
export function closed(session: FollowedSession): { transcript: Transcript; parts: TranscriptPart[] } {
  session.records.push(...session.reader.close());
  const frames = session.records.flatMap(({ frames: all }) => all);
  const [first] = frames;
  let transcript = emptyTranscript(first?.session_id ?? "00000000-0000-8000-8000-000000000000");
  for (const frame of frames) transcript = accumulate(transcript, frame);
  return { transcript, parts: transcript.parts.slice().filter((part) => part !== undefined) };
}
