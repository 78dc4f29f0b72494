import type { OpenedFilesReply } from "../../protocol.ts";
import type { Sessions } from "./sessions.ts";

/** A file sent by a browser. */
export interface GivenFile {
  /** A relative path with `/`, used as a name only. It is never resolved on this machine. */
  path: string;
  bytes: Uint8Array;
  /** Milliseconds since 1970. */
  modified_at: number;
}

/**
 * Session files that are open without being stored. They exist only in memory and are not listed; their sessions are found by id.
 */
export interface OpenedFiles {
  /** Their sessions. */
  readonly sessions: Sessions;
  /** Reserves memory for `bytes`. The result releases it. Throws `Refused` if there is not enough. */
  reserve(bytes: number): () => void;
  /** Opens files that belong together. Throws `Refused` if they contain no session. */
  open(files: readonly GivenFile[]): Promise<OpenedFilesReply>;
  /** The sessions of the files that were opened together with a session; `undefined`: they are not open. */
  together(session_id: string): OpenedFilesReply | undefined;
}
