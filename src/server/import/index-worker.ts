import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../model/narrow.ts";
import { formats } from "../../sources/index.ts";
import type { SegmentStart, SourceUpdate } from "../../store/index/contract.ts";
import { projectSession, projectSteps, projectTranscript } from "../../store/index/projection.ts";
import { followFile, isCompressed } from "../files/follow.ts";
import { fileStamp } from "../index/index-state.ts";
import { createIndexWriter } from "../index/index-writer.ts";
import { SEARCH_WORKER } from "../index/search-worker.ts";
import { createFrameBuffer } from "../sessions/frame-buffer.ts";
import type { FromIndexWorker, IndexJob, ToIndexWorker } from "./index-threads.ts";
import { createSegmentFinder } from "./large-files/segment-finder.ts";
import { HUGE_FILE_BYTES } from "./large-files/segments.ts";
import { createReading, type Reading } from "./reading.ts";
import { LOG_WORKER } from "./record-logs/log-thread.ts";

/** In a huge file, a new reader is started after this many bytes, to bound a reader's memory. */
const MAX_READER_BYTES = 32 * 1024 * 1024;
/** Minimum time between two progress messages, in milliseconds. Each message wakes another thread. */
const PROGRESS_MS = 20;
const PREVIEW_MS = 250;
/** Rows are written after this much idle time, in milliseconds: small writes cost more than large ones. */
const FLUSH_MS = 200;
const NEWLINE = 0x0a;

/** The worker side of `createIndexer`. */
function serveIndexing(port: MessagePort): void {
  /** Running jobs. A job that is removed from this set stops. */
  const running = new Set<number>();
  let flush_timer: NodeJS.Timeout | undefined;
  let pause: PromiseWithResolvers<void> | undefined;
  const send = (message: FromIndexWorker) => port.postMessage(message);
  const writer = createIndexWriter(send);

  port.on("message", (message: ToIndexWorker) => {
    switch (message.type) {
      case "index":
        running.add(message.number);
        void index(message.number, message.job)
          .catch((error: unknown) =>
            send({
              type: "failed",
              number: message.number,
              message: messageOf(error),
            }),
          )
          .finally(() => {
            running.delete(message.number);
            flushWhenIdle();
          });
        return;
      case "write":
        void writer.add(message.target, message.update).then(flushWhenIdle);
        return;
      case "stop":
        running.delete(message.number);
        return;
      case "pause":
        pause ??= Promise.withResolvers();
        return;
      case "resume":
        pause?.resolve();
        pause = undefined;
        return;
      default:
        message satisfies never;
    }
  });

  function flushWhenIdle(): void {
    clearTimeout(flush_timer);
    if (running.size === 0) flush_timer = setTimeout(() => void writer.flush(), FLUSH_MS);
  }

  async function index(number: number, job: IndexJob): Promise<void> {
    let { parts: parts_job } = job;
    const format = formats.find(({ id }) => id === job.format);
    if (format === undefined) throw new Error(`Unknown format ${job.format}`);
    let reported_at = performance.now();
    let previewed_at = reported_at;
    let restart_at = MAX_READER_BYTES;
    /** Parts and turns in the pieces that were written. */
    const offsets = new Map<string, { parts: number; turns: number }>();
    const segments = createSegmentFinder(() => reading.reader);
    /** Rows of the segments that were read, until they are written. */
    let updates: SourceUpdate[] = [];
    const reading: Reading = createReading({
      path: job.path,
      format,
      folding: job.parts !== undefined,
      idFor: (id) => id,
      isViewed: () => false,
      onRecord(record) {
        const start = job.size > HUGE_FILE_BYTES ? segments.next(record) : undefined;
        if (start) beginSegment(start);
      },
    });
    const result = await followFile({
      path: job.path,
      ...(job.known && { known: job.known }),
      onward: false,
      begin(replaced) {
        if (!replaced) return;
        send({ type: "replaced", number });
        // The new content gets a new file id.
        parts_job = undefined;
      },
      async bytes(chunk, offset) {
        if (reading.reader.checkpoint) {
          await reading.decoder.write(chunk);
          const start = job.size > HUGE_FILE_BYTES ? segments.chunkEnd(offset + chunk.length) : undefined;
          if (start) beginSegment(start);
        } else {
          const next = await read(reading, chunk, offset, restart_at);
          if (next !== restart_at) beginSegment();
          restart_at = next;
        }
        await writeSegments();
        reportProgress(offset + chunk.length);
        // Process pending messages.
        await new Promise((resolve) => setImmediate(resolve));
        await pause?.promise;
      },
      stop: () => !running.has(number),
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
    if (isWhole) collectRows({ stamp: fileStamp(result.identity, parts_job?.side_stamp) });
    await writeSegments();
    send({ type: "end", number, result, rows: rowsOf(reading), facts: reading.facts() });
    if (job.parts && !(isWhole && parts_job))
      send({ type: "indexed", generation: 0, keys: [job.parts.key], stamps: [], segments: [] });

    /** Collects the rows read so far, to free the memory of their transcripts. */
    function beginSegment(start?: SegmentStart): void {
      collectRows(start ? { segments: [start] } : {});
      for (const builder of reading.builders.values()) {
        const { parts, turns } = builder.buffer?.transcript ?? { parts: [], turns: [] };
        const before = offsets.get(builder.id) ?? { parts: 0, turns: 0 };
        offsets.set(builder.id, { parts: before.parts + parts.length, turns: before.turns + turns.length });
        builder.buffer = createFrameBuffer(builder.id);
      }
    }

    function collectRows(update: Pick<SourceUpdate, "stamp" | "segments">): void {
      if (!parts_job) return;
      const sessions = [...reading.builders.values()].map(({ id, summary, buffer }) => {
        const offset = offsets.get(id) ?? { parts: 0, turns: 0 };
        const { parts, turns } = buffer
          ? projectTranscript(buffer.transcript, offset)
          : { parts: [], turns: [] };
        const part_count = offset.parts + (buffer?.transcript.parts.length ?? 0);
        const steps = buffer ? projectSteps(buffer.transcript, offset.parts) : [];
        return {
          ...projectSession(summary),
          ...{ part_count, parts, turns, steps, steps_from: offset.parts },
        };
      });
      updates.push({ key: parts_job.key, sessions, ...update });
    }

    async function writeSegments(): Promise<void> {
      const collected = updates;
      updates = [];
      for (const update of collected) if (parts_job) await writer.add(parts_job.target, update);
    }

    function reportProgress(end: number): void {
      const now = performance.now();
      if (now - reported_at < PROGRESS_MS) return;
      reported_at = now;
      const preview = now - previewed_at >= PREVIEW_MS;
      if (preview) previewed_at = now;
      send({ type: "progress", number, end, ...(preview && { rows: rowsOf(reading) }) });
    }
  }
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
    // The fold's internal state is stored under a symbol, which is not transferred.
    summary,
    open_calls,
  }));
}

// The package runs one file on all threads, so each thread is told its role.
if (parentPort && workerData !== LOG_WORKER && workerData !== SEARCH_WORKER) serveIndexing(parentPort);
