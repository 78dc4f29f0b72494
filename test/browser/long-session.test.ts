import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { times } from "../long.ts";
import { createHome, type Daemon, enterAt, type Home, startDaemon } from "./harness.ts";
import { listed, restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const PARTS = times(4_000, 20_000);
/** A pattern for the numbers of the last hundred steps. */
const LAST_STEPS = `${PARTS / 100 - 1}\\d\\d`;

describe.each([
  { turns: 1, name: "one turn" },
  { turns: 250, name: "250 turns" },
])(`a session of ${PARTS} parts in $name`, ({ turns }) => {
  let home: Home;
  let daemon: Daemon;
  let browser: TestBrowser;
  let page: Page;
  let complaints: string[];
  let transcript: Locator;
  let file: string;
  const session = generateClaudeSession({ parts: PARTS, turns, seed: 7 });

  /** A heading of a text that is far from the view. */
  const heading = session.lines.flatMap((line) => /### (Step 3\d{3})\b/.exec(line)?.[1] ?? [])[0] ?? "";

  beforeAll(async () => {
    home = await createHome();
    const folder = join(home.claude, "projects/-home-ada-long-session");
    await mkdir(folder, { recursive: true });
    file = join(folder, `${session.session_id}.jsonl`);
    // The last line is written later.
    await writeFile(
      file,
      session.lines
        .slice(0, -1)
        .map((line) => `${line}\n`)
        .join(""),
    );
    daemon = await startDaemon(home, ["--no-samples"]);
  });
  beforeEach(async () => {
    browser = await openTestBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const rest = restOf(home, daemon);
    await listed(rest, session.session_id);
    const path = `/session/${session.session_id}`;
    ({ page, complaints } = await enterAt(path, context, { ...daemon, launch: await rest.link() }));
    transcript = page.getByRole("region", { name: "Transcript", exact: true });
  });
  afterEach(() => browser.close());
  afterAll(async () => {
    await daemon.stop();
    await home.remove();
  });

  const nodes = () => page.evaluate(() => document.querySelectorAll("*").length);
  /** The share of the view without a row or a heading, from 0 to 1. */
  const blank = () =>
    transcript.evaluate((element) => {
      const box = element.getBoundingClientRect();
      const probes = Array.from({ length: 20 }, (_, index) => box.top + ((index + 0.5) * box.height) / 20);
      return (
        probes.filter((y) => {
          const found = document.elementFromPoint(box.left + box.width / 2, y);
          return found?.closest("article, .turn-heading, .turn") === null;
        }).length / probes.length
      );
    });

  /** The id of a row in the middle of the view, once everything there is loaded and stable. */
  const inView = async (): Promise<string> => {
    const middle = () =>
      transcript.evaluate((element) => {
        const box = element.getBoundingClientRect();
        if (element.querySelector(".placeholder") !== null) return "";
        const rows = [...element.querySelectorAll("article[id]")].map((row) => ({
          id: row.id,
          top: row.getBoundingClientRect().top,
        }));
        const row = rows.find(({ top }) => top > box.top + box.height / 3);
        return row === undefined ? "" : JSON.stringify(row);
      });
    let known = "";
    await expect
      .poll(async () => {
        const before = known;
        known = await middle();
        return known !== "" && known === before;
      })
      .toBe(true);
    return JSON.parse(known).id;
  };

  it("opens at its end, scrolls without blanks, follows, and finds by text and link, with a bounded page", async () => {
    // Open at the end.
    await transcript
      .getByText(`Step ${PARTS - 1}`)
      .or(transcript.getByText(new RegExp(`make step-${LAST_STEPS}`)))
      .first()
      .waitFor();
    expect(await nodes()).toBeLessThan(5_000);

    // The outline shows the current entry, or the current turn until its entries are there; on a phone as soon as it is opened.
    const listed = page.getByRole("navigation", { name: "Turns" }).locator("[aria-current]").last();
    const isInView = () =>
      listed.evaluate((row) => {
        const box = row.closest(".outline-box")?.getBoundingClientRect();
        const { top, bottom } = row.getBoundingClientRect();
        return box !== undefined && top >= box.top && bottom <= box.bottom && bottom > top;
      });
    await expect.poll(isInView).toBe(true);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByRole("button", { name: "Turns" }).click();
    await expect.poll(isInView).toBe(true);
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 1280, height: 900 });

    // Follows the end, also in a view that became higher.
    await appendFile(file, `${session.lines.at(-1)}\n`);
    await transcript.getByRole("heading", { name: `Step ${PARTS}` }).waitFor();
    expect(await page.getByRole("button", { name: /below$/ }).count()).toBe(0);

    // Scrolling to any position shows something, and soon the parts themselves.
    for (const share of [0.1, 0.9, 0.33, 0.66, 0]) {
      await transcript.evaluate((element, at) => {
        element.scrollTop = element.scrollHeight * at;
      }, share);
      await expect.poll(blank).toBe(0);
      await expect.poll(() => transcript.locator("article[id]").count()).toBeGreaterThan(3);
      expect(await nodes()).toBeLessThan(5_000);
    }

    // The rows in view do not move when something is written.
    await transcript.evaluate((element) => {
      element.scrollTop = element.scrollHeight / 2;
    });
    const id = await inView();
    const before = await page.locator(`[id="${id}"]`).boundingBox();
    const { sessionId: _, ...note } = JSON.parse(session.lines.at(-1) ?? "{}");
    await appendFile(
      file,
      `${JSON.stringify({ ...note, sessionId: session.session_id, uuid: "0b7f5f5e-0000-4000-8000-000000000001", message: { ...note.message, id: "msg_late", content: [{ type: "text", text: "Text while somebody reads." }] } })}\n`,
    );
    await page.getByRole("button", { name: /new below/ }).waitFor();
    expect((await page.locator(`[id="${id}"]`).boundingBox())?.y).toBe(before?.y);
    await page.getByRole("button", { name: /new below/ }).click();
    await transcript.getByText("Text while somebody reads.").waitFor();

    // The page's own find, because the browser's searches only mounted rows.
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("searchbox").fill(heading);
    await page.keyboard.press("Enter");
    await transcript.getByRole("heading", { name: heading, exact: true }).waitFor();
    await page.keyboard.press("Escape");

    // A link to a part far away opens there, and a reload keeps the place.
    const target = await inView();
    await page.goto(`${daemon.origin}/`);
    await page.goto(`${daemon.origin}/session/${session.session_id}#${target}`);
    await page.locator(`[id="${target}"]`).waitFor();
    await page.reload();
    await page.locator(`[id="${target}"]`).waitFor();
    expect(complaints).toEqual([]);
  });

  it("keeps both ends of a selection over the whole session in the document, with a bounded page", async () => {
    const selected = () =>
      page.evaluate(() => {
        const { anchorNode, focusNode } = getSelection() ?? {};
        return [anchorNode, focusNode].map((node) => node?.parentElement?.closest("article")?.id);
      });
    const atWords = { position: { x: 20, y: 8 } };
    await transcript.locator("article p").last().waitFor();
    await transcript.press("Home");
    const first = transcript.locator("article", { has: page.locator("p") }).first();
    await transcript.getByText("Prompt 1:").waitFor();
    const from = await first.getAttribute("id");
    await first.locator("p").first().dblclick(atWords);
    await transcript.press("End");
    await transcript
      .getByRole("heading", { name: new RegExp(`^Step ${LAST_STEPS}$`) })
      .first()
      .waitFor();
    const to = await transcript
      .locator("article", { has: page.locator("p") })
      .last()
      .getAttribute("id");
    const last = page.locator(`[id="${to}"]`);
    await last
      .locator("p")
      .first()
      .click({ ...atWords, modifiers: ["Shift"] });
    await expect.poll(selected).toEqual([from, to]);
    await page.mouse.wheel(0, -3_000);
    await expect.poll(() => last.evaluate((row) => row.getBoundingClientRect().top > innerHeight)).toBe(true);
    expect(await selected()).toEqual([from, to]);
    expect(await nodes()).toBeLessThan(5_000);
    await page.keyboard.press("Control+c");
    await page
      .getByRole("alert")
      .filter({ hasText: /^[\d,]+ of [\d,]+ parts are not copied: [\d,]+ not loaded yet/ })
      .waitFor();
    expect(await selected()).toEqual([from, to]);
    await expect.poll(nodes).toBeLessThan(5_000);
    expect(complaints).toEqual([]);
  });
});
