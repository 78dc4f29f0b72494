import { type MessagePort, parentPort } from "node:worker_threads";
import { formats } from "../formats/index.ts";
import { messageOf } from "../model/narrow.ts";
import { followFile, isCompressed } from "./follow.ts";
import type { FromIndexWorker, IndexJob, ToIndexWorker } from "./indexer.ts";
import { createReading, type Reading } from "./reading.ts";
import { HUGE } from "./segments.ts";

/** Of a huge file, bytes after which a new reader goes on: what one remembers is bounded. */
const RESTART = 32 * 1024 * 1024;
/** How far it is, and rows on the way, are told that often at most, in milliseconds: each word wakes another thread. */
const PROGRESS_MS = 20;
const PREVIEW_MS = 250;
const NEWLINE = 0x0a;

/** The other side of `createIndexer`: reads files into rows, on a thread of its own. */
function serveIndexing(port: MessagePort): void {
  /** Jobs that go on; one that is not among them ends where it is. */
  const running = new Set<number>();
  let pause: PromiseWithResolvers<void> | undefined;
  const send = (message: FromIndexWorker) => port.postMessage(message);

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
          .finally(() => running.delete(message.number));
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

  async function index(number: number, job: IndexJob): Promise<void> {
    const format = formats.find(({ id }) => id === job.format);
    if (format === undefined) throw new Error(`There is no format ${job.format}`);
    let told_at = performance.now();
    let previewed_at = told_at;
    let restart_at = RESTART;
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
        if (replaced) send({ type: "replaced", number });
      },
      async bytes(chunk, offset) {
        restart_at = await read(reading, chunk, offset, restart_at);
        tell(offset + chunk.length);
        // What was sent here meanwhile is heard.
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
    send({ type: "end", number, result, rows: rowsOf(reading), facts: reading.facts() });

    function tell(end: number): void {
      const now = performance.now();
      if (now - told_at < PROGRESS_MS) return;
      told_at = now;
      const preview = now - previewed_at >= PREVIEW_MS;
      if (preview) previewed_at = now;
      send({ type: "progress", number, end, ...(preview && { rows: rowsOf(reading) }) });
    }
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
      await reading.decoder.write(chunk.subarray(0, newline + 1));
      reading.take(reading.reader.settle());
      reading.restart(next);
      await reading.decoder.write(chunk.subarray(newline + 1));
      return next + RESTART;
    }
  }
  await reading.decoder.write(chunk);
  return restart_at;
}

function rowsOf(reading: Reading) {
  return [...reading.drafts.values()].map(({ id, summary, open_calls }) => ({
    id,
    // What a fold keeps beside the row's fields stands under a symbol: it does not travel.
    summary,
    open_calls,
  }));
}

if (parentPort) serveIndexing(parentPort);
