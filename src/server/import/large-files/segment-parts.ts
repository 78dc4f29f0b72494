import { daemonText } from "../../../model/text/daemon-texts.ts";
import { type PlacedPart, unpairedOf } from "../../../model/transcript/accumulate.ts";
import type { TranscriptStart } from "../../../model/transcript/transcript-start.ts";
import { emptyTranscript, type Transcript } from "../../../model/transcript/transcript-state.ts";
import { uuidFrom } from "../../../model/uuid.ts";
import type { FileContent } from "../../files/file-content.ts";
import type { IndexState } from "../../index/index-state.ts";
import { Refused } from "../../sessions/refused.ts";
import { keyOf } from "../part-indexing.ts";
import { createReading, type Reading } from "../reading.ts";
import type { IndexedSession, SessionFile } from "../session-file.ts";
import { type Segment, type SegmentList, startIn, transcriptBefore } from "./segment-list.ts";
import { SEGMENT_BYTES } from "./segments.ts";

/** Reads parts of huge sessions that are before the end that is kept in memory. */
export interface SegmentParts {
  /**
   * The parts of the segments that contain the positions `[from, to)`, up to `MAX_SEGMENTS` of them, with the results of their calls.
   * Throws a `Refused` if they cannot be read.
   */
  load(state: IndexedSession, from: number, to: number): Promise<readonly PlacedPart[]>;
  /** The position of a part in the whole session. Throws a `Refused` if the session is not indexed. */
  locate(state: IndexedSession, part_id: string): Promise<number | undefined>;
}

/** Maximum number of segments that one request loads: as much as a session that is not huge. */
const MAX_SEGMENTS = 12;
/** Maximum number of segments whose parts are cached. */
const MAX_CACHED = 8;
const BLOCK = 256 * 1024;
/** Results are searched in this many bytes after a segment: parallel calls may return several large images before the last one. */
const RESULT_BYTES = 8 * SEGMENT_BYTES;

interface SegmentPartsOptions {
  list: SegmentList;
  index: Pick<IndexState, "position"> | undefined;
  contentOf(entry: SessionFile): Promise<FileContent | undefined>;
}

export function createSegmentParts({ list, index, contentOf }: SegmentPartsOptions): SegmentParts {
  const cached = new Map<string, Promise<SegmentRead>>();

  async function partsOf(
    state: IndexedSession,
    segments: readonly Segment[],
    at: number,
  ): Promise<SegmentRead> {
    const { id, entry } = state;
    // Replaced content has another entry id.
    const key = `${entry.id} ${segments[at]?.byte} ${id}`;
    const parts = cached.get(key) ?? readSegment({ list, contentOf }, state, segments, at);
    cached.delete(key);
    cached.set(key, parts);
    // Failures are not cached.
    parts.catch(() => cached.delete(key));
    for (const oldest of cached.keys()) {
      if (cached.size <= MAX_CACHED) break;
      cached.delete(oldest);
    }
    return await parts;
  }

  return {
    async load(state, from, to) {
      const segments = await list.of(state.entry);
      const partsBefore = (segment: Segment): number =>
        startIn(state.entry, segment, state.id)?.part_count ?? 0;
      const wanted = segments
        .map((_, at) => at)
        .filter((at) => {
          const [segment, next] = [segments[at], segments[at + 1]];
          // All parts of the last segment are in memory already, unless the index is being rebuilt.
          return segment && next && partsBefore(segment) < to && partsBefore(next) > from;
        });
      if (wanted.length === 0) throw notIndexed();
      const loaded: PlacedPart[] = [];
      const results: PlacedPart[] = [];
      for (const at of wanted.slice(0, MAX_SEGMENTS)) {
        const read = await partsOf(state, segments, at);
        for (const part of read.parts) loaded.push(part);
        for (const part of read.results) results.push(part);
      }
      // A result's own segment has the newest version of it.
      return [...loaded, ...results];
    },
    async locate({ id, entry }, part_id) {
      const own = (await list.of(entry)).flatMap((segment) => startIn(entry, segment, id) ?? []).at(-1);
      if (own === undefined) throw notIndexed();
      return await index?.position(keyOf(entry), own.session_id, part_id);
    },
  };
}

/** The parts of a session in a segment, and the results of its calls after it. */
interface SegmentRead {
  parts: readonly PlacedPart[];
  results: readonly PlacedPart[];
}

/** Reads a segment that is not the last one. Throws a `Refused` if its record or the index no longer exists. */
async function readSegment(
  { list, contentOf }: Pick<SegmentPartsOptions, "list" | "contentOf">,
  { id, entry }: IndexedSession,
  segments: readonly Segment[],
  at: number,
): Promise<SegmentRead> {
  const [segment, next, ...later] = segments.slice(at);
  const last = later.at(-1);
  const end = next && startIn(entry, next, id);
  if (!segment || !next || !end) throw notIndexed();
  const content = await contentOf(entry);
  if (!content) throw new Refused(404, "no_record", daemonText("record_gone"));
  try {
    const start = at === 0 ? undefined : transcriptBefore(entry, segments.slice(0, at + 1), id);
    const checkpoint = await list.checkpointOf(entry, segment);
    if (at > 0 && checkpoint === undefined) throw notIndexed();
    const reading = createReading({
      path: entry.path,
      format: entry.format,
      folding: true,
      idFor: (own) => (uuidFrom(own, entry.path) === id ? id : own),
      isViewed: () => false,
      ...(checkpoint && {
        window: {
          from: checkpoint.byte,
          checkpoint,
          use_from: segment.byte,
          count_from: Number.POSITIVE_INFINITY,
          rowOf: () => undefined,
          transcriptOf: (session_id) => (session_id === id ? start : undefined),
          leadingMarkers: () => [],
        },
      }),
    });
    const transcriptNow = () => reading.builders.get(id)?.buffer?.transcript ?? emptyTranscript(id);
    await readBytes(reading, content, checkpoint?.byte ?? 0, next.byte);
    const answered = answeredIn(end, last && startIn(entry, last, id));
    await readResults(reading, content, next.byte, () =>
      unpairedOf(transcriptNow()).open_calls.some(([call]) => answered.has(call)),
    );
    return partsBetween(transcriptNow(), start?.parts.length ?? 0, end.part_count);
  } finally {
    await content.close();
  }
}

/** The calls that are open at the start of a segment and no longer at the start of the last one, if that is known. */
function answeredIn({ open_calls }: TranscriptStart, last: TranscriptStart | undefined): ReadonlySet<string> {
  const open = new Set(last?.open_calls.map(([call]) => call));
  return new Set(open_calls.flatMap(([call]) => (open.has(call) ? [] : [call])));
}

function partsBetween({ parts }: Transcript, from: number, end: number): SegmentRead {
  const own = parts
    .slice(from, end)
    .flatMap((part, at) => (part === undefined ? [] : [{ index: from + at, part }]));
  const results = own.flatMap(({ part: { type, ...call } }) => {
    const index = type === "tool_call" && "result_index" in call ? call.result_index : undefined;
    const part = index === undefined || index < end ? undefined : parts.at(index);
    return index === undefined || part === undefined ? [] : [{ index, part }];
  });
  return { parts: own, results };
}

const notIndexed = (): Refused =>
  new Refused(503, "not_indexed", daemonText("part_not_indexed"), daemonText("try_in_minutes"));

async function readBytes(reading: Reading, content: FileContent, from: number, to: number): Promise<void> {
  const buffer = new Uint8Array(BLOCK);
  for (let at = from; at < to; ) {
    const block = await content.read(at, Math.min(BLOCK, to - at), buffer);
    if (block.length === 0) return;
    await reading.decoder.write(block);
    at += block.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Continues past the end of a segment while calls wait for results that are in the next one. Reads at least one block, because
 * the start of a turn ends the open parts of the previous turn, and at most `RESULT_BYTES`.
 */
async function readResults(
  reading: Reading,
  content: FileContent,
  from: number,
  isWaiting: () => boolean,
): Promise<void> {
  const limit = Math.min(content.size, from + RESULT_BYTES);
  for (let at = from; at < limit && (at === from || isWaiting()); at += BLOCK)
    await readBytes(reading, content, at, Math.min(limit, at + BLOCK));
}
