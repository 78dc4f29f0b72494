import { type MessagePort, parentPort } from "node:worker_threads";
import { messageOf } from "../../model/narrow.ts";
import { StoreError } from "../../store/contract.ts";
import type { PartIndex } from "../../store/index/contract.ts";
import { openSqliteIndex } from "../../store/index/sqlite.ts";
import type { FromSearchWorker, ToSearchWorker } from "./search-thread.ts";

/** The worker side of `createSearchThread`. */
function serveSearch(port: MessagePort): void {
  let index: PartIndex | undefined;
  const send = (message: FromSearchWorker) => port.postMessage(message);
  port.on("message", async (question: ToSearchWorker) => {
    const { number, path } = question;
    try {
      index ??= openSqliteIndex(path, { read_only: true });
      if (question.type === "usage") {
        send({ type: "usage", number, usage: await index.usage(question.request) });
        return;
      }
      if (question.type === "past") {
        send({ type: "past", number, page: await index.past(question.request) });
        return;
      }
      const began = performance.now();
      const page = await index.search(question.request);
      send({ type: "page", number, page, took: performance.now() - began });
    } catch (error) {
      const broken = error instanceof StoreError && error.kind === "broken";
      send({ type: "failed", number, message: messageOf(error), broken });
    }
  });
}

if (parentPort) serveSearch(parentPort);
