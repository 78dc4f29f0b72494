import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { characterEntities } from "character-entities";
import { expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { createHome, enterAt, startDaemon } from "./harness.ts";
import { listed, restOf } from "./managed-session.ts";
import { openTestBrowser } from "./shared-browser.ts";

/**
 * Some names of letters and mathematical signs: the page marks other signs as hidden. A paragraph of more than 1,000 marks would
 * be shown as plain text. The whole table is tested in test/web/ui/character-reference.test.ts.
 */
const NAMES = Object.entries(characterEntities)
  .filter(([, text]) => /^[\p{Sm}\p{Script=Latin}]$/u.test(text))
  .slice(0, 300);

it("shows named characters at once, and the page's policy allows it", async () => {
  const session = generateClaudeSession({ parts: 10, turns: 1, seed: 5 });
  const home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-characters");
  await mkdir(folder, { recursive: true });
  const last = JSON.parse(session.lines.at(-1) ?? "{}");
  const text = `Signs: ${NAMES.map(([name]) => `${name} &${name};`).join(", ")}. None: &notit; &nosuch;`;
  const record = {
    ...last,
    type: "assistant",
    uuid: "aaaaaaaa-0000-4000-8000-000000000001",
    message: { ...last.message, id: "msg_signs", content: [{ type: "text", text }] },
  };
  await writeFile(
    join(folder, `${session.session_id}.jsonl`),
    [...session.lines, JSON.stringify(record)].map((line) => `${line}\n`).join(""),
  );
  const daemon = await startDaemon(home, ["--no-samples"]);
  const browser = await openTestBrowser();
  try {
    await listed(restOf(home, daemon), session.session_id);
    const path = `/session/${session.session_id}`;
    const { page, complaints } = await enterAt(path, await browser.newContext(), daemon);
    const signs = page.getByText(/^Signs: /).first();
    await signs.waitFor();
    const expected = NAMES.map(([name, character]) => `${name} ${character}`).join(", ");
    expect(await signs.textContent()).toBe(`Signs: ${expected}. None: &notit; &nosuch;`);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await daemon.stop();
    await home.remove();
  }
});
