import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { LanesReply, SearchAllReply } from "../../src/protocol.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { seriousFindings } from "./findings.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];

async function start(args: string[]): Promise<void> {
  daemon = await startDaemon(home, args);
  browser = await openTestBrowser();
  ({ page, complaints } = await enter(
    await browser.newContext({ viewport: { width: 1280, height: 800 } }),
    daemon,
  ));
}
beforeEach(async () => {
  home = await createHome();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

const json = <T>(path: string): Promise<T> =>
  page.evaluate(async (at) => (await fetch(at, { headers: { "x-verbatim-client": "1" } })).json(), path);

const timeline = () => page.getByRole("region", { name: "Timeline" });
const note = () => timeline().getByRole("status");

it("navigates from the timeline to parts and runs by keys and clicks", async () => {
  await start(["--samples"]);
  const parentOfRuns = async () => {
    const { sessions } = await json<{ sessions: { id: string; runs: number; status: string }[] }>(
      "/api/sessions",
    );
    return sessions.find(({ runs, status }) => runs > 1 && status === "completed");
  };
  // The runs are linked once their files are read.
  await expect.poll(parentOfRuns).toBeDefined();
  const parent = await parentOfRuns();
  if (parent === undefined) throw new Error("no sample has runs");
  await page.goto(`${daemon.origin}/session/${parent.id}`);
  await page.getByRole("region", { name: "Transcript", exact: true }).locator("article").first().waitFor();
  await page.getByRole("button", { name: "Timeline" }).click();
  const { lanes } = await json<LanesReply>(`/api/sessions/${parent.id}/lanes`);
  await expect.poll(() => timeline().getByRole("listitem").count()).toBe(lanes.length);
  expect(lanes.filter(({ depth }) => depth === 1)).toHaveLength(parent.runs);
  // Each run's lane is linked to the call that started it.
  const started = lanes.flatMap(({ bars }) => bars).flatMap(({ run_id }) => run_id ?? []);
  expect(new Set(started)).toEqual(new Set(lanes.slice(1).map(({ session_id }) => session_id)));

  await timeline().getByRole("application").focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => note().innerText()).toMatch(/: Model · .* · turn 1, step 1 Open$/);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain(`#part-${lanes[0]?.bars[0]?.part_id}`);
  await page.keyboard.press("Shift+T");
  await timeline().waitFor({ state: "detached" });
  await page.keyboard.press("Shift+T");

  await timeline().getByRole("application").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const run = lanes[1]?.session_id ?? "";
  await expect.poll(() => timeline().locator("[aria-current]").innerText()).not.toBe("");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: /^Transcript of the run/ }).waitFor();
  expect(page.url()).toContain(`beside=${run}`);
  expect(await seriousFindings(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it("draws, zooms and clicks thousands of bars", async () => {
  const folder = join(home.claude, "projects/-home-ada-long");
  await mkdir(folder, { recursive: true });
  const { session_id, lines } = generateClaudeSession({ parts: 6_000, turns: 20, seed: 5 });
  await writeFile(join(folder, `${session_id}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  await start(["--no-samples"]);
  // Opening it earlier would delay its index.
  await eventually(async () => {
    const { sessions, not_indexed } = await json<SearchAllReply>("/api/search?q=nothing");
    expect({ sessions, not_indexed }).toEqual({ sessions: 1, not_indexed: 0 });
  });
  await page.goto(`${daemon.origin}/session/${session_id}`);
  await page.getByRole("region", { name: "Transcript", exact: true }).locator("article").first().waitFor();
  await page.keyboard.press("Home");
  const title = page.getByRole("heading", { level: 2 }).first();
  await expect.poll(() => title.isVisible()).toBe(true);
  await page.getByRole("button", { name: "Timeline" }).click();
  const canvas = timeline().locator("canvas");
  await canvas.waitFor();
  /** The pixels of a row of the canvas, whose `y` is in CSS pixels, and the color of texts. */
  const pixelsAt = (y: number | "bottom") =>
    canvas.evaluate((element, top) => {
      if (!(element instanceof HTMLCanvasElement)) throw new Error("no canvas");
      const density = element.width / element.clientWidth;
      const copy = new OffscreenCanvas(element.width, 1).getContext("2d", { willReadFrequently: true });
      copy?.drawImage(element, 0, top === "bottom" ? 3 - element.height : -Math.round(top * density));
      return {
        row: [...(copy?.getImageData(0, 0, element.width, 1).data ?? [])],
        ink: getComputedStyle(document.body).color.match(/\d+/g)?.map(Number) ?? [],
      };
    }, y);
  /** Where the line of the part at the top of the transcript is, as a share of the width. */
  const lineAt = async () => {
    const { row, ink } = await pixelsAt("bottom");
    const found = row.findIndex(
      (_, at) => at % 4 === 0 && ink.every((value, color) => row[at + color] === value),
    );
    return found === -1 ? undefined : found / row.length;
  };
  await expect.poll(lineAt).toBeLessThan(0.05);
  await page.keyboard.press("End");
  await expect.poll(lineAt).toBeGreaterThan(0.9);
  const { lanes } = await json<LanesReply>(`/api/sessions/${session_id}/lanes`);
  expect(lanes[0]?.bars.length).toBeGreaterThan(1_500);
  /** Whether anything but the background is drawn in the lane. */
  const isDrawn = async () => (await pixelsAt(30)).row.some((value) => value > 0);
  await expect.poll(isDrawn).toBe(true);
  await timeline().getByRole("application").focus();
  for (let step = 0; step < 20; step += 1) await page.keyboard.press("+");
  await expect.poll(isDrawn).toBe(true);
  const box = await canvas.boundingBox();
  if (box === null) throw new Error("no canvas");
  await page.mouse.click(box.x + box.width / 2, box.y + 30);
  await expect.poll(() => note().innerText()).toMatch(/ Open$/);
  await expect.poll(() => page.url()).toContain("#part-");
  expect(complaints).toEqual([]);
});
