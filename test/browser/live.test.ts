import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { times } from "../long.ts";
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
  readTranscript,
  startDaemon,
} from "./harness.ts";
import { restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const CUTS = times(4, 200);
const PARTS = times(120, 320);

let home: Home;
let daemon: Daemon;
let proxy: CutProxy | undefined;
const browsers: (Browser | TestBrowser)[] = [];
beforeEach(async () => {
  home = await createHome();
});
afterEach(async () => {
  for (const browser of browsers.splice(0)) await browser.close();
  await proxy?.close();
  proxy = undefined;
  await daemon.stop();
  await home.remove();
});

async function browserTo(through?: { daemon: Daemon; proxy: CutProxy }) {
  const browser = through === undefined ? await openTestBrowser() : await openBrowser(through);
  browsers.push(browser);
  return browser.newContext({ viewport: { width: 1200, height: 900 } });
}

/** A session file that the test writes as an agent would. */
async function sessionFile(id: string, lines: string[]): Promise<string> {
  const folder = join(home.claude, "projects/-home-ada-long-session");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${id}.jsonl`);
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  return file;
}

describe("a growing session file", () => {
  it("appears in the list, and its lines on the page as they are written, once they are complete", async () => {
    daemon = await startDaemon(home, ["--no-samples"]);
    const { page, complaints } = await enter(await browserTo(), daemon);
    const { session_id, lines } = generateClaudeSession({ parts: 30, turns: 2, seed: 5 });
    const [first = "", second = "", third = ""] = lines;
    const file = await sessionFile(session_id, [first]);
    await page.getByRole("link", { name: /^.*Prompt 1:/ }).click();
    const transcript = page.getByRole("region", { name: "Transcript", exact: true });
    await transcript.getByText("Prompt 1:").first().waitFor();

    const before = await readTranscript(page);
    await appendFile(file, second.slice(0, 40));
    await appendFile(file, `${second.slice(40)}\n`);
    await expect.poll(async () => (await readTranscript(page)).size).toBeGreaterThan(before.size);
    for (const line of [third, ...lines.slice(3), lastWords(lines)]) await appendFile(file, `${line}\n`);
    await transcript.getByText("These are the last words.").waitFor();
    await transcript.getByText("[RUNNING]").first().waitFor({ state: "detached" });
    const grown = await readTranscript(page);
    // Again, from the end to the top.
    expect(await readTranscript(page)).toEqual(grown);
    await page.reload();
    await expect.poll(() => readTranscript(page)).toEqual(grown);
    expect(complaints).toEqual([]);
  });

  it(`shows the same transcript after ${CUTS} disconnects as on an undisturbed page`, async () => {
    const seed = Date.now() % 1_000_000;
    console.info(`cuts at random, seed ${seed}`);
    const random = seeded(seed);
    const { session_id, lines } = generateClaudeSession({ parts: PARTS, turns: 6, seed });
    const file = await sessionFile(session_id, lines.slice(0, 4));
    daemon = await startDaemon(home, ["--no-samples"]);
    proxy = await cutProxy(daemon.port);
    const { cut, open, bytes } = proxy;

    const disturbed = await browserTo({ daemon, proxy });
    // Without the jitter of reconnects, which only takes time here.
    await disturbed.addInitScript(() => {
      Math.random = () => 0;
    });
    const first = await enter(disturbed, daemon, BROKEN_CONNECTION);
    await first.page.getByRole("link", { name: /Prompt 1:/ }).click();
    await first.page
      .getByRole("region", { name: "Transcript", exact: true })
      .getByText("Prompt 1:")
      .first()
      .waitFor();

    const rest = lines.slice(4);
    for (let round = 0; round < CUTS; round += 1) {
      const upTo = Math.ceil(((round + 1) * rest.length) / CUTS);
      for (const line of rest.slice(Math.ceil((round * rest.length) / CUTS), upTo))
        await appendFile(file, `${line}\n`);
      await vi.waitFor(() => expect(open()).toBeGreaterThan(0), { timeout: 60_000, interval: 5 });
      // At a random point of the daemon's data: in an upgrade, a snapshot, in missed frames, or after them.
      const place = bytes() + Math.floor(random() * 1_500);
      const deadline = performance.now() + 60;
      await vi.waitFor(() => expect(bytes() >= place || performance.now() > deadline).toBe(true), {
        timeout: 60_000,
        interval: 1,
      });
      expect(cut()).toBeGreaterThanOrEqual(0);
    }
    await appendFile(file, `${lastWords(lines)}\n`);
    await first.page.getByText("live", { exact: true }).waitFor();

    const other = await enter(await browserTo(), {
      ...daemon,
      launch: await restOf(home, daemon).link(),
    });
    await other.page.goto(`${daemon.origin}/session/${new URL(first.page.url()).pathname.split("/").at(-1)}`);
    // The daemon has read the file to its end.
    await other.page
      .getByRole("region", { name: "Transcript", exact: true })
      .getByText("These are the last words.")
      .waitFor();
    const undisturbed = await readTranscript(other.page);
    expect(undisturbed.size).toBeGreaterThan(PARTS / 2);
    // Reading a whole transcript takes half a minute on a busy machine.
    await expect.poll(() => readTranscript(first.page), { timeout: 120_000 }).toEqual(undisturbed);
    expect(first.complaints).toEqual([]);
    expect(other.complaints).toEqual([]);
  }, 360_000);

  it("shows within ten seconds that it is not live, and reconnects by itself", async () => {
    const { session_id, lines } = generateClaudeSession({ parts: 20, turns: 1, seed: 9 });
    const file = await sessionFile(session_id, lines.slice(0, 6));
    daemon = await startDaemon(home, ["--no-samples"]);
    proxy = await cutProxy(daemon.port);
    const { page } = await enter(await browserTo({ daemon, proxy }), daemon, BROKEN_CONNECTION);
    await page.getByRole("link", { name: /Prompt 1:/ }).click();
    await page.getByText("live", { exact: true }).waitFor();
    const before = await readTranscript(page);

    proxy.block();
    await page.getByText("Disconnected").waitFor({ timeout: 10_000 });
    for (const line of lines.slice(6)) await appendFile(file, `${line}\n`);
    proxy.heal();
    await page.getByText("live", { exact: true }).waitFor();
    await expect.poll(async () => (await readTranscript(page)).size).toBeGreaterThan(before.size);
  });
});

/** An answer that ends the session's last turn. */
function lastWords(lines: string[]): string {
  const answer = JSON.parse(lines.findLast((line) => line.includes('"type":"assistant"')) ?? "");
  answer.uuid = "0d7c1a52-3f64-4b8e-9c21-5e8a7f6b4d30";
  answer.message = {
    ...answer.message,
    id: "msg_last",
    content: [{ type: "text", text: "These are the last words." }],
    stop_reason: "end_turn",
  };
  return JSON.stringify(answer);
}
