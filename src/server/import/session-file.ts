import { stat } from "node:fs/promises";
import type { OpenCalls } from "../../model/open-calls.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { DiskState } from "../../protocol.ts";
import type { Format } from "../../sources/contract.ts";
import { isRecordLog } from "../../sources/record-log/log-line.ts";
import type { StoredFile } from "../../store/archive/contract.ts";
import type { FileIdentity } from "../../store/contract.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { Reading, SessionBuilder } from "./reading.ts";
import type { FoundFile } from "./watch/found-file.ts";

/** A session file, or the archived bytes of a deleted one. */
export interface SessionFile {
  id: number;
  path: string;
  readonly format: Format;
  readonly kind: "session" | "run";
  sample: boolean;
  side?: string;
  /** Stamp of the side file when it was read. */
  side_stamp?: string;
  side_text?: string;
  /** The file's identity when it was last read. */
  identity?: FileIdentity;
  /** The file's identity when its first reading was interrupted. The archived bytes belong to this content. */
  partial_identity?: FileIdentity;
  /** The last known state on disk. */
  seen?: FoundFile;
  gone: boolean;
  /** Ids of its sessions. */
  sessions: Set<string>;
  reading?: Reading;
  /** Serializes the work on this file. */
  queue: Promise<unknown>;
  /** The current reading stops early, because the file will be read again for a viewer. */
  interrupt: boolean;
  /** The file was read to its end at least once, now or by an earlier daemon. */
  done: boolean;
  /** The file was seen to grow: an agent is writing it, whatever its timestamps say. */
  grew?: boolean;
  /** When it was last read to its end, in milliseconds since 1970. */
  read_at?: number;
  /** Bytes read so far during the first reading. */
  progress: number;
  last_line_timer?: NodeJS.Timeout;
}

/** A session in a file, or in the archived bytes of one. */
export interface IndexedSession {
  readonly id: string;
  entry: SessionFile;
  /** Computed from its frames. `present` turns it into a row of the list. */
  summary: SessionSummary;
  open_calls: OpenCalls;
  /** The start of this run as published on the parent's channel. */
  published_start?: string;
  builder?: SessionBuilder;
  view?: SessionView;
}

/** A file's state before it is read. */
export function newSessionFile(
  id: number,
  path: string,
  format: Format,
  kind: SessionFile["kind"],
): SessionFile {
  return {
    id,
    path,
    format,
    kind,
    sample: false,
    gone: false,
    sessions: new Set(),
    queue: Promise.resolve(),
    interrupt: false,
    done: false,
    progress: 0,
  };
}

/** Whether the file is archived. Samples are not, and a record log is an archive itself. */
export const isArchivable = ({ sample, path }: Pick<SessionFile, "sample" | "path">): boolean =>
  !sample && !isRecordLog(path);

/** The file as it is stored. `undefined` for samples: they ship with the program and are read again. */
export function storedFile(entry: SessionFile): StoredFile | undefined {
  if (!entry.identity || entry.sample) return undefined;
  return {
    id: entry.id,
    path: entry.path,
    format: entry.format.id,
    kind: entry.kind,
    ...(entry.side !== undefined && { side: entry.side }),
    ...(entry.side_stamp !== undefined && { side_stamp: entry.side_stamp }),
    ...(entry.side_text !== undefined && { side_text: entry.side_text }),
    ...entry.identity,
    gone: entry.gone,
  };
}

/** Whether the file was changed since it was read, as far as is known. */
export function isStale({ identity, seen, side_stamp, gone }: SessionFile): boolean {
  if (gone || !seen) return false;
  return (
    !identity ||
    identity.inode !== seen.inode ||
    identity.size !== seen.size ||
    identity.modified_at !== seen.modified_at ||
    side_stamp !== seen.side_stamp
  );
}

/**
 * The current state of the file on disk and how much of it was read; `undefined`: it no longer exists. `now`: milliseconds since
 * 1970.
 */
export async function diskState(entry: SessionFile, now: number): Promise<DiskState | undefined> {
  const found = entry.gone ? undefined : await stat(entry.path).catch(() => undefined);
  if (found === undefined) return undefined;
  const { read_at, grew } = entry;
  const bytes_read = (entry.reading?.identity ?? entry.identity)?.size ?? entry.progress;
  const written_at = found.mtimeMs;
  const lag =
    bytes_read < found.size
      ? now - written_at
      : grew === true && read_at !== undefined
        ? read_at - written_at
        : undefined;
  return {
    bytes: found.size,
    bytes_read,
    written_at,
    ...(lag !== undefined && { lag: Math.max(0, lag) }),
  };
}

/** The last known size in bytes. */
export const sizeOf = ({ seen, identity }: SessionFile): number => seen?.size ?? identity?.size ?? 0;

/** The last known modification time, in milliseconds. */
export const modifiedAt = ({ seen, identity }: SessionFile): number =>
  seen?.modified_at ?? identity?.modified_at ?? 0;
