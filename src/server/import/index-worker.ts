import { type MessagePort, parentPort } from "node:worker_threads";
import { messageOf } from "../../model/narrow.ts";
import { createIndexWriter } from "../index/index-writer.ts";
import { runIndexJob } from "./index-job.ts";
import type { FromIndexWorker, ToIndexWorker } from "./index-threads.ts";

/** Rows are written after this much idle time, in milliseconds: small writes cost more than large ones. */
const FLUSH_MS = 200;

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
        void runIndexJob({
          number: message.number,
          job: message.job,
          send,
          writer,
          isRunning: () => running.has(message.number),
          paused: () => pause?.promise,
        })
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
}

if (parentPort) serveIndexing(parentPort);
