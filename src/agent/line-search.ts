import { Worker } from "node:worker_threads";
import { messageOf } from "../model/narrow.ts";
import { ToolInputError } from "./tool.ts";

interface LineMatch {
  /** One-based. */
  line: number;
  text: string;
}

/** A regular expression that runs in its own thread, so that it can be terminated. */
interface LineSearch {
  /**
   * Finds at most `limit` matching lines. Rejects with `SlowPatternError` if it takes too long, after which no further searches
   * are possible.
   */
  search(bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<LineMatch[]>;
  close(): Promise<void>;
}

/** Thrown if a pattern exceeds the time limit on one text. */
export class SlowPatternError extends Error {
  override readonly name = "SlowPatternError";
}

/** Maximum length of a shown line, in UTF-16 code units. */
const LINE_LIMIT = 500;

/** The worker's source as text, because the packaged daemon has no separate file for it. */
const WORKER = `
const { parentPort, workerData } = require("node:worker_threads");
const pattern = new RegExp(workerData.source, workerData.flags);
const decoder = new TextDecoder();
parentPort.on("message", ({ bytes, limit }) => {
  const text = decoder.decode(bytes);
  const found = [];
  let line = 1;
  for (let start = 0; start < text.length && found.length < limit; line++) {
    let end = text.indexOf("\\n", start);
    if (end < 0) end = text.length;
    const own = text.slice(start, end > start && text[end - 1] === "\\r" ? end - 1 : end);
    if (pattern.test(own)) {
      found.push({ line, text: own.length > ${LINE_LIMIT} ? own.slice(0, ${LINE_LIMIT}) + " […]" : own });
    }
    start = end + 1;
  }
  parentPort.postMessage(found);
});
`;

/** Throws `ToolInputError` if the pattern is not a regular expression. */
export function compilePattern(source: string, ignore_case: boolean): RegExp {
  const flags = ignore_case ? "i" : "";
  // Try the flag `u` first, which supports \p{…} and matches whole code points.
  for (const tried of [`${flags}u`, flags]) {
    try {
      return new RegExp(source, tried);
    } catch (error) {
      if (tried === flags)
        throw new ToolInputError(`The pattern is not a regular expression: ${messageOf(error)}`);
    }
  }
  throw new ToolInputError("The pattern is not a regular expression.");
}

/** Creates a search in its own thread. `time_limit_ms`: maximum time per text. */
export function createLineSearch(pattern: RegExp, time_limit_ms = 2_000): LineSearch {
  const worker = new Worker(WORKER, {
    eval: true,
    workerData: { source: pattern.source, flags: pattern.flags },
    // Do not inherit the daemon's flags and environment.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const begun = new Promise<void>((resolve) => {
    worker.once("online", resolve);
  });
  let settle: { resolve(found: LineMatch[]): void; reject(error: Error): void } | undefined;
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    settle?.reject(failure);
  };
  // The worker's messages need no validation, because it is our own code.
  worker.on("message", (found: LineMatch[]) => settle?.resolve(found));
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("The search has ended.")));
  worker.unref();
  return {
    async search(bytes, limit) {
      if (failure !== undefined) throw failure;
      const { promise, resolve, reject } = Promise.withResolvers<LineMatch[]>();
      settle = { resolve, reject };
      worker.postMessage({ bytes, limit }, [bytes.buffer]);
      let timer: NodeJS.Timeout | undefined;
      try {
        // The time to start the thread does not count towards the limit.
        await Promise.race([begun, promise]);
        timer = setTimeout(() => {
          fail(new SlowPatternError(`The pattern took longer than ${time_limit_ms / 1_000} s on one file.`));
          void worker.terminate();
        }, time_limit_ms);
        return await promise;
      } finally {
        clearTimeout(timer);
        settle = undefined;
      }
    },
    async close() {
      await worker.terminate();
    },
  };
}
