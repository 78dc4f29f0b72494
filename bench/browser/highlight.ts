import { PAGE_LINES } from "../../src/web/code/highlight.ts";
import type { HighlightReply, HighlightRequest } from "../../src/web/code/highlight-protocol.ts";
import workerUrl from "../../src/web/code/highlight-worker.ts?worker&url";
import { code } from "./input.ts";

/** The product's own highlighter, used as in the page. */
const worker = new Worker(workerUrl, { type: "module" });
let awaited = 0;
let done: () => void = () => undefined;
worker.onmessage = (event: MessageEvent<HighlightReply>) => {
  if (event.data.type === "loaded") return;
  awaited -= 1;
  if (awaited === 0) done();
};

let session = 1;
/**
 * Milliseconds for highlighting lines, sent `at` lines per message. `again`: each message repeats all previous lines. The worker
 * is never idle, so that its work and messages are measured, not the time to wake a thread.
 */
async function highlight(
  language: string,
  lines: readonly string[],
  at: number,
  again = false,
): Promise<number> {
  session += 1;
  const started = performance.now();
  awaited = Math.ceil(lines.length / at);
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  for (let from = 0; from < lines.length; from += at) {
    const first = again || from === 0;
    const part = lines.slice(again ? 0 : from, from + at);
    worker.postMessage({ type: "lines", session, language, first, lines: part } satisfies HighlightRequest);
  }
  await all;
  return performance.now() - started;
}

export interface Times {
  whole: number;
  /** A page of lines per message, as the product sends growing code. */
  paged: number;
  /** One line per message. */
  streamed: number;
  again: number;
}

/** Highlights one block of code per language: at once, line by line with kept state, and from its beginning for each new line. */
async function run(count: number): Promise<Times> {
  const total = { whole: 0, paged: 0, streamed: 0, again: 0 };
  for (const language of ["typescript", "python", "json"]) {
    const lines = code(language === "typescript" ? "ts" : language, count, 9).split("\n");
    total.whole += await highlight(language, lines, lines.length);
    total.paged += await highlight(language, lines, PAGE_LINES);
    total.streamed += await highlight(language, lines, 1);
    if (count <= 100) total.again += await highlight(language, lines, 1, true);
  }
  return total;
}

await Promise.resolve();
Object.assign(window, {
  __run: run,
  __warm: () => run(50),
  __ready: true,
});
