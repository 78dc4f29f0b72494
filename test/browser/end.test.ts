import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { call, result, SESSION, say, writer } from "../sources/claude-support.ts";
import { createHome, enterAt, startDaemon } from "./harness.ts";
import { listed, restOf } from "./managed-session.ts";
import { openTestBrowser } from "./shared-browser.ts";

it("keeps the position of a part that is opened at the end, and follows the end once it is closed", async () => {
  const home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-end");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${SESSION}.jsonl`);
  const paragraphs = Array.from(
    { length: 1_800 },
    (_, n) => `Paragraph ${n} of a long answer, in some more words.`,
  );
  const { user, assistant } = writer();
  const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const output = Array.from({ length: 400 }, (_, n) => `line ${n}`).join("\n");
  await writeFile(
    file,
    lines(
      user("Write at length"),
      assistant("m1", [say(paragraphs.slice(0, 40).join("\n\n"))]),
      assistant("m2", [call("t1", { command: "seq 400" })]),
      user([result("t1", output)]),
      assistant("m3", [say("The last word.")]),
    ),
  );
  const daemon = await startDaemon(home, ["--no-samples"]);
  const browser = await openTestBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    await listed(restOf(home, daemon), SESSION);
    const { page, complaints } = await enterAt(`/session/${SESSION}`, context, daemon);
    const transcript = page.getByRole("region", { name: "Transcript", exact: true });
    await transcript.getByText("The last word.").waitFor();
    const rest = () =>
      transcript.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop);
    const top = async (text: string) =>
      (await transcript.getByText(text, { exact: true }).first().boundingBox())?.y ?? Number.NaN;

    const card = transcript.getByRole("article", { name: "Bash: seq 400" }).locator("summary").first();
    const before = (await card.boundingBox())?.y ?? Number.NaN;
    await card.click();
    await transcript
      .getByText(/line 15\b/)
      .first()
      .waitFor();
    expect((await card.boundingBox())?.y).toBeCloseTo(before, 0);
    expect(await rest()).toBeGreaterThan(100);

    await card.click();
    await eventually(async () => expect(await rest()).toBeLessThanOrEqual(4));
    await appendFile(file, lines(assistant("m4", [say("One more word.")])));
    await transcript.getByText("One more word.").waitFor();
    await eventually(async () => expect(await rest()).toBeLessThanOrEqual(4));

    await appendFile(file, lines(assistant("m5", [say(paragraphs.join("\n\n"))])));
    const button = transcript.getByRole("button", { name: /^Show all/ }).first();
    await button.waitFor();
    await eventually(async () => expect(await rest()).toBeLessThanOrEqual(4));
    const shown = await transcript.evaluate((element) => {
      const box = element.getBoundingClientRect();
      const found = [...element.querySelectorAll(".markdown p")].find(
        (paragraph) => paragraph.getBoundingClientRect().top > box.top + 100,
      );
      return found?.textContent ?? "";
    });
    const place = await top(shown);
    expect(place).toBeGreaterThan(0);
    await button.click();
    await eventually(async () => expect(await rest()).toBeGreaterThan(1_000));
    expect(await top(shown)).toBeCloseTo(place, 0);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await daemon.stop();
    await home.remove();
  }
});
