import type { Format } from "../../sources/contract.ts";
import type { OpenedArchive } from "../../store/archive/contract.ts";
import type { IndexState } from "../index/index-state.ts";
import type { Indexer } from "./index-threads.ts";
import type { Terminals } from "./process-states.ts";
import type { SourceChoices } from "./source-choices.ts";
import type { SessionsTiming } from "./timing.ts";
import type { WatchRoot } from "./watch/found-file.ts";

/** See `createSessions`. */
export interface SessionsOptions {
  formats: readonly Format[];
  /** The agents' default folders. */
  roots: readonly WatchRoot[];
  /** Additional files and folders. */
  paths?: readonly string[];
  /** Closed together with the sessions. Absent: nothing is archived, and a session disappears with its file. */
  archive?: OpenedArchive;
  /** Folder of the record logs of databases and rewritten documents. Absent: a temporary one. */
  records_folder?: string;
  timing?: Partial<SessionsTiming>;
  /** The agents that the user switched off. Absent: all agents are read. */
  choices?: Pick<SourceChoices, "off" | "subscribe">;
  /** Whether another source has a session with this id. If so, the file's session gets a different id. */
  isInOtherSource?(id: string): boolean;
  /** Messages and requests of agents in terminals, by the agent's own session id. */
  terminals?: Terminals & {
    /** Calls the listener with a session id when its state or requests change. */
    subscribe(listener: (session_id: string) => void): () => void;
  };
  /** Reads files on worker threads. Supports only the built-in formats. Closed together with the sessions. */
  indexer?: Indexer;
  /** The part index, for search. Absent: parts are not indexed. */
  part_index?: IndexState;
  /** Whether to use file system events. Polling finds all changes either way. */
  hints?: boolean;
  now?: () => number;
}
