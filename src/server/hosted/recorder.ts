import { setImmediate } from "node:timers/promises";
import type { Transcript } from "../../model/accumulate.ts";
import type { Frame } from "../../model/frame.ts";
import { frame as frameSchema } from "../../model/frame.ts";
import { decodeEvent, encodeEvent, type HistoryEvent } from "../../model/history.ts";
import { createHistory } from "../../model/history-collector.ts";
import { createReplay, framesOf } from "../../model/replay.ts";
import type { SessionSummary } from "../../model/session.ts";
import { emptySummary, summarizeAll } from "../../model/summarize.ts";
import type { ChannelFrame } from "../../protocol.ts";
import { createFold, type Fold } from "../fold.ts";
import { joinDeltas, storable } from "./frames.ts";
import type { SessionWrite } from "./history-store.ts";
import type { Journal, Taken, Writer } from "./journal.ts";
import type { SessionConfig, SessionState } from "./session-config.ts";

/** So long the reading of a record may keep the event loop, in milliseconds. */
const SLICE = 8;

/**
 * One session's record. Frames go in; they become history, rows and what is shown, but what is shown (`fold`, `summary`)
 * only holds what is on disk.
 */
export interface Recorder {
  readonly id: string;
  readonly fold: Fold;
  /** The row as the frames on disk tell it. */
  readonly summary: SessionSummary;
  readonly config: SessionConfig;
  readonly state: SessionState;
  /** The ids of all prompts that were ever recorded here, on disk or not yet. */
  readonly prompts: ReadonlySet<string>;
  /** Takes frames in order. Throws a `RangeError` where one is of another session. */
  emit(...frames: Frame[]): void;
  /** History so far, on disk or not yet, up to the last message that was ended. */
  history(): readonly HistoryEvent[];
  /** All that was emitted, on disk or not yet: history as frames, and the frames that no event says yet. */
  frames(): Frame[];
  /** A stored event's line and its position. */
  find(matches: (event: HistoryEvent) => boolean): { line: string; position: number } | undefined;
  setConfig(change: Partial<SessionConfig>): void;
  setState(change: Partial<SessionState>): void;
  /** All that was emitted and set is on disk. */
  readonly is_stored: boolean;
  /** Resolves when it is. */
  stored(): Promise<void>;
}

/** Of one session, whether it begins or is opened again. */
export interface RecorderOptions {
  id: string;
  journal: Journal;
  config: SessionConfig;
  state: SessionState;
  /** What is in the store; `undefined`: the session begins with this, and nothing of it is in the store yet. */
  stored?: { history: readonly string[]; pending: readonly string[] };
  /** Of a session that begins: what it takes over from another one. */
  inherited?: readonly HistoryEvent[];
  /** Frames are on disk and in the fold, or the row or the state changed. */
  onCommitted(frames: readonly ChannelFrame[]): void;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const reading = read(options);
  for (;;) {
    const step = reading.next();
    if (step.done) return recorderOf(options, step.value);
  }
}

/** As `createRecorder`; gives way to other work between events. `undefined`: it was cancelled. */
export async function loadRecorder(
  options: RecorderOptions,
  cancelled: () => boolean,
): Promise<Recorder | undefined> {
  const reading = read(options);
  let since = performance.now();
  while (!cancelled()) {
    const step = reading.next();
    if (step.done) return recorderOf(options, step.value);
    if (performance.now() - since <= SLICE) continue;
    await setImmediate();
    since = performance.now();
  }
  return undefined;
}

/** What is in the store, or inherited, as a record begins with it. */
interface Beginning {
  events: HistoryEvent[];
  pending: Frame[];
  /** What the events fold to, without `pending`. */
  transcript: Transcript;
  fold: Fold;
  summary: SessionSummary;
  prompts: Set<string>;
}

/** Pauses behind each event. */
function* read({ id, config, stored, inherited = [] }: RecorderOptions): Generator<undefined, Beginning> {
  const history = stored?.history ?? [];
  const events: HistoryEvent[] = [];
  const replay = createReplay(id);
  const fold = createFold(id);
  const prompts = new Set<string>();
  let summary = emptySummary(id, config.agent, config.created_at);
  const take = (frames: readonly Frame[]) => {
    for (const frame of frames) {
      if (isShown(frame)) fold.push(frame);
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
  const { transcript } = fold;
  const pending = (stored?.pending ?? []).flatMap(readFrame);
  take(pending);
  fold.hold();
  return { events, pending, transcript, fold, summary: { ...summary, byte_size }, prompts };
}

function recorderOf(options: RecorderOptions, beginning: Beginning): Recorder {
  const { id, journal, stored } = options;
  const { events, pending, fold, prompts } = beginning;
  let { config, state } = options;
  /** Events that `history` of the store holds, and frames that `pending` of it holds. */
  let events_stored = stored?.history.length ?? 0;
  let frames_stored = stored?.pending.length ?? 0;
  let { summary } = beginning;
  let next_summary = summary;

  const collector = createHistory(id, { events, transcript: beginning.transcript });
  /** Of `pending`: events are made of it when they are needed, since most sessions are only looked at. */
  let uncollected = pending;
  /** Frames since the last moment at which all was told by events, and how many events there were then. */
  let untold = [...pending];
  let told_events = events.length;
  /** Emitted and not taken yet. Of these, all before `whole` are told by events. */
  let frames: Frame[] = [];
  let whole = 0;
  /** Lines of events that were not taken yet; those before `whole_lines` may be written. */
  let lines: string[] = (options.inherited ?? []).map(encodeEvent);
  let whole_lines = lines.length;
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
    untold = [];
    told_events = events.length;
    whole = frames.length;
    whole_lines = lines.length;
  }

  let is_changed = stored === undefined;
  /** Taken, and not on disk yet. */
  let taken_writes = 0;
  const announce = () => {
    is_changed = true;
    journal.changed(writer);
  };

  const writer: Writer = {
    id,
    take(): Taken | undefined {
      is_changed = false;
      taken_writes += 1;
      const told = joinDeltas(frames.slice(0, whole));
      const rest = joinDeltas(frames.slice(whole));
      const settles = whole > 0 || whole_lines > 0;
      const write: SessionWrite = {
        id,
        events: lines.slice(0, whole_lines),
        from: events_stored,
        settles_pending: settles && frames_stored > 0,
        frames: rest.map((frame) => JSON.stringify(frame)),
        pending_from: settles ? 0 : frames_stored,
      };
      const taken = [...told, ...rest];
      const bytes = write.events.reduce((sum, line) => sum + line.length, 0);
      next_summary = summarizeAll(next_summary, taken);
      if (bytes > 0) next_summary = { ...next_summary, byte_size: next_summary.byte_size + bytes };
      if (write.events.length > 0 || row_changed) write.summary = next_summary;
      if (config_changed) write.config = config;
      if (state_changed) write.state = state;
      const row = next_summary;
      const isNothing =
        write.events.length === 0 &&
        write.frames.length === 0 &&
        !write.settles_pending &&
        !write.summary &&
        !write.config &&
        !write.state;
      events_stored += write.events.length;
      frames_stored = write.pending_from + write.frames.length;
      frames = [];
      whole = 0;
      lines = lines.slice(whole_lines);
      whole_lines = 0;
      row_changed = false;
      config_changed = false;
      state_changed = false;
      return {
        id,
        ...(isNothing ? {} : { write }),
        done() {
          taken_writes -= 1;
          summary = row;
          options.onCommitted(taken.filter(isShown).map((frame) => fold.push(frame)));
        },
      };
    },
  };
  if (stored === undefined) announce();

  return {
    id,
    fold,
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
        if (one.session_id !== id) throw new RangeError(`A frame of ${one.session_id} was given to ${id}`);
        const frame = storable(one);
        if (frame.type === "user.message") prompts.add(frame.message_id);
        frames.push(frame);
        untold.push(frame);
        collect(frame);
      }
      announce();
    },
    history() {
      collectPending();
      return events;
    },
    frames: () => [...framesOf(events.slice(0, told_events), id), ...untold],
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
    stored: () => journal.stored(id),
  };
}

function isShown(frame: Frame): boolean {
  return frame.type !== "message.record";
}

/** A stored frame. What a damaged store gives instead is left out: history, not this, is the record. */
function readFrame(json: string): Frame[] {
  try {
    const parsed = frameSchema.safeParse(JSON.parse(json));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}
