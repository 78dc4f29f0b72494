import type { BrowserContextOptions, Locator, Page, WebSocketRoute } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { overflow, seriousFindings } from "./findings.ts";
import { createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { type Rest, restOf } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let browser: TestBrowser;
let home: Home;
let daemon: Daemon;
let rest: Rest;
beforeAll(async () => {
  home = await createHome();
  daemon = await startDaemon(home, ["--replay-pace", "1000"]);
  rest = restOf(home, daemon);
  browser = await openTestBrowser();
});
afterEach(() => browser.close());
afterAll(async () => {
  await daemon.stop();
  await home.remove();
});

/** The daemon with a launch link for one more browser. */
const anotherLaunch = async (): Promise<Daemon> => ({ ...daemon, launch: await rest.link() });

/** Opens the list in a browser of its own. */
async function open(options?: BrowserContextOptions) {
  const context = await browser.newContext(options);
  return { context, ...(await enter(context, await anotherLaunch())) };
}

/**
 * Opens the list in a browser of its own, whose live connection `disconnect` ends for good. `setOffline` of the context keeps
 * Chromium's network process busy with a whole core, and the page notices it only when a heartbeat is missing.
 */
async function openUntilDisconnected(options: BrowserContextOptions) {
  const context = await browser.newContext(options);
  let isConnected = true;
  const sockets: WebSocketRoute[] = [];
  await context.routeWebSocket(/./, (socket) => {
    if (!isConnected) return void socket.close();
    socket.connectToServer();
    sockets.push(socket);
  });
  const disconnect = async (): Promise<void> => {
    isConnected = false;
    await Promise.all(sockets.map((socket) => socket.close()));
  };
  return { disconnect, ...(await enter(context, await anotherLaunch())) };
}

const LOOKS = [
  { name: "dark", options: { colorScheme: "dark" as const, viewport: { width: 1280, height: 900 } } },
  { name: "light", options: { colorScheme: "light" as const, viewport: { width: 1280, height: 900 } } },
  {
    name: "dark on a phone",
    options: { colorScheme: "dark" as const, viewport: { width: 390, height: 844 } },
  },
  {
    name: "light on a phone",
    options: { colorScheme: "light" as const, viewport: { width: 390, height: 844 } },
  },
];

describe.each(LOOKS)("the page, $name", ({ options }) => {
  it("shows list and session without serious axe findings and horizontal scrolling", async () => {
    const { page, complaints } = await open(options);
    await page.getByRole("link", { name: /daylight saving ends/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);

    await page.getByRole("link", { name: /daylight saving ends/ }).click();
    await page
      .getByRole("region", { name: "Transcript", exact: true })
      .getByText("All 176 tests pass, with the assertion as it was.")
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);

    const dark = options.colorScheme === "dark";
    const [red = 0] = await page.evaluate(() =>
      (getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g) ?? []).map(Number),
    );
    expect(red < 128).toBe(dark);
    expect(complaints).toEqual([]);
  });
});

it("filters the list by its address, also after a reload and in the history", async () => {
  const { page, complaints } = await open();
  const row = page.getByRole("link", { name: /daylight saving ends/ });
  await row.waitFor();
  const rows = page.locator("[data-session]");
  const all = await rows.count();
  await page.getByRole("searchbox", { name: "Filter sessions" }).fill("daylight");
  await page.getByRole("button", { name: /^Done/ }).click();
  await page.waitForURL("**/?q=daylight&state=finished");
  await expect.poll(() => rows.count()).toBeLessThan(all);
  const some = await rows.count();
  await page.reload();
  await row.waitFor();
  expect(await rows.count()).toBe(some);
  await row.click();
  await page.getByRole("region", { name: "Transcript", exact: true }).waitFor();
  await page.keyboard.press("u");
  await page.getByRole("searchbox", { name: "Filter sessions" }).fill("");
  await page.getByRole("button", { name: /^Done/ }).click();
  await page.waitForURL((url) => url.pathname === "/" && url.search === "");
  await expect.poll(() => rows.count()).toBe(all);
  await page.evaluate(() => history.go(-2));
  await expect.poll(() => rows.count()).toBe(some);
  expect(await page.getByRole("searchbox", { name: "Filter sessions" }).inputValue()).toBe("daylight");
  expect(new URL(page.url()).search).toBe("?q=daylight&state=finished");
  expect(complaints).toEqual([]);
});

it("truncates no row of the list at any width", async () => {
  const { page, complaints } = await open();
  await page.getByRole("link", { name: /daylight saving ends/ }).waitFor();
  const cut = () =>
    page
      .locator(".list-item")
      .evaluateAll((rows) => rows.filter((row) => row.scrollHeight > row.clientHeight).length);
  for (const width of [1280, 961, 960, 901, 900, 899, 390]) {
    await page.setViewportSize({ width, height: 400 });
    await expect.poll(async () => [width, await cut()]).toEqual([width, 0]);
  }
  expect(complaints).toEqual([]);
});

it("shows complete rows of the list at 400 % zoom, with filters and grouping reachable", async () => {
  const { page, complaints } = await open({ viewport: { width: 320, height: 256 } });
  await page.getByRole("link", { name: /daylight saving ends/ }).waitFor();
  const [list, row] = [
    page.locator(".sessions-list"),
    page.locator(".list-item:has([data-session])").first(),
  ];
  const heightOf = async (box: Locator) => (await box.boundingBox())?.height ?? 0;
  expect(await heightOf(list)).toBeGreaterThan(2.5 * (await heightOf(row)));
  // Filters of states without sessions are hidden here.
  const filters = await page.locator(".chip:visible").all();
  expect(filters.length).toBeGreaterThan(0);
  for (const filter of filters) await filter.click({ trial: true });
  for (const name of ["Time", "Settings"]) await page.getByRole("button", { name }).click({ trial: true });
  await page.getByRole("link", { name: "New session" }).click({ trial: true });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  for (const _ of [1, 2, 3, 4]) {
    await page.keyboard.press("j");
    const isWhole = () =>
      page.locator("[data-session]:focus").evaluate((focused) => {
        const own = focused.getBoundingClientRect();
        const room = focused.closest(".sessions-list")?.getBoundingClientRect();
        return room !== undefined && own.top >= room.top && own.bottom <= room.bottom;
      });
    await expect.poll(isWhole).toBe(true);
  }
  expect(complaints).toEqual([]);
});

it("shows every control in a low window, the facts after a click, and the full connection state", async () => {
  const { disconnect, page, complaints } = await openUntilDisconnected({
    viewport: { width: 640, height: 400 },
  });
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page.getByRole("region", { name: "Transcript", exact: true }).locator("article").first().waitFor();
  /** The header's controls that are not completely in the window, or are covered. */
  const outOfSight = () =>
    page.locator(".session-header").evaluate((header) =>
      [...header.querySelectorAll<HTMLElement>("a, button, .not-live")]
        .filter((control) => control.checkVisibility())
        .filter((control) => {
          const { left, right, top, bottom } = control.getBoundingClientRect();
          return ![left + 2, right - 2].every((x) =>
            control.contains(document.elementFromPoint(x, (top + bottom) / 2)),
          );
        })
        .map((control) => control.innerText),
    );
  const LOW = [
    [640, 400],
    [500, 400],
    [844, 390],
    [1024, 400],
    [700, 560],
  ] as const;
  const look = async () => {
    for (const [width, height] of LOW) {
      await page.setViewportSize({ width, height });
      for (const name of [/^Find/, /^Next error/, /^Turns/, /^More/])
        expect(await page.getByRole("button", { name }).isVisible()).toBe(true);
      expect([width, height, await outOfSight()]).toEqual([width, height, []]);
    }
  };
  await look();
  await page.getByRole("button", { name: "More" }).click();
  const more = page.getByRole("dialog", { name: "This session" });
  for (const fact of ["/home/mara/tidewatch", /tokens/, "1 error"])
    await more.getByText(fact).first().waitFor();
  for (const name of ["Keyboard shortcuts", "Settings"]) await more.getByRole("button", { name }).waitFor();
  await page.keyboard.press("Escape");
  await disconnect();
  await page.getByRole("button", { name: "Retry" }).waitFor();
  await look();
  expect(complaints).toEqual([]);
});

it("distinguishes selected controls in forced colours", async () => {
  const { page, complaints } = await open({ forcedColors: "active" });
  const ground = (element: Locator) => element.evaluate((shown) => getComputedStyle(shown).backgroundColor);
  const chip = (name: string) => page.getByRole("button", { name, exact: true });
  await chip("Project").waitFor();
  expect(await ground(chip("Project"))).not.toBe(await ground(chip("Time")));
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  const turns = await ground(page.getByRole("button", { name: /^Turns/ }));
  expect(turns).not.toBe(await ground(page.getByRole("button", { name: "Find", exact: true })));
  for (const place of ["location", "step"]) {
    const current = page.locator(`.outline-item a[aria-current=${place}]`);
    await current.waitFor();
    expect(await ground(current)).toBe(turns);
  }
  expect(complaints).toEqual([]);
});

it("keeps the filter field wide enough beside the state filters", async () => {
  for (const width of [1000, 1280, 1450]) {
    const { page, complaints } = await open({ viewport: { width, height: 900 } });
    const field = await page.getByRole("searchbox").first().boundingBox();
    expect(field?.width).toBeGreaterThan(200);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  }
});

it("shows the keys of a command on one line", async () => {
  const { page, complaints } = await open({ viewport: { width: 1280, height: 900 } });
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page
    .getByRole("region", { name: "Transcript", exact: true })
    .getByText("All 176 tests pass, with the assertion as it was.")
    .waitFor();
  await page.keyboard.press("?");
  await page.getByText("Page up").waitFor();
  const lines = await page
    .locator(".binding-list dt")
    .evaluateAll((keys) =>
      keys.map((of) => new Set(Array.from(of.children, (key) => key.getBoundingClientRect().top)).size),
    );
  expect(Math.max(...lines)).toBe(1);
  expect(complaints).toEqual([]);
});

it("shows the beginning of a tall dialog, with keys no higher than their line", async () => {
  const { page, complaints } = await open({ viewport: { width: 320, height: 400 } });
  await page.getByRole("link", { name: /daylight saving ends/ }).waitFor();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.waitFor();
  expect(
    await dialog.evaluate((shown) => [shown.scrollTop, shown.scrollHeight > shown.clientHeight]),
  ).toEqual([0, true]);
  const heights = await dialog
    .locator("kbd")
    .evaluateAll((keys) => keys.map((key) => key.getBoundingClientRect().height));
  expect(new Set(heights)).toEqual(new Set([20]));
  expect(complaints).toEqual([]);
});

it("aligns a prompt by the direction of its language", async () => {
  const { page, complaints } = await open();
  await page.getByRole("link", { name: "New session" }).click();
  const field = page.getByRole("textbox", { name: "Prompt" });
  const caretAtRight = async () => {
    const { width } = (await field.boundingBox()) ?? { width: 0 };
    await field.click({ position: { x: width - 4, y: 20 } });
    return field.evaluate((shown: HTMLTextAreaElement) => shown.selectionStart);
  };
  await field.fill("Repair it");
  expect(await caretAtRight()).toBe("Repair it".length);
  await field.fill("אנא תקן");
  expect(await caretAtRight()).toBe(0);
  expect(complaints).toEqual([]);
});

it("pastes a prompt of 16 times as many lines in at most 40 times the time", async () => {
  const { context, page, complaints } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("link", { name: "New session" }).click();
  const field = page.getByRole("textbox", { name: "Prompt" });
  const chromium = await context.newCDPSession(page);
  await chromium.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await chromium.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
  const costOf = async (lines: number): Promise<number> => {
    await field.fill("");
    await page.evaluate((text) => navigator.clipboard.writeText(text), "What the log says.\n".repeat(lines));
    const before = await busy();
    await page.keyboard.press("Control+V");
    await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))));
    return (await busy()) - before;
  };
  await costOf(1_000);
  const cost = await costOf(2_000);
  expect((await costOf(32_000)) / cost).toBeLessThan(40);
  expect(complaints).toEqual([]);
});

it("shows the actions of a prompt or part in place of its kind, not over it", async () => {
  const { page } = await open({ viewport: { width: 1280, height: 900 } });
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page
    .getByRole("region", { name: "Transcript", exact: true })
    .getByText("All 176 tests pass, with the assertion as it was.")
    .waitFor();
  const opacity = (locator: Locator) => locator.evaluate((element) => getComputedStyle(element).opacity);
  for (const place of [".turn-heading", ".part-row-text"]) {
    const element = page.locator(place).last();
    const [kind, actions] = [element.locator(".part-kind"), element.locator(".part-actions")];
    await page.mouse.move(1_270, 890);
    await expect.poll(async () => [await opacity(kind), await opacity(actions)]).toEqual(["1", "0"]);
    await element.hover();
    await expect.poll(async () => [await opacity(kind), await opacity(actions)]).toEqual(["0", "1"]);
    await actions.getByRole("button", { name: "Raw" }).click({ trial: true });
  }
});

it("shows times completely with the text spacing of WCAG 1.4.12", async () => {
  const { page } = await open({ bypassCSP: true, viewport: { width: 1280, height: 900 } });
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page
    .getByRole("region", { name: "Transcript", exact: true })
    .getByText("All 176 tests pass, with the assertion as it was.")
    .waitFor();
  await page.addStyleTag({ content: "* { letter-spacing: 0.12em !important }" });
  const covered = await page.locator(".part-gutter").evaluateAll(
    (gutters) =>
      gutters.filter((gutter) => {
        const [time, kind] = gutter.children;
        if (time === undefined || kind === undefined) return false;
        const words = document.createRange();
        words.selectNodeContents(time);
        return words.getBoundingClientRect().right > kind.getBoundingClientRect().left + 0.5;
      }).length,
  );
  expect(covered).toBe(0);
});

it("highlights code in the theme's palette, and keeps its text", async () => {
  const { page, complaints } = await open({ colorScheme: "dark" });
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  const code = page.locator("code", { hasText: "return { start: midnight" });
  const keyword = code.locator(".code-keyword").first();
  await keyword.waitFor();
  const colours = await keyword.evaluate((element) => {
    const probe = document.createElement("span");
    probe.style.color = "var(--code-keyword)";
    document.body.append(probe);
    return [getComputedStyle(element).color, getComputedStyle(probe).color];
  });
  expect(colours[0]).toBe(colours[1]);
  expect((await code.innerText()).trim()).toBe(
    "return { start: midnight(year, month, day, zone), end: midnight(year, month, day + 1, zone) };",
  );
  expect(complaints).toEqual([]);
});

it("has no input below 16 px on a phone, so that browsers do not zoom", async () => {
  const { page, complaints } = await open({ viewport: { width: 390, height: 844 } });
  const tooSmall = () =>
    page
      .locator("input:not([type=checkbox], [type=radio], [type=file]), select, textarea")
      .evaluateAll((fields) =>
        fields
          .filter((field) => Number.parseFloat(getComputedStyle(field).fontSize) < 16)
          .map((field) => field.outerHTML),
      );
  await page.getByRole("searchbox", { name: "Filter sessions" }).waitFor();
  expect(await tooSmall()).toEqual([]);
  await page.getByRole("link", { name: "New session" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  expect(await tooSmall()).toEqual([]);
  await page.goBack();
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await page.locator(".find .filter").waitFor();
  expect(await tooSmall()).toEqual([]);
  expect(complaints).toEqual([]);
});

it("places the actions of an open card nearer to it than to the next line on a phone", async () => {
  const { page, complaints } = await open({ viewport: { width: 390, height: 844 } });
  await page.getByRole("link", { name: /API process grow/ }).click();
  const row = page.locator(".part-row", { hasText: "src/api/now.ts" });
  await row.locator("summary").first().click();
  await row.locator(".part-actions").waitFor();
  const next = await page
    .locator(".part-row", { hasText: "node --expose-gc" })
    .locator(".line")
    .elementHandle();
  // Once the body is laid out.
  await expect
    .poll(() =>
      row.evaluate((element, nextLine) => {
        const box = (selector: string) => element.querySelector(selector)?.getBoundingClientRect();
        const [body, actions] = [box(".tool-body"), box(".part-actions")];
        if (!body || !actions || !nextLine) return "something is missing";
        const above = actions.top - body.bottom;
        const below = nextLine.getBoundingClientRect().top - actions.bottom;
        return above >= 0 && below >= above + 8 ? "well" : `${above} px above, ${below} px below`;
      }, next),
    )
    .toBe("well");
  expect(complaints).toEqual([]);
});

/** Whether nothing covers the last line of the text. */
const isLastLineSeen = (field: Locator): Promise<boolean> =>
  field.evaluate((element) => {
    const { left, top } = element.getBoundingClientRect();
    const { paddingBottom, paddingLeft, lineHeight } = getComputedStyle(element);
    const middle =
      element.scrollHeight - Number.parseFloat(paddingBottom) - Number.parseFloat(lineHeight) / 2;
    const [x, y] = [left + Number.parseFloat(paddingLeft) + 2, top + middle - element.scrollTop];
    return document.elementFromPoint(x, y) === element;
  });

it.each([
  [1280, 800],
  [390, 700],
  [844, 390],
])(
  "keeps the line being typed in a new session visible above Start, %i by %i pixels",
  async (width, height) => {
    const { page, complaints } = await open({ viewport: { width, height } });
    await page.getByRole("link", { name: "New session" }).click();
    const field = page.getByRole("textbox", { name: "Prompt" });
    await field.focus();
    for (let line = 0; line < 20; line += 1) {
      await page.keyboard.press("Shift+Enter");
      await page.keyboard.type("w");
      await expect.poll(async () => [line, await isLastLineSeen(field)]).toEqual([line, true]);
    }
    expect(complaints).toEqual([]);
  },
);

it("keeps Start and the text visible when an image is added to a new session", async () => {
  const { page, complaints } = await open({ viewport: { width: 1280, height: 800 } });
  await page.getByRole("link", { name: "New session" }).click();
  const start = page.getByRole("button", { name: "Start", exact: true });
  await start.waitFor();
  // The minimum height of the window for the current form.
  const { y = 0, height = 0 } = (await start.boundingBox()) ?? {};
  const low = Math.ceil(y + height) + 8;
  await page.setViewportSize({ width: 1280, height: low });
  const buffer = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await page
    .locator(".prompt-input input[type=file]")
    .setInputFiles({ name: "chart.png", mimeType: "image/png", buffer });
  await page.locator(".thumbnail").waitFor();
  const now = await start.boundingBox();
  expect((now?.y ?? Number.NaN) + (now?.height ?? 0)).toBeLessThanOrEqual(low);
  await expect.poll(() => isLastLineSeen(page.getByRole("textbox", { name: "Prompt" }))).toBe(true);
  expect(complaints).toEqual([]);
});

it("places labels beside their boxes, and focus rings clear of times, on a phone", async () => {
  const { page, complaints } = await open({ viewport: { width: 390, height: 844 } });
  const time = page.locator("[data-session] .session-time").first();
  await time.waitFor();
  const room = await time.evaluate((element) => {
    const row = element.closest(".session-row");
    return (row?.getBoundingClientRect().right ?? 0) - element.getBoundingClientRect().right;
  });
  expect(room).toBeGreaterThan(2);
  await page.getByRole("button", { name: "Settings" }).click();
  const box = page.getByRole("checkbox", { name: /^Show step boundaries/ });
  const beside = await box.evaluate((element) => {
    const words = document.createRange();
    words.setStartAfter(element);
    words.setEndAfter(element.parentElement?.lastChild ?? element);
    return words.getBoundingClientRect().left - element.getBoundingClientRect().right;
  });
  expect(beside).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});

it.each([1920, 1440, 1101, 1024, 801, 641, 390])(
  "keeps the list's filter readable, its states on one line and the current group's heading in view at %i px",
  async (width) => {
    const { page, complaints } = await open({ viewport: { width, height: 480 } });
    await page.locator("[data-session]").first().waitFor();
    await page.getByRole("searchbox", { name: "Filter sessions" }).fill("a");
    await page.getByText(/^\d+ of \d+ sessions$/).waitFor();
    const sizes = await page.evaluate(() => {
      const boxes = (selector: string) =>
        [...document.querySelectorAll(selector)]
          .map((element) => element.getBoundingClientRect())
          .filter((box) => box.height > 0);
      return {
        field: boxes(".filter").map((box) => box.width),
        lines: new Set(boxes(".chip").map(({ top }) => top)).size,
        overflow: document.documentElement.scrollWidth - innerWidth,
      };
    });
    expect(sizes.field[0]).toBeGreaterThanOrEqual(240);
    expect(sizes).toMatchObject({ lines: 1, overflow: 0 });

    const list = page.getByRole("main", { name: "Sessions" });
    // The group's first row is half under its heading.
    await list.evaluate((element) => element.scrollTo(0, 40 + 16));
    const heading = page.locator("h2 > .group-name, .group-button").first();
    await expect
      .poll(() =>
        heading.evaluate((element) => {
          const { left, top } = element.getBoundingClientRect();
          return element.contains(document.elementFromPoint(left + 2, top + 2));
        }),
      )
      .toBe(true);
    expect(complaints).toEqual([]);
  },
);

/** The visible controls that are smaller, except links in a text. */
const smaller = (page: Page, least: number) =>
  page.locator("button, summary, .button, .action, .needs-you:is(a)").evaluateAll(
    (controls, least) =>
      controls
        .filter((control) => control.checkVisibility())
        .map((control) => ({ control, box: control.getBoundingClientRect() }))
        .filter(({ box }) => box.width < least || box.height < least)
        .map(({ control, box }) => `${control.textContent} ${box.width} x ${box.height}`),
    least,
  );

it.each([1280, 390])("has no control smaller than 24 × 24 pixels at %i px", async (width) => {
  const { disconnect, page, complaints } = await openUntilDisconnected({ viewport: { width, height: 844 } });
  await page.getByRole("link", { name: /API process grow/ }).waitFor();
  expect(await smaller(page, 24)).toEqual([]);
  await page.getByRole("link", { name: /API process grow/ }).click();
  await page.getByRole("region", { name: "Transcript", exact: true }).getByText("Flat at 31 MB").waitFor();
  await page.locator(".part-row", { hasText: "src/api/now.ts" }).locator("summary").first().click();
  await page.locator(".tool-body").waitFor();
  // Open every card, in which the input is folded.
  await page.keyboard.press("x");
  await page.getByText("Raw input").first().waitFor();
  expect(await smaller(page, 24)).toEqual([]);
  if (width < 900) await page.getByRole("button", { name: /^Turns/ }).click();
  await page
    .getByRole("button", { name: /in split view$/ })
    .first()
    .waitFor();
  await disconnect();
  await page.getByRole("button", { name: "Retry" }).waitFor();
  expect(await smaller(page, 24)).toEqual([]);
  expect(complaints).toEqual([]);
});

it("has buttons and filters of 32 pixels, and a back link of 44, on a touch screen", async () => {
  const { page, complaints } = await open({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  const heights = (selector: string) =>
    page
      .locator(`${selector}:visible`)
      .evaluateAll((controls) => controls.map((control) => control.getBoundingClientRect().height));
  await page.getByRole("link", { name: /daylight saving ends/ }).waitFor();
  expect(Math.min(...(await heights(".button")), ...(await heights(".chip")))).toBeGreaterThanOrEqual(32);
  await page.getByRole("link", { name: /daylight saving ends/ }).click();
  await page.locator(".session-up").waitFor();
  expect(Math.min(...(await heights(".session-up")))).toBeGreaterThanOrEqual(44);
  expect(complaints).toEqual([]);
});
