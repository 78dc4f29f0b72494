import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OUTPUT_PIECE } from "../../src/model/parts/kept-output.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { createHome, type Daemon, enterAt, type Home, startDaemon } from "./harness.ts";
import { begin, configure, idle, restOf, scriptFile } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];

/** Starts the daemon and opens a path of it. */
const open = async (path: string): Promise<void> => {
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  ({ page, complaints } = await enterAt(path, context, daemon));
};
beforeEach(async () => {
  home = await createHome();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** Like a user, who sees a button before pressing it: the scroll event comes first. */
const press = async (button: Locator): Promise<void> => {
  await button.scrollIntoViewIfNeeded();
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  await button.click();
};
const numbers = (count: number): string => Array.from({ length: count }, (_, n) => `${n + 1}\n`).join("");
const card = (words: string) => page.getByRole("article").filter({ hasText: words }).first();
const find = (words: string) => page.getByRole("searchbox", { name: "Find in this session" }).fill(words);
const counted = () => page.locator(".find-count").innerText();
/** The marked matches. */
const marked = () =>
  page.evaluate(() => [...(CSS.highlights.get("find") ?? [])].map((range) => range.toString()));

describe("a long output that Claude Code stored in a file", () => {
  const session = generateClaudeSession({ parts: 40, turns: 2, seed: 11 });
  let results: string;
  let written = 0;
  const record = (type: "user" | "assistant", content: unknown[], more: object = {}): string => {
    written += 1;
    const { message, ...last } = JSON.parse(session.lines.at(-1) ?? "{}");
    const uuid = `cccccccc-0000-4000-8000-${String(written).padStart(12, "0")}`;
    const said =
      type === "user" ? { role: "user", content } : { ...message, id: `msg_whole_${written}`, content };
    return `${JSON.stringify({ ...last, uuid, type, message: said, ...more })}\n`;
  };
  const contentOf = (path: string, whole: string): string =>
    `<persisted-output>\nOutput too large (1MB). Full output saved to: ${path}\n\nPreview (first 2KB):\n${whole.slice(0, 2_000)}\n...\n</persisted-output>`;
  /** A call as Claude Code records it when its output is too long. The output file is written if `whole` is given. */
  const kept = async (command: string, name: string, whole: string, place = results): Promise<string> => {
    const path = join(results, name);
    await writeFile(join(place, name), whole);
    const content = contentOf(path, whole);
    const id = `toolu_${name}`;
    return (
      record("assistant", [{ type: "tool_use", id, name: "Bash", input: { command } }]) +
      record("user", [{ type: "tool_result", tool_use_id: id, content, is_error: false }], {
        toolUseResult: {
          stdout: "",
          stderr: "",
          interrupted: false,
          persistedOutputPath: path,
          persistedOutputSize: Buffer.byteLength(whole),
        },
      })
    );
  };

  /** Another tool's structured result does not name the file. */
  const searched = async (pattern: string, name: string, whole: string): Promise<string> => {
    const path = join(results, name);
    await writeFile(path, whole);
    const id = `toolu_${name}`;
    return (
      record("assistant", [{ type: "tool_use", id, name: "Grep", input: { pattern } }]) +
      record("user", [{ type: "tool_result", tool_use_id: id, content: contentOf(path, whole) }], {
        toolUseResult: { mode: "content", filenames: [], numLines: 9_000 },
      })
    );
  };

  beforeEach(async () => {
    const folder = join(home.claude, "projects/-home-ada-whole");
    results = join(folder, session.session_id, "tool-results");
    await mkdir(results, { recursive: true });
    const secret = join(home.path, "secret");
    await mkdir(secret);
    const long = `${"é".repeat(99)}\n`.repeat(15_000);
    const lines = [
      ...session.lines.map((line) => `${line}\n`),
      await kept("seq 1 20000", "seq.txt", numbers(20_000)),
      await kept("cat long", "long.txt", `the FIRST line\n${long}the LAST line\n`),
      await kept("cat exact", "exact.txt", `${"e".repeat(63)}\n`.repeat(OUTPUT_PIECE / 64)),
      await kept("cat uneven", "uneven.txt", `begins\n${"u".repeat(3_000_000)}`),
      await kept("cat gone", "gone.txt", numbers(9_000)),
      await kept("cat secret", "secret.txt", "SECRET ".repeat(1_000), secret),
      await searched("needle", "needle.txt", numbers(9_000)),
      record("assistant", [{ type: "text", text: "The end." }]),
    ];
    await rm(join(results, "gone.txt"));
    await symlink(join(secret, "secret.txt"), join(results, "secret.txt"));
    await writeFile(join(folder, `${session.session_id}.jsonl`), lines.join(""));
    await open(`/session/${session.session_id}`);
    await page.getByText("The end.").waitFor();
  });

  it("opens in the generic card", async () => {
    const needle = card("needle");
    await press(needle.locator("summary").first());
    expect(await needle.innerText()).not.toContain("persisted-output");
    await press(needle.getByRole("button", { name: "Open whole output" }));
    await expect
      .poll(() => needle.getByRole("group", { name: "whole output" }).innerText())
      .toContain("\n9000");
    expect(complaints).toEqual([]);
  });

  it("opens in its card, and is searched then", async () => {
    await page.keyboard.press("/");
    await find("19987");
    await expect.poll(counted).toBe("no match (7 unopened output files not searched)");

    const seq = card("seq 1 20000");
    await press(seq.locator("summary").first());
    expect(await seq.innerText()).not.toContain("persisted-output");
    await press(seq.getByRole("button", { name: "Open whole output (109 KB)" }));
    const whole = seq.getByRole("group", { name: "whole output" });
    await expect.poll(() => whole.innerText()).toContain("\n4000\n");
    expect(await whole.innerText()).toContain("\n20000");
    await expect.poll(counted).toBe("1 part");
    await page.getByRole("searchbox").press("Enter");
    await expect.poll(() => whole.innerText()).toContain("\n19987\n");
    await expect.poll(marked).toEqual(["19987"]);
    expect(await counted()).toBe("part 1 of 1");
    expect(await page.locator(".find-count").getAttribute("title")).toBe(
      "6 unopened output files not searched",
    );

    // It stays open while its row is out of view.
    await page.getByRole("button", { name: "Close" }).click();
    // A focused row is not unmounted.
    await page.getByRole("region", { name: "Transcript", exact: true }).focus();
    await page.keyboard.press("Home");
    await expect.poll(() => seq.count()).toBe(0);
    await page.keyboard.press("End");
    await press(seq.getByRole("button", { name: "Show what the agent saw" }));
    await expect.poll(() => whole.count()).toBe(0);
    await seq.getByRole("button", { name: /^Show all \d+ lines that the agent saw$/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("is loaded in pieces of whole lines if it is very long", async () => {
    const long = card("cat long");
    await press(long.locator("summary").first());
    await press(long.getByRole("button", { name: "Open whole output (3 MB)" }));
    const whole = long.getByRole("group", { name: "piece of the whole output" });
    await long.getByText(`from 0 B to 2.1 MB of 3 MB`).waitFor();
    await press(long.getByRole("button", { name: "Show what follows" }));
    await whole.getByText("the LAST line").waitFor();
    await long.getByText("from 2.1 MB to its end of 3 MB").waitFor();
    expect(await whole.innerText()).not.toContain("\ufffd");
    expect((await whole.innerText()).split("\n")[0]).toBe("é".repeat(99));
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(20_000);
    await press(long.getByRole("button", { name: "Show what comes before" }));
    await long.getByText(`from 0 B to 2.1 MB of 3 MB`).waitFor();
    expect(OUTPUT_PIECE).toBeGreaterThan(2_000_000);
    expect(complaints).toEqual([]);
  });

  it("is searched in the open piece, with a note about the rest", async () => {
    const long = card("cat long");
    await press(long.locator("summary").first());
    await press(long.getByRole("button", { name: "Open whole output (3 MB)" }));
    await press(long.getByRole("button", { name: "Show what follows" }));
    await long.getByText("from 2.1 MB to its end of 3 MB").waitFor();
    await page.keyboard.press("/");
    await find("the FIRST line");
    const rest = "6 unopened output files and the rest of 1 opened output file not searched";
    await expect.poll(counted).toBe(`no match (${rest})`);
    await find("the LAST line");
    await expect.poll(counted).toBe("part 1 of 1");
    await expect.poll(marked).toEqual(["the LAST line"]);
    await press(long.getByRole("button", { name: "Show what the agent saw" }));
    await find("the FIRST line");
    await expect.poll(counted).toBe("part 1 of 1");
  });

  it("is one piece at the exact limit, and never a short line before a long one", async () => {
    const exact = card("cat exact");
    await press(exact.locator("summary").first());
    await press(exact.getByRole("button", { name: /^Open whole output/ }));
    await exact.getByRole("group", { name: "whole output", exact: true }).waitFor();
    expect(await exact.getByRole("button", { name: "Show what follows" }).count()).toBe(0);
    const uneven = card("cat uneven");
    await press(uneven.locator("summary").first());
    await press(uneven.getByRole("button", { name: /^Open whole output/ }));
    await uneven.getByText("from 0 B to 2.1 MB of 3 MB").waitFor();
  });

  it("is reported as missing, and ignored if a link leads outside", async () => {
    for (const words of ["cat gone", "cat secret"]) {
      const one = card(words);
      await press(one.locator("summary").first());
      await press(one.getByRole("button", { name: /^Open whole output/ }));
      await one
        .getByText(
          "Not opened: The file with the complete output is not in the session's folder, or no longer exists.",
        )
        .waitFor();
      expect(await one.getByRole("group", { name: "whole output" }).count()).toBe(0);
    }
    // The browser names each refused request.
    expect(complaints.every((complaint) => complaint.includes("404"))).toBe(true);
  });
});

it("opens a long output of the daemon's own shell in its card", async () => {
  const folder = join(home.path, "harbour");
  await mkdir(folder);
  await configure(home, { permissions: { shell: "allow" } });
  await open("/");
  const rest = restOf(home, daemon);
  const model = await scriptFile(home, "long", {
    title: "Long",
    steps: [
      { parts: [{ tool_call: { name: "shell", arguments: { command: "seq 1 60000" } } }] },
      { parts: [{ text: "Done." }] },
    ],
  });
  const session_id = await begin(rest, model, folder);
  await page.goto(`${daemon.origin}/session/${session_id}`);
  await page
    .getByRole("button", { name: /^Allow/ })
    .first()
    .click();
  await idle(rest, session_id);
  const seq = card("seq 1 60000");
  await press(seq.locator("summary").first());
  await seq.getByRole("button", { name: "Show all that the agent saw (30.2 KB)" }).waitFor();
  await press(seq.getByRole("button", { name: "Open whole output (349 KB)" }));
  await page.keyboard.press("/");
  await find("30001");
  await expect.poll(counted).toBe("part 1 of 1");
  await expect
    .poll(() => seq.getByRole("group", { name: "whole output" }).innerText())
    .toContain("\n30001\n");
  // So far from the beginning that not everything before it is rendered.
  await find("58999");
  await expect.poll(marked).toContain("58999");
  await seq.getByRole("button", { name: "Show 4,000 of 56,000 earlier lines" }).waitFor();
  expect(complaints).toEqual([]);
});
