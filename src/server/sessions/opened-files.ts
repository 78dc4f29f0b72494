import type { OpenedFilesReply } from "../../protocol.ts";
import type { Sessions } from "./sessions.ts";

/** A file as a browser gave it. */
export interface GivenFile {
  /** Relative, with `/`: names it, and leads nowhere on this machine. */
  path: string;
  bytes: Uint8Array;
  /** In milliseconds since 1970. */
  modified_at: number;
}

/** Session files that are open without being stored: in memory alone, listed nowhere, found by their sessions' ids. */
export interface OpenedFiles {
  /** Their sessions. */
  readonly sessions: Sessions;
  /** Makes room for so many bytes; the result gives it back. Throws `Refused` where there is not enough. */
  reserve(bytes: number): () => void;
  /** Opens files that belong together. Throws `Refused` where no session is in them. */
  open(files: readonly GivenFile[]): Promise<OpenedFilesReply>;
  /** The sessions of the files that were opened together with a session; `undefined`: they are not open, or not any more. */
  together(session_id: string): OpenedFilesReply | undefined;
}
