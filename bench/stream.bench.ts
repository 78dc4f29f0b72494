import { parseArgs } from "node:util";
import {
  load,
  median,
  meter,
  openChromium,
  type Row,
  report,
  round,
  servePages,
  watchTasks,
} from "./measure.ts";

/**
 * The cost of rendering a streamed answer: 10 KB in deltas of 24 bytes, five per frame, after nothing and after 190 KB; and a
 * list or table that grows to 45 KB. `node bench/stream.bench.ts [--rounds 5] [--only text,giant] [--before 0,190]`
 */
const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    only: { type: "string", default: "text,giant" },
    consumers: { type: "string", default: "" },
    before: { type: "string", default: "0,190" },
  },
});

interface Case {
  name: string;
  consumer: string;
  query: Record<string, string>;
  /** Number of runs, if fewer are sufficient. */
  rounds?: number;
}

const text = (consumer: string, before: number, rounds?: number): Case => ({
  name: `${consumer} at ${before / 1_000} KB`,
  consumer,
  query: { consumer, before: String(before), length: "10000", limit: "20000" },
  ...(rounds === undefined ? {} : { rounds }),
});
const giant = (consumer: string, kind: string, rounds?: number): Case => ({
  name: `${consumer}, a ${kind}`,
  consumer,
  query: { consumer, kind, before: "0", length: "45000", limit: "60000" },
  ...(rounds === undefined ? {} : { rounds }),
});
const cases = [
  ...(flags.only.includes("text")
    ? flags.before.split(",").flatMap((kilobytes) => {
        const before = Number(kilobytes) * 1_000;
        return [
          text("floor", before),
          text("verbatim", before),
          text("streamdown", before, 2),
          text("streaming-markdown", before),
          text("react-markdown", before, 1),
        ];
      })
    : []),
  ...(flags.only.includes("giant")
    ? ["list", "table"].flatMap((kind) => [
        giant("verbatim", kind),
        giant("streaming-markdown", kind),
        giant("streamdown", kind, 1),
      ])
    : []),
].filter(({ consumer }) => flags.consumers === "" || flags.consumers.split(",").includes(consumer));

interface Sample {
  cpu_ms: number;
  per_delta_us: number;
  /** The longest task: CPU time for a list or table; for a text as reported by the browser, which other processes affect. */
  longest_ms: number;
  /** CPU time of deferred work after the end of the text. */
  end_cpu_ms: number;
  elements: number;
  heap_mb: number;
  complete: boolean;
  load: number;
}

const pages = await servePages();
const browser = await openChromium();
const samples = new Map<string, Sample[]>(cases.map(({ name }) => [name, []]));
try {
  for (let round_ = 0; round_ < Number(flags.rounds); round_++) {
    for (const { name, query, rounds } of cases) {
      if (rounds !== undefined && round_ >= rounds) continue;
      const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
      const page = await context.newPage();
      page.setDefaultTimeout(240_000);
      page.on("pageerror", (error) => console.error(`${name}: ${error.message}`));
      const { read, collect } = await meter(page);
      await page.goto(`${pages.origin}/stream.html?${new URLSearchParams(query)}`);
      await page.waitForFunction("window.__ready");
      await page.evaluate("window.__prepare()");
      await collect();
      const longest = query.kind === undefined ? undefined : await watchTasks(page);
      const before = await read();
      // The cast is safe: this is the result of `run` in stream.ts.
      const ran = (await page.evaluate("window.__run()")) as {
        deltas: number;
        of: number;
        longest_ms: number;
        elements: number;
      };
      const after = await read();
      const end_longest_ms = (await page.evaluate("window.__end()")) as number;
      const end_cpu_ms = (await read()).cpu_ms - after.cpu_ms;
      const longest_ms = (await longest?.()) ?? Math.max(ran.longest_ms, end_longest_ms);
      await collect();
      const cpu_ms = after.cpu_ms - before.cpu_ms;
      samples.get(name)?.push({
        cpu_ms,
        per_delta_us: (cpu_ms * 1_000) / ran.deltas,
        longest_ms,
        end_cpu_ms,
        elements: ran.elements,
        heap_mb: (await read()).heap_mb,
        complete: ran.deltas === ran.of,
        load: load(),
      });
      console.error(
        `${round_} ${name.padEnd(34)} ${cpu_ms.toFixed(0).padStart(6)} ms  ${((cpu_ms * 1_000) / ran.deltas).toFixed(0).padStart(6)} µs/delta  longest ${longest_ms.toFixed(0)} ms, end ${end_cpu_ms.toFixed(0)} ms${ran.deltas < ran.of ? `  stopped at ${ran.deltas} of ${ran.of}` : ""}  load ${load()}`,
      );
      await context.close();
    }
  }
} finally {
  await browser.close();
  pages.close();
}

/** The median of the ratios of two cases, computed within each round. */
const ratio = (one: string, other: string): number => {
  const [above = [], below = []] = [samples.get(one), samples.get(other)];
  const pairs = above.flatMap((sample, index) => {
    const base = below[index];
    return base === undefined ? [] : [sample.per_delta_us / base.per_delta_us];
  });
  return round(median(pairs));
};
const longest = (name: string): number =>
  round(median((samples.get(name) ?? []).map((each) => each.longest_ms)));

const names = [...new Set(cases.map(({ consumer }) => consumer))];
const rows: Row[] = [];
if (flags.only.includes("text")) {
  for (const before of flags.before.split(",").toReversed())
    rows.push({
      row: `stream and highlight 10 KB at ${before} KB, CPU / floor`,
      goal: before === "0" ? "≤ 2.5" : "≤ 2.0",
      figures: Object.fromEntries(
        names.map((name) => [name, ratio(`${name} at ${before} KB`, `floor at ${before} KB`)]),
      ),
    });
  if (flags.before === "0,190")
    rows.push({
      row: "cost of a delta, at 190 KB / at 0",
      goal: "≤ 1.25",
      figures: Object.fromEntries(names.map((name) => [name, ratio(`${name} at 190 KB`, `${name} at 0 KB`)])),
    });
}
if (flags.only.includes("giant"))
  for (const kind of ["list", "table"]) {
    const shown = names.filter((name) => samples.has(`${name}, a ${kind}`));
    rows.push({
      row: `a ${kind} that grows to 45 KB, CPU / streaming-markdown`,
      goal: "≤ 3",
      figures: Object.fromEntries(
        shown.map((name) => [name, ratio(`${name}, a ${kind}`, `streaming-markdown, a ${kind}`)]),
      ),
    });
    rows.push({
      row: `a ${kind} that grows to 45 KB, longest task, CPU in ms`,
      goal: "≤ 50",
      figures: Object.fromEntries(shown.map((name) => [name, longest(`${name}, a ${kind}`)])),
    });
  }
report("stream", rows, Object.fromEntries(samples));
