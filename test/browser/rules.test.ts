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
let written = 0;
const session = generateClaudeSession({ parts: 60, turns: 2, seed: 31 });

/** An answer like the session's last record, with the current time. */
function answer(words: string): string {
  written += 1;
  const { message, ...last } = JSON.parse(session.lines.at(-1) ?? "{}");
  return `${JSON.stringify({
    ...last,
    uuid: `dddddddd-0000-4000-8000-${String(written).padStart(12, "0")}`,
    timestamp: new Date().toISOString(),
    type: "assistant",
    message: { ...message, id: `msg_rule_${written}`, content: [{ type: "text", text: words }] },
  })}\n`;
}

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-rules");
  await mkdir(folder, { recursive: true });
  file = join(folder, `${session.session_id}.jsonl`);
  await writeFile(file, session.lines.map((line) => `${line}\n`).join(""));
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
const attention = (page: Page) => page.getByRole("region", { name: "Needs attention" });
/** Screenshots for review, if a folder is given. */
const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.PICTURES;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
};

it("tries a rule on past records, then alerts in every browser until switched off", async () => {
  await rowOf(desk.page).waitFor();
  await desk.page.keyboard.press("Shift+R");
  await desk.page.getByRole("button", { name: "Add a rule" }).click();
  const form = desk.page.getByRole("form", { name: "New rule" });
  await desk.page.keyboard.type("Steps");
  const query = form.getByRole("textbox", { name: "Search query" });
  await query.fill("kind:text Step");
  const trial = form.getByRole("region", { name: "Past sessions" });
  // The index may still be in progress.
  await expect
    .poll(async () => {
      await form.getByRole("button", { name: "Try on past sessions" }).click();
      await trial.waitFor();
      return (await trial.getByRole("link").count()) > 0;
    })
    .toBe(true);
  expect(await trial.innerText()).toMatch(/It would have applied \d+ times, in 1 session/);
  expect(await seriousFindings(desk.page)).toEqual([]);
  await picture(desk.page, "rules-form-1440-dark");

  await query.fill('kind:text "no space left"');
  await form.getByRole("textbox", { name: "Name" }).fill("Disk is full");
  await form.getByRole("button", { name: "Save rule" }).click();
  await desk.page.getByRole("checkbox", { name: "Disk is full" }).waitFor();
  await picture(desk.page, "rules-list-1440-dark");
  await desk.page.goto(daemon.origin);
  await rowOf(desk.page).waitFor();
  await appendFile(file, answer("All is well.") + answer("It says: no space left on device."));
  for (const { page } of [desk, phone])
    await attention(page)
      .getByRole("link", { name: /^Disk is full: .*no space left/ })
      .waitFor();
  expect(await seriousFindings(desk.page)).toEqual([]);
  await picture(desk.page, "rules-attention-1440-dark");
  await picture(phone.page, "rules-attention-390-light");
  // It links to the part.
  await attention(desk.page)
    .getByRole("link", { name: /^Disk is full/ })
    .click();
  await desk.page.locator("article[aria-current=location]", { hasText: "no space left" }).waitFor();

  await daemon.stop();
  daemon = await startDaemon(home, ["--no-samples", "--port", String(daemon.port)]);
  await desk.page.goto(daemon.origin);
  const listed = attention(desk.page).getByRole("link", { name: /^Disk is full/ });
  await listed.waitFor();
  await appendFile(file, answer("And again no space left."));
  await attention(desk.page)
    .getByRole("link", { name: /^Disk is full \(2 times\)/ })
    .waitFor();

  await phone.page.goto(`${daemon.origin}/rules`);
  await phone.page.getByRole("checkbox", { name: "Disk is full" }).waitFor();
  await phone.page.getByRole("button", { name: "Edit Disk is full" }).click();
  await phone.page.getByRole("form", { name: "Edit the rule" }).waitFor();
  expect(await seriousFindings(phone.page)).toEqual([]);
  await picture(phone.page, "rules-form-390-light");
  await phone.page.getByRole("button", { name: "Cancel" }).click();
  await phone.page.getByRole("checkbox", { name: "Disk is full" }).uncheck();
  await expect.poll(() => listed.count()).toBe(0);
  expect([...desk.complaints, ...phone.complaints].filter((text) => !/ERR_|WebSocket/.test(text))).toEqual(
    [],
  );
});
