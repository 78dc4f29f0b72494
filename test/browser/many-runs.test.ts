import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import { sessionsReply } from "../../src/protocol.ts";
import { eventually } from "../eventually.ts";
import { LONG, times } from "../long.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import {
  begin,
  disorder,
  idle,
  pageParts,
  type Rest,
  restOf,
  said,
  scriptFile,
  send,
  storedParts,
} from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const RUNS = times(8, 20);
const TOKENS_PER_SECOND = 100;
const SECONDS = times(4, 40);

let home: Home;
let folder: string;
let daemon: Daemon;
let rest: Rest;
let browser: TestBrowser;
beforeEach(async () => {
  browser = await openTestBrowser();
  home = await createHome();
  folder = join(home.path, "harbour");
  await mkdir(folder);
  daemon = await startDaemon(home, ["--no-samples"]);
  rest = restOf(home, daemon);
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** How smoothly a page rendered for some time, and the cost on its main thread. */
interface Smoothness {
  frames_per_second: number;
  /** The share of animation frames that came more than two frame times after the previous one. */
  late_share: number;
  longest_ms: number;
  long_tasks: number;
  /** CPU time of the main thread divided by elapsed time, from 0 to 1. */
  busy: number;
  /** Out of the 16.7 ms of a frame. */
  cpu_ms_per_frame: number;
}

async function openWindow(): Promise<{ page: Page; complaints: string[]; cdp: CDPSession }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  await context.addInitScript(() => {
    const frames: number[] = [];
    const tasks: number[] = [];
    Object.assign(window, { measured: { frames, tasks } });
    const draw = (at: number) => {
      frames.push(at);
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) tasks.push(startTime);
    }).observe({ type: "longtask" });
  });
  const watched = await enter(context, { ...daemon, launch: await rest.link() });
  const cdp = await context.newCDPSession(watched.page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  return { ...watched, cdp };
}

/** Starts to measure a page. The returned function ends it. */
async function measure({ page, cdp }: { page: Page; cdp: CDPSession }): Promise<() => Promise<Smoothness>> {
  const cpu = async () =>
    (await cdp.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")?.value ??
    0;
  const spent = await cpu();
  const from = await page.evaluate(() => performance.now());
  return async () => {
    const cpu_seconds = (await cpu()) - spent;
    const { at, frames, tasks } = await page.evaluate((start) => {
      const { measured } = window as unknown as { measured: { frames: number[]; tasks: number[] } };
      const later = (time: number) => time >= start;
      return {
        at: performance.now(),
        frames: measured.frames.filter(later),
        tasks: measured.tasks.filter(later),
      };
    }, from);
    const gaps = frames.slice(1).map((time, index) => time - (frames[index] ?? time));
    const seconds = (at - from) / 1_000;
    return {
      frames_per_second: Math.round(frames.length / seconds),
      late_share: gaps.filter((gap) => gap > 34).length / Math.max(1, gaps.length),
      longest_ms: Math.round(Math.max(0, ...gaps)),
      long_tasks: tasks.length,
      busy: cpu_seconds / seconds,
      cpu_ms_per_frame: (cpu_seconds * 1_000) / Math.max(1, frames.length),
    };
  };
}

it(`separates ${RUNS} concurrent sub-agents, and three pages that watch them stay smooth (measured by test:long)`, {
  timeout: 240_000 + SECONDS * 3_000,
}, async () => {
  const names = Array.from({ length: RUNS }, (_, index) => `run-${String(index).padStart(2, "0")}`);
  // Five tokens: "run", "-", "07", " tide", ".", and the space of the next.
  const sentence = (name: string) => `${name} tide. `;
  const count = Math.ceil((SECONDS * TOKENS_PER_SECOND) / 5);
  const tasks = [];
  for (const name of names) {
    const model = await scriptFile(home, name, {
      title: name,
      tokens_per_second: TOKENS_PER_SECOND,
      steps: [
        {
          parts: [
            { thinking: `I am ${name}.` },
            { text: sentence(name), repeat: count },
            { tool_call: { name: "glob", arguments: { pattern: name } } },
          ],
        },
        { parts: [{ text: `${name} is done.` }] },
      ],
    });
    tasks.push({
      tool_call: {
        name: "task",
        arguments: { name, task: `Speak as ${name}`, prompt: `Speak. [[script:${model}]]` },
      },
    });
  }
  const parent = await scriptFile(home, "parent", {
    title: "Parent",
    steps: [{ parts: [{ text: "All at once." }, ...tasks] }, { parts: [{ text: "All are back." }] }],
  });
  const session_id = await begin(rest, "hello", folder);
  await idle(rest, session_id);
  const windows = [await openWindow(), await openWindow(), await openWindow()];
  const [one, two, three] = windows;
  if (!one || !two || !three) throw new Error("There are no windows.");
  for (const { page } of windows) {
    await page.goto(`${daemon.origin}/session/${session_id}`);
    await page.locator(".turn-foot").waitFor();
  }
  // An empty page on this machine at the same time is the reference for the others.
  const empty = await openWindow();
  await empty.page.goto("about:blank");

  await send(rest, session_id, `Go [[script:${parent}]]`);
  const runsOf = async () =>
    sessionsReply
      .parse(await rest.get("/api/sessions"))
      .sessions.filter((row) => row.parent?.session_id === session_id);
  await eventually(async () => expect((await runsOf()).length).toBe(RUNS));
  const runs = await runsOf();
  // The parent; the parent with a run beside it; a run.
  await two.page.goto(`${daemon.origin}/session/${session_id}?beside=${runs[3]?.id}`);
  await three.page.goto(`${daemon.origin}/session/${runs[7]?.id}`);
  await three.page.getByText(`${runs[7]?.run?.name} tide.`).waitFor();
  const measuring = await Promise.all([empty, ...windows].map(measure));
  await eventually(async () => {
    const done = (await runsOf()).filter(({ status }) => status !== "running").length;
    expect(done).toBeGreaterThan(0);
  }, 120_000);
  const [idling, ...during] = await Promise.all(measuring.map((end) => end()));
  if (idling === undefined) throw new Error("The empty page was not measured.");
  await idle(rest, session_id);
  for (const [index, name] of ["an empty page", "parent", "parent and a run", "a run"].entries())
    console.info(`${name}: ${JSON.stringify([idling, ...during][index])}`);
  // The number of frames depends on other load on the machine; the cost of each one only on the page. Tests that run beside this
  // one would leave too few frames.
  for (const { busy, cpu_ms_per_frame } of LONG ? during : []) {
    expect(busy).toBeLessThan(0.4);
    expect(cpu_ms_per_frame).toBeLessThan(8);
  }

  for (const run of await runsOf()) {
    const name = run.run?.name ?? "";
    const parts = await storedParts(rest, run.id);
    expect(disorder(parts, run.id)).toEqual([]);
    const said_of = parts.flatMap((part) =>
      part.type === "text" || part.type === "thinking" ? [said(part)] : [],
    );
    expect(said_of).toEqual([
      `thinking I am ${name}.`,
      `text ${sentence(name).repeat(count)}`,
      `text ${name} is done.`,
    ]);
  }
  const own = await storedParts(rest, session_id);
  expect(disorder(own, session_id)).toEqual([]);
  const speech = own.filter(({ type }) => type === "text" || type === "thinking").map(said);
  expect(speech.slice(-2)).toEqual(["text All at once.", "text All are back."]);
  expect(speech.filter((text) => text.includes("tide."))).toEqual([]);
  for (const { page } of [one, two])
    await eventually(async () => expect((await pageParts(page)).map(truncatePart)).toEqual(own));
  for (const { page, pane, run } of [
    { page: two.page, pane: 1, run: runs[3]?.id ?? "" },
    { page: three.page, pane: 0, run: runs[7]?.id ?? "" },
  ]) {
    const stored = await storedParts(rest, run);
    await eventually(async () =>
      expect((await pageParts(page, true, pane)).map(truncatePart)).toEqual(stored),
    );
  }
  for (const { complaints } of windows) expect(complaints).toEqual([]);
});
