import type { Frame } from "../../model/frames/frame.ts";
import type { HistoryEvent } from "../../model/messages/history.ts";
import { messageOf } from "../../model/narrow.ts";
import type { Notice } from "../../store/contract.ts";
import { Refused } from "../sessions/refused.ts";
import type { ManagedSession } from "./managed-session.ts";
import type { CommitQueue } from "./record/commit-queue.ts";
import { createRecorder, loadRecorder, type Recorder, type RecorderOptions } from "./record/recorder.ts";

/** Remedy for a store that is partly damaged or on a failing disk. */
const REMEDY =
  "Other sessions are not affected. To start with a new file, stop Verbatim and move this one away. Keep a copy of it.";

/** The records of the sessions that are viewed or running. */
interface SessionRecords {
  /** Notices about records that cannot be read. */
  readonly notices: readonly Notice[];
  /** The session's record. Loads it if needed, and throws `Refused` if it cannot be read. `initial`: it is a new session. */
  record(entry: ManagedSession, initial?: { inherited?: readonly HistoryEvent[] }): Recorder;
  /** Like `record`, but does not block other work. */
  load(entry: ManagedSession): Promise<Recorder>;
}

/** Loads records from the store. `onCommitted`: called with frames once they are on disk. */
export function createSessionRecords(
  commit_queue: CommitQueue,
  onCommitted: (entry: ManagedSession, frames: readonly Frame[]) => void,
): SessionRecords {
  /** The reasons why records cannot be read, by session id. */
  const unreadable = new Map<string, string>();

  /** The stored data of a session. Throws `Refused` if it cannot be read. */
  function storedOf(entry: ManagedSession): NonNullable<RecorderOptions["stored"]> {
    try {
      const stored = { history: commit_queue.history(entry.id), pending: commit_queue.pending(entry.id) };
      unreadable.delete(entry.id);
      return stored;
    } catch (error) {
      const message = messageOf(error);
      unreadable.set(entry.id, message);
      const text = `The record of this session cannot be read from ${commit_queue.path}: ${message}.`;
      throw new Refused(500, "unreadable", text, REMEDY);
    }
  }

  function optionsOf(
    entry: ManagedSession,
    initial?: { inherited?: readonly HistoryEvent[] },
  ): RecorderOptions {
    return {
      id: entry.id,
      commit_queue,
      config: entry.config,
      state: entry.state,
      ...(initial ?? { stored: storedOf(entry) }),
      onCommitted(frames) {
        entry.view?.emit(frames);
        onCommitted(
          entry,
          frames.map(({ frame }) => frame),
        );
      },
    };
  }

  function record(entry: ManagedSession, initial?: { inherited?: readonly HistoryEvent[] }): Recorder {
    if (entry.recorder) return entry.recorder;
    entry.recorder = createRecorder(optionsOf(entry, initial));
    delete entry.loading;
    return entry.recorder;
  }

  /** Like `record`, but does not block other work. */
  async function load(entry: ManagedSession): Promise<Recorder> {
    if (entry.recorder) return entry.recorder;
    entry.loading ??= loadRecorder(optionsOf(entry), () => entry.recorder !== undefined);
    const { loading } = entry;
    const loaded = await loading;
    // If `record` was called during the reading, its result is newer.
    if (loaded && entry.loading === loading) {
      entry.recorder = loaded;
      delete entry.loading;
    }
    return record(entry);
  }

  return {
    get notices(): readonly Notice[] {
      const [message] = unreadable.values();
      if (message === undefined) return [];
      const what =
        unreadable.size === 1 ? "The record of a session" : `The records of ${unreadable.size} sessions`;
      return [
        {
          level: "error",
          text: `${what} cannot be read from ${commit_queue.path}: ${message}.`,
          remedy: REMEDY,
        },
      ];
    },
    record,
    load,
  };
}
