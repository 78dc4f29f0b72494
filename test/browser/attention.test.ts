import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { seriousFindings } from "./findings.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let desk: { page: Page; complaints: string[] };
let phone: { page: Page; complaints: string[] };
let file: string;
const session = generateClaudeSession({ parts: 60, turns: 2, seed: 13 });
let written = 0;

/** An answer like the session's last record, with the current time. */
function answer(words: string): string {
  written += 1;
  const { message, ...last } = JSON.parse(session.lines.at(-1) ?? "{}");
  return `${JSON.stringify({
    ...last,
    uuid: `dddddddd-0000-4000-8000-${String(written).padStart(12, "0")}`,
    timestamp: new Date().toISOString(),
    type: "assistant",
    message: { ...message, id: `msg_attention_${written}`, content: [{ type: "text", text: words }] },
  })}\n`;
}
const long = "Nothing to see. ".repeat(60);

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-attention");
  await mkdir(folder, { recursive: true });
  file = join(folder, `${session.session_id}.jsonl`);
  await writeFile(file, session.lines.map((line) => `${line}\n`).join(""));
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  desk = await enter(await browser.newContext({ viewport: { width: 1280, height: 800 } }), daemon);
  const link = await desk.page.evaluate(async () => {
    const reply = await fetch("/api/link", {
      method: "POST",
      headers: { "x-verbatim-client": "1", "content-type": "application/json" },
      body: "{}",
    });
    return (await reply.json()).link as string;
  });
  phone = await enter(await browser.newContext({ viewport: { width: 390, height: 844 } }), {
    ...daemon,
    launch: link,
  });
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

const rowOf = (page: Page) => page.locator(`[data-session="${session.session_id}"]`);
const attention = (page: Page) => page.getByRole("region", { name: "Needs attention" });

it("lists unseen parts in every browser until one has shown them", async () => {
  await rowOf(desk.page).waitFor();
  // It ended before this daemon was first started, so it has no new parts.
  expect(await rowOf(desk.page).innerText()).not.toMatch(/ new/);
  await appendFile(
    file,
    answer(`First of the new ones. ${long}`) + answer(long) + answer(long) + answer("The last."),
  );
  for (const { page } of [desk, phone]) await expect.poll(() => rowOf(page).innerText()).toMatch(/\d+ new/);
  await attention(desk.page).waitFor();
  expect(await seriousFindings(desk.page)).toEqual([]);

  await rowOf(desk.page).click();
  const transcript = desk.page.getByRole("region", { name: "Transcript", exact: true });
  await transcript.getByText("The last.").waitFor();
  // From the end, the key moves up to the first unseen part.
  await desk.page.keyboard.press("v");
  const divider = transcript.getByRole("separator", { name: "New since you looked" });
  await divider.waitFor();
  const [line, first] = await Promise.all([
    divider.boundingBox(),
    transcript.getByText("First of the new ones.").boundingBox(),
  ]);
  expect(line?.y).toBeLessThan(first?.y ?? 0);
  expect((first?.y ?? 0) - (line?.y ?? 0)).toBeLessThan(40);

  await desk.page.keyboard.press("End");
  await expect.poll(() => rowOf(phone.page).innerText()).not.toMatch(/ new/);
  // The line stays for this visit, and disappears with the next.
  await desk.page.keyboard.press("v");
  await divider.waitFor();
  await desk.page.goto(`${daemon.origin}/session/${session.session_id}`);
  await transcript.waitFor();
  await transcript.getByText("The last.").waitFor();
  expect(await divider.count()).toBe(0);
  expect([...desk.complaints, ...phone.complaints]).toEqual([]);
});

it("marks as unread and pins for all browsers by keys, and marks as read from the list", async () => {
  await rowOf(desk.page).focus();
  await desk.page.keyboard.press("Shift+P");
  await phone.page.getByRole("heading", { name: /^Pinned/ }).waitFor();
  await rowOf(desk.page).focus();
  await desk.page.keyboard.press("m");
  await attention(phone.page).getByRole("link", { name: "Marked as unread" }).waitFor();
  await attention(phone.page).getByRole("button", { name: /^Done/ }).click();
  await expect.poll(() => rowOf(desk.page).innerText()).not.toMatch(/unread/);
  await daemon.stop();
  daemon = await startDaemon(home, ["--no-samples", "--port", String(daemon.port)]);
  await desk.page.getByRole("heading", { name: /^Pinned/ }).waitFor();
  expect(phone.complaints.filter((text) => !/ERR_|WebSocket/.test(text))).toEqual([]);
});

it("shows a desktop notification for a session that finished unseen, if switched on", async () => {
  // Headless Chromium has no desktop: what the page would show there is recorded.
  await desk.page.addInitScript(() => {
    class Recorded extends EventTarget {
      static permission = "default";
      static readonly requestPermission = async () => {
        Recorded.permission = "granted";
        return Recorded.permission;
      };
      constructor(title: string) {
        super();
        document.documentElement.dataset.notified = title;
      }
    }
    Object.assign(globalThis, { Notification: Recorded });
  });
  await desk.page.reload();
  await rowOf(desk.page).waitFor();
  await desk.page.getByRole("button", { name: "Settings" }).click();
  await desk.page.getByRole("radio", { name: "Also when one fails or finishes" }).check();
  await desk.page.keyboard.press("Escape");
  const notified = () => desk.page.locator("html").getAttribute("data-notified");
  expect(await notified()).toBeNull();
  await appendFile(file, answer("The last."));
  await expect.poll(notified).toMatch(/^Finished: /);
  expect(desk.complaints).toEqual([]);
});
