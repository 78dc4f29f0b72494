import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { createHome, enter, openBrowser, startDaemon } from "./harness.ts";

const session_id = "7a0c1d7e-0000-4000-8000-000000000001";

function record(n: number, type: "user" | "assistant", message: object): string {
  const digits = String(n).padStart(12, "0");
  return `${JSON.stringify({
    parentUuid: null,
    isSidechain: false,
    cwd: "/home/ada/end",
    sessionId: session_id,
    version: "2.1.197",
    type,
    message,
    uuid: `7a0c1d7e-0000-4000-9000-${digits}`,
    timestamp: new Date(Date.parse("2026-11-20T09:00:00Z") + n * 1_000).toISOString(),
  })}\n`;
}
const says = (n: number, content: object) =>
  record(n, "assistant", {
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model: "claude-opus-4-7",
    content: [content],
    stop_reason: null,
  });

it("what is opened at the end of a session stays where it is, and closed again the end is followed", async () => {
  const home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-end");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${session_id}.jsonl`);
  const paragraphs = Array.from(
    { length: 1_800 },
    (_, n) => `Paragraph ${n} of a long answer, in some more words.`,
  );
  await writeFile(
    file,
    record(0, "user", { role: "user", content: "Write at length" }) +
      says(1, { type: "text", text: paragraphs.slice(0, 40).join("\n\n") }) +
      says(2, { type: "tool_use", id: "t1", name: "Bash", input: { command: "seq 400" } }) +
      record(3, "user", {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: Array.from({ length: 400 }, (_, n) => `line ${n}`).join("\n"),
          },
        ],
      }) +
      says(4, { type: "text", text: "The last word." }),
  );
  const daemon = await startDaemon(home, ["--no-samples"]);
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const { page, complaints } = await enter(context, daemon);
    await page.goto(`${daemon.origin}/session/${session_id}`);
    const transcript = page.getByRole("region", { name: "Transcript", exact: true });
    await transcript.getByText("The last word.").waitFor();
    const rest = () =>
      transcript.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop);
    const top = async (text: string) =>
      (await transcript.getByText(text, { exact: true }).first().boundingBox())?.y ?? Number.NaN;

    const card = transcript.getByRole("article", { name: /^tool/i }).locator("summary").first();
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
    await appendFile(file, says(5, { type: "text", text: "One more word." }));
    await transcript.getByText("One more word.").waitFor();
    await eventually(async () => expect(await rest()).toBeLessThanOrEqual(4));

    await appendFile(file, says(6, { type: "text", text: paragraphs.join("\n\n") }));
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
