import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { says, serves, writeScript } from "../agent/acp/script.ts";
import { overflow, seriousFindings } from "./findings.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { configure } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const OWN = "agents-own-session";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
beforeEach(async () => {
  home = await createHome();
  const cwd = join(home.path, "harbour");
  await mkdir(cwd);
  const user = (text: string) => says.update("user_message_chunk", { content: { type: "text", text } });
  const session = { sessionId: OWN, cwd, title: "Tides of the harbour", updatedAt: "2026-11-25T22:00:00Z" };
  const routes = [
    {
      method: "initialize",
      says: [says.hello({ loadSession: true, sessionCapabilities: { list: {}, close: {} } })],
    },
    { method: "session/list", params: { cwd }, says: [says.result(1, { sessions: [] })] },
    { method: "session/list", says: [says.result(1, { sessions: [session] })] },
    {
      method: "session/load",
      params: { sessionId: OWN, cwd },
      says: [
        user("When is high water?"),
        says.thought("The table says it."),
        says.text("At noon."),
        says.loaded,
      ],
    },
    { method: "session/close", says: [says.loaded] },
    { method: "session/prompt", says: [says.text("Low water is at six."), says.result(2)] },
  ];
  const args = writeScript(home.path, "elsewhere", serves(routes));
  await configure(home, { agents: { elsewhere: { title: "Elsewhere", command: process.execPath, args } } });
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

it("a past session is found and opened by keyboard, and continues with the next prompt", async () => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  const { page, complaints } = await enter(context, daemon);
  await page.getByRole("link", { name: "New session" }).waitFor();
  await page.keyboard.press("n");
  await page.getByRole("radio", { name: /Elsewhere/ }).check();
  await page.getByRole("combobox", { name: "Folder" }).fill(join(home.path, "harbour"));
  await page.getByRole("radio", { name: /Elsewhere/ }).focus();
  await page.keyboard.press("p");
  const dialog = page.getByRole("dialog", { name: "Past sessions of Elsewhere" });
  const open = dialog.getByRole("button", { name: "Open Tides of the harbour" });
  await open.waitFor();
  await expect.poll(() => open.evaluate((button) => button === document.activeElement)).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await overflow(page)).toBe(0);
  expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  await page.setViewportSize({ width: 1200, height: 900 });

  await dialog.getByRole("checkbox", { name: /Only in/ }).check();
  await dialog.getByText("Elsewhere has no past sessions in this folder.").waitFor();
  await dialog.getByRole("checkbox", { name: /Only in/ }).uncheck();
  await open.focus();
  await page.keyboard.press("Enter");

  const transcript = page.getByRole("region", { name: "Transcript" });
  await transcript.getByText("At noon.").waitFor();
  await transcript.getByText(`Elsewhere 1.0 sent the history above, of its session ${OWN}`).waitFor();
  await page.getByRole("heading", { level: 1, name: "Tides of the harbour" }).waitFor();
  const prompt = page.getByRole("textbox", { name: "Prompt", exact: true });
  await prompt.fill("And low water?");
  await prompt.press("Enter");
  await transcript.getByText("Low water is at six.").waitFor();
  expect(await transcript.getByText("At noon.").count()).toBe(1);
  const address = page.url();

  // Opened again, it is the same session.
  await page.goto(`${daemon.origin}/new`);
  await page.getByRole("button", { name: "Past sessions" }).click();
  await dialog.getByText("opened before").waitFor();
  await open.click();
  await transcript.getByText("Low water is at six.").waitFor();
  expect(page.url()).toBe(address);
  expect(complaints).toEqual([]);
});
