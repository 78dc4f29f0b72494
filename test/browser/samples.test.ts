import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHome, type Daemon, enter, type Home, readTranscript, startDaemon } from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let browser: TestBrowser;
let home: Home;
let daemon: Daemon;
beforeAll(async () => {
  browser = await openTestBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  home = await createHome();
});
afterEach(async () => {
  await daemon.stop();
  await home.remove();
});

describe("on a machine without agent sessions", () => {
  it("lists the samples, marked as such, and replays one to its end", async () => {
    daemon = await startDaemon(home, ["--replay-pace", "12"]);
    const { page, complaints } = await enter(await browser.newContext(), daemon);
    const list = page.getByRole("main", { name: "Sessions" });
    const replayed = list.getByRole("link", { name: /daylight saving ends/ });
    await replayed.waitFor();
    expect(await replayed.innerText()).toContain("sample");
    await expect.poll(() => list.getByText("sample", { exact: true }).count()).toBeGreaterThan(5);

    await replayed.click();
    const transcript = page.getByRole("region", { name: "Transcript", exact: true });
    await transcript.getByText("[RUNNING]").first().waitFor();
    await transcript.getByText("All 176 tests pass, with the assertion as it was.").waitFor();
    await expect.poll(() => page.title()).not.toContain("[RUNNING]");

    const live = await readTranscript(page);
    await page.reload();
    await expect.poll(() => readTranscript(page)).toEqual(live);
    expect(complaints).toEqual([]);
  });

  it("opens a sub-agent's run from its call, and returns", async () => {
    daemon = await startDaemon(home, ["--replay-pace", "1000"]);
    const { page, complaints } = await enter(await browser.newContext(), daemon);
    await page.getByRole("link", { name: /Find what makes the API process grow/ }).click();
    const transcript = page.getByRole("region", { name: "Transcript", exact: true });
    await transcript.getByText("Flat at 31 MB").waitFor();
    const parent = page.url();

    await page
      .getByRole("navigation", { name: "Runs" })
      .getByRole("link", { name: /general-purpose/ })
      .click();
    await transcript.getByText("39 MB an hour").waitFor();
    expect(await transcript.innerText()).not.toContain("Flat at 31 MB");

    await page
      .getByRole("navigation", { name: "Runs" })
      .getByRole("link", { name: /Explore/ })
      .click();
    await transcript.getByText("Two callers.").waitFor();
    const path = page.getByRole("navigation", { name: "Path" });
    expect(await path.getByRole("link").count()).toBe(3);

    await path.getByRole("link", { name: /API process grow/ }).click();
    await transcript.getByText("Profile the harmonics cache").first().waitFor();
    expect(new URL(page.url()).pathname).toBe(new URL(parent).pathname);
    expect(new URL(page.url()).hash).toMatch(/^#call-/);
    await page.goBack();
    await transcript.getByText("Two callers.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("opens a link to a part, also after a reload", async () => {
    daemon = await startDaemon(home, ["--replay-pace", "1000"]);
    const context = await browser.newContext({ viewport: { width: 1200, height: 500 } });
    const { page, complaints } = await enter(context, daemon);
    await page.getByRole("link", { name: /File an issue: retries per task/ }).click();
    const transcript = page.getByRole("region", { name: "Transcript", exact: true });
    await transcript.getByText("Done. I've created #11").waitFor();

    const { origin } = daemon;
    const session_id = new URL(page.url()).pathname.split("/").at(-1);
    const reply = await page.request.get(`${origin}/api/sessions/${session_id}/parts?from=0&to=100`, {
      headers: { "x-verbatim-client": "1" },
    });
    const { parts } = (await reply.json()) as {
      parts: { part: { id: string; type: string; text?: string } }[];
    };
    const wanted = parts.find(({ part }) => part.text?.startsWith("Let me read the existing task screen"));
    const address = `${origin}/session/${session_id}#part-${wanted?.part.id}`;

    await page.goto("about:blank");
    await page.goto(address);
    const narration = transcript.getByText("Let me read the existing task screen");
    await narration.waitFor();
    await expect.poll(async () => isInView(await narration.boundingBox(), 500)).toBe(true);
    await page.reload();
    await narration.waitFor();
    await expect.poll(async () => isInView(await narration.boundingBox(), 500)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("shows each sentence of a discovery turn before the calls that it announces", async () => {
    daemon = await startDaemon(home, ["--replay-pace", "1000"]);
    const { page, complaints } = await enter(await browser.newContext(), daemon);
    await page.getByRole("link", { name: /File an issue: retries per task/ }).click();
    await page
      .getByRole("region", { name: "Transcript", exact: true })
      .getByText("Done. I've created #11")
      .waitFor();
    const rows = await readTranscript(page);
    const order = [...rows.values()].map((text) => text.replaceAll(/\s+/g, " "));
    const at = (text: string) => order.findIndex((row) => row.includes(text));
    const places = [
      at("Let me read the key files to understand the DSL schema and API types."),
      at("src/dsl/schema.ts"),
      at("Let me read the existing task screen"),
      at("src/web/TaskCard.tsx"),
      at("Now I have a complete picture."),
      at("issues"),
      at("Done. I've created #11"),
    ];
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(order.join(" ")).not.toContain("API types.Let me read");
    expect(complaints).toEqual([]);
  });
});

function isInView(box: { y: number; height: number } | null, height: number): boolean {
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}
