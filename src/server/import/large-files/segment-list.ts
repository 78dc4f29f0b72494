import type { Frame } from "../../../model/frames/frame.ts";
import { agentTitle } from "../../../model/text/agent-titles.ts";
import { titleFields } from "../../../model/text/titles.ts";
import { transcriptFrom } from "../../../model/transcript/transcript-start.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { uuidFrom } from "../../../model/uuid.ts";
import type { Checkpoint } from "../../../sources/contract.ts";
import type { SegmentStart } from "../../../store/index/contract.ts";
import type { FileContent } from "../../files/file-content.ts";
import type { IndexState } from "../../index/index-state.ts";
import { keyOf } from "../part-indexing.ts";
import type { SessionFile } from "../session-file.ts";
import {
  HUGE_FILE_BYTES,
  isLineStart,
  lineStart,
  MIN_TAIL_BYTES,
  SEGMENT_BYTES,
  sizeText,
} from "./segments.ts";

/** A segment of a huge file: it extends to the start of the next one. */
export type Segment = Pick<SegmentStart, "segment" | "byte" | "transcripts">;

/** Where the reading of a huge file's end begins. */
export interface Tail {
  /** Offset of the first record that is shown. */
  byte: number;
  /** The reader's state at or before `byte`. Absent: reading begins at `byte`, without knowledge of earlier records. */
  checkpoint?: Checkpoint;
  /** Whether the file is indexed, so that the transcripts continue from those of the records before `byte`. */
  is_indexed: boolean;
  /** The transcript of a session, by its listed id, just before `byte`. */
  transcriptOf(id: string): Transcript | undefined;
}

/** The segments of huge files, from the part index. */
export interface SegmentList {
  /** The segments in order; the first one begins at byte 0. If it is the only one, the file is not indexed yet. */
  of(entry: SessionFile): Promise<readonly Segment[]>;
  /** The reader's state at or before the start of a segment. */
  checkpointOf(entry: SessionFile, segment: Segment): Promise<Checkpoint | undefined>;
  tailOf(entry: SessionFile, content: Pick<FileContent, "read" | "size">): Promise<Tail>;
}

type SegmentIndex = Pick<IndexState, "segmentsOf" | "segmentStart">;

export function createSegmentList(index: SegmentIndex | undefined): SegmentList {
  async function of(entry: SessionFile): Promise<readonly Segment[]> {
    // A damaged index is rebuilt when it is searched.
    const known = (await index?.segmentsOf(keyOf(entry)).catch(() => undefined)) ?? [];
    return [{ segment: 0, byte: 0, transcripts: [] }, ...known];
  }

  const checkpointOf: SegmentList["checkpointOf"] = async (entry, { segment }) =>
    segment === 0
      ? undefined
      : (await index?.segmentStart(keyOf(entry), segment).catch(() => undefined))?.checkpoint;

  return {
    of,
    checkpointOf,
    async tailOf(entry, { read, size }) {
      const segments = await of(entry);
      const last = segments.findLastIndex(({ byte }) => size - byte >= MIN_TAIL_BYTES);
      const segment = segments[last];
      const checkpoint = segment && (await checkpointOf(entry, segment));
      // The file's content may have been replaced after it was indexed.
      const is_usable =
        segment !== undefined &&
        checkpoint !== undefined &&
        size - segment.byte <= HUGE_FILE_BYTES &&
        (await isLineStart(read, segment.byte)) &&
        (await isLineStart(read, checkpoint.byte));
      if (!is_usable) {
        const byte = await lineStart(read, size, size - SEGMENT_BYTES);
        return { byte, is_indexed: false, transcriptOf: () => undefined };
      }
      const before = segments.slice(0, last + 1);
      return {
        byte: segment.byte,
        checkpoint,
        is_indexed: true,
        transcriptOf: (id) => transcriptBefore(entry, before, id),
      };
    },
  };
}

/** The transcript of a session at the start of the last of these segments, with all turns. `undefined`: it has no records there. */
export function transcriptBefore(
  entry: Pick<SessionFile, "path">,
  segments: readonly Segment[],
  id: string,
): Transcript | undefined {
  const starts = segments.map((segment) => startIn(entry, segment, id));
  const start = starts.at(-1);
  const turns = starts.flatMap((each) => each?.turns ?? []);
  return start && transcriptFrom({ ...start, session_id: id }, turns);
}

/** The state of a session, by its listed id, at the start of a segment. A copy of a file has a different session id. */
export const startIn = ({ path }: Pick<SessionFile, "path">, { transcripts }: Segment, id: string) =>
  transcripts.find(({ session_id }) => session_id === id || uuidFrom(session_id, path) === id);

/** The part of a reading window that depends on where the tail begins. */
export function windowOfTail({ byte, checkpoint, is_indexed, transcriptOf }: Tail) {
  return {
    ...(checkpoint && { checkpoint }),
    use_from: byte,
    lacks_beginning: !is_indexed,
    transcriptOf,
    leadingMarkers: (id: string, at: number) => (is_indexed ? [] : [notIndexedMarker(id, byte, at)]),
  };
}

/** The marker before the end of a huge session whose beginning cannot be shown yet. `at`: milliseconds. */
function notIndexedMarker(session_id: string, byte: number, at: number): Frame {
  return {
    type: "marker",
    session_id,
    at,
    part_id: uuidFrom(session_id, "segment before"),
    kind: "note",
    ...titleFields(agentTitle("not_indexed_yet", { size: sizeText(byte) })),
    text:
      `This session's file is so large that its beginning can be shown only once it is indexed. The page then shows all of it. ` +
      "Until then, turns, steps and errors are counted from here. If this takes longer than a few minutes, see the daemon's log in the terminal.",
  };
}
