import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { seriousFindings } from "./findings.ts";
import {
  BROKEN_CONNECTION,
  createHome,
  type Daemon,
  enter,
  type Home,
  readTranscript,
  startDaemon,
} from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/claude-code");
const OWN_ID = "5f0c1a52-7d7e-4b8e-9a51-0d1c2b3a4f5e";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
/** Files of this test, outside the folders that the daemon watches. */
const outside = (...names: string[]) => join(home.path, "outside", ...names);

beforeEach(async () => {
  home = await createHome();
  await mkdir(outside());
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  ({ page, complaints } = await enter(await browser.newContext(), daemon, [
    ...BROKEN_CONNECTION,
    // Refusals by the daemon also appear in the console.
    /the server responded with a status of 4/,
  ]));
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
});
afterEach(async () => {
  expect(complaints).toEqual([]);
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** Drags files or folders over a point of the page, as the system does. The result drops them. */
async function drag(paths: string[], place = { x: 400, y: 300 }): Promise<() => Promise<void>> {
  const cdp = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  const step = async (type: "dragEnter" | "dragOver" | "drop") => {
    await cdp.send("Input.dispatchDragEvent", { type, ...place, data });
  };
  await step("dragEnter");
  await step("dragOver");
  return () => step("drop");
}
const overlay = () => page.getByText("Drop a session file to open it");
const transcript = () => page.getByRole("region", { name: "Transcript", exact: true });
/** Names of all files in the daemon's folder, and whether one of them has a text in it. */
const stored = (text: string) =>
  readdirSync(home.data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1").includes(text));

it("opens a dropped file as a session that survives a reload, is not stored, and is gone after a restart", async () => {
  const { session_id, lines } = generateClaudeSession({ parts: 40, turns: 2, seed: 27 });
  await writeFile(outside("talk.jsonl"), lines.map((line) => `${line}\n`).join(""));
  const drop = await drag([outside("talk.jsonl")]);
  await overlay().waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await drop();
  await page.waitForURL(/\/session\/09e7ed00-/);
  await transcript().waitFor();
  await overlay().waitFor({ state: "detached" });
  await page.getByText("opened file, not stored").waitFor();
  expect((await readTranscript(page)).size).toBeGreaterThan(30);

  await page.reload();
  await page.getByText("opened file, not stored").waitFor();
  // A record is read from memory as well.
  const row = transcript().getByRole("article").last();
  await row.hover();
  await row.getByRole("button", { name: /^Raw record/ }).click();
  const raw = row.locator(".raw-view");
  await raw.getByText(/talk\.jsonl/).waitFor();
  await raw.getByText(session_id).first().waitFor();
  const address = page.url();
  await page.goto(daemon.origin);
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  expect(stored(session_id)).toBe(false);

  await page.goto(address);
  await transcript().waitFor();
  const { port } = daemon;
  await daemon.stop();
  daemon = await startDaemon(home, ["--no-samples", "--port", String(port)]);
  // Loaded content stays on screen, with a notice.
  await page.getByText("Open the file again.").waitFor();
  await transcript().waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "File no longer open" }).waitFor();
});

it("opens a dropped project folder with the runs of its sub-agents", async () => {
  await cp(join(FIXTURES, OWN_ID), outside("-home-mara-tide", OWN_ID), { recursive: true });
  await cp(join(FIXTURES, `${OWN_ID}.jsonl`), outside("-home-mara-tide", `${OWN_ID}.jsonl`));
  await (await drag([outside("-home-mara-tide")]))();
  await page.waitForURL(/\/session\/09e7ed00-/);
  const runs = page.getByRole("navigation", { name: "Runs" });
  const first = runs.getByRole("link").first();
  await first.waitFor();
  const top = page.url();
  await first.click();
  await page.waitForURL((url) => url.href !== top);
  await transcript().waitFor();
  await page.reload();
  // The path to the parent is known after a reload, too.
  await page.getByRole("navigation", { name: "Path" }).getByRole("link").nth(1).click();
  await page.waitForURL((url) => url.pathname === new URL(top).pathname);
  await runs.getByRole("link").first().waitFor();
});

it("offers a choice of several sessions, and explains files without any", async () => {
  await mkdir(outside("several"));
  for (const seed of [1, 2]) {
    const { lines } = generateClaudeSession({ parts: 10, turns: 1, seed });
    await writeFile(outside("several", `${seed}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  }
  await writeFile(outside("notes.txt"), "No session.");
  await writeFile(outside("empty.jsonl"), "");
  for (const [name, why] of [
    ["notes.txt", "It contains no session of a supported agent."],
    ["empty.jsonl", "This file is empty."],
  ] as const) {
    await (await drag([outside(name)]))();
    const dialog = page.getByRole("dialog", { name: "This file cannot be opened" });
    await dialog.getByText(why).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  await (await drag([outside("several")]))();
  const dialog = page.getByRole("dialog", { name: "2 sessions found" });
  await dialog.waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await dialog.getByRole("link").first().click();
  await page.waitForURL(/\/session\/09e7ed00-/);
  await dialog.waitFor({ state: "detached" });
  await transcript().waitFor();
});

it("opens files that a script drops, and refuses too many bytes before sending", async () => {
  const { lines } = generateClaudeSession({ parts: 10, turns: 1, seed: 5 });
  /** `times`: how often the text is in the file. */
  const dropText = (text: string, times: number) =>
    page.evaluate(
      ([text, times]) => {
        const dataTransfer = new DataTransfer();
        const piece = new TextEncoder().encode(text);
        dataTransfer.items.add(new File(Array<Uint8Array<ArrayBuffer>>(times).fill(piece), "talk.jsonl"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      },
      [text, times] as const,
    );
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") sent.push(new URL(request.url()).pathname);
  });
  await dropText("x".repeat(1024 * 1024), 257);
  const dialog = page.getByRole("dialog", { name: "This file cannot be opened" });
  await dialog.getByText("Files opened together can have at most 256 MB in total.").waitFor();
  expect(sent).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  await dropText(lines.join("\n"), 1);
  await page.waitForURL(/\/session\/09e7ed00-/);
  await transcript().waitFor();
  expect(sent).toContain("/api/opened-files");
});

it("opens a file and a folder from the palette by keyboard", async () => {
  const { lines } = generateClaudeSession({ parts: 10, turns: 1, seed: 6 });
  await mkdir(outside("folder"));
  await writeFile(outside("folder", "talk.jsonl"), lines.map((line) => `${line}\n`).join(""));
  let before = page.url();
  for (const [command, path] of [
    ["Open file", outside("folder", "talk.jsonl")],
    ["Open folder", outside("folder")],
  ] as const) {
    const chooser = page.waitForEvent("filechooser");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command palette" }).fill(command);
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(path);
    await page.waitForURL((url) => /\/session\/09e7ed00-/.test(url.pathname) && url.href !== before);
    before = page.url();
    await transcript().waitFor();
  }
});

it("leaves images that are dropped on the composer to it", async () => {
  await page.goto(`${daemon.origin}/new`);
  const field = page.locator(".prompt-input");
  await field.waitFor();
  const box = await field.boundingBox();
  if (box === null) throw new Error("The composer is not on screen.");
  await writeFile(
    outside("picture.gif"),
    Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"),
  );
  const place = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const drop = await drag([outside("picture.gif")], place);
  await page.locator(".prompt-input.is-over").waitFor();
  expect(await overlay().count()).toBe(0);
  await drop();
  await page.locator(".prompt-input:not(.is-over)").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe("/new");
});
