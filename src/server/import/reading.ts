import type { Frame } from "../../model/frames/frame.ts";
import { followCalls, type OpenCalls } from "../../model/open-calls.ts";
import type { SessionSummary } from "../../model/session.ts";
import { emptySummary, resumeSummary, summarizeAll } from "../../model/transcript/summarize.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { ChannelFrame } from "../../protocol.ts";
import type { Format, Reader, ReadRecord, SessionLinkFacts } from "../../sources/contract.ts";
import { MAX_LINE } from "../../sources/lines/lines.ts";
import type { FileIdentity } from "../../store/contract.ts";
import { createDecoder, type Decoder, isCompressed } from "../files/follow.ts";
import { createFrameBuffer, type FrameBuffer } from "../sessions/frame-buffer.ts";
import { HUGE, sizeText } from "./large-files/segments.ts";

const NEWLINE = 0x0a;

/** One reader on its way through a file. */
export interface Reading {
  readonly reader: Reader;
  readonly decoder: Decoder;
  /** What was read, by session. */
  readonly builders: Map<string, SessionBuilder>;
  /** Whether transcripts are made, or only rows of the list. */
  folding: boolean;
  /** The reader was closed: it cannot read on. */
  ended: boolean;
  /** The identity of the file as far as it was read, unless its rows have it. */
  identity?: FileIdentity;
  /** Present where the reading began inside the file. */
  readonly window?: ReadingWindow;
  /** Bytes of text that were read, however few they are in a compressed file. */
  readonly decoded: number;
  /** A step begins in its window, before what is counted: what goes on there is of a turn that its reader knows. */
  readonly knows_step: boolean;
  /** Folds what was read into the drafts of the sessions that it belongs to. */
  take(records: readonly ReadRecord[]): void;
  /**
   * Goes on with a reader that knows nothing of what stands before `byte`, a line's beginning: what a reader remembers grows
   * with what it read.
   */
  restart(byte: number): void;
  /** Says what stands above a session's first part, last of the time `at`, though no part of it was read. */
  leadingMarkers(id: string, at: number): void;
  /** Reads what the reader holds back: nothing follows. Says where the text of a compressed file was left off. */
  close(stopped?: boolean): void;
  /** What all its readers found that links runs to calls. */
  facts(): SessionLinkFacts[];
}

/** A reading that begins inside a file, of which the rows know more than it reads. */
export interface ReadingWindow {
  /** A line's beginning, in bytes. */
  from: number;
  /**
   * Records that end behind this byte are counted in the rows, one that was written half when they were counted last among
   * them; those before it were. `Infinity`: none are.
   */
  count_from: number;
  /**
   * The file may have been taken for one that is over there: where a row does not run, the step that is open was counted with its
   * end, if its format reports it at the end of the file.
   */
  was_ended?: boolean;
  /** What the rows say up to `count_from`. */
  rowOf(id: string): Pick<SessionBuilder, "summary" | "open_calls"> | undefined;
  /** What stands above the first part, which is of the time `at`. */
  leadingMarkers(id: string, at: number): Frame[];
}

/** A session of a file while it is read: its row, and, where its parts are wanted, its fold. */
export interface SessionBuilder {
  readonly id: string;
  summary: SessionSummary;
  open_calls: OpenCalls;
  buffer?: FrameBuffer;
  /** Folded and not yet emitted. */
  unsent: ChannelFrame[];
  /** What stands above its first part was not said yet. */
  needs_markers?: boolean;
}

interface ReadingOptions {
  path: string;
  format: Format;
  folding: boolean;
  /** The id that a session of this file goes by. */
  idFor(session_id: string): string;
  /** Whether someone views this draft, so that its frames are emitted. */
  isViewed(builder: SessionBuilder): boolean;
  window?: ReadingWindow;
}

/** Bytes in, drafts out. */
export function createReading({ path, format, folding, idFor, isViewed, window }: ReadingOptions): Reading {
  let reader = format.createReader({ path, ...(window && { start: { line: 0, byte: window.from } }) });
  /** Whether records are counted; all that follow the first are. */
  let counting = window === undefined;
  /** What was read before that, counted on its own: kept rows do not say what was counted last, and what was left open. */
  const before = new Map<SessionBuilder, SessionSummary>();
  let knows_step = false;
  /** Steps that stand open there though their end was counted. */
  const left_open = new Set<string>();
  /** Of the readers before this one. */
  const earlier: SessionLinkFacts[] = [];
  let decoded = 0;
  /** Whether there was more text in a compressed file than is read. */
  let is_cut = false;
  const reading: Reading = {
    get reader() {
      return reader;
    },
    decoder: createDecoder(path, (bytes) => {
      // A newline is found ten times faster in a buffer of Node's.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      decoded += text.length;
      if (!isCompressed(path) || decoded <= HUGE) return reading.take(reader.push(text));
      // No record is torn by us, but for one that is too long to be read: it may have no end.
      const end = text.indexOf(NEWLINE);
      is_cut = end !== -1 || decoded > HUGE + MAX_LINE;
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
      // Rows are counted for many frames at once: a new one for each would cost more than reading them.
      const uncounted = new Map<SessionBuilder, Frame[]>();
      const taken = new Map<SessionBuilder, Frame[]>();
      for (const { frames, place } of records) {
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
      for (const [builder, frames] of uncounted)
        before.set(
          builder,
          summarizeAll(before.get(builder) ?? emptySummary(builder.id, format.id, 0), frames),
        );
      for (const [builder, frames] of taken) {
        if (frames.some(({ type }) => type === "turn.start" || type === "turn.end")) {
          const { end_inferred: _, ...summary } = builder.summary;
          builder.summary = summary;
        }
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
      reading.take(reader.close(stopped));
      for (const builder of running)
        if (builder.summary.status !== "running")
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

  /** Once a part comes, so that what introduces it stands in the same turn. */
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
      builder = {
        id,
        summary: emptySummary(id, format.id, 0),
        open_calls: [],
        ...window?.rowOf(id),
        unsent: [],
        ...(window && { needs_markers: true }),
        ...(reading.folding && { buffer: createFrameBuffer(id) }),
      };
      reading.builders.set(id, builder);
    }
    return builder;
  }

  return reading;
}

/** A few bytes may decompress to any number of them, and there are no pieces of what can only be read from its beginning. */
function truncatedMarker(session_id: string, at: number): Frame {
  return {
    type: "marker",
    session_id,
    at,
    part_id: uuidFrom(session_id, "left off"),
    kind: "note",
    title: "The rest of this session is not shown",
    text:
      `Its compressed file holds more than ${sizeText(HUGE)} of text, of which the beginning is read and counted. ` +
      "Decompress the file beside itself, with zstd -d, to see all of it.",
  };
}

/** Joins the facts of one session that several readers found; each call once. */
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

/** Adds a frame to a draft's transcript. `shown`: and to the frames that are emitted next. */
export function pushFrame(builder: SessionBuilder, frame: Frame, shown: boolean): void {
  const folded = builder.buffer?.push(frame);
  if (folded && shown) builder.unsent.push(folded);
}
