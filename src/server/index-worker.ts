import { type MessagePort, parentPort } from "node:worker_threads";
import { formats } from "../formats/index.ts";
import { CHUNK, followFile, isCompressed } from "./follow.ts";
import type { FromIndexWorker, IndexJob, ToIndexWorker } from "./indexer.ts";
import { createReading, type Reading } from "./reading.ts";
import { HUGE } from "./segments.ts";
import { pack } from "./store/archive.ts";

/** Of a huge file, bytes after which a new reader goes on: what one remembers is bounded. */
const RESTART = 32 * 1024 * 1024;
/** Bytes that are read at a time: what is made of more at once would outlive the space for new objects. */
const PIECE = 64 * 1024;
/** Rows on the way are told that often at most, in milliseconds. */
const PREVIEW_MS = 250;
const NEWLINE = 0x0a;
/** Buffers that came back: as many as there are jobs at a time, or so. */
const MOST_SPARE = 4;

/** The other side of `createIndexer`: reads files into rows, on a thread of its own. */
export function serveIndexing(port: MessagePort): void {
  /** Jobs that wait for the word that their last bytes were taken, by number. */
  const waiting = new Map<number, (stop: boolean) => void>();
  const spare: ArrayBuffer[] = [];
  const send = (message: FromIndexWorker, transfer: ArrayBuffer[] = []) =>
    port.postMessage(message, transfer);

  port.on("message", (message: ToIndexWorker) => {
    switch (message.type) {
      case "index":
        void index(message.number, message.job).catch((error: unknown) =>
          send({
            type: "failed",
            number: message.number,
            message: error instanceof Error ? error.message : String(error),
          }),
        );
        return;
      case "taken":
        if (spare.length < MOST_SPARE) spare.push(message.buffer);
        waiting.get(message.number)?.(message.stop);
        waiting.delete(message.number);
        return;
      default:
        message satisfies never;
    }
  });

  async function index(number: number, job: IndexJob): Promise<void> {
    const format = formats.find(({ id }) => id === job.format);
    if (format === undefined) throw new Error(`There is no format ${job.format}`);
    let stop = false;
    let told_at = performance.now();
    let restart_at = RESTART;
    let { archived_to } = job;
    const reading = createReading({
      path: job.path,
      format,
      folding: false,
      idFor: (id) => id,
      isShown: () => false,
    });
    const result = await followFile({
      path: job.path,
      ...(job.known && { known: job.known }),
      onward: false,
      begin(replaced) {
        if (replaced) archived_to = 0;
        send({ type: "begin", number, replaced });
      },
      async bytes(chunk, offset) {
        restart_at = await read(reading, chunk, offset, restart_at);
        const copy = new Uint8Array(spare.pop() ?? new ArrayBuffer(CHUNK), 0, chunk.length);
        copy.set(chunk);
        const preview = performance.now() - told_at > PREVIEW_MS;
        if (preview) told_at = performance.now();
        const taken = new Promise<boolean>((resolve) => waiting.set(number, resolve));
        const packed = offset >= archived_to ? pack(chunk) : undefined;
        send(
          {
            type: "bytes",
            number,
            bytes: copy,
            offset,
            ...(packed && { packed }),
            ...(preview && { rows: rowsOf(reading) }),
          },
          packed ? [copy.buffer, packed.buffer] : [copy.buffer],
        );
        stop = await taken;
      },
      stop: () => stop,
    });
    if (result.type === "read" && !result.stopped) {
      if (isCompressed(job.path)) await reading.decoder.end();
      if (job.side_text !== undefined) reading.take(reading.reader.readSide(job.side_text));
      reading.take(job.close || isCompressed(job.path) ? reading.reader.close() : reading.reader.settle());
    }
    send({ type: "end", number, result, rows: rowsOf(reading), facts: reading.facts() });
  }
}

/** Reads a chunk; gives the byte after which the next reader begins. */
async function read(
  reading: Reading,
  chunk: Uint8Array,
  offset: number,
  restart_at: number,
): Promise<number> {
  if (offset + chunk.length > Math.max(restart_at, HUGE)) {
    const newline = chunk.indexOf(NEWLINE, Math.max(0, restart_at - offset));
    if (newline !== -1) {
      const next = offset + newline + 1;
      await readPieces(reading, chunk.subarray(0, newline + 1));
      reading.take(reading.reader.settle());
      reading.restart(next);
      await readPieces(reading, chunk.subarray(newline + 1));
      return next + RESTART;
    }
  }
  await readPieces(reading, chunk);
  return restart_at;
}

async function readPieces({ decoder }: Reading, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE) await decoder.write(bytes.subarray(at, at + PIECE));
}

function rowsOf(reading: Reading) {
  return [...reading.drafts.values()].map(({ id, summary, open_calls }) => ({
    id,
    // What a fold keeps beside the row's fields does not travel.
    summary: { ...summary },
    open_calls,
  }));
}

if (parentPort) serveIndexing(parentPort);
