import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { createHome, type Daemon, enter, enterAt, type Home, startDaemon } from "./harness.ts";
import { begin, idle, type Rest, restOf, scriptFile, send, storedParts } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const COMMANDS = times(5, 200);

let home: Home;
let folder: string;
let daemon: Daemon;
let rest: Rest;
let browser: TestBrowser;
beforeEach(async () => {
  home = await createHome();
  folder = join(home.path, "harbour");
  await mkdir(folder);
  daemon = await startDaemon(home, ["--no-samples"]);
  rest = restOf(home, daemon);
  browser = await openTestBrowser();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** Starts a scripted session and opens it in a new browser context. */
async function start(model: string, options: BrowserContextOptions, expected: RegExp[] = []) {
  const session_id = await begin(rest, model, folder);
  const context = await browser.newContext(options);
  return { session_id, ...(await enterAt(`/session/${session_id}`, context, daemon, expected)) };
}

/** Pieces that can make a command look like another one. */
const PIECES = [
  // Control characters and terminal sequences.
  ...Array.from({ length: 31 }, (_, code) => String.fromCharCode(code + 1)).filter((sign) => sign !== "\r"),
  "\u007f",
  "\u0085",
  "\u009b31m",
  "\u001b[2K\u001b[1A",
  "\u001b]0;title\u0007",
  "\b\b\b",
  "\r",
  "\r\n",
  "\n",
  "\n\n",
  "\t",
  " \t \n",
  "   ",
  // Direction.
  "\u202e",
  "\u202dabc\u202c",
  "\u2066rm -rf\u2069",
  "\u2067",
  "\u200f",
  "\u061c",
  "שלום rm",
  "مرحبا 12",
  // Invisible characters.
  "\u00a0",
  "\u00ad",
  "\u200b",
  "\u200c",
  "\u200d",
  "\u2060",
  "\u2028",
  "\u2029",
  "\ufeff",
  "\u3164",
  "\u115f",
  "\u2800",
  "\u180e",
  "\ufe0f",
  "\u{e0041}\u{e0042}\u{e007f}",
  "\u{e0100}",
  "\ufffd",
  "\ufffe",
  // Confusable characters.
  "аbс",
  "ЅЕСURЕ",
  "ρath",
  "ｌｓ",
  "／etc",
  "‐‑–—−",
  "“”‘’′",
  "；",
  "\u037e",
  "e\u0301\u0302\u0303\u0304\u0305",
  "ﬁle",
  "𝗅𝗌",
  "Ⅰ",
  // Characters of other scripts and planes, and Markdown and HTML syntax.
  "日本語",
  "👩\u200d👩\u200d👧",
  "🏴\u{e0067}\u{e0062}\u{e007f}",
  "<b>&amp;</b>",
  "`rm`",
  "**x**",
  "$(false)",
  "\\n\\x41",
  "--",
  "-rf /",
  "# ",
  "a",
  "Z",
  "0",
];

/** A harmless command, whatever its pieces: it records the arguments of its own shell and does nothing else. */
function commandOf(random: () => number, index: number): string {
  const rest = Array.from(
    { length: 1 + Math.floor(random() * 12) },
    () => PIECES[Math.floor(random() * PIECES.length)],
  ).join("");
  const report = `cat /proc/$$/cmdline > ${index}.cmdline`;
  // In a quoted text, in a here-document, or after a line that ends the program.
  switch (index % 3) {
    case 0:
      return `${report}; : '${rest}'`;
    case 1:
      return `${report}; : <<'E\u0301OF'\n${rest}\nE\u0301OF\n`;
    default:
      return `${report}; exit 0\n${rest.replaceAll("'", "")}`;
  }
}

/** The command as the card shows it, read back from the document: each mark is replaced by the characters that it names. */
function shown(page: Page): Promise<string> {
  return page
    .getByRole("region", { name: "Approval" })
    .locator(".exact-text")
    .last()
    .evaluate((element) => {
      const read = (node: Node): string => {
        if (node instanceof HTMLElement && node.matches("mark.hidden-text")) {
          const [, code, count] = /U\+([0-9A-F]{4,6})(?: × ([\d,]+))?/.exec(node.textContent ?? "") ?? [];
          if (code === undefined) return "?";
          const times = Number(count?.replaceAll(",", "") ?? 1);
          return String.fromCodePoint(Number.parseInt(code, 16)).repeat(times);
        }
        if (node.nodeType === Node.TEXT_NODE) return node.nodeValue ?? "";
        return Array.from(node.childNodes, read).join("");
      };
      return read(element);
    });
}

it.runIf(process.platform === "linux")(
  `shows ${COMMANDS} commands byte for byte as /bin/sh receives them`,
  { timeout: 120_000 + COMMANDS * 5_000 },
  async () => {
    const seed = Date.now() % 1_000_000;
    console.info(`commands at random, seed ${seed}`);
    const random = seeded(seed);
    const commands = Array.from({ length: COMMANDS }, (_, index) => commandOf(random, index));
    const model = await scriptFile(home, "commands", {
      title: "Commands",
      tokens_per_second: 0,
      steps: [
        ...commands.map((command) => ({ parts: [{ tool_call: { name: "shell", arguments: { command } } }] })),
        { parts: [{ text: "That is all." }] },
      ],
    });
    const { page, complaints, session_id } = await start(model, { viewport: { width: 1200, height: 900 } });
    for (const [index, command] of commands.entries()) {
      const card = page.getByRole("region", { name: "Approval" });
      const allow = card.getByRole("button", { name: "Allow", exact: true, disabled: false });
      const text = card.locator(".exact-text", { hasText: `> ${index}.cmdline` });
      await text.waitFor();
      expect(await shown(page), `command ${index}`).toBe(command);
      await allow.click();
      await text.waitFor({ state: "detached" });
    }
    await idle(rest, session_id);
    for (const [index, command] of commands.entries()) {
      const given = await readFile(join(folder, `${index}.cmdline`));
      expect(given.equals(Buffer.from(`/bin/sh\0-c\0--\0${command}\0`)), `command ${index}`).toBe(true);
    }
    const requests = (await storedParts(rest, session_id)).flatMap((part) =>
      part.type === "request" ? [part] : [],
    );
    expect(requests.map(({ request }) => request.subject)).toEqual(commands);
    expect(requests.map(({ request }) => request.digest)).toEqual(
      commands.map((command) => createHash("sha256").update(command).digest("hex")),
    );
    expect(requests.every(({ outcome }) => outcome === "answered")).toBe(true);
    expect(complaints).toEqual([]);
  },
);

it("keeps the focus on an answer that did not arrive, so that it can be repeated", async () => {
  const model = await scriptFile(home, "once", {
    title: "Once",
    tokens_per_second: 0,
    steps: [
      { parts: [{ tool_call: { name: "shell", arguments: { command: "echo hi" } } }] },
      { parts: [{ text: "That is all." }] },
    ],
  });
  const { page } = await start(model, {}, [/status of 503/]);
  const card = page.getByRole("region", { name: "Approval" });
  const allow = card.getByRole("button", { name: "Allow", exact: true, disabled: false });
  await page.route("**/requests/**", async (route) => {
    // The browser takes the focus from a button that is disabled.
    await page.waitForFunction(() => document.activeElement === document.body);
    await route.fulfill({ status: 503, contentType: "application/json", body: "{}" });
  });
  await allow.focus();
  await page.keyboard.press("Enter");
  await card.getByText(/^Not answered/).waitFor();
  await expect.poll(() => allow.evaluate((button) => button === document.activeElement)).toBe(true);
  await page.unroute("**/requests/**");
  await page.keyboard.press("Shift+Y");
  await page.getByText("That is all.").waitFor();
});

/** A script with calls in one message, so that their approvals are requested at once. */
const shellCalls = (...commands: string[]) => ({
  title: "Clean up",
  tokens_per_second: 0,
  steps: [
    { parts: commands.map((command) => ({ tool_call: { name: "shell", arguments: { command } } })) },
    { parts: [{ text: "Done." }] },
  ],
});

/** The middle of an Allow button, in the page's own pixels. */
async function middleOf(button: Locator): Promise<[number, number]> {
  const box = await button.boundingBox();
  if (box === null) throw new Error("The button is not on screen.");
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/**
 * Clicks a place on screen in the first frame that shows an Allow button. Runs in the page, because on a busy machine a click from
 * here can arrive so late that it counts as intended.
 */
async function clickAsAllowAppears(page: Page, at: [number, number]): Promise<void> {
  await page.waitForFunction(
    ([x, y]) => {
      const target = document.elementFromPoint(x, y);
      if (target?.closest("[data-answer=allow_once]") == null) return false;
      const click = { bubbles: true, cancelable: true, detail: 1, clientX: x, clientY: y };
      target.dispatchEvent(new MouseEvent("click", click));
      return true;
    },
    at,
    { polling: "raf" },
  );
}

it("shows how many rows of a command are below the visible ones, until its end was visible", async () => {
  const text = Array.from({ length: 80 }, (_, index) => `line ${index}\n`).join("");
  const model = await scriptFile(home, "long", shellCalls(`cat <<'E' > out.txt\n${text}E\nrm -rf out.txt`));
  const { page, complaints } = await start(model, { viewport: { width: 1280, height: 900 } });
  const card = page.getByRole("region", { name: "Approval" });
  const command = card.getByRole("group", { name: "Exactly what runs" });
  const allow = card.getByRole("button", { name: "Allow", exact: true });
  const below = card.getByRole("button", { name: /more rows? below$/ });
  const described = () =>
    allow.evaluate(
      (button) => document.getElementById(button.getAttribute("aria-describedby") ?? "")?.textContent,
    );
  await below.waitFor();
  expect(await described()).toBe(await below.textContent());
  // Half of the window is 450 pixels: 22 rows and a fraction.
  const rows = async () => Number.parseInt((await below.textContent()) ?? "", 10);
  expect(await rows()).toBe(83 - 22);

  await command.evaluate((box) => box.scrollBy(0, 200));
  await expect.poll(rows).toBe(83 - 32);
  const [, y] = await middleOf(allow);
  await below.click();
  await below.waitFor({ state: "detached" });
  expect(await described()).toBeUndefined();
  expect((await middleOf(allow))[1]).toBe(y);
  const isAtEnd = (box: Element) => box.scrollHeight - box.clientHeight - box.scrollTop < 1;
  expect(await command.evaluate(isAtEnd)).toBe(true);
  expect(await command.evaluate((box) => box === document.activeElement)).toBe(true);

  // Scrolling back at once is possible: a key moves the view by seven eighths of its 448 pixels. The browser scrolls smoothly, so
  // wait until it has finished.
  const scrolled = command.evaluate(
    (box) =>
      new Promise<void>((resolve) => box.addEventListener("scrollend", () => resolve(), { once: true })),
  );
  await command.press("PageUp");
  await scrolled;
  await expect.poll(rows).toBe(20);
  await below.press("Enter");
  await command.press("PageUp");
  await expect.poll(rows).toBe(20);

  // With another window height, another part is visible.
  const toStart = () => command.evaluate((box) => box.scrollTo(0, 0));
  await expect.poll(() => toStart().then(rows)).toBe(83 - 22);
  await page.setViewportSize({ width: 1280, height: 1200 });
  await expect.poll(rows).toBe(83 - 29);
  await page.setViewportSize({ width: 1280, height: 4_000 });
  await below.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

it("counts wrapped rows on a phone, shows the end with one tap, and keeps the answers in place", async () => {
  const words = (line: number) => "with words ".repeat(line % 9);
  const text = Array.from({ length: 700 }, (_, line) => `echo "step ${line}, ${words(line)}"`).join("\n");
  const model = await scriptFile(home, "phone", shellCalls(text));
  const { page, complaints } = await start(model, { viewport: { width: 390, height: 844 } });
  const command = page.getByRole("group", { name: "Exactly what runs" });
  const allow = page.getByRole("button", { name: "Allow", exact: true });
  const below = page.getByRole("button", { name: /more rows? below$/ });
  await below.waitFor();
  const said = Number(((await below.textContent()) ?? "").replace(/\D/g, ""));
  const [, y] = await middleOf(allow);
  await below.click();
  await below.waitFor({ state: "detached" });
  expect(await command.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop)).toBeLessThan(
    1,
  );
  expect((await middleOf(allow))[1]).toBe(y);
  // Everything is laid out once it was visible.
  const rows = await command.evaluate(async (box) => {
    for (let top = 0; top < box.scrollHeight; top += box.clientHeight) {
      box.scrollTo(0, top);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
    return (box.scrollHeight - box.clientHeight) / 20;
  });
  expect(said / rows).toBeGreaterThan(0.9);
  expect(said / rows).toBeLessThan(1.1);
  expect(complaints).toEqual([]);
});

it.each([
  { name: "alone", before: [] },
  { name: "beside a call that ran meanwhile", before: [{ name: "glob", arguments: { pattern: "*" } }] },
])("nothing covers the answers of a waiting turn, $name", async ({ before }) => {
  const command = Array.from({ length: 60 }, (_, line) => `echo ${line}`).join("\n");
  const calls = [...before, { name: "shell", arguments: { command } }];
  const model = await scriptFile(home, `waits-${before.length}`, {
    title: "Clean up",
    tokens_per_second: 0,
    steps: [{ parts: calls.map((tool_call) => ({ tool_call })) }, { parts: [{ text: "Done." }] }],
  });
  const { page, session_id } = await start(model, { viewport: { width: 1280, height: 720 } });
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  const transcript = page.getByRole("region", { name: "Transcript", exact: true });
  await transcript.evaluate(
    (box) =>
      new Promise((resolve) => {
        box.addEventListener("scroll", resolve, { once: true });
        box.scrollBy(0, -60);
      }),
  );
  await transcript.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  expect(await page.getByRole("button", { name: "To the end" }).count()).toBe(0);
  // Content that appears below them.
  await send(rest, session_id, "Mind the tests.", "steer");
  await transcript.getByText("Mind the tests.").waitFor();
  expect(await page.getByRole("button", { name: "1 new below" }).count()).toBe(0);
});

it("ignores a second click on the next request, which moved under the pointer", async () => {
  const model = await scriptFile(home, "two", shellCalls("ls\npwd", "touch ran"));
  const { page, complaints } = await start(model, { viewport: { width: 1280, height: 900 } });
  const allow = page.getByRole("button", { name: "Allow", exact: true });
  await expect.poll(() => allow.count()).toBe(2);
  const at = await middleOf(allow.first());
  await page.locator("[data-answer=allow_once]:not([aria-disabled=true])").first().click();
  await page.getByText("Allowed", { exact: true }).waitFor();
  // As close to the button's middle as possible: the removed form was higher than its replacement.
  await clickAsAllowAppears(page, at);
  await page.locator("[data-answer=allow_once][aria-disabled=false]").waitFor();
  expect(await page.getByText("Allowed", { exact: true }).count()).toBe(1);
  await allow.click();
  await page.getByText("Done.", { exact: true }).waitFor();
  expect(await page.getByText("Allowed", { exact: true }).count()).toBe(2);
  expect(complaints).toEqual([]);
});

it.each([true, false])("shows an approval's keys except on touch screens: %s", async (hasTouch) => {
  const model = await scriptFile(home, "one", shellCalls("touch ran"));
  const { page } = await start(model, {
    viewport: { width: 390, height: 844 },
    hasTouch,
    isMobile: hasTouch,
  });
  const allow = page.getByRole("button", { name: "Allow", exact: true });
  await allow.waitFor();
  expect(await allow.innerText()).toMatch(hasTouch ? /^Allow$/ : /^Allow\s*Y$/);
});

it("has targets of 44 pixels, 12 pixels apart, on a touch screen", async () => {
  const model = await scriptFile(home, "one", shellCalls("touch ran"));
  const { page, complaints } = await start(model, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  const boxes = (selector: string) =>
    page
      .locator(selector)
      .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect()));
  const answers = await boxes(".answer");
  const controls = [...answers, ...(await boxes(".composer-send > .button"))];
  expect(controls.length).toBeGreaterThan(answers.length);
  expect(Math.min(...controls.map(({ height }) => height))).toBeGreaterThanOrEqual(44);
  for (const one of answers)
    for (const other of answers)
      if (other !== one)
        expect(
          Math.max(
            other.left - one.right,
            one.left - other.right,
            other.top - one.bottom,
            one.top - other.bottom,
          ),
        ).toBeGreaterThanOrEqual(12);
  const [link] = await boxes(".composer-note > a");
  expect(link?.height).toBeGreaterThanOrEqual(24);
  expect(complaints).toEqual([]);
});

it("folds an answered approval into one line with its time, which opens to the command", async () => {
  const command = `true ${"and nothing else ".repeat(30)}`;
  const model = await scriptFile(home, "quiet", shellCalls(command));
  const { page, complaints } = await start(model, { viewport: { width: 390, height: 844 } });
  await page.getByRole("button", { name: "Allow for this session", disabled: false }).click();
  const answered = page.locator("summary", {
    hasText: /^Allowed for this session · .*\d\d:\d\d$/,
  });
  await answered.waitFor();
  const { height } = (await answered.boundingBox()) ?? { height: 0 };
  expect(height).toBe(24);
  await answered.click();
  expect(await page.getByRole("group", { name: "What was requested" }).textContent()).toBe(command);
  expect(complaints).toEqual([]);
});

it("shows the title of a waiting session at any width, without overlaps", async () => {
  const { page, complaints } = await enter(await browser.newContext(), daemon);
  await begin(
    rest,
    await scriptFile(home, "one", shellCalls("touch ran")),
    folder,
    "Sort the charts by harbour",
  );
  const row = page.locator("[data-session]", { has: page.getByText("waiting", { exact: true }) });
  await row.waitFor();
  for (const width of [1280, 1024, 801, 800, 700, 641, 390]) {
    await page.setViewportSize({ width, height: 600 });
    const looks = () =>
      row.evaluate((element) => {
        const box = (name: string) => element.querySelector(name)?.getBoundingClientRect();
        const title = box(".session-title");
        const badge = box(".needs-you");
        const agent = box(".session-agent");
        if (!title || !badge || !agent) return "something is missing";
        if (title.width < 80) return `its title has ${title.width} px`;
        return badge.bottom <= agent.top || badge.right <= agent.left ? "well" : "the badge covers the agent";
      });
    await expect.poll(async () => [width, await looks()]).toEqual([width, "well"]);
  }
  expect(complaints).toEqual([]);
});

it("distinguishes a waiting session in forced colours", async () => {
  const context = await browser.newContext({ forcedColors: "active" });
  const { page, complaints } = await enter(context, daemon);
  await begin(rest, await scriptFile(home, "one", shellCalls("touch ran")), folder, "Sort the charts");
  const badge = page.locator("[data-session] .needs-you");
  const ground = (shown: Locator) => shown.evaluate((element) => getComputedStyle(element).backgroundColor);
  await badge.waitFor();
  expect(await ground(badge)).toBe(await ground(page.getByRole("button", { name: "Project", exact: true })));
  expect(complaints).toEqual([]);
});

it("answers nothing by a double click that opens a session", async () => {
  const { page, complaints } = await enter(
    await browser.newContext({ viewport: { width: 1280, height: 900 } }),
    daemon,
  );
  const model = await scriptFile(home, "one", shellCalls("touch ran"));
  const ids: string[] = [];
  for (let index = 0; index < 12; index += 1) ids.push(await begin(rest, model, folder));
  const allow = page.getByRole("button", { name: "Allow", exact: true });
  await page.goto(`${daemon.origin}/session/${ids[0]}`);
  await allow.waitFor();
  const at = await middleOf(allow);
  await page.goBack();
  await page.waitForFunction(
    ([x, y]) => document.elementFromPoint(x, y)?.closest("a[href^='/session/']") != null,
    at,
  );
  await page.mouse.click(...at);
  await clickAsAllowAppears(page, at);
  await page.locator("[data-answer=allow_once][aria-disabled=false]").click();
  await page.getByText("Done.", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

it.each(["Enter", "Shift+Y"])("answers only one request while %s is held down", async (key) => {
  const model = await scriptFile(home, "two", shellCalls("pwd", "touch ran"));
  const { page } = await start(model, { viewport: { width: 1280, height: 900 } });
  const allow = page.getByRole("button", { name: "Allow", exact: true });
  await expect.poll(() => allow.count()).toBe(2);
  await allow.first().focus();
  if (key === "Shift+Y") await page.keyboard.down("Shift");
  const held = key === "Enter" ? "Enter" : "Y";
  for (let repeat = 0; repeat < 10; repeat += 1) await page.keyboard.down(held);
  await page.getByText("Allowed", { exact: true }).waitFor();
  for (let repeat = 0; repeat < 10; repeat += 1) await page.keyboard.down(held);
  await allow.click();
  await page.getByText("Done.", { exact: true }).waitFor();
});

it("delivers a click in a low window to the pressed button, even if the focus moves", async () => {
  const model = await scriptFile(home, "one", shellCalls("touch ran"));
  const { page, complaints, session_id } = await start(model, { viewport: { width: 1280, height: 320 } });
  const composer = page.getByRole("region", { name: "Message the agent" });
  const written = composer.getByRole("button", { name: "Send", exact: true });
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  await composer.getByRole("button", { name: "Stop", exact: true }).click();
  await idle(rest, session_id);
  await written.waitFor();

  await send(rest, session_id, "Again");
  await page.locator("[data-answer=allow_once][aria-disabled=false]").click();
  await page.getByText("Done.", { exact: true }).waitFor();
  await written.waitFor({ state: "hidden" });
  expect(complaints).toEqual([]);
});
