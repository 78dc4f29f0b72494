import type { Format, Reader, ReadRecord, SessionLinkFacts } from "../formats/format.ts";
import { MAX_LINE } from "../formats/lines.ts";
import type { Frame } from "../model/frame.ts";
import type { SessionSummary } from "../model/session.ts";
import { emptySummary, resumeSummary, summarizeAll } from "../model/summarize.ts";
import { uuidFrom } from "../model/uuid.ts";
import type { ChannelFrame } from "../protocol.ts";
import { createFold, type Fold } from "./fold.ts";
import { createDecoder, type Decoder, isCompressed } from "./follow.ts";
import { followCalls, type OpenCalls } from "./open-calls.ts";
import { HUGE, sizeText } from "./segments.ts";
import type { FileIdentity } from "./store/store.ts";

const NEWLINE = 0x0a;

/** One reader on its way through a file. */
export interface Reading {
  readonly reader: Reader;
  readonly decoder: Decoder;
  /** What was read, by session. */
  readonly drafts: Map<string, Draft>;
  /** Whether transcripts are made, or only rows of the list. */
  folding: boolean;
  /** Nothing can be read on: the reader was told that the file is over. */
  ended: boolean;
  /** The file as far as it was read, where that is not told by its rows. */
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
  introduce(id: string, at: number): void;
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
   * end, if its format tells that with the file's.
   */
  was_over?: boolean;
  /** What the rows say up to `count_from`. */
  rowOf(id: string): Pick<Draft, "summary" | "open_calls"> | undefined;
  /** What stands above the first part, which is of the time `at`. */
  introduce(id: string, at: number): Frame[];
}

/** A session of a file while it is read: its row, and, where its parts are wanted, its fold. */
export interface Draft {
  readonly id: string;
  summary: SessionSummary;
  open_calls: OpenCalls;
  fold?: Fold;
  /** Folded and not yet told. */
  fresh: ChannelFrame[];
  /** What stands above its first part was not said yet. */
  unannounced?: boolean;
}

interface ReadingOptions {
  path: string;
  format: Format;
  folding: boolean;
  /** The id that a session of this file goes by. */
  idFor(session_id: string): string;
  /** Whether someone looks at this very draft, and is to be told of its frames. */
  isShown(draft: Draft): boolean;
  window?: ReadingWindow;
}

/** Bytes in, drafts out. */
export function createReading({ path, format, folding, idFor, isShown, window }: ReadingOptions): Reading {
  let reader = format.createReader({ path, ...(window && { start: { line: 0, byte: window.from } }) });
  /** Whether records are counted; all that follow the first are. */
  let counting = window === undefined;
  /** What was read before that, counted on its own: kept rows do not say what was counted last, and what was left open. */
  const before = new Map<Draft, SessionSummary>();
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
    drafts: new Map(),
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
      const uncounted = new Map<Draft, Frame[]>();
      const taken = new Map<Draft, Frame[]>();
      for (const { frames, place } of records) {
        counting ||= place.byte + place.length > (window?.count_from ?? 0);
        for (const frame of frames) {
          knows_step ||= !counting && frame.type === "message.start";
          const draft = draftFor(idFor(frame.session_id));
          if (!counting && window?.was_over && format.closesSteps && draft.summary.status !== "running") {
            if (frame.type === "message.start") left_open.add(frame.message_id);
            else if (frame.type === "message.end") left_open.delete(frame.message_id);
          }
          const own = draft.id === frame.session_id ? frame : { ...frame, session_id: draft.id };
          if (draft.unannounced) introduce(draft, own);
          if (draft.fold) pushFrame(draft, own, isShown(draft));
          const into = counting ? taken : uncounted;
          const others = into.get(draft);
          if (others) others.push(own);
          else into.set(draft, [own]);
        }
      }
      for (const [draft, frames] of uncounted)
        before.set(draft, summarizeAll(before.get(draft) ?? emptySummary(draft.id, format.id, 0), frames));
      for (const [draft, frames] of taken) {
        const counted = before.get(draft);
        before.delete(draft);
        if (counted) draft.summary = resumeSummary(draft.summary, counted);
        const known = frames.filter(
          (frame) => frame.type === "message.end" && left_open.delete(frame.message_id),
        );
        if (known.length > 0)
          draft.summary = resumeSummary(draft.summary, summarizeAll(draft.summary, known));
        draft.summary = summarizeAll(draft.summary, frames);
        draft.open_calls = followCalls(draft.open_calls, frames);
      }
    },
    restart(byte) {
      earlier.push(...reader.linkFacts().sessions);
      reader = format.createReader({ path, start: { line: 0, byte } });
    },
    introduce(id, at) {
      const draft = draftFor(id);
      if (draft.unannounced) announce(draft, at);
    },
    close(stopped) {
      reading.take(reader.close(stopped));
      if (!is_cut) return;
      const frames = [...reading.drafts.values()].map(({ id, summary }) =>
        leftOff(id, summary.last_activity_at),
      );
      reading.take([
        { place: { line: 0, byte: decoded, length: 0 }, disposition: { kind: "shown" }, frames },
      ]);
    },
    facts: () => joinFacts([...earlier, ...reader.linkFacts().sessions]),
  };

  /** Once a part comes, so that what introduces it stands in the same turn. */
  function introduce(draft: Draft, before: Frame) {
    if (before.type !== "turn.start" && before.type !== "session.update") announce(draft, before.at);
  }

  function announce(draft: Draft, at: number) {
    draft.unannounced = false;
    for (const frame of window?.introduce(draft.id, at) ?? []) draft.fold?.push(frame);
  }

  function draftFor(id: string): Draft {
    let draft = reading.drafts.get(id);
    if (!draft) {
      draft = {
        id,
        summary: emptySummary(id, format.id, 0),
        open_calls: [],
        ...window?.rowOf(id),
        fresh: [],
        ...(window && { unannounced: true }),
        ...(reading.folding && { fold: createFold(id) }),
      };
      reading.drafts.set(id, draft);
    }
    return draft;
  }

  return reading;
}

/** A few bytes may decompress to any number of them, and there are no pieces of what can only be read from its beginning. */
function leftOff(session_id: string, at: number): Frame {
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

/** Facts of one session that several readers found, joined: a call is told once. */
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

/** Adds a frame to a draft's transcript. `shown`: and to what is told next. */
export function pushFrame(draft: Draft, frame: Frame, shown: boolean): void {
  const folded = draft.fold?.push(frame);
  if (folded && shown) draft.fresh.push(folded);
}
