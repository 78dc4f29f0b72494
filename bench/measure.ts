import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { build } from "vite";
import { launchChromium } from "../test/browser/launch-chromium.ts";

/** Shared by all browser benchmarks: production builds, a fresh context per run, main-thread CPU, alternating subjects. */

const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** Builds the benchmarks' pages and serves them on loopback. */
export async function servePages(): Promise<{ origin: string; close(): void }> {
  await build({ configFile: join(import.meta.dirname, "vite.config.ts") });
  const root = join(import.meta.dirname, "dist");
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    readFile(join(root, pathname)).then(
      (body) => {
        response.setHeader("content-type", TYPES[extname(pathname)] ?? "application/octet-stream");
        response.end(body);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

export function openChromium(): Promise<Browser> {
  return launchChromium(["--enable-precise-memory-info", "--js-flags=--expose-gc"]);
}

export interface Metrics {
  /** Main-thread CPU, in milliseconds. */
  cpu_ms: number;
  heap_mb: number;
}

/** Reads the CPU clock of the main thread, which other processes do not affect. */
export async function meter(page: Page): Promise<{ read(): Promise<Metrics>; collect(): Promise<void> }> {
  const protocol: CDPSession = await page.context().newCDPSession(page);
  await protocol.send("Performance.enable", { timeDomain: "threadTicks" });
  return {
    async read() {
      const { metrics } = await protocol.send("Performance.getMetrics");
      const of = (name: string): number => metrics.find((each) => each.name === name)?.value ?? 0;
      return { cpu_ms: of("TaskDuration") * 1_000, heap_mb: of("JSHeapUsedSize") / 2 ** 20 };
    },
    collect: async () => {
      await protocol.send("HeapProfiler.collectGarbage");
    },
  };
}

/**
 * Records the main thread's tasks until the returned function is called, which returns the CPU time of the longest one in
 * milliseconds. In contrast to the browser's long tasks, interruptions by the system do not count.
 */
export async function watchTasks(page: Page): Promise<() => Promise<number>> {
  const protocol: CDPSession = await page.context().newCDPSession(page);
  interface TraceEvent {
    name: string;
    ph: string;
    pid: number;
    tid: number;
    tdur?: number;
    args?: { name?: string };
  }
  const events: TraceEvent[] = [];
  // The cast is needed because the protocol's event type is an arbitrary object.
  protocol.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise<void>((resolve) => {
    protocol.once("Tracing.tracingComplete", () => resolve());
  });
  await protocol.send("Tracing.start", {
    traceConfig: { includedCategories: ["toplevel", "__metadata"] },
    transferMode: "ReportEvents",
  });
  return async () => {
    await protocol.send("Tracing.end");
    await complete;
    const main = new Set(
      events.flatMap(({ name, args, pid, tid }) =>
        name === "thread_name" && args?.name === "CrRendererMain" ? [`${pid}:${tid}`] : [],
      ),
    );
    const tasks = events.flatMap(({ ph, pid, tid, tdur }) =>
      ph === "X" && main.has(`${pid}:${tid}`) ? [(tdur ?? 0) / 1_000] : [],
    );
    return Math.max(0, ...tasks);
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** The load average of the last minute, shown with every run. */
export function load(): number {
  try {
    return Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
  } catch {
    return Number.NaN;
  }
}

/** A row of a table of results. */
export interface Row {
  row: string;
  /** The figure of each subject. The first one is Verbatim's. */
  figures: Record<string, number | string>;
  goal?: string;
}

/** Prints a benchmark's result: a line of JSON on standard output, which `run.ts` collects, and a table on standard error. */
export function report(bench: string, rows: readonly Row[], details: unknown): void {
  for (const { row, figures, goal } of rows) {
    console.error(`${row}${goal === undefined ? "" : ` (goal ${goal})`}`);
    for (const [name, figure] of Object.entries(figures)) console.error(`  ${name.padEnd(28)} ${figure}`);
  }
  console.log(JSON.stringify({ bench, rows, details }));
}

export const round = (value: number, digits = 3): number => Number(value.toPrecision(digits));
