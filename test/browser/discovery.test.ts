import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { agentsReply } from "../../src/protocol.ts";
import { scripts } from "../../src/providers/scripted/scripts/index.ts";
import { createHome, type Daemon, enterAt, type Home, startDaemon } from "./harness.ts";
import { begin, configure, idle, type Rest, restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let rest: Rest;
let browser: TestBrowser;
beforeEach(async () => {
  home = await createHome();
  await configure(home, { rules: ["shell", "edit"].map((tool) => ({ tool, decision: "allow" })) });
  daemon = await startDaemon(home, ["--no-samples"]);
  rest = restOf(home, daemon);
  browser = await openTestBrowser();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

const Todos = z.array(z.object({ text: z.string() })).default([]);

const steps = scripts.get("discovery")?.steps ?? [];
/** The script's content in order: each part's kind and first words; for a call its tool and subject, for a plan its next step. */
const SCRIPT = steps
  .flatMap(({ parts }) => parts)
  .map(({ thinking, text, tool_call }) => {
    if (thinking !== undefined) return `thinking ${firstWords(thinking)}`;
    if (text !== undefined) return `text ${firstWords(text)}`;
    const { path, pattern, command, todos } = tool_call?.arguments ?? {};
    const subject = pattern ?? path ?? command ?? Todos.parse(todos)[0]?.text ?? "";
    return `tool ${tool_call?.name.toLowerCase()} ${subject}`;
  });

/** Without Markdown syntax. */
function firstWords(text: string): string {
  return text.replace(/[`*]/g, "").trim().slice(0, 25);
}

/** The content of the page from top to bottom, in the same form. */
async function read(page: Page): Promise<string[]> {
  const region = page.getByRole("region", { name: "Transcript", exact: true });
  /** By position, because only rows in view exist. */
  const rows = new Map<number, string>();
  await region.evaluate((box) => box.scrollTo(0, 0));
  for (;;) {
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    const seen = await region.evaluate((box) =>
      Array.from(box.querySelectorAll<HTMLElement>("article[id^=part-]"), (row) => {
        const words = (selector: string) => row.querySelector(selector)?.textContent ?? "";
        const subject = words(".line-subject");
        return {
          top: row.getBoundingClientRect().top + box.scrollTop,
          kind: words(".part-kind"),
          tool: words(".line-label"),
          subject,
          text: words(".part-body"),
        };
      }),
    );
    for (const { top, kind, tool, subject, text } of seen) {
      const what = kind === "tool" ? `${tool.toLowerCase()} ${subject.split(" in ")[0]}` : "";
      rows.set(
        Math.round(top),
        `${kind} ${what || firstWords(kind === "thinking" ? subject || text : text)}`,
      );
    }
    const more = await region.evaluate((box) => {
      const before = box.scrollTop;
      box.scrollTo(0, before + box.clientHeight * 0.6);
      return box.scrollTop > before + 1;
    });
    if (!more) break;
  }
  return [...rows].toSorted(([one], [other]) => one - other).map(([, line]) => line);
}

it("shows a discovery turn in order, live and after a reload", async () => {
  expect(steps.length).toBe(11);
  expect(SCRIPT.filter((line) => line.startsWith("tool")).length).toBe(30);
  const { agents } = agentsReply.parse(await rest.get("/api/agents"));
  const cwd = agents.find(({ id }) => id === "scripted")?.cwd ?? "";
  const session_id = await begin(rest, "discovery", cwd, "Find out how tasks work.");
  const { page, complaints } = await enterAt(
    `/session/${session_id}`,
    await browser.newContext({ viewport: { width: 1200, height: 900 } }),
    daemon,
  );
  // The view stays at the end while it streams.
  await page
    .getByRole("region", { name: "Transcript", exact: true })
    .getByText("Let me read the existing task screen")
    .waitFor();
  await idle(rest, session_id);
  await page.locator(".turn-foot").waitFor();
  await expect.poll(() => read(page)).toEqual(SCRIPT);
  await page.reload();
  await page.locator(".turn-heading").waitFor();
  await expect.poll(() => read(page)).toEqual(SCRIPT);
  // The cards of one batch directly follow each other and the text that announces them.
  expect(SCRIPT.indexOf("tool read src/dsl/schema.ts")).toBe(
    SCRIPT.indexOf(`text ${firstWords("Let me read the key files to understand")}`) + 1,
  );
  expect(await page.locator(".turn-heading").count()).toBe(1);
  expect(complaints).toEqual([]);
});
