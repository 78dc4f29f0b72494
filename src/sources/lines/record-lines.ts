import type { Frame } from "../../model/frames/frame.ts";
import type { JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { Source } from "../../model/transcript/transcript.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { saveCheckpoint, savedState } from "../checkpoint.ts";
import type {
  Format,
  Reader,
  ReaderOptions,
  ReadRecord,
  RecordPlace,
  RecordReader,
  SessionRecord,
} from "../contract.ts";
import { headerIn, isRecordLog, parseLogLine } from "../record-log/log-line.ts";
import { createLineReader, type LinePosition, type LineRecord } from "./lines.ts";

/** An agent that appends JSON lines to one file per session: its `Format` without reading bytes. */
export type LineAgent<State> = Omit<Format, "createReader"> & { reader: RecordReader<State> };

/** A `Format` whose records are read by a `RecordReader`. */
export type RecordFormat<State = unknown> = Format & { reader: RecordReader<State> };

/**
 * Creates a `Format` from a `RecordReader` for an agent that writes JSON lines. A line with an object is a record: its key is its
 * byte offset, its revision "". Blank lines are hidden. Damaged lines (torn, invalid, too long) are shown in place as unreadable.
 *
 * To add an agent, create a folder with a `RecordReader` and this call, and add a line to `sources/index.ts`:
 *
 *     export const exampleAgent = recordLinesFormat({
 *       id: "example", name: "Example", root: { variable: "EXAMPLE_HOME", home: ".example", folders: ["sessions"] },
 *       classify: (path) => (path.endsWith(".jsonl") ? { kind: "session" } : undefined),
 *       detect: (head) => /"type":"example_header"/.test(new TextDecoder().decode(head)),
 *       reader: exampleReader,
 *     });
 */
export function recordLinesFormat<State>(format: LineAgent<State>): RecordFormat<State> {
  const { reader } = format;
  return {
    ...format,
    classify(path) {
      if (!isRecordLog(path)) return format.classify(path);
      return format.snapshots && { kind: "session" };
    },
    detect: (head) => {
      const log = headerIn(head);
      return log === undefined ? format.detect(head) : log.agent === format.id;
    },
    createReader: (options) => createRecordLinesReader(reader, format.id, options),
  };
}

/** A record that was read before its session was known. */
type HeldRecord =
  | { kind: "blank"; place: RecordPlace }
  | { kind: "header"; place: RecordPlace; file: string }
  | { kind: "damaged"; place: RecordPlace; source: Source; raw: string; error: string };

/** The saved state of a reader, as plain JSON. */
interface SavedState<State> {
  lines: LinePosition;
  session: State;
  /** Records before the session's id is known. */
  held: HeldRecord[];
  /** The last record read since `close`. */
  last?: RecordPlace;
  /** Time of the last frame, for lines that have none of their own. */
  at: number;
  /** A side file that was read before the session's id was known. */
  side?: string;
  /** The side file as last read. */
  sideText?: string;
}

/** A `Reader` of bytes that passes records to a `RecordReader`, from an agent's own lines or from a record log. */
function createRecordLinesReader<State>(
  reader: RecordReader<State>,
  agent: string,
  { path, start = { line: 1, byte: 0 }, checkpoint }: ReaderOptions,
): Reader {
  const isLog = isRecordLog(path);
  const saved: SavedState<State> =
    checkpoint === undefined
      ? {
          lines: start,
          session: reader.initialState({ path, isInside: start.byte > 0 }),
          held: [],
          at: 0,
        }
      : // `checkpoint` below wrote it, in the same version.
        (savedState(checkpoint, agent) as SavedState<State>);
  const lines = createLineReader(saved.lines);
  const state = saved.session;

  function feed(records: readonly LineRecord[]): ReadRecord[] {
    const out: ReadRecord[] = [];
    for (const line of records) {
      const record = line.value === undefined ? unreadable(line, path) : recordOf(line, path, isLog);
      if ("kind" in record) {
        saved.held.push(record);
        release(out);
        continue;
      }
      const { disposition, frames } = reader.read(state, record);
      release(out);
      out.push({ place: line.place, disposition, frames });
      saved.at = lastTime(frames) ?? saved.at;
    }
    const last = records.at(-1);
    if (last !== undefined) saved.last = last.place;
    if (saved.side !== undefined && reader.sessionId(state) !== undefined) {
      const text = saved.side;
      delete saved.side;
      out.push(...readSide(text));
    }
    return out;
  }

  /** Returns the held records once their session is known. `always`: no record will name it, so its id comes from the path. */
  function release(out: ReadRecord[], always = false): void {
    if (saved.held.length === 0) return;
    const session_id = reader.sessionId(state) ?? (always ? uuidFrom(agent, path) : undefined);
    if (session_id === undefined) return;
    for (const held of saved.held) out.push(shown(held, session_id, saved.at, isLog));
    saved.held = [];
  }

  function readSide(text: string): ReadRecord[] {
    if (text === saved.sideText) return [];
    saved.sideText = text;
    const frames = reader.readSide?.(state, text, path) ?? [];
    if (frames.length === 0) return [];
    const place = { line: 1, byte: 0, length: 0 };
    return [{ place, disposition: { kind: "folded", into: "the session" }, frames }];
  }

  return {
    push: (chunk) => feed(lines.push(chunk)),
    settle: () => feed(lines.settle()),
    close(stopped) {
      const out = feed(lines.close());
      release(out, true);
      const { last } = saved;
      if (last === undefined) return out;
      // Refers to the last line without being part of it.
      const place = { ...last, length: 0 };
      delete saved.last;
      const frames = reader.end(state, stopped);
      if (frames.length > 0) out.push({ place, disposition: { kind: "folded", into: "the turn" }, frames });
      return out;
    },
    readSide(text) {
      if (reader.sessionId(state) !== undefined) return readSide(text);
      saved.side = text;
      return [];
    },
    linkFacts: () => reader.linkFacts(state),
    checkpoint() {
      const position = lines.position();
      return saveCheckpoint(agent, position.byte, { ...saved, lines: position });
    },
  };
}

/** The time of the last frame that has one. */
function lastTime(frames: readonly Frame[]): number | undefined {
  // A loop, because this happens for every record.
  for (let index = frames.length - 1; index >= 0; index -= 1) {
    const at = frames[index]?.at;
    if (at !== undefined && at !== 0) return at;
  }
  return undefined;
}

/** A line as a record. The header of a record log, and damaged lines of one, are not records. */
function recordOf(
  line: Extract<LineRecord, { value: JsonObject }>,
  path: string,
  isLog: boolean,
): SessionRecord | HeldRecord {
  const { place, value, text } = line;
  if (!isLog) return { key: String(place.byte), revision: "", place: inFile(path, place), value, text };
  const entry = parseLogLine(line);
  switch (entry?.kind) {
    case "record":
      return entry.record;
    case "header":
      return { kind: "header", place, file: entry.header.file };
    case "damaged":
      return { kind: "damaged", place, source: entry.place, raw: entry.text, error: entry.error };
    case undefined: {
      const error = "not a line of a record log";
      return { kind: "damaged", place, source: inFile(path, place), raw: text, error };
    }
    default:
      return entry satisfies never;
  }
}

/** Does not use a spread, which would take a tenth of the time of parsing a record. */
function inFile(path: string, { line, byte, length }: RecordPlace): Source {
  return { file: path, line, byte, length };
}

function unreadable(line: LineRecord, path: string): HeldRecord {
  const { place, text, error } = line;
  if (error === undefined) return { kind: "blank", place };
  return { kind: "damaged", place, source: inFile(path, place), raw: text, error };
}

/** The result of reading a held line. `at`: the time of the last frame. */
function shown(held: HeldRecord, session_id: string, at: number, isLog: boolean): ReadRecord {
  const { place } = held;
  switch (held.kind) {
    case "blank":
      return { place, disposition: { kind: "hidden", rule: "blank line" }, frames: [] };
    case "header": {
      const { file } = held;
      return {
        place,
        disposition: { kind: "folded", into: "the session" },
        frames: [{ type: "session.update", session_id, at: 0, patch: { file } }],
      };
    }
    case "damaged": {
      const { source, raw, error } = held;
      const title = titleFields(sourceTitle(isLog ? "unreadable_record" : "unreadable_line"));
      const part_id = uuidFrom(session_id, `unreadable:${place.byte}`);
      const frames: Frame[] = [{ type: "unknown", session_id, at, source, part_id, raw, ...title, error }];
      return { place, disposition: { kind: "unreadable" }, frames };
    }
    default:
      return held satisfies never;
  }
}
