import type { Frame } from "../../model/frames/frame.ts";
import { eventOf } from "../../model/messages/history.ts";
import { type HistoryHeader, readHeader } from "../../model/messages/history-file.ts";
import { createReplay, type Replay } from "../../model/messages/replay.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { Format, Reader, ReaderOptions, ReadRecord, RecordPlace } from "../contract.ts";
import { createLineReader, type LineRecord } from "../lines/lines.ts";

/** Verbatim's own history files, written by `export --format jsonl`. */
export const verbatim: Format = {
  id: "verbatim",
  name: "Verbatim export",
  classify: (path) => (path.endsWith(".jsonl") ? { kind: "session" } : undefined),
  detect(head) {
    const [line = ""] = new TextDecoder().decode(head).split("\n", 1);
    return /^\s*\{\s*"type"\s*:\s*"verbatim_session"/.test(line);
  },
  createReader,
};

/** A session of the file being read. */
interface OpenSession {
  header: Pick<HistoryHeader, "session_id">;
  replay: Replay;
  /** Messages that have ended. */
  ended: Set<string>;
}

/** Replays the events of a history file. A header starts a session. Events before the first header get an id of their own. */
function createReader({ path, start }: ReaderOptions): Reader {
  const lines = createLineReader(start);
  const sessions = new Map<string, OpenSession>();
  let open: OpenSession | undefined;
  let last: RecordPlace | undefined;
  let at = 0;

  const begin = (header: OpenSession["header"]): OpenSession => {
    const { session_id } = header;
    open = sessions.get(session_id) ?? { header, replay: createReplay(session_id), ended: new Set() };
    sessions.set(session_id, open);
    return open;
  };
  /** Adds positions to frames. Replayed frames have none: the history does not record positions in the agent's file. */
  const placed = (frames: readonly Frame[], place: RecordPlace): Frame[] => {
    at = frames.findLast((frame) => frame.at !== 0)?.at ?? at;
    const source = { file: path, line: place.line, byte: place.byte, length: place.length };
    return frames.map((frame) => ({ ...frame, source }));
  };

  function read(record: LineRecord): ReadRecord {
    const { place } = record;
    last = place;
    if (record.blank) return { place, disposition: { kind: "hidden", rule: "blank line" }, frames: [] };
    if (record.error !== undefined) return unreadable(place, record.text, record.error);
    const header = readHeader(record.value);
    if (header !== undefined) {
      const ended = open?.replay.end() ?? [];
      begin(header);
      const { session_id, agent } = header;
      const update: Frame = { type: "session.update", session_id, at, patch: { agent } };
      return {
        place,
        disposition: { kind: "folded", into: "the session" },
        frames: placed([...ended, update], place),
      };
    }
    const { replay, ended } = open ?? begin({ session_id: uuidFrom(verbatim.id, path) });
    const event = eventOf(record.value, record.text);
    const before = replay.part_count;
    const own = endOnce(replay.push(event), ended);
    const isShown = replay.part_count > before;
    const frames = placed(own, place);
    if (isShown)
      return {
        place,
        disposition: { kind: "type" in event && event.type === "unknown" ? "unknown" : "shown" },
        frames,
      };
    // A revised part keeps the position of the line that created it.
    const revised = frames.map(({ source: _, ...frame }) => frame);
    return { place, disposition: { kind: "folded", into: "the session" }, frames: revised };
  }

  function unreadable(place: RecordPlace, raw: string, error: string): ReadRecord {
    const { session_id } = (open ?? begin({ session_id: uuidFrom(verbatim.id, path) })).header;
    const part_id = uuidFrom(session_id, `unreadable:${place.byte}`);
    const frame: Frame = {
      type: "unknown",
      session_id,
      at,
      part_id,
      raw,
      ...titleFields(sourceTitle("unreadable_line")),
      error,
    };
    return { place, disposition: { kind: "unreadable" }, frames: placed([frame], place) };
  }

  return {
    push: (chunk) => lines.push(chunk).map(read),
    settle: () => lines.settle().map(read),
    close() {
      const records = lines.close().map(read);
      const place = last && { ...last, length: 0 };
      const frames = open?.replay.end() ?? [];
      if (place === undefined || frames.length === 0) return records;
      return [
        ...records,
        { place, disposition: { kind: "folded", into: "the turn" }, frames: placed(frames, place) },
      ];
    },
    readSide: () => [],
    linkFacts: () => ({
      sessions: [...sessions.keys()].map((session_id) => ({ session_id, group: session_id, calls: [] })),
    }),
  };
}

/** Removes a repeated start and end of a message whose line occurs again. Its parts revise the earlier ones. */
function endOnce(frames: readonly Frame[], ended: Set<string>): Frame[] {
  return frames.filter((frame) => {
    if (frame.type === "message.start") return !ended.has(frame.message_id);
    if (frame.type !== "message.end") return true;
    const repeats = ended.has(frame.message_id);
    ended.add(frame.message_id);
    return !repeats || frame.usage !== undefined;
  });
}
