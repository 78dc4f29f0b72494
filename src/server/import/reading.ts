import type { Frame } from "../../model/frames/frame.ts";
import { followCalls, type OpenCalls } from "../../model/open-calls.ts";
import type { SessionSummary } from "../../model/session.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { emptySummary, resumeSummary, summarizeAll } from "../../model/transcript/summarize.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { ChannelFrame } from "../../protocol.ts";
import type { Checkpoint, Format, Reader, ReadRecord, SessionLinkFacts } from "../../sources/contract.ts";
import { MAX_LINE } from "../../sources/lines/lines.ts";
import type { FileIdentity } from "../../store/contract.ts";
import { createDecoder, type Decoder, isCompressed } from "../files/follow.ts";
import { createFrameBuffer, type FrameBuffer } from "../sessions/frame-buffer.ts";
import { HUGE_FILE_BYTES, sizeText } from "./large-files/segments.ts";

const NEWLINE = 0x0a;

/** A reader with its position in a file and its results. */
export interface Reading {
  readonly reader: Reader;
  readonly decoder: Decoder;
  /** The results, by session. */
  readonly builders: Map<string, SessionBuilder>;
  /** Whether transcripts are built, or only rows. */
  folding: boolean;
  /** The reader was closed and cannot continue. */
  ended: boolean;
  /** The identity of the part of the file that was read, unless the rows have it. */
  identity?: FileIdentity;
  /** Present if the reading begins inside the file. */
  readonly window?: ReadingWindow;
  /** Bytes of text read, after decompression. */
  readonly decoded: number;
  /** Whether a step begins in the window before the counted records. If so, the reader knows the turn that continues there. */
  readonly knows_step: boolean;
  /** Folds records into the builders of their sessions. */
  take(records: readonly ReadRecord[]): void;
  /**
   * Continues with a new reader that knows nothing before `byte`, which is the start of a line, because a reader's memory grows
   * with what it read.
   */
  restart(byte: number): void;
  /** Adds the markers that precede a session's first part, though no part was read. `at`: time of its last activity. */
  leadingMarkers(id: string, at: number): void;
  /** Flushes the reader at the end of the file. Adds a marker if a compressed file was not read to its end. */
  close(stopped?: boolean): void;
  /** The facts of all its readers that link runs to calls. */
  facts(): SessionLinkFacts[];
}

/** A reading that begins inside a file. The rows cover more of the file than it reads. */
export interface ReadingWindow {
  /** A byte at which a line begins. With a checkpoint, its byte. */
  from: number;
  /** The reader's state at `from`. Absent: the reader knows nothing about earlier records. */
  checkpoint?: Checkpoint;
  /** Records before this byte only restore the reader's state and are not used. Absent: all are used. */
  use_from?: number;
  /**
   * Only records that end after this byte are added to the rows, including one that was incomplete when the rows were counted.
   * Earlier ones are already counted. `Infinity`: none are added.
   */
  count_from: number;
  /**
   * Whether an end may have been inferred at the old end of the file. Then a row that is not running has counted the end of its
   * open step, if its format reports that at the end of the file.
   */
  was_ended?: boolean;
  /** The row up to `count_from`. */
  rowOf(id: string): Pick<SessionBuilder, "summary" | "open_calls"> | undefined;
  /** The sessions' earlier parts are not known, because the file is not indexed yet. */
  lacks_beginning?: boolean;
  /** The session's transcript up to `use_from`; `undefined`: it begins in the window, or is not known. */
  transcriptOf?(id: string): Transcript | undefined;
  /** The markers before the first part of a session whose beginning is not known; `at`: the time of that part. */
  leadingMarkers(id: string, at: number): Frame[];
}

/** A session while its file is read: its row, and its transcript if that is needed. */
export interface SessionBuilder {
  readonly id: string;
  summary: SessionSummary;
  open_calls: OpenCalls;
  buffer?: FrameBuffer;
  /** Folded but not yet emitted. */
  unsent: ChannelFrame[];
  /** The markers before the first part are missing. */
  needs_markers?: boolean;
}

interface ReadingOptions {
  path: string;
  format: Format;
  folding: boolean;
  /** Whether clients follow the transcripts and may resume after a restart. Their digests cost as much as parsing the file. */
  resumable?: boolean;
  /** The id under which a session of this file is listed. */
  idFor(session_id: string): string;
  /** Whether the session has viewers, so that its frames are emitted. */
  isViewed(builder: SessionBuilder): boolean;
  window?: ReadingWindow;
  /** Called with each record before its frames are used. */
  onRecord?(record: ReadRecord): void;
  /** Called with the frames of each session as they are read, counted or not, by this reading. */
  onFrames?: ((id: string, frames: readonly Frame[], reading: Reading) => void) | undefined;
}

/** Creates a reading: bytes in, session builders out. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the position in a file, without calls that would slow down reading
export function createReading(options: ReadingOptions): Reading {
  const { path, format, folding, resumable = false, idFor, isViewed, window, onFrames } = options;
  let reader = format.createReader({
    path,
    ...(window?.checkpoint
      ? { checkpoint: window.checkpoint }
      : window && { start: { line: 0, byte: window.from } }),
  });
  /** Whether records are added to the rows. Once true, it stays true. */
  let counting = window === undefined;
  /**
   * Summaries of the records before `count_from`. A stored row does not contain the last record that it counted, nor which steps
   * are open.
   */
  const before = new Map<SessionBuilder, SessionSummary>();
  let knows_step = false;
  /** Steps that are open in the window although their end was counted. */
  const left_open = new Set<string>();
  /** The facts of earlier readers. */
  const earlier: SessionLinkFacts[] = [];
  let decoded = 0;
  /** Whether a compressed file was truncated because it has too much text. */
  let is_cut = false;
  const reading: Reading = {
    get reader() {
      return reader;
    },
    decoder: createDecoder(path, (bytes) => {
      // Searching for newlines is ten times faster in a `Buffer`.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      decoded += text.length;
      if (!isCompressed(path) || decoded <= HUGE_FILE_BYTES) return reading.take(reader.push(text));
      // Only whole records are read, except for one that is too long and may never end.
      const end = text.indexOf(NEWLINE);
      is_cut = end !== -1 || decoded > HUGE_FILE_BYTES + MAX_LINE;
      if (is_cut) reading.decoder.stop();
      reading.take(reader.push(end === -1 ? text : text.subarray(0, end)));
    }),
    builders: new Map(),
    folding,
    ended: false,
    ...(window && { window }),
    get decoded() {
      return decoded;
    },
    get knows_step() {
      return knows_step;
    },
    take(records) {
      // Frames are summarized in batches: a new row per frame would cost more than reading.
      const uncounted = new Map<SessionBuilder, Frame[]>();
      const taken = new Map<SessionBuilder, Frame[]>();
      for (const record of records) {
        const { frames, place } = record;
        if (place.byte < (window?.use_from ?? 0)) continue;
        options.onRecord?.(record);
        counting ||= place.byte + place.length > (window?.count_from ?? 0);
        for (const frame of frames) {
          knows_step ||= !counting && frame.type === "message.start";
          const builder = builderFor(idFor(frame.session_id));
          if (!counting && window?.was_ended && format.closesSteps && builder.summary.status !== "running") {
            if (frame.type === "message.start") left_open.add(frame.message_id);
            else if (frame.type === "message.end") left_open.delete(frame.message_id);
          }
          const own = builder.id === frame.session_id ? frame : { ...frame, session_id: builder.id };
          if (builder.needs_markers) leadingMarkers(builder, own);
          if (builder.buffer) pushFrame(builder, own, isViewed(builder));
          const into = counting ? taken : uncounted;
          const others = into.get(builder);
          if (others) others.push(own);
          else into.set(builder, [own]);
        }
      }
      for (const read of [uncounted, taken])
        for (const [builder, frames] of read) onFrames?.(builder.id, frames, reading);
      for (const [builder, frames] of uncounted)
        before.set(
          builder,
          summarizeAll(before.get(builder) ?? emptySummary(builder.id, format.id, 0), frames),
        );
      for (const [builder, frames] of taken) {
        const counted = before.get(builder);
        before.delete(builder);
        if (counted) builder.summary = resumeSummary(builder.summary, counted);
        const known = frames.filter(
          (frame) => frame.type === "message.end" && left_open.delete(frame.message_id),
        );
        if (known.length > 0)
          builder.summary = resumeSummary(builder.summary, summarizeAll(builder.summary, known));
        builder.summary = summarizeAll(builder.summary, frames);
        builder.open_calls = followCalls(builder.open_calls, frames);
      }
    },
    restart(byte) {
      earlier.push(...reader.linkFacts().sessions);
      reader = format.createReader({ path, start: { line: 0, byte } });
    },
    leadingMarkers(id, at) {
      const builder = builderFor(id);
      if (builder.needs_markers) pushMarkers(builder, at);
    },
    close(stopped) {
      const running = [...reading.builders.values()].filter(({ summary }) => summary.status === "running");
      const withNotes = new Set(running.filter(({ summary }) => summary.only_notes === true));
      reading.take(reader.close(stopped));
      // A turn that contains only notes needs no end, nor does one with an error. Other failures are marked as inferred.
      for (const builder of running)
        if (endedWithoutFailure(builder.summary) && !withNotes.has(builder))
          builder.summary = { ...builder.summary, end_inferred: true };
      if (!is_cut) return;
      const frames = [...reading.builders.values()].map(({ id, summary }) =>
        truncatedMarker(id, summary.last_activity_at),
      );
      reading.take([
        { place: { line: 0, byte: decoded, length: 0 }, disposition: { kind: "shown" }, frames },
      ]);
    },
    facts: () => joinFacts([...earlier, ...reader.linkFacts().sessions]),
  };

  /** Adds the markers just before the first part, so that they are in the same turn. */
  function leadingMarkers(builder: SessionBuilder, before: Frame) {
    if (before.type !== "turn.start" && before.type !== "session.update") pushMarkers(builder, before.at);
  }

  function pushMarkers(builder: SessionBuilder, at: number) {
    builder.needs_markers = false;
    for (const frame of window?.leadingMarkers(builder.id, at) ?? []) builder.buffer?.push(frame);
  }

  function builderFor(id: string): SessionBuilder {
    let builder = reading.builders.get(id);
    if (!builder) {
      const transcript = window?.transcriptOf?.(id);
      builder = {
        id,
        summary: emptySummary(id, format.id, 0),
        open_calls: [],
        ...window?.rowOf(id),
        unsent: [],
        ...(window && transcript === undefined && { needs_markers: true }),
        ...(reading.folding && { buffer: createFrameBuffer(id, resumable, transcript) }),
      };
      reading.builders.set(id, builder);
    }
    return builder;
  }

  return reading;
}

const endedWithoutFailure = ({ status }: SessionSummary): boolean =>
  status === "completed" || status === "interrupted";

/**
 * A small compressed file may contain any amount of text, and cannot be shown in segments because it is only readable from its
 * beginning.
 */
function truncatedMarker(session_id: string, at: number): Frame {
  return {
    type: "marker",
    session_id,
    at,
    part_id: uuidFrom(session_id, "left off"),
    kind: "note",
    ...titleFields(agentTitle("rest_not_shown")),
    text:
      `Its compressed file holds more than ${sizeText(HUGE_FILE_BYTES)} of text. Only the beginning was read and counted. ` +
      "To see all of it, decompress the file in its folder with zstd -d.",
  };
}

/** Merges the facts of a session from several readers, with each call once. */
export function joinFacts<Facts extends SessionLinkFacts>(found: readonly Facts[]): Facts[] {
  const joined = new Map<string, Facts>();
  for (const facts of found) {
    const before = joined.get(facts.session_id);
    if (before === undefined) {
      joined.set(facts.session_id, facts);
      continue;
    }
    const known = new Set(before.calls.map(({ tool_call_id }) => tool_call_id));
    const run = before.run ?? facts.run;
    joined.set(facts.session_id, {
      ...before,
      calls: [...before.calls, ...facts.calls.filter(({ tool_call_id }) => !known.has(tool_call_id))],
      ...(run && { run }),
    });
  }
  return [...joined.values()];
}

/** Adds a frame to a session's transcript. `shown`: also queues it for emission. */
export function pushFrame(builder: SessionBuilder, frame: Frame, shown: boolean): void {
  const folded = builder.buffer?.push(frame);
  if (folded && shown) builder.unsent.push(folded);
}
