import { emptyTranscript, type Transcript } from "../../../model/transcript/transcript-state.ts";
import { uuidFrom } from "../../../model/uuid.ts";
import { READERS_VERSION } from "../../index/index-state.ts";
import { readIndex } from "../../index/segment-starts.ts";
import type { IndexJob } from "../index-threads.ts";
import type { ReadingWindow } from "../reading.ts";
import { transcriptBefore } from "./segment-list.ts";
import { HUGE_FILE_BYTES } from "./segments.ts";

/** Where the indexing of a huge file that has grown continues: at the start of its last segment. */
export interface IndexResumption {
  segment: number;
  window: ReadingWindow;
  /** The transcripts at the start of the segment, with all turns and no parts. */
  transcripts: ReadonlyMap<string, Transcript>;
}

/** `undefined`: the file has to be read from its beginning. */
export async function findResumption({ path, size, parts }: IndexJob): Promise<IndexResumption | undefined> {
  const rows = parts?.known_rows;
  if (!parts || !rows || size <= HUGE_FILE_BYTES) return undefined;
  return await readIndex(parts.target.path, async (index) => {
    const segments = (await index.segmentsOf(parts.key)).filter(({ version }) => version === READERS_VERSION);
    const last = segments.at(-1);
    const checkpoint = last && (await index.segment(parts.key, last.segment))?.checkpoint;
    if (!last || !checkpoint || last.byte > size) return undefined;
    const transcripts = new Map(
      last.transcripts.map(({ session_id }) => [
        session_id,
        transcriptBefore({ path }, segments, session_id) ?? emptyTranscript(session_id),
      ]),
    );
    const window: ReadingWindow = {
      from: checkpoint.byte,
      checkpoint,
      use_from: last.byte,
      // The rows are known.
      count_from: Number.POSITIVE_INFINITY,
      rowOf: (own) => rows.find(({ id }) => id === own || id === uuidFrom(own, path)),
      transcriptOf: (own) => transcripts.get(own),
      leadingMarkers: () => [],
    };
    return { segment: last.segment, window, transcripts };
  });
}
