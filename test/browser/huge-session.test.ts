import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { uuidFrom } from "../../src/model/uuid.ts";
import { partsReply, searchAllReply } from "../../src/protocol.ts";
import { HUGE_FILE_BYTES } from "../../src/server/import/large-files/segments.ts";
import { eventually } from "../eventually.ts";
import { call, result, SESSION, say, writer } from "../sources/claude-support.ts";
import { createHome, enterAt, startDaemon } from "./harness.ts";
import { listed, restOf } from "./managed-session.ts";
import { openTestBrowser } from "./shared-browser.ts";

const TURNS = 60;

it("shows any turn of a huge session in one transcript, by scrolling, by link and by search", async () => {
  const home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-huge");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${SESSION}.jsonl`);
  const { user, assistant } = writer();
  const padding = "x".repeat(Math.ceil(HUGE_FILE_BYTES / TURNS / 2));
  const line = (record: object, more = {}) => `${JSON.stringify({ ...record, ...more })}\n`;
  await writeFile(file, "");
  for (let n = 1; n <= TURNS; n += 1) {
    await appendFile(
      file,
      line(user(`Prompt ${n}`)) +
        line(assistant(`a${n}`, [call(`t${n}`, { command: `make part-${n}` })]), { padding }) +
        line(user([result(`t${n}`, `built part ${n}`)])) +
        line(assistant(`b${n}`, [say(`Answer ${n} of all.`)]), { padding }),
    );
  }
  const daemon = await startDaemon(home, ["--no-samples"]);
  const browser = await openTestBrowser();
  try {
    const rest = restOf(home, daemon);
    await listed(rest, SESSION);
    await eventually(async () => {
      const { sessions, not_indexed } = searchAllReply.parse(await rest.get("/api/search?q=nothing"));
      expect({ sessions, not_indexed }).toEqual({ sessions: 1, not_indexed: 0 });
    });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const { page, complaints } = await enterAt(`/session/${SESSION}`, context, daemon);
    const transcript = page.getByRole("region", { name: "Transcript", exact: true });
    await transcript.getByText(`Answer ${TURNS} of all.`).waitFor();

    await page.keyboard.press("Home");
    await transcript.getByText("Answer 1 of all.").waitFor();
    await transcript.getByRole("article", { name: "Bash: make part-1", exact: true }).waitFor();
    expect(await transcript.getByText("result without a call").count()).toBe(0);

    await page.keyboard.press("/");
    await page.getByRole("searchbox").fill("Answer 23 of");
    await transcript.getByText("Answer 23 of all.").waitFor();

    const { parts } = partsReply.parse(await rest.get(`/api/sessions/${SESSION}/parts?from=150&to=170`));
    const linked = parts.find(({ part }) => part.type === "text")?.part;
    if (linked?.type !== "text") throw new Error("There is no text in the middle.");
    // A link of an older version, which showed segments with ids of their own.
    const segment = uuidFrom(SESSION, "segment 1");
    await page.goto(`${daemon.origin}/session/${segment}#part-${linked.id}`);
    await page.waitForURL(`**/session/${SESSION}#part-${linked.id}`);
    await transcript.getByText(linked.text).waitFor();
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await daemon.stop();
    await home.remove();
  }
});
