import type { Sequence } from "../../model/transcript/sequence.ts";
import type { Turn } from "../../model/transcript/transcript.ts";
import { startAfter, type TranscriptStart, withoutParts } from "../../model/transcript/transcript-start.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import { formats } from "../../sources/index.ts";
import type { SegmentStart, SourceUpdate } from "../../store/index/contract.ts";
import { projectSession, projectSteps, projectTranscript } from "../../store/index/projection.ts";
import { followFile, isCompressed } from "../files/follow.ts";
import { fileStamp } from "../index/index-state.ts";
import type { IndexWriter } from "../index/index-writer.ts";
import { createFrameBuffer } from "../sessions/frame-buffer.ts";
import type { FromIndexWorker, IndexJob } from "./index-threads.ts";
import { findResumption, type IndexResumption } from "./large-files/index-resumption.ts";
import { createSegmentFinder } from "./large-files/segment-finder.ts";
import { HUGE_FILE_BYTES } from "./large-files/segments.ts";
import { createReading, type Reading } from "./reading.ts";

/** In a huge file, a new reader is started after this many bytes, to bound a reader's memory. */
const MAX_READER_BYTES = 32 * 1024 * 1024;
/** Minimum time between two progress messages, in milliseconds. Each message wakes another thread. */
const PROGRESS_MS = 20;
const PREVIEW_MS = 250;
const NEWLINE = 0x0a;

interface JobOptions {
  number: number;
  job: IndexJob;
  send(message: FromIndexWorker): void;
  writer: IndexWriter;
  /** `false`: the job was stopped. */
  isRunning(): boolean;
  /** Resolves when more urgent work is done. */
  paused(): Promise<void> | undefined;
}

/** Reads a file and sends its rows; its parts are written to the index as they are read. */
export async function runIndexJob({
  number,
  job,
  send,
  writer,
  isRunning,
  paused,
}: JobOptions): Promise<void> {
  const format = formats.find(({ id }) => id === job.format);
  if (format === undefined) throw new Error(`Unknown format ${job.format}`);
  const began = performance.now();
  let restart_at = MAX_READER_BYTES;
  // A damaged index is reported and rebuilt when it is written.
  const resumed = await findResumption(job).catch(() => undefined);
  const segments = createSegmentFinder(
    () => reading.reader,
    () => rows.transcriptsNow(),
    (resumed?.segment ?? 0) + 1,
  );
  const reading: Reading = createReading({
    path: job.path,
    format,
    folding: job.parts !== undefined,
    idFor: (id) => id,
    isViewed: () => false,
    ...(resumed && { window: resumed.window }),
    onRecord(record) {
      const start = job.size > HUGE_FILE_BYTES ? segments.next(record) : undefined;
      if (start) rows.begin(start);
    },
  });
  const rows = createRowCollector(reading, job.parts, writer, resumed);
  const reportProgress = createProgress(send, number, reading);
  const result = await followFile({
    path: job.path,
    ...(job.known && { known: job.known }),
    ...(resumed && { from: resumed.window.from }),
    continues: false,
    begin(replaced) {
      if (!replaced) return;
      send({ type: "replaced", number });
      // The new content gets a new file id.
      rows.dropParts();
    },
    async bytes(chunk, offset) {
      if (reading.reader.checkpoint) {
        await reading.decoder.write(chunk);
        const start = job.size > HUGE_FILE_BYTES ? segments.chunkEnd(offset + chunk.length) : undefined;
        if (start) rows.begin(start);
      } else {
        const next = await read(reading, chunk, offset, restart_at);
        if (next !== restart_at) rows.begin();
        restart_at = next;
      }
      await rows.write();
      reportProgress(offset + chunk.length);
      // Process pending messages.
      await new Promise((resolve) => setImmediate(resolve));
      await paused();
    },
    stop: () => !isRunning(),
  });
  if (result.type === "read" && !result.stopped) {
    if (isCompressed(job.path)) await reading.decoder.end();
    if (job.side_text !== undefined) reading.take(reading.reader.readSide(job.side_text));
    const isOver = result.identity.modified_at < job.close_before || isCompressed(job.path);
    if (isOver) reading.close();
    else reading.take(reading.reader.settle());
  }
  const isWhole = result.type === "read" && !result.stopped;
  // Without a stamp the source counts as not indexed and is read again from its beginning.
  if (isWhole) rows.collect({ stamp: fileStamp(result.identity, rows.parts_job?.side_stamp) });
  await rows.write();
  const duration = performance.now() - began;
  send({ type: "end", number, result, rows: rowsOf(reading), facts: reading.facts(), duration });
  if (job.parts && !(isWhole && rows.parts_job))
    send({ type: "indexed", generation: 0, keys: [job.parts.key], stamps: [], segments: [] });
}

/** Collects the rows that were read, until they are written to the index. `parts_job`: absent if parts are not indexed. */
function createRowCollector(
  reading: Reading,
  given: IndexJob["parts"],
  writer: IndexWriter,
  resumed: IndexResumption | undefined,
) {
  let parts_job = given;
  /** The transcripts at the start of the current piece, by session. */
  const pieces = new Map<string, Transcript>(resumed?.transcripts);
  /** The turns that `transcriptsNow` described last, and those at the start of the last segment, by session. */
  let described = new Map<string, Sequence<Turn>>();
  let begun = new Map([...pieces].map(([id, { turns }]) => [id, turns]));
  /** Rows of the segments that were read, until they are written. */
  let updates: SourceUpdate[] = [];

  /** Collects the rows read so far, to free the memory of their transcripts. */
  function begin(start?: SegmentStart): void {
    collect(start ? { segments: [start] } : {});
    if (start) begun = described;
    for (const builder of reading.builders.values()) {
      if (!builder.buffer) continue;
      const transcript = withoutParts(builder.buffer.transcript);
      pieces.set(builder.id, transcript);
      builder.buffer = createFrameBuffer(builder.id, false, transcript);
    }
  }

  /** The states of all transcripts, with the turns that changed since the last segment began. */
  function transcriptsNow(): TranscriptStart[] {
    described = new Map();
    return [...reading.builders.values()].flatMap(({ id, buffer }) => {
      if (!buffer) return [];
      described.set(id, buffer.transcript.turns);
      return [startAfter(buffer.transcript, begun.get(id))];
    });
  }

  function collect(update: Pick<SourceUpdate, "stamp" | "segments">): void {
    if (!parts_job) return;
    const sessions = [...reading.builders.values()].map(({ id, summary, buffer }) => {
      const { transcript } = buffer ?? { transcript: emptyTranscript(id) };
      const start = pieces.get(id) ?? emptyTranscript(id);
      const steps_from = start.parts.length;
      return {
        // The known row of a copied file has the listed id.
        ...projectSession({ ...summary, id }),
        ...projectTranscript(transcript, { parts: steps_from, turns: start.turns }),
        part_count: transcript.parts.length,
        steps: projectSteps(transcript, steps_from),
        steps_from,
      };
    });
    updates.push({ key: parts_job.key, sessions, ...update, ...(resumed && { is_end_only: true }) });
  }

  async function write(): Promise<void> {
    const collected = updates;
    updates = [];
    for (const update of collected) if (parts_job) await writer.add(parts_job.target, update);
  }

  return {
    get parts_job() {
      return parts_job;
    },
    /** Parts are no longer indexed. */
    dropParts() {
      parts_job = undefined;
    },
    begin,
    transcriptsNow,
    collect,
    write,
  };
}

/** Creates the function that reports how far a file is read, and its rows so far. */
function createProgress(
  send: (message: FromIndexWorker) => void,
  number: number,
  reading: Reading,
): (end: number) => void {
  let reported_at = performance.now();
  let previewed_at = reported_at;
  return (end) => {
    const now = performance.now();
    if (now - reported_at < PROGRESS_MS) return;
    reported_at = now;
    const preview = now - previewed_at >= PREVIEW_MS;
    if (preview) previewed_at = now;
    send({ type: "progress", number, end, ...(preview && { rows: rowsOf(reading) }) });
  };
}

/** Reads a chunk. Returns the byte at which the next reader starts. */
async function read(
  reading: Reading,
  chunk: Uint8Array,
  offset: number,
  restart_at: number,
): Promise<number> {
  if (offset + chunk.length > Math.max(restart_at, HUGE_FILE_BYTES)) {
    const newline = chunk.indexOf(NEWLINE, Math.max(0, restart_at - offset));
    if (newline !== -1) {
      const next = offset + newline + 1;
      await reading.decoder.write(chunk.subarray(0, newline + 1));
      reading.take(reading.reader.settle());
      reading.restart(next);
      await reading.decoder.write(chunk.subarray(newline + 1));
      return next + MAX_READER_BYTES;
    }
  }
  await reading.decoder.write(chunk);
  return restart_at;
}

function rowsOf(reading: Reading) {
  return [...reading.builders.values()].map(({ id, summary, open_calls }) => ({
    id,
    // The fold's internal state is stored under a symbol, which is not transferred between threads.
    summary,
    open_calls,
  }));
}
