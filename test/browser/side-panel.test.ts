import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { createHome, enterAt, startDaemon } from "./harness.ts";
import { listed, restOf } from "./managed-session.ts";
import { openTestBrowser } from "./shared-browser.ts";

it("keeps rows, position and find results of a session that is covered by a run", async () => {
  const home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-beside");
  await mkdir(folder, { recursive: true });
  const behind = generateClaudeSession({ parts: 3_000, turns: 40, seed: 3 });
  const beside = generateClaudeSession({ parts: 20, turns: 1, seed: 4 });
  const [file, runFile] = [behind, beside].map(({ session_id }) => join(folder, `${session_id}.jsonl`));
  if (file === undefined || runFile === undefined) throw new Error("no files");
  await writeFile(file, behind.lines.map((line) => `${line}\n`).join(""));
  await writeFile(runFile, beside.lines.map((line) => `${line}\n`).join(""));
  let said = 0;
  const say = async (to: string, { lines }: typeof behind, text: string): Promise<void> => {
    const { message, ...record } = JSON.parse(lines.at(-1) ?? "{}");
    said += 1;
    const uuid = `aaaaaaaa-0000-4000-8000-${String(said).padStart(12, "0")}`;
    const content = [{ type: "text", text }];
    await appendFile(
      to,
      `${JSON.stringify({ ...record, uuid, message: { ...message, id: uuid, content } })}\n`,
    );
  };
  const daemon = await startDaemon(home, ["--no-samples"]);
  const browser = await openTestBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    await listed(restOf(home, daemon), behind.session_id, beside.session_id);
    const path = `/session/${behind.session_id}?beside=${beside.session_id}`;
    const { page, complaints } = await enterAt(path, context, daemon);
    const main = page.getByRole("region", { name: "Transcript", exact: true });
    const run = page.getByRole("region", { name: /^Transcript of the run/ });
    await main.locator("article").last().waitFor();
    await run.locator("article").last().waitFor();

    // A letter whose lower case has another length: the match is correct, and the page keeps working.
    await say(file, behind, "İstanbul, bulundu.");
    await main.getByText("İstanbul, bulundu.").waitFor();
    await page.locator(".pane:not(.pane-beside)").getByRole("button", { name: "Find" }).click();
    await page.getByRole("searchbox").fill("bul");
    const marked = () =>
      page.evaluate(() => [...(CSS.highlights.get("find") ?? [])].map((range) => range.toString()));
    await eventually(async () => expect(await marked()).toEqual(["bul", "bul"]));
    await say(runFile, beside, "The run goes on.");
    await run.getByText("The run goes on.").waitFor();
    expect(await marked()).toEqual(["bul", "bul"]);
    // Matches in the view are marked, whatever the search returns.
    await page.route("**/search?*", (route) => route.fulfill({ json: { total: 0, hits: [] } }));
    await page.getByRole("searchbox").fill("bulundu");
    await page.getByText("no match").waitFor();
    expect(await marked()).toEqual(["bulundu"]);
    await page.keyboard.press("Escape");
    await eventually(async () => expect(await marked()).toEqual([]));
    expect(await main.evaluate((element) => element.contains(document.activeElement))).toBe(true);

    // A covered session is followed, but only the rows of one view are rendered.
    const rows = () => page.locator(".pane:not(.pane-beside) article").count();
    const before = await rows();
    await page.setViewportSize({ width: 1000, height: 900 });
    const hidden = page.locator(".pane:not(.pane-beside) .scroller");
    await hidden.waitFor({ state: "hidden" });
    for (let line = 0; line < 10; line += 1) {
      await say(file, behind, `DisplayText behind, ${line}.`);
      await hidden.getByText(`DisplayText behind, ${line}.`).waitFor({ state: "attached" });
    }
    expect(await rows()).toBeLessThan(before + 40);
    await page.getByRole("link", { name: "Close" }).click();
    await main.getByText("DisplayText behind, 9.").waitFor();
    expect(
      await main.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop),
    ).toBeLessThanOrEqual(4);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await daemon.stop();
    await home.remove();
  }
});
