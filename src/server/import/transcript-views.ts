import { type FinalizeOptions, fillParts } from "../../model/transcript/accumulate.ts";
import type { FrameBuffer } from "../sessions/frame-buffer.ts";
import { createSessionView, type SessionView, type UnloadedParts } from "../sessions/session-view.ts";
import type { OpenSession } from "../sessions/sessions.ts";
import type { SegmentParts } from "./large-files/segment-parts.ts";
import type { SessionBuilder } from "./reading.ts";
import type { RunMarkers } from "./run-markers.ts";
import type { IndexedSession, SessionFile } from "./session-file.ts";
import type { Status } from "./status.ts";
import type { SessionsTiming } from "./timing.ts";

/** Limits for transcripts that stay in memory without viewers: their number, and the bytes of text that they were read from. */
const MAX_VIEWS = 12;
const MAX_BYTES_FOLDED = 64 * 1024 * 1024;

export interface TranscriptViewsOptions {
  timing: SessionsTiming;
  now: () => number;
  indexed: Map<string, IndexedSession>;
  /** Views whose session disappeared while they were open. They are reattached if the id comes back. */
  detached_views: Map<string, SessionView>;
  status: Status;
  run_markers: RunMarkers;
  segment_parts: SegmentParts;
  reopen(id: string): Promise<OpenSession | undefined>;
}

/** See `createTranscriptViews`. */
export type TranscriptViews = ReturnType<typeof createTranscriptViews>;

/** The transcripts of sessions that are viewed, or were until recently. */
export function createTranscriptViews(options: TranscriptViewsOptions) {
  const { timing, now, indexed, detached_views, status, run_markers } = options;
  /** Transcripts without open calls, by view. */
  const finalized = new WeakMap<SessionView, object>();

  const hasViewer = (entry: SessionFile) => [...entry.sessions].some((id) => indexed.get(id)?.view);
  const isViewed = (builder: SessionBuilder) => indexed.get(builder.id)?.view?.buffer === builder.buffer;

  const endingOf = (state: IndexedSession): FinalizeOptions => ({
    stopped: status.wasStopped(state),
    recordsTurnEnds: state.entry.format.recordsTurnEnds,
  });

  /** Emits the frames that were pushed into the builder since the last call. */
  function emitFrames(builder: SessionBuilder) {
    indexed.get(builder.id)?.view?.emit(builder.unsent.splice(0));
  }

  /** Replaces the session's transcript with one that was read from the start of its file. */
  function replaceTranscript(state: IndexedSession, builder: SessionBuilder, next: FrameBuffer) {
    for (const frame of run_markers.initialFrames(state)) next.push(frame);
    const settled = status.isRunning(state)
      ? undefined
      : next.finalized(state.summary.last_activity_at, endingOf(state));
    builder.buffer = settled ?? next;
    builder.buffer.hold();
    if (state.view) {
      state.view.replace(builder.buffer);
    } else {
      state.view = createSessionView({
        id: state.id,
        buffer: builder.buffer,
        now,
        summary: () => status.present(indexed.get(state.id) ?? state),
        unloaded: unloadedParts(options, state),
        reopen: () => options.reopen(state.id),
      });
    }
  }

  /** Ends the open calls of a turn that ended without a record, in the open transcript. */
  function finalizeView(state: IndexedSession) {
    const { view, builder } = state;
    if (
      !view ||
      !builder?.buffer ||
      builder.buffer !== view.buffer ||
      finalized.get(view) === view.buffer.transcript
    )
      return;
    const settled = view.buffer.finalized(state.summary.last_activity_at, endingOf(state));
    if (settled) {
      builder.buffer = settled;
      view.replace(settled);
    }
    finalized.set(view, view.buffer.transcript);
  }

  /** Disposes transcripts without viewers. */
  function evictViews() {
    for (const [id, view] of detached_views) {
      if (view.watched) continue;
      view.dispose();
      detached_views.delete(id);
    }
    evictUnwatched();
  }

  /** `latest`: a file that was just read for a request that has not received its sessions yet. */
  function evictUnwatched(latest?: SessionFile) {
    const unwatched = [...indexed.values()]
      .filter(({ view }) => view && !view.watched)
      .sort((one, other) => (other.view?.used_at ?? 0) - (one.view?.used_at ?? 0));
    const counted_files = new Set<SessionFile>();
    let bytes = 0;
    for (const [place, state] of unwatched.entries()) {
      const { entry } = state;
      const idle = now() - (state.view?.used_at ?? 0);
      if (!counted_files.has(entry)) bytes += decodedBytes(entry);
      counted_files.add(entry);
      // Keep it for a moment so that a viewer can come back or subscribe, and longer if it is small enough.
      const is_recent = idle < timing.tick * 10 || (place < MAX_VIEWS && idle < timing.idle);
      if (entry === latest || (is_recent && (place === 0 || bytes <= MAX_BYTES_FOLDED))) continue;
      state.view?.dispose();
      delete state.view;
      if (state.builder) delete state.builder.buffer;
      if (entry.reading && !hasViewer(entry)) entry.reading.folding = false;
    }
  }

  return { hasViewer, isViewed, emitFrames, replaceTranscript, finalizeView, evictViews, evictUnwatched };
}

/** Loads and finds the parts of a huge session that are not in its view. */
function unloadedParts(
  { indexed, segment_parts }: Pick<TranscriptViewsOptions, "indexed" | "segment_parts">,
  state: IndexedSession,
): UnloadedParts {
  const now = () => indexed.get(state.id) ?? state;
  return {
    // Replaced content has another entry id.
    id: () => String(now().entry.id),
    async load(view, from, to) {
      const { unloaded = 0 } = view.transcript;
      const parts = from < unloaded ? await segment_parts.load(now(), from, Math.min(to, unloaded)) : [];
      return fillParts(view.transcript, parts);
    },
    locate: (part_id) => segment_parts.locate(now(), part_id),
  };
}

/** The bytes of text that the file's reader has read. */
export const decodedBytes = ({ reading }: SessionFile): number => reading?.decoded ?? 0;
