import { type PlacedPart, unpairedOf } from "../../../model/transcript/accumulate.ts";
import { isFinished } from "../../../model/transcript/tool-state.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { uuidFrom } from "../../../model/uuid.ts";
import type { FileContent } from "../../files/file-content.ts";
import type { IndexState } from "../../index/index-state.ts";
import { keyOf } from "../part-indexing.ts";
import { createReading, type Reading } from "../reading.ts";
import type { IndexedSession, SessionFile } from "../session-file.ts";
import { type Segment, type SegmentList, startIn, transcriptBefore } from "./segment-list.ts";
import { SEGMENT_BYTES } from "./segments.ts";

/** Reads parts of huge sessions that are before the end that is kept in memory. */
export interface SegmentParts {
  /** The parts of the segments that contain the positions `[from, to)`, up to `MAX_SEGMENTS` of them. */
  load(state: IndexedSession, from: number, to: number): Promise<readonly PlacedPart[]>;
  /** The position of a part in the whole session. */
  locate(state: IndexedSession, part_id: string): Promise<number | undefined>;
}

/** Maximum number of segments that one request loads: as much as a session that is not huge. */
const MAX_SEGMENTS = 6;
/** Maximum number of segments whose parts are cached. */
const MAX_CACHED = 4;
const BLOCK = 256 * 1024;

interface SegmentPartsOptions {
  list: SegmentList;
  index: Pick<IndexState, "position"> | undefined;
  contentOf(entry: SessionFile): Promise<FileContent | undefined>;
}

export function createSegmentParts({ list, index, contentOf }: SegmentPartsOptions): SegmentParts {
  const cached = new Map<string, Promise<readonly PlacedPart[]>>();

  async function partsOf(
    state: IndexedSession,
    segments: readonly Segment[],
    at: number,
  ): Promise<readonly PlacedPart[]> {
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
      const partsBefore = (segment: Segment | undefined): number =>
        segment === undefined
          ? Number.POSITIVE_INFINITY
          : (startIn(state.entry, segment, state.id)?.part_count ?? 0);
      const wanted = segments
        .map((_, at) => at)
        .filter((at) => partsBefore(segments[at]) < to && partsBefore(segments[at + 1]) > from)
        .slice(0, MAX_SEGMENTS);
      const loaded: PlacedPart[] = [];
      for (const at of wanted) {
        const parts = await partsOf(state, segments, at);
        for (const part of parts) loaded.push(part);
      }
      return loaded;
    },
    async locate({ id, entry }, part_id) {
      const own = (await list.of(entry)).flatMap((segment) => startIn(entry, segment, id) ?? []).at(-1);
      return own && (await index?.position(keyOf(entry), own.session_id, part_id).catch(() => undefined));
    },
  };
}

/** The parts of one session in a segment that is not the last one. Empty: the file no longer exists. */
async function readSegment(
  { list, contentOf }: Pick<SegmentPartsOptions, "list" | "contentOf">,
  { id, entry }: IndexedSession,
  segments: readonly Segment[],
  at: number,
): Promise<PlacedPart[]> {
  const [segment, next] = [segments[at], segments[at + 1]];
  const end = next && startIn(entry, next, id)?.part_count;
  const content = segment && (await contentOf(entry));
  if (!content) return [];
  try {
    const start = at === 0 ? undefined : transcriptBefore(entry, segments.slice(0, at + 1), id);
    const checkpoint = await list.checkpointOf(entry, segment);
    if (at > 0 && checkpoint === undefined) return [];
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
    const from = start?.parts.length ?? 0;
    const transcriptNow = () => reading.builders.get(id)?.buffer?.transcript;
    await readBytes(reading, content, checkpoint?.byte ?? 0, next?.byte ?? content.size);
    if (next) await readResults(reading, content, next.byte, () => hasRunning(transcriptNow(), from, end));
    const transcript = transcriptNow();
    const parts = transcript?.parts.slice(from, end) ?? [];
    return parts.flatMap((part, index) => (part === undefined ? [] : [{ index: from + index, part }]));
  } finally {
    await content.close();
  }
}

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
 * Reads on after the segment, so that what ended there has its end: at least one block, because the start of a turn ends what the
 * turn before left open, and at most a segment.
 */
async function readResults(
  reading: Reading,
  content: FileContent,
  from: number,
  isOpen: () => boolean,
): Promise<void> {
  const limit = Math.min(content.size, from + SEGMENT_BYTES);
  for (let at = from; at < limit && (at === from || isOpen()); at += BLOCK)
    await readBytes(reading, content, at, Math.min(limit, at + BLOCK));
}

/** Whether a call in `[from, to)` is running. */
function hasRunning(transcript: Transcript | undefined, from: number, to: number | undefined): boolean {
  if (transcript === undefined) return false;
  return unpairedOf(transcript).open_calls.some(([, position]) => {
    const part = transcript.parts.at(position);
    const isInside = position >= from && position < (to ?? Number.POSITIVE_INFINITY);
    return isInside && part?.type === "tool_call" && !isFinished(part.state);
  });
}
