import type { Times } from "./browser/highlight.ts";
import { median, openChromium, report, round, servePages } from "./measure.ts";

/**
 * Highlighting a growing block compared to highlighting it at once, in the product's own worker, including messages. `node
 * bench/highlight.bench.ts [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const pages = await servePages();
const browser = await openChromium();
const samples: Record<string, Times[]> = { 100: [], 800: [] };
try {
  for (let n = 0; n < ROUNDS; n++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${pages.origin}/highlight.html`);
    await page.waitForFunction("window.__ready");
    await page.evaluate("window.__warm()");
    // The cast is safe: this is the result of `run` in highlight.ts.
    for (const lines of [100, 800])
      samples[lines]?.push((await page.evaluate(`window.__run(${lines})`)) as Times);
    await context.close();
  }
} finally {
  await browser.close();
  pages.close();
}
const ratio = (lines: number, way: Exclude<keyof Times, "whole">): number =>
  round(median((samples[lines] ?? []).map((sample) => sample[way] / sample.whole)));
report(
  "highlight",
  [
    {
      row: "highlight of a streamed block / in one go",
      goal: "≤ 1.2",
      figures: {
        "verbatim, 800 lines": ratio(800, "paged"),
        "verbatim, 100 lines": ratio(100, "paged"),
        "verbatim, 800 lines, a message for each": ratio(800, "streamed"),
        "verbatim, 100 lines, a message for each": ratio(100, "streamed"),
        "everything at each line, 100 lines": ratio(100, "again"),
      },
    },
  ],
  samples,
);
