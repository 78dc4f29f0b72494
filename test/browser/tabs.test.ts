import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHome, type Daemon, type Home, startDaemon } from "./harness.ts";
import { begin, idle, type Rest, restOf, rowOf, said, storedParts } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

/** An image of one pixel. */
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

let home: Home;
let daemon: Daemon;
let rest: Rest;
let folder: string;
let browser: TestBrowser;
/** Its pages are tabs: drafts are stored both shared and per tab. */
let context: BrowserContext;
let one: Page;
let other: Page;

beforeAll(async () => {
  home = await createHome();
  folder = join(home.path, "harbour");
  await mkdir(folder);
  daemon = await startDaemon(home, ["--no-samples"]);
  rest = restOf(home, daemon);
  browser = await openTestBrowser();
});
afterAll(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});
beforeEach(async () => {
  context = await browser.newContext();
  one = await context.newPage();
  await one.goto(await rest.link());
  await one.waitForURL((url) => url.pathname === "/" && url.search === "");
  other = await context.newPage();
});
afterEach(() => context.close());

const field = (page: Page) => page.getByRole("textbox", { name: "Prompt", exact: true });
const words = (page: Page) => field(page).inputValue();
/** Opens the page and waits until its input is ready. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(daemon.origin + path);
  await field(page).waitFor();
}
async function prompts(session_id: string): Promise<string[]> {
  const parts = await storedParts(rest, session_id);
  return parts.filter(({ type }) => type === "prompt").map(said);
}

describe("a session's draft in two tabs", () => {
  let session_id: string;
  let path: string;
  beforeEach(async () => {
    session_id = await begin(rest, "hello", folder);
    path = `/session/${session_id}`;
    await idle(rest, session_id);
  });

  it("is another prompt if it is changed in one tab after the other sent it", async () => {
    await open(one, path);
    await field(one).fill("Run the tests");
    await open(other, path);
    expect(await words(other)).toBe("Run the tests");
    await field(other).press("Enter");
    await expect.poll(() => words(other)).toBe("");
    await field(one).fill("Run the linter");
    await field(one).press("Enter");
    await expect.poll(() => words(one)).toBe("");
    await expect
      .poll(() => prompts(session_id))
      .toEqual(["prompt Go", "prompt Run the tests", "prompt Run the linter"]);
  });

  it("is opened in the next tab as one tab wrote it, without the other's image", async () => {
    await open(one, path);
    await open(other, path);
    await field(one).fill("Explain");
    const pictures = (page: Page) => page.getByRole("img", { name: /^Image / });
    await field(other).fill("What is wrong here?");
    await other
      .locator(".prompt-input input[type=file]")
      .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(DOT, "base64") });
    await pictures(other).waitFor();
    await field(one).fill("Explain the tides");
    let next = await context.newPage();
    await open(next, path);
    expect([await words(next), await pictures(next).count()]).toEqual(["Explain the tides", 0]);
    await next.close();
    await field(other).fill("What is wrong here, please?");
    next = await context.newPage();
    await open(next, path);
    expect([await words(next), await pictures(next).count()]).toEqual(["What is wrong here, please?", 1]);
  });
});

describe("a new session's draft in two tabs", () => {
  const sessionOf = async (page: Page): Promise<string> => {
    await page.waitForURL(/\/session\//);
    return page.url().split("/").at(-1) ?? "";
  };
  const fill = async (page: Page, text: string, cwd = folder): Promise<void> => {
    await open(page, "/new");
    await page.getByRole("radio", { name: /script, no model/ }).check();
    await page.getByRole("combobox", { name: "Folder" }).fill(cwd);
    await field(page).fill(text);
  };

  it("is another session if it is changed in one tab after the other started it", async () => {
    await fill(one, "Tidy up");
    await open(other, "/new");
    expect(await words(other)).toBe("Tidy up");
    await field(one).fill("Tidy up the tests");
    await field(other).press("Enter");
    const first = await sessionOf(other);
    await field(one).press("Enter");
    const second = await sessionOf(one);
    expect([await prompts(first), await prompts(second)]).toEqual([
      ["prompt Tidy up"],
      ["prompt Tidy up the tests"],
    ]);
  });

  it("keeps the other tab's prompt for the next one if it is empty", async () => {
    await open(one, "/new");
    await open(other, "/new");
    await field(other).fill("A long prompt");
    await one.getByRole("combobox", { name: "Folder" }).fill("/srv");
    await other.close();
    const next = await context.newPage();
    await open(next, "/new");
    expect(await words(next)).toBe("A long prompt");
  });

  it("keeps a folder with the text that it was chosen for", async () => {
    const cwd = (page: Page) => page.getByRole("combobox", { name: "Folder" });
    await fill(one, "", home.path);
    await fill(other, "Tidy up");
    await cwd(one).fill("/srv");
    await one.reload();
    await field(one).waitFor();
    expect([await words(one), await cwd(one).inputValue()]).toEqual(["", "/srv"]);
    const next = await context.newPage();
    await open(next, "/new");
    expect([await words(next), await cwd(next).inputValue()]).toEqual(["Tidy up", folder]);
    await field(next).press("Enter");
    const started = await sessionOf(next);
    await field(one).fill("Tidy up");
    await cwd(one).fill(home.path);
    await field(one).press("Enter");
    const own = await sessionOf(one);
    expect([(await rowOf(rest, started)).cwd, (await rowOf(rest, own)).cwd]).toEqual([folder, home.path]);
  });

  it("starts a session from each tab with its own text and folder, also after a reload", async () => {
    await fill(one, "Tidy up");
    await fill(other, "Write the docs", home.path);
    await one.reload();
    await field(other).press("Enter");
    const second = await sessionOf(other);
    await field(one).press("Enter");
    const first = await sessionOf(one);
    expect([await prompts(first), await prompts(second)]).toEqual([
      ["prompt Tidy up"],
      ["prompt Write the docs"],
    ]);
    expect([(await rowOf(rest, first)).cwd, (await rowOf(rest, second)).cwd]).toEqual([folder, home.path]);
  });
});
