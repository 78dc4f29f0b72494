import type { Frame } from "../../model/frames/frame.ts";
import type { HistoryEvent } from "../../model/messages/history.ts";
import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type Notice, noticeOf } from "../../store/contract.ts";
import { Refused } from "../sessions/refused.ts";
import type { ManagedSession } from "./managed-session.ts";
import type { CommitQueue } from "./record/commit-queue.ts";
import { createRecorder, loadRecorder, type Recorder, type RecorderOptions } from "./record/recorder.ts";

/** Remedy for a store that is partly damaged or on a failing disk. */
/** The records of the sessions that are viewed or running. */
interface SessionRecords {
  /** Notices about records that cannot be read. */
  readonly notices: readonly Notice[];
  /** Creates the record of a new session. `inherited`: history from another session. */
  begin(entry: ManagedSession, inherited?: readonly HistoryEvent[]): Recorder;
  /** The session's record. Reads it from the store if needed, and rejects with `Refused` if it cannot be read. */
  load(entry: ManagedSession): Promise<Recorder>;
}

/** Loads records from the store. `onCommitted`: called with frames once they are on disk. */
export function createSessionRecords(
  commit_queue: CommitQueue,
  onCommitted: (entry: ManagedSession, frames: readonly Frame[]) => void,
): SessionRecords {
  /** The reasons why records cannot be read, by session id. */
  const unreadable = new Map<string, string>();

  /** The stored data of a session. Rejects with `Refused` if it cannot be read. */
  async function storedOf({ id }: ManagedSession): Promise<NonNullable<RecorderOptions["stored"]>> {
    try {
      const [history, pending] = await Promise.all([commit_queue.history(id), commit_queue.pending(id)]);
      unreadable.delete(id);
      return { history, pending };
    } catch (error) {
      const message = messageOf(error);
      unreadable.set(id, message);
      const text = daemonText("record_unreadable", { path: commit_queue.path, error: message });
      throw new Refused(500, "unreadable", text, daemonText("start_with_new_file"));
    }
  }

  function optionsOf(entry: ManagedSession): RecorderOptions {
    return {
      id: entry.id,
      commit_queue,
      config: entry.config,
      state: entry.state,
      onCommitted(frames) {
        entry.view?.emit(frames);
        onCommitted(
          entry,
          frames.map(({ frame }) => frame),
        );
      },
    };
  }

  async function read(entry: ManagedSession): Promise<Recorder> {
    const stored = await storedOf(entry);
    entry.recorder = await loadRecorder({ ...optionsOf(entry), stored });
    return entry.recorder;
  }

  return {
    begin(entry, inherited) {
      entry.recorder = createRecorder({ ...optionsOf(entry), ...(inherited && { inherited }) });
      return entry.recorder;
    },
    async load(entry) {
      if (entry.recorder) return entry.recorder;
      entry.loading ??= read(entry).finally(() => {
        delete entry.loading;
      });
      return await entry.loading;
    },
    get notices(): readonly Notice[] {
      const [message] = unreadable.values();
      if (message === undefined) return [];
      return [
        noticeOf(
          "error",
          daemonText("records_unreadable", {
            sessions: unreadable.size,
            path: commit_queue.path,
            error: message,
          }),
          daemonText("start_with_new_file"),
        ),
      ];
    },
  };
}
