import type { Browser, Page } from "playwright-core";

/** The longest task of a page's main thread in one phase. */
export interface LongestTask {
  phase: string;
  /** Milliseconds of the thread's CPU, which other load on the machine does not affect. */
  cpu: number;
  /** Elapsed milliseconds. */
  clock: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
}

const MARK = "verbatim phase ";

/**
 * Runs `act` with the browser's tracing. `act` names the phases as they begin; each gets the longest task that began in it.
 */
export async function longestTasks(
  browser: Browser,
  page: Page,
  act: (begin: (phase: string) => Promise<void>) => Promise<void>,
): Promise<LongestTask[]> {
  await browser.startTracing(page, {
    categories: ["blink.user_timing", "disabled-by-default-devtools.timeline"],
  });
  await act((phase) => page.evaluate((name) => void performance.mark(name), MARK + phase));
  const trace = await browser.stopTracing();
  // The used part of Chromium's format.
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const marks = traceEvents
    .filter(({ name }) => name.startsWith(MARK))
    .sort((one, other) => one.ts - other.ts);
  const thread = marks[0];
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => name === "RunTask" && ph === "X" && pid === thread?.pid && tid === thread.tid,
  );
  return marks.map(({ name, ts }, index) => {
    const until = marks[index + 1]?.ts ?? Number.POSITIVE_INFINITY;
    const own = tasks.filter((task) => task.ts + (task.dur ?? 0) > ts && task.ts < until);
    return {
      phase: name.slice(MARK.length),
      cpu: Math.max(0, ...own.map(({ tdur = 0 }) => tdur)) / 1_000,
      clock: Math.max(0, ...own.map(({ dur = 0 }) => dur)) / 1_000,
    };
  });
}
