import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { times } from "../long.ts";
import { createHome, type Daemon, enterAt, type Home, openBrowser, startDaemon } from "./harness.ts";
import { begin, idle, type Rest, restOf, scriptFile, send } from "./managed-session.ts";

const MB = 1024 * 1024;
const TOKENS_PER_SECOND = 6_000;

let home: Home;
let daemon: Daemon;
let browser: Browser;
let rest: Rest;
beforeAll(async () => {
  home = await createHome();
  daemon = await startDaemon(home, ["--no-samples"]);
  rest = restOf(home, daemon);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

const TEXTS = {
  paragraphs: Array.from(
    { length: times(2_000, 4_000) },
    (_, n) => `Paragraph ${n} tells of tides and boats.\n\n`,
  ).join(""),
  "one block of code": `\`\`\`ts\n${Array.from({ length: times(2_500, 6_000) }, (_, n) => `export const tide_${n} = ${n} * 2;\n`).join("")}\`\`\`\n\n`,
};

it.each(Object.entries(TEXTS))(
  "shows a long streamed answer completely, %s, with at most 20 MB of page memory",
  async (name, text) => {
    const model = await scriptFile(home, "long", {
      title: "Long",
      tokens_per_second: TOKENS_PER_SECOND,
      turns: [
        { steps: [{ parts: [{ text: "Ready." }] }] },
        { steps: [{ parts: [{ text: `${text}That is all.` }] }] },
      ],
    });
    const session_id = await begin(rest, model, home.path);
    await idle(rest, session_id);
    const { page, complaints } = await enterAt(`/session/${session_id}`, await browser.newContext(), {
      ...daemon,
      launch: await rest.link(),
    });
    await page.locator(".turn-foot").waitFor();
    const cdp = await page.context().newCDPSession(page);
    const held = async (): Promise<number> => {
      await cdp.send("HeapProfiler.collectGarbage");
      const { usedSize } = await cdp.send("Runtime.getHeapUsage");
      return usedSize / MB;
    };
    const before = await held();
    await send(rest, session_id, "Go on");
    await idle(rest, session_id);
    await page.getByRole("region", { name: "Transcript", exact: true }).getByText("That is all.").waitFor();
    const after = await held();
    console.info(
      `${name}: ${(text.length / 1_024).toFixed(0)} KB, ${before.toFixed(1)} MB before, ${after.toFixed(1)} after`,
    );
    expect(after - before).toBeLessThan(20);
    expect(await page.getByRole("button", { name: /Load the rest/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);

it("highlights streamed code from its first line on", async () => {
  const model = await scriptFile(home, "open", {
    title: "Open",
    turns: [
      { steps: [{ parts: [{ text: "Ready." }] }] },
      {
        steps: [
          { parts: [{ text: `\`\`\`ts\nconst a = 1;\nconst b = 2;\nconst c = [${"3, ".repeat(10_000)}` }] },
        ],
      },
    ],
  });
  const session_id = await begin(rest, model, home.path);
  await idle(rest, session_id);
  const launch = await rest.link();
  const path = `/session/${session_id}`;
  const { page, complaints } = await enterAt(path, await browser.newContext(), { ...daemon, launch });
  await page.locator(".turn-foot").waitFor();
  await send(rest, session_id, "Go on");
  const keywords = page.locator("code.language-ts .code-keyword");
  await keywords.nth(1).waitFor();
  expect(await keywords.allInnerTexts()).toEqual(["const", "const"]);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await idle(rest, session_id);
  expect(complaints).toEqual([]);
  await page.context().close();
});
