import type { ArchiveWriter } from "../archive/archive-writer.ts";
import type { SessionList } from "../sessions/list.ts";
import { fieldsOf } from "../sessions/row.ts";
import type { FileSessions } from "./file-sessions.ts";
import type { Reading } from "./reading.ts";
import type { IndexedSession, SessionFile } from "./session-file.ts";
import type { Status } from "./status.ts";
import type { SessionsTiming } from "./timing.ts";
import type { TranscriptViews } from "./transcript-views.ts";

interface CommitOptions {
  timing: SessionsTiming;
  now: () => number;
  archive: ArchiveWriter<SessionFile>;
  list: SessionList;
  status: Status;
  indexed: ReadonlyMap<string, IndexedSession>;
  sessions: FileSessions;
  views: TranscriptViews;
  isClosed(): boolean;
  run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  removeSession(id: string): void;
}

/** Publishes what was read: rows, facts, transcripts and frames. */
export function createCommits(options: CommitOptions) {
  const { timing, now, archive, list, status, indexed, sessions, views, run, removeSession } = options;

  /** Publishes the result of a reading. `from_start`: it replaces the result of an earlier one. */
  function commit(entry: SessionFile, reading: Reading, from_start: boolean) {
    const counted = reading.window?.count_from !== Number.POSITIVE_INFINITY;
    if (from_start && reading.folding && reading.window) {
      // Also for sessions without records in the last segment: their markers lead to the earlier segments.
      for (const id of entry.sessions)
        reading.leadingMarkers(id, indexed.get(id)?.summary.last_activity_at ?? 0);
    }
    for (const builder of reading.builders.values()) {
      const state = sessions.stateFor(entry, builder.id);
      if (counted) {
        state.summary = fieldsOf(builder.summary);
        state.open_calls = builder.open_calls;
        archive.sessionChanged(builder.id);
      }
      state.builder = builder;
      list.mark(builder.id);
      // A session may continue in a file that was empty for a while. Its viewers get the new transcript.
      const is_replaced = state.view !== undefined && state.view.buffer !== builder.buffer;
      if (builder.buffer && (from_start || is_replaced))
        views.replaceTranscript(state, builder, builder.buffer);
    }
    if (from_start && !reading.window) {
      for (const id of [...entry.sessions]) if (!reading.builders.has(id)) removeSession(id);
    }
    if (counted) sessions.setFacts(entry, reading.facts(), reading.window !== undefined);
    for (const builder of reading.builders.values()) views.emitFrames(builder);
    // Viewers of a reloaded session get the new row at the same time.
    if (!from_start || !views.hasViewer(entry)) return;
    list.publish();
    // The eviction takes this reading into account.
    entry.reading = reading;
    views.evictUnwatched(entry);
  }

  /** Reads a last line without a newline once the file is no longer written. */
  function finishLastLine(entry: SessionFile, reading: Reading, modified_at: number) {
    clearTimeout(entry.last_line_timer);
    if (reading.ended) {
      reading.close();
      return;
    }
    const quiet_ms = now() - modified_at;
    if (quiet_ms > timing.close) {
      const states = [...entry.sessions].flatMap((id) => indexed.get(id) ?? []);
      reading.close(states.some(status.wasStopped));
      reading.ended = true;
    } else if (quiet_ms > timing.last_line) {
      reading.take(reading.reader.settle());
    } else {
      entry.last_line_timer = setTimeout(() => {
        void run(entry, () => {
          if (options.isClosed() || entry.reading !== reading || reading.ended) return;
          reading.take(reading.reader.settle());
          commit(entry, reading, false);
        });
      }, timing.last_line);
    }
  }

  return { commit, finishLastLine };
}
