import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createHome, type Daemon, enter, type Home, settled, startDaemon } from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

// The most important part of a transcript line is visible, however long the line is.

const SESSION = "5f0c1d9e-0000-4000-8000-000000000001";
const HEADINGS = "5f0c1d9e-0000-4000-8000-000000000002";
/** As long as a heading can show, and longer: in one line, in several, in wide letters. */
const PROMPTS = [40, 100, 160, 200, 240, 280].flatMap((length) => [
  "Say why the second record of a cut file is shown twice, and mend it. ".repeat(5).slice(0, length),
  `Say why.\n${"The second record of a cut file is shown twice. ".repeat(6).slice(0, length - 10)}`,
  "请检查解析器为什么把第二条记录显示两次".repeat(15).slice(0, length),
]);
const LONG = `find . ${"-name '*.generated.ts' -o ".repeat(30)} -print`;

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
beforeAll(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-lines");
  await mkdir(folder, { recursive: true });
  const lines = [
    prompt("Go."),
    ...command("failed", LONG, "Exit code 1\nerror: too many arguments for a command of this shell"),
    ...command("short", "make check", `error: ${"the tide table has no row for this harbour ".repeat(4)}`),
    ...command("none", "", "error: no command was given"),
    ...command("slow", "make all", "error: no rule", 47 * 60 + 20),
    ...run("run", "Look at the tides", 12 * 60 + 41),
    answer(
      `| Harbour of departure | Tonnes | Remarks |\n| --- | --- | --- |\n| Bremerhaven | 1,234,567 | ${"laden with timber and grain ".repeat(12)} |`,
    ),
    prompt("Thanks."),
    ...fetched("page", 74),
    ...refusedPlan("plan", 83),
  ];
  await writeFile(join(folder, `${SESSION}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  const headings = PROMPTS.flatMap((words) => [prompt(words), answer("Done.")]).map((line) =>
    line.replaceAll(SESSION, HEADINGS),
  );
  await writeFile(join(folder, `${HEADINGS}.jsonl`), headings.map((line) => `${line}\n`).join(""));
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  ({ page, complaints } = await enter(await browser.newContext(), daemon));
  await page.goto(`${daemon.origin}/session/${SESSION}`);
});
afterAll(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

const stop_reason = "end_turn";
const usage = { input_tokens: 24_300, output_tokens: 1_240 };
let written = 0;
let clock = Date.UTC(2026, 10, 20, 9, 0, 0);
function record(role: "user" | "assistant", content: unknown, seconds = 1, more: object = {}): string {
  written += 1;
  clock += seconds * 1_000;
  const id = `5f0c1d9e-0000-4000-9000-${String(written).padStart(12, "0")}`;
  const message =
    role === "user"
      ? { role, content }
      : { id, type: "message", role, model: "claude-opus-4-7", content, stop_reason, usage };
  return JSON.stringify({
    type: role,
    uuid: id,
    parentUuid: null,
    isSidechain: false,
    userType: "external",
    cwd: "/home/ada/lines",
    sessionId: SESSION,
    version: "2.1.197",
    timestamp: new Date(clock).toISOString(),
    message,
    ...more,
  });
}
function prompt(text: string): string {
  return record("user", text);
}
function answer(text: string): string {
  // A thought that is not recorded is counted at the foot of the turn.
  return record("assistant", [
    { type: "thinking", thinking: "", signature: "c2lnbmVk" },
    { type: "text", text },
  ]);
}
/** A call of the shell that fails after some seconds. */
function command(id: string, command: string, output: string, seconds = 1): string[] {
  return [
    record("assistant", [{ type: "tool_use", id, name: "Bash", input: { command } }]),
    record("user", [{ type: "tool_result", tool_use_id: id, content: output, is_error: true }], seconds),
  ];
}

/** A fetched page. */
function fetched(id: string, seconds: number): string[] {
  const url = `https://tides.example/harbours/of/departure?${"5389".repeat(30)}`;
  return [
    record("assistant", [
      { type: "tool_use", id, name: "WebFetch", input: { url, prompt: "Which harbours?" } },
    ]),
    record("user", [{ type: "tool_result", tool_use_id: id, content: "Bremerhaven." }], seconds, {
      toolUseResult: {
        bytes: 62_874,
        code: 200,
        codeText: "OK",
        result: "Bremerhaven.",
        durationMs: seconds * 1000,
        url,
      },
    }),
  ];
}
/** A plan that was not accepted when its turn was stopped. */
function refusedPlan(id: string, seconds: number): string[] {
  const plan = "Add the transcript's position to each harbour";
  const content = "The user doesn't want to proceed with this tool use.";
  return [
    record("assistant", [{ type: "tool_use", id, name: "ExitPlanMode", input: { plan } }]),
    record("user", [{ type: "tool_result", tool_use_id: id, content, is_error: true }], seconds),
  ];
}

/** A run that took some seconds, of which only figures exist. */
function run(id: string, task: string, seconds: number): string[] {
  const input = { description: task, prompt: task, subagent_type: "general" };
  const figures = { totalDurationMs: seconds * 1000, totalTokens: 48_200, totalToolUseCount: 31 };
  const content = [{ type: "text", text: "Done." }];
  return [
    record("assistant", [{ type: "tool_use", id, name: "Task", input }]),
    record("user", [{ type: "tool_result", tool_use_id: id, content }], seconds, {
      toolUseResult: { status: "completed", prompt: task, agentId: "a1b2c3d", content, ...figures },
    }),
  ];
}

/** How many rows the words take. */
const rowsOf = (words: Locator): Promise<number> =>
  words.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set(Array.from(range.getClientRects(), ({ top }) => top)).size;
  });

it.each([1440, 900, 390])("shows a call's duration on the row of its figures at %i px", async (width) => {
  await page.setViewportSize({ width, height: 800 });
  for (const time of ["47 min 20 s", "12 min 41 s"]) {
    const words = page.locator(".line-time", { hasText: time });
    await words.waitFor();
    expect(await rowsOf(words)).toBe(1);
  }
  // The gap between the last of the run's figures and the text of its time.
  const gap = await page.locator(".run-action + .line-time").evaluate((time) => {
    const words = document.createRange();
    words.selectNodeContents(time);
    const figures = time.previousElementSibling?.lastElementChild?.getBoundingClientRect();
    const { left, top } = words.getBoundingClientRect();
    return figures === undefined || figures.bottom <= top ? undefined : left - figures.right;
  });
  expect(gap ?? 100).toBeGreaterThanOrEqual(8);
  expect(complaints).toEqual([]);
});

it.each([1440, 1024, 390, 320])("truncates no figure at %i px", async (width) => {
  await page.setViewportSize({ width, height: 800 });
  for (const words of ["200 · ", "not accepted denied"]) {
    const figures = page.locator(".line-figures", { hasText: words });
    await figures.waitFor();
    const [cut, besideLine] = await figures.evaluate((element) => {
      const shown = document.createRange();
      shown.selectNodeContents(element);
      const { left, right } = shown.getBoundingClientRect();
      const own = element.getBoundingClientRect();
      const line = element.closest(".line")?.getBoundingClientRect();
      return [Math.max(own.left - left, right - own.right), right - (line?.right ?? 0)];
    });
    expect(cut).toBeLessThan(1);
    expect(besideLine).toBeLessThan(1);
  }
  expect(complaints).toEqual([]);
});

it.each([1440, 1024, 390])(
  "shows why a call failed after a long command, and a short command completely, %i px wide",
  async (width) => {
    await page.setViewportSize({ width, height: 800 });
    const reason = page.locator(".line-failure", { hasText: "too many arguments" });
    await reason.waitFor();
    const inSight = () =>
      reason.evaluate((element) => {
        const line = element.closest(".line")?.getBoundingClientRect();
        const { left, right } = element.getBoundingClientRect();
        return line === undefined ? 0 : Math.min(right, line.right) - Math.max(left, line.left);
      });
    await expect.poll(inSight).toBeGreaterThan(120);
    const short = page.locator(".line-what", { hasText: "make check" });
    expect(await short.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    expect(complaints).toEqual([]);
  },
);

it.each([1440, 1024, 390])(
  "gives a failed call without a subject the same row as one with a subject, %i px wide",
  async (width) => {
    await page.setViewportSize({ width, height: 800 });
    const heightOf = async (failure: string) => {
      const line = page.locator(".line", { hasText: failure });
      await line.waitFor();
      return line.evaluate((element) => element.getBoundingClientRect().height);
    };
    expect(await heightOf("no command was given")).toBe(await heightOf("no rule"));
    const bar = page.locator(".line-failure", { hasText: "no command was given" });
    expect(await bar.evaluate((element) => getComputedStyle(element, "::before").content)).toBe("none");
    expect(complaints).toEqual([]);
  },
);

it.each([1440, 390, 360])(
  "begins a turn's foot with the reason for its end, and shows all of it above the next turn, %i px wide",
  async (width) => {
    await page.setViewportSize({ width, height: 800 });
    const foot = page.locator(".turn-foot").first();
    await foot.waitFor();
    const words = foot.locator("p");
    expect(await words.textContent()).toMatch(
      /^This turn: end of turn · .+ · 6 steps · .+ tokens in, .+ out$/,
    );
    const hidden = await words.evaluate((element) => [
      element.scrollWidth - element.clientWidth,
      element.scrollHeight - element.clientHeight,
    ]);
    expect(hidden).toEqual([0, 0]);
    const own = await foot.boundingBox();
    const next = await page.locator(".turn-heading", { hasText: "Thanks." }).boundingBox();
    expect((next?.y ?? 0) - ((own?.y ?? 0) + (own?.height ?? 0))).toBe(0);
    const copy = foot.getByRole("button", { name: "Copy turn 1" });
    expect(await copy.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    expect(complaints).toEqual([]);
  },
);

it("keeps cards within a phone's page", async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  const transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await settled(transcript);
  await page.locator(".line-figures", { hasText: "200 · " }).click();
  await page.locator(".tool-body .card-note").first().waitFor();
  expect(await transcript.evaluate((scroller) => scroller.scrollWidth - scroller.clientWidth)).toBe(0);
  expect(complaints).toEqual([]);
});

it("places the body of an open run below its figures, as wide as other cards', at any width", async () => {
  const row = page.locator(".part-row", { hasText: "Look at the tides" });
  const body = row.locator(".tool-body");
  await row.locator("summary").first().press("Enter");
  await body.waitFor();
  const widthOf = async (box: Locator) => (await box.boundingBox())?.width;
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await expect.poll(() => widthOf(body)).toBe(await widthOf(row.locator(".part-body")));
    const gaps = await body.evaluate((element) =>
      [".run-action", ".line-time"].map(
        (name) =>
          element.getBoundingClientRect().top -
          (element.closest(".part-row")?.querySelector(name)?.getBoundingClientRect().bottom ?? Number.NaN),
      ),
    );
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(0);
  }
  expect(complaints).toEqual([]);
});

it("keeps words and numbers of a printed table together if they fit", async () => {
  await page.setViewportSize({ width: 700, height: 800 });
  await page.emulateMedia({ media: "print" });
  for (const words of ["1,234,567", "Bremerhaven"])
    expect(await rowsOf(page.getByRole("cell", { name: words, exact: true }))).toBe(1);
  await page.emulateMedia({ media: null });
  expect(complaints).toEqual([]);
});

it.each([1440, 1280, 1190, 1024, 600, 390])(
  "lets the user open a prompt that its heading truncates, %i px wide",
  async (width) => {
    await page.setViewportSize({ width, height: 3_000 });
    await page.goto(`${daemon.origin}/session/${HEADINGS}`);
    await expect.poll(() => page.locator(".turn-title").count()).toBe(PROMPTS.length);
    const cut = await page.locator(".turn-heading").evaluateAll((headings) =>
      headings.flatMap((heading) => {
        const title = heading.querySelector(".turn-title");
        const isCut = title !== null && title.scrollHeight > title.clientHeight + 2;
        const more = heading.querySelector(".turn-more");
        return isCut && !more?.checkVisibility() ? [title.textContent] : [];
      }),
    );
    expect(cut).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

it.each([1440, 390])(
  "wraps a long command in an open card, which is copied as it was sent, at %i px",
  async (width) => {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${daemon.origin}/session/${SESSION}`);
    const row = page.locator(".part-row", { hasText: "generated.ts" });
    const code = row.locator(".tool-body pre").first();
    await row.locator("summary").first().press("Enter");
    await code.waitFor();
    expect(await code.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    expect(await code.textContent()).toBe(LONG);
    await row.locator("summary").first().press("Enter");
    expect(complaints).toEqual([]);
  },
);

it.each([1440, 1024, 390])("links to the usage from the list at %i px", async (width) => {
  await page.setViewportSize({ width, height: 800 });
  await page.goto(`${daemon.origin}/`);
  const link = page.getByRole("banner").getByRole("link", { name: "Usage" });
  await link.waitFor({ state: "visible" });
  const bar = page.getByRole("banner");
  expect(await bar.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
  expect(complaints).toEqual([]);
});
