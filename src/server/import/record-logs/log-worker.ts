import { type MessagePort, parentPort } from "node:worker_threads";
import { messageOf } from "../../../model/narrow.ts";
import { formats } from "../../../sources/index.ts";
import type { FromLogWorker, ToLogWorker } from "./log-thread.ts";
import { createLogWriter } from "./log-writer.ts";

/** The worker side of `createLogThread`. */
function serveLogs(port: MessagePort): void {
  const writer = createLogWriter();
  port.on("message", ({ number, ...job }: ToLogWorker) => {
    const snapshots = formats.find(({ id }) => id === job.agent)?.snapshots;
    let answer: FromLogWorker;
    try {
      if (snapshots === undefined) throw new Error(`Agent ${job.agent} has no stores`);
      answer = { number, changed: writer.update({ ...job, snapshots }) };
    } catch (error) {
      answer = { number, error: messageOf(error) };
    }
    port.postMessage(answer);
  });
}

if (parentPort) serveLogs(parentPort);
