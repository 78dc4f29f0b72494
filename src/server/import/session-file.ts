import type { OpenCalls } from "../../model/open-calls.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Format } from "../../sources/contract.ts";
import { isRecordLog } from "../../sources/record-log/log-line.ts";
import type { FileIdentity, StoredFile } from "../../store/contract.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { Reading, SessionBuilder } from "./reading.ts";
import type { FoundFile } from "./watch.ts";

/** A session file, and what is left of one that is gone. */
export interface SessionFile {
  id: number;
  path: string;
  readonly format: Format;
  readonly kind: "session" | "run";
  sample: boolean;
  side?: string;
  /** Of the side file as it was read. */
  side_stamp?: string;
  side_text?: string;
  /** As it was read last. */
  identity?: FileIdentity;
  /** As it was when a first reading stopped on its way: what is archived is of this content. */
  partial_identity?: FileIdentity;
  /** As it was seen last. */
  seen?: FoundFile;
  gone: boolean;
  /** Ids of its sessions. */
  sessions: Set<string>;
  reading?: Reading;
  /** What is done with a file is done one after the other. */
  queue: Promise<unknown>;
  /** A reading of it stops early: it is going to be read again for someone who waits. */
  interrupt: boolean;
  /** Read to its end at least once, now or by an earlier daemon. */
  done: boolean;
  /** It was seen to grow: somebody writes it, whatever times stand in it. */
  grew?: boolean;
  /** Bytes read so far while it is read for the first time. */
  progress: number;
  last_line_timer?: NodeJS.Timeout;
}

/** A session of a file, or of what is left of one. */
export interface IndexedSession {
  readonly id: string;
  entry: SessionFile;
  /** Summed up from its frames. `present` makes the list's row from it. */
  summary: SessionSummary;
  open_calls: OpenCalls;
  /** The start of this run as it was published on the parent's channel. */
  published_start?: string;
  builder?: SessionBuilder;
  view?: SessionView;
}

/** What is known of a file before anything of it is read. */
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

/** Whether its bytes are kept in the archive: not those of samples, nor of a record log, which is an archive itself. */
export const isArchivable = ({ sample, path }: Pick<SessionFile, "sample" | "path">): boolean =>
  !sample && !isRecordLog(path);

/** `undefined`: nothing to keep. Samples ship with the program and are read anew: they are neither stored nor archived. */
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

/** Whether the file, as it was seen last, holds what was not read. */
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

/** Bytes that it has, as far as is known. */
export const sizeOf = ({ seen, identity }: SessionFile): number => seen?.size ?? identity?.size ?? 0;

/** When the file was written to last, in milliseconds. */
export const modifiedAt = ({ seen, identity }: SessionFile): number =>
  seen?.modified_at ?? identity?.modified_at ?? 0;
