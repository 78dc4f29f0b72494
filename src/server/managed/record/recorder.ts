import { setImmediate } from "node:timers/promises";
import type { Frame } from "../../../model/frames/frame.ts";
import { frame as frameSchema } from "../../../model/frames/frame.ts";
import { decodeEvent, encodeEvent, type HistoryEvent } from "../../../model/messages/history.ts";
import { createHistory } from "../../../model/messages/history-collector.ts";
import { createReplay, framesOf } from "../../../model/messages/replay.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { emptySummary, summarizeAll } from "../../../model/transcript/summarize.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { ChannelFrame } from "../../../protocol.ts";
import type { SessionWrite } from "../../../store/history/contract.ts";
import type { SessionConfig, SessionState } from "../../../store/history/session-config.ts";
import { createFrameBuffer, type FrameBuffer } from "../../sessions/frame-buffer.ts";
import type { CommitQueue, Taken, Writer } from "./commit-queue.ts";
import { joinDeltas, storable } from "./join-deltas.ts";

/** Maximum time that reading a record blocks the event loop, in milliseconds. */
const SLICE = 8;

/**
 * Records one session. Frames become history, rows and the transcript. `buffer` and `summary` contain only frames that are on
 * disk.
 */
export interface Recorder {
  readonly id: string;
  readonly buffer: FrameBuffer;
  /** The row, from the frames on disk. */
  readonly summary: SessionSummary;
  readonly config: SessionConfig;
  readonly state: SessionState;
  /** The ids of all prompts that were ever recorded, on disk or not. */
  readonly prompts: ReadonlySet<string>;
  /** Records frames in order. Throws a `RangeError` if one belongs to another session. */
  emit(...frames: Frame[]): void;
  /** The history, on disk or not, up to the last complete message. */
  history(): readonly HistoryEvent[];
  /** All emitted frames, on disk or not: from the history, and those that are not in it yet. */
  frames(): Frame[];
  /** A stored event's line and position. */
  find(matches: (event: HistoryEvent) => boolean): { line: string; position: number } | undefined;
  setConfig(change: Partial<SessionConfig>): void;
  setState(change: Partial<SessionState>): void;
  /** Whether all emitted frames and changes are on disk. */
  readonly is_stored: boolean;
  /** Resolves when `is_stored` is true. */
  stored(): Promise<void>;
}

/** Options for a new or a stored session. */
export interface RecorderOptions {
  id: string;
  commit_queue: CommitQueue;
  config: SessionConfig;
  state: SessionState;
  /** The stored data. `undefined`: the session is new. */
  stored?: { history: readonly string[]; pending: readonly string[] };
  /** The history that a new session takes over from another one. */
  inherited?: readonly HistoryEvent[];
  /** Called when frames are on disk and in the buffer, or the row or the state changed. */
  onCommitted(frames: readonly ChannelFrame[]): void;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const reading = read(options);
  for (;;) {
    const step = reading.next();
    if (step.done) return recorderOf(options, step.value);
  }
}

/** Like `createRecorder`, but yields to other work between events. */
export async function loadRecorder(options: RecorderOptions): Promise<Recorder> {
  const reading = read(options);
  let since = performance.now();
  for (;;) {
    const step = reading.next();
    if (step.done) return recorderOf(options, step.value);
    if (performance.now() - since <= SLICE) continue;
    await setImmediate();
    since = performance.now();
  }
}

/** The initial state of a record, from the store or inherited. */
interface Beginning {
  events: HistoryEvent[];
  pending: Frame[];
  /** The transcript of the events, without `pending`. */
  transcript: Transcript;
  buffer: FrameBuffer;
  summary: SessionSummary;
  prompts: Set<string>;
}

/** Yields after each event. */
function* read({ id, config, stored, inherited = [] }: RecorderOptions): Generator<undefined, Beginning> {
  const history = stored?.history ?? [];
  const events: HistoryEvent[] = [];
  const replay = createReplay(id);
  const buffer = createFrameBuffer(id, true);
  const prompts = new Set<string>();
  let summary = emptySummary(id, config.agent, config.created_at);
  const take = (frames: readonly Frame[]) => {
    for (const frame of frames) {
      if (isShown(frame)) buffer.push(frame);
      if (frame.type === "user.message") prompts.add(frame.message_id);
    }
    summary = summarizeAll(summary, frames);
  };
  let byte_size = 0;
  for (const line of history) {
    const event = decodeEvent(line);
    events.push(event);
    take(replay.push(event));
    byte_size += line.length;
    yield;
  }
  for (const event of inherited) {
    events.push(event);
    take(replay.push(event));
  }
  take(replay.end());
  const { transcript } = buffer;
  const pending = (stored?.pending ?? []).flatMap(readFrame);
  take(pending);
  buffer.hold();
  return { events, pending, transcript, buffer, summary: { ...summary, byte_size }, prompts };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over what is not on disk yet: its functions are short
function recorderOf(options: RecorderOptions, beginning: Beginning): Recorder {
  const { id, commit_queue, stored } = options;
  const { events, pending, buffer, prompts } = beginning;
  let { config, state } = options;
  /** Number of events and of pending frames in the store. */
  let events_stored = stored?.history.length ?? 0;
  let frames_stored = stored?.pending.length ?? 0;
  let { summary } = beginning;
  let next_summary = summary;

  const collector = createHistory(id, { events, transcript: beginning.transcript });
  /** Pending frames that are not in the collector yet. Added when events are needed, since most sessions are only viewed. */
  let uncollected = pending;
  /** Frames since the last point at which events covered everything, and the number of events at that point. */
  let frames_since_event = [...pending];
  let complete_events = events.length;
  /** Frames not yet taken by the commit queue. Those before `complete` are covered by events. */
  let frames: Frame[] = [];
  let complete = 0;
  /** Lines of events not yet taken by the commit queue. Those before `complete_lines` may be written. */
  let lines: string[] = (options.inherited ?? []).map(encodeEvent);
  let complete_lines = lines.length;
  let row_changed = stored === undefined;
  let config_changed = stored === undefined;
  let state_changed = stored === undefined;

  function collectPending() {
    const waiting = uncollected;
    uncollected = [];
    for (const frame of waiting) collect(frame);
  }

  function collect(frame: Frame) {
    for (const event of collector.push(frame)) {
      events.push(event);
      lines.push(encodeEvent(event));
    }
    if (!collector.isWhole) return;
    frames_since_event = [];
    complete_events = events.length;
    complete = frames.length;
    complete_lines = lines.length;
  }

  let is_changed = stored === undefined;
  /** Taken writes that are not on disk yet. */
  let taken_writes = 0;
  const announce = () => {
    is_changed = true;
    commit_queue.changed(writer);
  };

  const writer: Writer = {
    id,
    take(): Taken | undefined {
      is_changed = false;
      taken_writes += 1;
      const complete_frames = joinDeltas(frames.slice(0, complete));
      const rest = joinDeltas(frames.slice(complete));
      const settles = complete > 0 || complete_lines > 0;
      const write: SessionWrite = {
        id,
        events: lines.slice(0, complete_lines),
        from: events_stored,
        settles_pending: settles && frames_stored > 0,
        frames: rest.map((frame) => JSON.stringify(frame)),
        pending_from: settles ? 0 : frames_stored,
      };
      const taken = [...complete_frames, ...rest];
      const bytes = write.events.reduce((sum, line) => sum + line.length, 0);
      next_summary = summarizeAll(next_summary, taken);
      if (bytes > 0) next_summary = { ...next_summary, byte_size: next_summary.byte_size + bytes };
      if (write.events.length > 0 || row_changed) write.summary = next_summary;
      if (config_changed) write.config = config;
      if (state_changed) write.state = state;
      const row = next_summary;
      const isEmpty =
        write.events.length === 0 &&
        write.frames.length === 0 &&
        !write.settles_pending &&
        !write.summary &&
        !write.config &&
        !write.state;
      events_stored += write.events.length;
      frames_stored = write.pending_from + write.frames.length;
      frames = [];
      complete = 0;
      lines = lines.slice(complete_lines);
      complete_lines = 0;
      row_changed = false;
      config_changed = false;
      state_changed = false;
      return {
        id,
        ...(isEmpty ? {} : { write }),
        done() {
          taken_writes -= 1;
          summary = row;
          options.onCommitted(taken.filter(isShown).map((frame) => buffer.push(frame)));
        },
      };
    },
  };
  if (stored === undefined) announce();

  return {
    id,
    buffer,
    get summary() {
      return summary;
    },
    get config() {
      return config;
    },
    get state() {
      return state;
    },
    prompts,
    emit(...given) {
      collectPending();
      for (const one of given) {
        if (one.session_id !== id)
          throw new RangeError(`Frame of session ${one.session_id} emitted in session ${id}`);
        const frame = storable(one);
        if (frame.type === "user.message") prompts.add(frame.message_id);
        frames.push(frame);
        frames_since_event.push(frame);
        collect(frame);
      }
      announce();
    },
    history() {
      collectPending();
      return events;
    },
    frames: () => [...framesOf(events.slice(0, complete_events), id), ...frames_since_event],
    find(matches) {
      const position = events.findIndex(matches);
      const event = events[position];
      return event && { line: encodeEvent(event), position };
    },
    setConfig(change) {
      config = { ...config, ...change };
      config_changed = true;
      announce();
    },
    setState(change) {
      state = { ...state, ...change };
      state_changed = true;
      announce();
    },
    get is_stored() {
      return !is_changed && taken_writes === 0;
    },
    stored: () => commit_queue.stored(id),
  };
}

function isShown(frame: Frame): boolean {
  return frame.type !== "message.record";
}

/** Parses a stored frame. Damaged frames are dropped: the history is the record. */
function readFrame(json: string): Frame[] {
  try {
    const parsed = frameSchema.safeParse(JSON.parse(json));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}
