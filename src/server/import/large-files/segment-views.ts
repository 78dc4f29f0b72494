import type { Frame } from "../../../model/frames/frame.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { accumulate } from "../../../model/transcript/accumulate.ts";
import { emptyTranscript } from "../../../model/transcript/transcript-state.ts";
import { uuidFrom } from "../../../model/uuid.ts";
import type { FileContent } from "../../files/file-content.ts";
import type { OpenSession } from "../../sessions/sessions.ts";
import { createReading } from "../reading.ts";
import type { IndexedSession, SessionFile } from "../session-file.ts";
import type { PlaceOfSegment } from "./segment-places.ts";
import { lastSegment, SEGMENT_BYTES, segmentId, segmentOf, sizeText } from "./segments.ts";

/** The segments of huge sessions, except the last. Each has its own id and a transcript that does not grow. */
interface Segments {
  open(id: string): Promise<OpenSession | undefined>;
  /** The row of a segment's session, as the segment shows it. */
  get(id: string): SessionSummary | undefined;
  sessionOf(id: string): IndexedSession | undefined;
}

/** Maximum number of transcripts that are cached. */
const MAX_TRANSCRIPTS = 3;
const BLOCK = 256 * 1024;

interface SegmentsOptions {
  stateOf(id: string): IndexedSession | undefined;
  /** Files that are shown in segments. */
  huge: ReadonlySet<SessionFile>;
  /** Size in bytes of such a file, or of its archived part. */
  sizeOf(entry: SessionFile): number;
  contentOf(entry: SessionFile): Promise<FileContent | undefined>;
  placeOf: PlaceOfSegment;
  present(state: IndexedSession): SessionSummary;
}

/** Shows huge sessions in segments. */
export function createSegments(options: SegmentsOptions): Segments {
  const { sizeOf } = options;
  const kept = new Map<string, OpenSession>();
  /** The session and number of each requested segment. */
  const found = new Map<string, { session_id: string; segment: number }>();

  function find(id: string): { state: IndexedSession; segment: number } | undefined {
    const known = found.get(id);
    const state = known && options.stateOf(known.session_id);
    // The file may have been replaced and may have fewer segments or none.
    if (known && state && options.huge.has(state.entry) && known.segment < lastSegment(sizeOf(state.entry)))
      return { state, segment: known.segment };
    for (const entry of options.huge) {
      for (const session_id of entry.sessions) {
        const owner = options.stateOf(session_id);
        const segment = segmentOf(id, session_id, sizeOf(entry));
        if (!owner || segment === undefined) continue;
        found.set(id, { session_id, segment });
        return { state: owner, segment };
      }
    }
    return undefined;
  }

  function rowOf(id: string, state: IndexedSession, segment: number): SessionSummary {
    const { control: _, requests: __, ...row } = options.present(state);
    const title = row.title ?? row.first_prompt ?? "Session";
    return {
      ...row,
      id,
      title: `${title} (segment ${segment + 1} of ${lastSegment(sizeOf(state.entry)) + 1})`,
      status: "completed",
    };
  }

  return {
    async open(id) {
      const place = find(id);
      if (!place) return undefined;
      // Another file at the same path has the same segment ids, but a different entry id.
      const key = `${id} ${place.state.entry.id}`;
      const view =
        kept.get(key) ?? (await readSegment({ ...options, rowOf }, id, place.state, place.segment));
      if (!view) return undefined;
      kept.delete(key);
      kept.set(key, view);
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_TRANSCRIPTS) break;
        kept.delete(oldest);
      }
      return view;
    },
    get(id) {
      const place = find(id);
      return place && rowOf(id, place.state, place.segment);
    },
    sessionOf: (id) => find(id)?.state,
  };
}

type RowOfSegment = (id: string, state: IndexedSession, segment: number) => SessionSummary;

/** Reads and folds a segment. `undefined`: its file no longer exists. */
async function readSegment(
  { contentOf, placeOf, rowOf }: Pick<SegmentsOptions, "contentOf" | "placeOf"> & { rowOf: RowOfSegment },
  id: string,
  state: IndexedSession,
  segment: number,
): Promise<OpenSession | undefined> {
  const { entry } = state;
  const opened = await contentOf(entry);
  if (!opened) return undefined;
  try {
    const { byte, checkpoint } = await placeOf(entry, opened, segment);
    const { byte: to } = await placeOf(entry, opened, segment + 1);
    const from = checkpoint?.byte ?? byte;
    const reading = createReading({
      path: entry.path,
      format: entry.format,
      folding: true,
      // A copy of a file has a different session id.
      idFor: (own) => (own === state.id || uuidFrom(own, entry.path) === state.id ? id : own),
      isViewed: () => false,
      window: {
        from,
        ...(checkpoint && { checkpoint }),
        use_from: byte,
        count_from: Number.POSITIVE_INFINITY,
        rowOf: () => undefined,
        leadingMarkers: (own, at) =>
          segment === 0 || own !== id ? [] : [marker("before", id, state.id, segment - 1, byte, at)],
      },
    });
    const buffer = new Uint8Array(BLOCK);
    for (let at = from; at < to; ) {
      const block = await opened.read(at, Math.min(BLOCK, to - at), buffer);
      if (block.length === 0) break;
      await reading.decoder.write(block);
      at += block.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    reading.take(reading.reader.settle());
    const last = segment + 1 >= lastSegment(opened.size);
    const at = state.summary.last_activity_at;
    reading.leadingMarkers(id, at);
    const after = marker("after", id, state.id, last ? undefined : segment + 1, to, at);
    const transcript = accumulate(reading.builders.get(id)?.buffer?.transcript ?? emptyTranscript(id), after);
    const epoch = uuidFrom(id, `${entry.id} ${opened.stamp} ${byte} ${to}`);
    return {
      id,
      epoch,
      seq: 0,
      transcript,
      get summary() {
        return rowOf(id, state, segment);
      },
      framesAfter: (known, seq) => (known === epoch && seq === 0 ? [] : undefined),
      subscribe: () => () => {},
    };
  } finally {
    await opened.close();
  }
}

/**
 * A marker that links to the segment `before` or `after`, whose id is in `data.session_id`. `segment` `undefined`: the end of the
 * session. `at_byte`: where this segment begins or ends.
 */
export function marker(
  side: "before" | "after",
  id: string,
  session_id: string,
  segment: number | undefined,
  at_byte: number,
  at: number,
): Frame {
  const text =
    `This session's file is so large that it is shown in segments of ${sizeText(SEGMENT_BYTES)}. ` +
    "Search and turn counts cover this segment only.";
  return {
    type: "marker",
    session_id: id,
    at,
    part_id: uuidFrom(id, `segment ${side}`),
    kind: "note",
    title: side === "before" ? `The ${sizeText(at_byte)} before this` : "The rest after this",
    text,
    data: { session_id: segment === undefined ? session_id : segmentId(session_id, segment) },
  };
}
