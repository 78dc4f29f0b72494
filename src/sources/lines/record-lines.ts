import type { Frame } from "../../model/frames/frame.ts";
import type { JsonObject } from "../../model/narrow.ts";
import type { Source } from "../../model/transcript/transcript.ts";
import { uuidFrom } from "../../model/uuid.ts";
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
import { createLineReader, type LineRecord } from "./lines.ts";

/** An agent that appends JSON lines to one file per session: its `Format` without reading bytes. */
export type LineAgent<State> = Omit<Format, "createReader"> & { reader: RecordReader<State> };

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
export function recordLinesFormat<State>({ reader, ...format }: LineAgent<State>): Format {
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

/** A `Reader` of bytes that passes records to a `RecordReader`, from an agent's own lines or from a record log. */
export function createRecordLinesReader<State>(
  reader: RecordReader<State>,
  agent: string,
  { path, start }: ReaderOptions,
): Reader {
  const lines = createLineReader(start);
  const isLog = isRecordLog(path);
  const state = reader.initialState({ path, isInside: start !== undefined && start.byte > 0 });
  /** Records before the session's id is known. */
  let held: ((session_id: string) => ReadRecord)[] = [];
  /** The last record read since `close`. */
  let last: RecordPlace | undefined;
  /** Time of the last frame, for lines that have none of their own. */
  let at = 0;
  let side: string | undefined;
  let sideText: string | undefined;

  function feed(records: readonly LineRecord[]): ReadRecord[] {
    const out: ReadRecord[] = [];
    for (const line of records) {
      last = line.place;
      const record = line.value === undefined ? undefined : recordOf(line);
      if (record === undefined || typeof record === "function") {
        held.push(record ?? unreadable(line));
        release(out);
        continue;
      }
      const result = reader.read(state, record);
      release(out);
      out.push({ place: line.place, ...result });
      for (const frame of result.frames) at = frame.at || at;
    }
    if (side !== undefined && reader.sessionId(state) !== undefined) {
      const text = side;
      side = undefined;
      out.push(...readSide(text));
    }
    return out;
  }

  function recordOf(
    line: Extract<LineRecord, { value: JsonObject }>,
  ): SessionRecord | ((session_id: string) => ReadRecord) {
    const { place, value, text } = line;
    if (!isLog)
      return { key: String(place.byte), revision: "", place: { file: path, ...place }, value, text };
    const entry = parseLogLine(line);
    switch (entry?.kind) {
      case "record":
        return entry.record;
      case "header": {
        const { file } = entry.header;
        return (session_id) => ({
          place,
          disposition: { kind: "folded", into: "the session" },
          frames: [{ type: "session.update", session_id, at: 0, patch: { file } }],
        });
      }
      case "damaged":
        return damaged(place, entry.place, entry.text, entry.error);
      case undefined:
        return damaged(place, { file: path, ...place }, text, "no line of a record log");
      default:
        return entry satisfies never;
    }
  }

  function unreadable({ place, text, error }: LineRecord): (session_id: string) => ReadRecord {
    if (error !== undefined) return damaged(place, { file: path, ...place }, text, error);
    return () => ({ place, disposition: { kind: "hidden", rule: "blank line" }, frames: [] });
  }

  function damaged(place: RecordPlace, source: Source, raw: string, error: string) {
    const title = isLog ? "A record that cannot be read" : "A line that cannot be read";
    return (session_id: string): ReadRecord => {
      const part_id = uuidFrom(session_id, `unreadable:${place.byte}`);
      const frames: Frame[] = [{ type: "unknown", session_id, at, source, part_id, raw, title, error }];
      return { place, disposition: { kind: "unreadable" }, frames };
    };
  }

  /** Returns the held records once their session is known. `always`: no record will name it, so the path does. */
  function release(out: ReadRecord[], always = false): void {
    if (held.length === 0) return;
    const session_id = reader.sessionId(state) ?? (always ? uuidFrom(agent, path) : undefined);
    if (session_id === undefined) return;
    for (const tell of held) out.push(tell(session_id));
    held = [];
  }

  function readSide(text: string): ReadRecord[] {
    if (text === sideText) return [];
    sideText = text;
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
      if (last === undefined) return out;
      // Refers to the last line without being part of it.
      const place = { ...last, length: 0 };
      last = undefined;
      const frames = reader.end(state, stopped);
      if (frames.length > 0) out.push({ place, disposition: { kind: "folded", into: "the turn" }, frames });
      return out;
    },
    readSide(text) {
      if (reader.sessionId(state) !== undefined) return readSide(text);
      side = text;
      return [];
    },
    linkFacts: () => reader.linkFacts(state),
  };
}
