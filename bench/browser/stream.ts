import type { Mount } from "./consumers/consumer.ts";
import { answer, deltas, giant } from "./input.ts";

const CONSUMERS: Record<string, () => Promise<{ mount: Mount }>> = {
  floor: () => import("./consumers/floor.ts"),
  verbatim: () => import("./consumers/verbatim.tsx"),
  "react-markdown": () => import("./consumers/naive.tsx"),
  streamdown: () => import("./consumers/streamdown.tsx"),
  "streaming-markdown": () => import("./consumers/streaming-markdown.ts"),
};

const query = new URLSearchParams(location.search);
const before = Number(query.get("before") ?? 0);
const length = Number(query.get("length") ?? 10_000);
const limit_ms = Number(query.get("limit") ?? 60_000);
const kind = query.get("kind");
const text = kind === "list" || kind === "table" ? giant(kind, before + length) : answer(before + length);
const pieces = deltas(text.slice(before));

const scroller = document.getElementById("scroll");
const root = document.getElementById("root");
const channel = new MessageChannel();
let resume: () => void = () => undefined;
channel.port1.onmessage = () => resume();
/** Waits for the next task, after all microtasks of this one. */
const task = (): Promise<void> =>
  new Promise((resolve) => {
    resume = resolve;
    channel.port2.postMessage(0);
  });
const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => resolve()));
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let consumer: Consumer;

async function prepare(): Promise<void> {
  const load = CONSUMERS[query.get("consumer") ?? ""];
  if (!load || !root) throw new Error("unknown consumer");
  consumer = await (await load()).mount(root);
  await frame();
  if (before > 0) consumer.push(text.slice(0, before));
  await settle();
}

/**
 * Waits until nothing has changed for a while: highlighters load languages and process the text. On a busy machine, a worker may
 * need longer than that for its first reply, so the consumer is asked as well.
 */
async function settle(): Promise<void> {
  let changed = performance.now();
  const observer = new MutationObserver(() => {
    changed = performance.now();
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  while (performance.now() - changed < 1_000 || consumer.isSettled?.() === false) await wait(100);
  observer.disconnect();
  await frame();
}

interface Run {
  deltas: number;
  of: number;
  longest_ms: number;
  elements: number;
  characters: number;
}

/** Sends five deltas per frame, each in a task of its own, as from a socket. The view follows the end. */
async function run(): Promise<Run> {
  let longest_ms = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest_ms = Math.max(longest_ms, duration);
  }).observe({ type: "longtask" });
  const started = performance.now();
  let sent = 0;
  while (sent < pieces.length && performance.now() - started < limit_ms) {
    for (let n = 0; n < 5 && sent < pieces.length; n++) {
      consumer.push(pieces[sent++] ?? "");
      await task();
    }
    if (scroller) scroller.scrollTop = 1e9;
    await frame();
  }
  await frame();
  await task();
  await frame();
  return {
    deltas: sent,
    of: pieces.length,
    longest_ms,
    elements: document.querySelectorAll("#root *").length,
    characters: root?.textContent?.length ?? 0,
  };
}

/** Ends the text and waits for deferred work. Returns the duration of the longest task. */
async function end(): Promise<number> {
  let longest_ms = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest_ms = Math.max(longest_ms, duration);
  }).observe({ type: "longtask" });
  consumer.end();
  await settle();
  return longest_ms;
}

Object.assign(window, { __prepare: prepare, __run: run, __end: end, __ready: true });
