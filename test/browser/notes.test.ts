import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
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
const session = generateClaudeSession({ parts: 60, turns: 2, seed: 21 });

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-notes");
  await mkdir(folder, { recursive: true });
  file = join(folder, `${session.session_id}.jsonl`);
  await writeFile(file, session.lines.map((line) => `${line}\n`).join(""));
  const { message, ...last } = JSON.parse(session.lines.at(-1) ?? "{}");
  const answer = {
    ...last,
    uuid: "dddddddd-0000-4000-8000-000000000001",
    type: "assistant",
    message: { ...message, id: "msg_noted", content: [{ type: "text", text: "High water is at nine." }] },
  };
  await appendFile(file, `${JSON.stringify(answer)}\n`);
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  desk = await enter(
    await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "dark" }),
    daemon,
  );
  const link = await desk.page.evaluate(async () => {
    const reply = await fetch("/api/link", {
      method: "POST",
      headers: { "x-verbatim-client": "1", "content-type": "application/json" },
      body: "{}",
    });
    return (await reply.json()).link as string;
  });
  phone = await enter(
    await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "light" }),
    { ...daemon, launch: link },
  );
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

const rowOf = (page: Page) => page.locator(`[data-session="${session.session_id}"]`);
const part = (page: Page) => page.locator("article", { hasText: "High water is at nine." });
/** Screenshots for review, if a folder is given. */
const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.PICTURES;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
};

it("shows a note in every browser, in search and in its session, also after an index rebuild and a restart", async () => {
  await rowOf(desk.page).click();
  await part(desk.page).hover();
  await part(desk.page)
    .getByRole("button", { name: /^Add a note/ })
    .click();
  await desk.page.keyboard.type("Which harbour is this?\nCheck the chart.");
  await desk.page.keyboard.press("Control+Enter");
  await part(desk.page).getByRole("note", { name: "Note" }).getByText("Which harbour is this?").waitFor();
  expect(await seriousFindings(desk.page)).toEqual([]);
  await picture(desk.page, "notes-part-1440-dark");

  await expect.poll(() => rowOf(phone.page).innerText()).toMatch(/1 note/);
  await picture(phone.page, "notes-list-390-light");
  await rowOf(phone.page).click();
  await part(phone.page).getByRole("note", { name: "Note" }).waitFor();
  await picture(phone.page, "notes-part-390-light");

  // By keyboard, on the session itself; the phone is notified.
  await desk.page.keyboard.press("Shift+B");
  const dialog = desk.page.getByRole("dialog", { name: "Notes" });
  await dialog.getByRole("textbox", { name: "Note on this session" }).fill("Read all of it again");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Read all of it again").waitFor();
  expect(await seriousFindings(desk.page)).toEqual([]);
  await picture(desk.page, "notes-dialog-1440-dark");

  await daemon.stop();
  for (const suffix of ["", "-wal", "-shm"]) await rm(join(home.data, `index.db${suffix}`), { force: true });
  daemon = await startDaemon(home, ["--no-samples", "--port", String(daemon.port)]);
  await desk.page.goto(`${daemon.origin}/search?q=${encodeURIComponent("kind:note harbour")}`);
  const option = desk.page.getByRole("option", { name: /Which harbour is this/ });
  await option.waitFor();
  await picture(desk.page, "notes-search-1440-dark");
  await option.click();
  await part(desk.page).getByRole("note", { name: "Note" }).waitFor();
  // The index is being rebuilt.
  await expect
    .poll(
      async () => {
        await desk.page.goto(`${daemon.origin}/search?q=${encodeURIComponent("has:note")}`);
        await desk.page.getByText(/sessions searched/).waitFor();
        return desk.page.getByRole("option", { name: /High water is at nine/ }).count();
      },
      { timeout: 30_000 },
    )
    .toBe(1);
  expect(desk.complaints.filter((text) => !/ERR_|WebSocket/.test(text))).toEqual([]);
});
