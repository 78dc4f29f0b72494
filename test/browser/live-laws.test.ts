import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import { eventually } from "../eventually.ts";
import { LONG, times } from "../long.ts";
import { seeded } from "../seeded.ts";
import {
  BROKEN_CONNECTION,
  type CutProxy,
  createHome,
  cutProxy,
  type Daemon,
  enter,
  type Home,
  openBrowser,
  startDaemon,
  type WatchedPage,
} from "./harness.ts";
import {
  begin,
  configure,
  disorder,
  idle,
  pageParts,
  type Rest,
  restOf,
  rowOf,
  said,
  scriptFile,
  send,
  storedParts,
} from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

/** In `npm test`, and in `npm run test:long`. */
const CUTS = times(4, 200);
const KILLS = times(1, 50);
/** Steps of 90 results of 8 kB. The system buffers about 10 MB for a client before the daemon notices that it is slow. */
const MUCH = times(4, 60);

let home: Home;
let folder: string;
let daemon: Daemon;
let rest: Rest;
let proxy: CutProxy | undefined;
const browsers: (Browser | TestBrowser)[] = [];
beforeEach(async () => {
  home = await createHome();
  folder = join(home.path, "harbour");
  await mkdir(folder);
  await writeFile(join(folder, "tides.txt"), "High water at noon, low water at six.\n".repeat(300));
  await configure(home, { rules: [{ tool: "shell", decision: "allow" }] });
  await start();
});
afterEach(async () => {
  for (const browser of browsers.splice(0)) await browser.close();
  await proxy?.close();
  proxy = undefined;
  await daemon.stop("SIGKILL");
  await home.remove();
});

/** `at`: the port that open pages use. */
async function start(at?: number): Promise<void> {
  daemon = await startDaemon(home, ["--no-samples", ...(at === undefined ? [] : ["--port", String(at)])]);
  rest = restOf(home, daemon);
}

/** Another browser. */
async function another(through?: { daemon: Daemon; proxy: CutProxy }): Promise<WatchedPage> {
  const browser = through === undefined ? await openTestBrowser() : await openBrowser(through);
  browsers.push(browser);
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  // Without the jitter of reconnects, which only takes time here.
  await context.addInitScript(() => {
    Math.random = () => 0;
  });
  return await enter(context, { ...daemon, launch: await rest.link() }, BROKEN_CONNECTION);
}

/** Another browser that shows the session. */
async function watch(
  session_id: string,
  through?: { daemon: Daemon; proxy: CutProxy },
): Promise<WatchedPage> {
  const watched = await another(through);
  await show(watched.page, session_id);
  return watched;
}

async function show(page: Page, session_id: string): Promise<void> {
  await page.goto(`${daemon.origin}/session/${session_id}`);
  await page.getByRole("region", { name: "Transcript", exact: true }).waitFor();
}

/** Thoughts and texts in turns, calls that run at the same time, output that comes while a command runs, and failures. */
const WORDS = [
  ...[0, 1, 2, 3].map((round) => [
    { thinking: `Round ${round}: what does the water do? ${"It comes and it goes. ".repeat(4)}` },
    { text: `Round ${round}.` },
    { text: "API types." },
    { thinking: "Let me read, and count **at once**." },
    { text: `Let me read. ${"The harbour is quiet; `nothing` moves. ".repeat(5)}` },
    { tool_call: { name: "read", arguments: { path: "tides.txt", limit: 20 } } },
    { tool_call: { name: "glob", arguments: { pattern: "*.txt" } } },
    { tool_call: { name: "grep", arguments: { pattern: "low water" } } },
    {
      tool_call: {
        name: "shell",
        arguments: { command: "for i in 1 2 3 4; do echo tick $i; sleep 0.05; done" },
      },
    },
    { tool_call: { name: "read", arguments: { path: "nowhere.txt" } } },
  ]),
  [{ thinking: "All read." }, { text: "That is what there is.\n\n- noon\n- six" }],
];
const FAULTS = [
  [{ fail: { class: "overloaded", message: "Overloaded", status: 529, retry_after_ms: 20 } }],
  [],
  [{ fail: { class: "truncated", message: "The answer was cut off", retry_after_ms: 20 } }],
  [{ pause_ms: 80 }],
  [],
];
const script = (tokens_per_second: number) => ({
  title: "Tides",
  tokens_per_second,
  steps: WORDS.map((parts, step) => ({
    // The failures occur in the middle of an answer.
    parts: [...parts.slice(0, 3), ...(FAULTS[step] ?? []), ...parts.slice(3)],
  })),
});
/** The content of an undisturbed turn, in order. */
const TURN = WORDS.flat().map((part) =>
  "thinking" in part
    ? `thinking ${part.thinking}`
    : "text" in part
      ? `text ${part.text}`
      : `call ${part.tool_call.name} ${JSON.stringify(part.tool_call.arguments)}`,
);

/** The model's output in a turn, without parts that were retracted by a retry. */
function textsOf(parts: readonly TranscriptPart[]): string[] {
  return parts.flatMap((part) => {
    if (part.retracted !== undefined) return [];
    if (part.type === "tool_call") return [`call ${part.tool_name} ${part.arguments_json}`];
    return part.type === "text" || part.type === "thinking" ? [said(part)] : [];
  });
}

/** The turns of a session, by their prompts. */
function turnsOf(parts: readonly TranscriptPart[]): TranscriptPart[][] {
  const turns: TranscriptPart[][] = [];
  for (const part of parts) {
    if (part.type === "prompt") turns.push([]);
    turns.at(-1)?.push(part);
  }
  return turns;
}

/** The rows in view, by their parts' ids, from top to bottom. */
const rowsInView = (page: Page) =>
  page
    .getByRole("region", { name: "Transcript", exact: true })
    .evaluate((box) => Array.from(box.querySelectorAll("article[id^=part-]"), ({ id }) => id.slice(5)));

/** All pages have the store's content, the order is valid, and the screen shows it in that order. */
async function expectSame(session_id: string, pages: readonly Page[]): Promise<TranscriptPart[]> {
  const stored = await storedParts(rest, session_id);
  expect(disorder(stored, session_id)).toEqual([]);
  const order = stored.map(({ id }) => id);
  for (const page of pages) {
    await page.getByText("live", { exact: true }).waitFor();
    await eventually(async () => expectEqual((await pageParts(page)).map(truncatePart), stored));
    const places = (await rowsInView(page)).map((id) => order.indexOf(id));
    expect(places.length).toBeGreaterThan(0);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  }
  return stored;
}

/** Every part is equal in every field that a page of the store has. Reports only the first difference. */
function expectEqual(shown: readonly TranscriptPart[], stored: readonly TranscriptPart[]): void {
  const differs = stored.findIndex((part, index) => !isDeepStrictEqual(part, shown[index]));
  if (differs >= 0)
    expect({ at: differs, part: shown[differs] }).toEqual({ at: differs, part: stored[differs] });
  expect(shown.length).toBe(stored.length);
}

/** The parts that somebody saw still exist in the same places, possibly grown or finished. */
function expectKept(seen: readonly TranscriptPart[], stored: readonly TranscriptPart[]): void {
  for (const part of seen) {
    const now = stored.find(({ id, message_id }) => id === part.id && message_id === part.message_id);
    expect(now?.type, said(part)).toBe(part.type);
    if (part.type === "text" && now?.type === "text") expect(now.text.startsWith(part.text)).toBe(true);
    if (part.type === "thinking" && now?.type === "thinking")
      expect(now.thinking.startsWith(part.thinking)).toBe(true);
    if (part.type === "tool_result") expect(now).toEqual(part);
  }
  const order = stored.map(({ id }) => id);
  const places = seen.map(({ id }) => order.indexOf(id));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
}

describe("a live session", () => {
  it(`is on every page what it is in the store, after disconnects (${CUTS})`, {
    timeout: 60_000 + CUTS * 3_000,
  }, async () => {
    const seed = Date.now() % 1_000_000;
    console.info(`cuts at random, seed ${seed}`);
    const random = seeded(seed);
    const session_id = await begin(rest, await scriptFile(home, "tides", script(250)), folder);
    proxy = await cutProxy(daemon.port);
    const { cut, open, bytes } = proxy;
    const disturbed = await watch(session_id, { daemon, proxy });
    const undisturbed = await watch(session_id);
    const glimpses: TranscriptPart[][] = [];
    for (let round = 0; round < CUTS; round += 1) {
      if ((await rowOf(rest, session_id)).control?.state === "idle")
        await send(rest, session_id, `Again ${round}`);
      await eventually(() => expect(open()).toBeGreaterThan(0));
      // At a random point of the daemon's data: in an upgrade, a snapshot, in missed frames, or after them.
      const place = bytes() + Math.floor(random() * 6_000);
      const deadline = performance.now() + 400;
      await eventually(() => expect(bytes() >= place || performance.now() > deadline).toBe(true));
      if (round % 3 === 2) glimpses.push(await pageParts(disturbed.page, false));
      cut();
    }
    await idle(rest, session_id);
    const stored = await expectSame(session_id, [disturbed.page, undisturbed.page]);
    for (const glimpse of glimpses) expectKept(glimpse, stored);
    const turns = turnsOf(stored);
    expect(turns.length).toBeGreaterThan(0);
    for (const turn of turns) expect(textsOf(turn)).toEqual(TURN);
    expect([...disturbed.complaints, ...undisturbed.complaints]).toEqual([]);
    // Also when a new daemon reads it from disk.
    await daemon.stop();
    await start(daemon.port);
    expectEqual(await expectSame(session_id, [disturbed.page, undisturbed.page]), stored);
  });

  it(`is on both pages what it is in the store, after its daemon was killed (kills: ${KILLS})`, {
    timeout: 60_000 + KILLS * 20_000,
  }, async () => {
    const random = seeded(11);
    const session_id = await begin(rest, await scriptFile(home, "tides", script(250)), folder, "Prompt 0");
    const pages = [await watch(session_id), await watch(session_id)].map(({ page }) => page);
    const [first] = pages;
    if (first === undefined) throw new Error("There is no page.");
    let seen: TranscriptPart[] = [];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // At a random point within the turn.
      const until = (await pageParts(first, false)).length + Math.floor(random() * 40);
      const deadline = performance.now() + 3_000;
      await eventually(async () => {
        const far = (await pageParts(first, false)).length >= until;
        expect(far || performance.now() > deadline).toBe(true);
      });
      seen = await pageParts(first, false);
      await daemon.stop("SIGKILL");
      await start(daemon.port);
      await idle(rest, session_id);
      const stored = await expectSame(session_id, pages);
      expectKept(seen, stored);
      await send(rest, session_id, `Prompt ${kill}`);
    }
    await idle(rest, session_id);
    const stored = await expectSame(session_id, pages);
    const turns = turnsOf(stored);
    expect(turns.map(([prompt]) => prompt && said(prompt))).toEqual(
      Array.from({ length: KILLS + 1 }, (_, index) => `prompt Prompt ${index}`),
    );
    for (const turn of turns) {
      const words = textsOf(turn);
      // The last text is a prefix of the script's text there.
      const last = words.pop() ?? "";
      expect(words).toEqual(TURN.slice(0, words.length));
      expect(TURN[words.length]?.startsWith(last)).toBe(true);
    }
    expect(textsOf(turns.at(-1) ?? [])).toEqual(TURN);
  });

  it("is complete on the page of a slow browser", { timeout: 60_000 + MUCH * 5_000 }, async () => {
    const long = {
      title: "Much",
      tokens_per_second: 0,
      steps: [
        ...Array.from({ length: MUCH }, (_, step) => ({
          parts: [
            { thinking: `Step ${step}.` },
            { text: "The tide comes in, and the tide goes out again. ".repeat(1_000) },
            ...Array.from({ length: 90 }, () => ({
              tool_call: { name: "read", arguments: { path: "tides.txt" } },
            })),
          ],
        })),
        { parts: [{ text: "The end." }] },
      ],
    };
    const session_id = await begin(rest, "hello", folder);
    await idle(rest, session_id);
    proxy = await cutProxy(daemon.port);
    const slow = await watch(session_id, { daemon, proxy });
    const undisturbed = await watch(session_id);
    const reasons: string[] = [];
    slow.page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        const [, reason] =
          /"type":"snapshot".{0,200}"reason":"(\w+)"/.exec(String(payload).slice(0, 400)) ?? [];
        if (reason !== undefined) reasons.push(reason);
      }),
    );
    await slow.page.reload();
    await slow.page.getByText("live", { exact: true }).waitFor();
    proxy.dawdle();
    const model = await scriptFile(home, "much", long);
    await send(rest, session_id, `[[script:${model}]]`);
    await idle(rest, session_id, 60_000 + MUCH * 5_000);
    await undisturbed.page
      .getByRole("region", { name: "Transcript", exact: true })
      .getByText("The end.")
      .waitFor();
    const behind = (await pageParts(slow.page, false)).length;
    proxy.hurry();
    const stored = await expectSame(session_id, [slow.page, undisturbed.page]);
    expect(behind).toBeLessThan(stored.length / 2);
    if (LONG) expect(reasons).toContain("too_slow");
  });

  it("runs the same with browsers that disconnect as without any", async () => {
    // It ends only when the browsers have left, however long they take to connect.
    const wait = {
      tool_call: {
        name: "shell",
        arguments: { command: "for i in $(seq 3000); do [ -e left ] && break; sleep 0.02; done" },
      },
    };
    const tides = script(150);
    const model = await scriptFile(home, "tides", {
      ...tides,
      steps: [...tides.steps.slice(0, -1), { parts: [wait] }, ...tides.steps.slice(-1)],
    });
    const pages = [await another(), await another()].map(({ page }) => page);
    const watched = await begin(rest, model, folder);
    const alone = await begin(rest, model, folder);
    for (const page of pages) await show(page, watched);
    expect((await rowOf(rest, watched)).control?.state).toBe("working");
    for (const browser of browsers.splice(0)) await browser.close();
    expect((await rowOf(rest, watched)).control?.state).toBe("working");
    await writeFile(join(folder, "left"), "");
    for (const id of [watched, alone]) expect((await idle(rest, id)).status).toBe("completed");
    const [one = [], other = []] = await Promise.all([watched, alone].map((id) => storedParts(rest, id)));
    const waiting = `call shell ${JSON.stringify(wait.tool_call.arguments)}`;
    expect(textsOf(one)).toEqual([...TURN.slice(0, -2), waiting, ...TURN.slice(-2)]);
    const words = (parts: TranscriptPart[]) => parts.filter(({ type }) => type !== "tool_result").map(said);
    expect(words(one)).toEqual(words(other));
    // Calls that run at once end in any order.
    expect(one.map(said).toSorted()).toEqual(other.map(said).toSorted());
  });
});
