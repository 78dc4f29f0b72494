import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { registerClaude } from "../claude-register.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { bash, type HookProcess, permissionRequest, startHook } from "../server/attach/hook-process.ts";
import { seriousFindings } from "./findings.ts";
import { answerWith, createHome, type Daemon, enter, type Home, startDaemon } from "./harness.ts";
import { begin, idle, restOf, scriptFile } from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

// The hook process is real. Claude Code itself is represented by its session file and its registry entry.

let home: Home;
let daemon: Daemon;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
const session = generateClaudeSession({ parts: 20, turns: 1, seed: 17 });
const { session_id } = session;

/** Claude Code's registry entry; this process plays the agent's. */
const register = (fields: object): Promise<void> => registerClaude(home.claude, session_id, fields);
const ask = async (fields: object): Promise<HookProcess> => {
  await register({ status: "waiting", waitingFor: "permission prompt" });
  return startHook(home.data, permissionRequest(session_id, fields));
};
const card = () => page.getByRole("region", { name: "Asked in a terminal" });

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-attach");
  await mkdir(folder, { recursive: true });
  await mkdir(join(home.claude, "sessions"));
  await writeFile(join(folder, `${session_id}.jsonl`), session.lines.map((line) => `${line}\n`).join(""));
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openTestBrowser();
  ({ page, complaints } = await enter(
    await browser.newContext({ viewport: { width: 390, height: 844 } }),
    daemon,
  ));
});
afterEach(async () => {
  expect(complaints).toEqual([]);
  await browser.close();
  await daemon.stop();
  await home.remove();
});

it("lists an approval of an agent in a terminal, answers it on a phone, and removes it", async () => {
  await page.locator(`[data-session="${session_id}"]`).waitFor();
  const hook = await ask(bash("touch made.txt"));
  await page
    .getByRole("region", { name: "Needs attention" })
    .getByText("Allow Bash: touch made.txt")
    .waitFor();
  await expect.poll(() => page.title()).toMatch(/^\(1\) /);
  await page.keyboard.press("w");
  await card().getByText("touch made.txt", { exact: true }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await card().getByRole("textbox", { name: "Reason" }).fill("Not now.");
  await answerWith(card().getByRole("button", { name: "Deny" }));
  const { code, output } = await hook.ended;
  expect(code).toBe(0);
  expect(JSON.parse(output).hookSpecificOutput.decision).toEqual({ behavior: "deny", message: "Not now." });
  await register({ status: "busy" });
  await card().waitFor({ state: "detached" });
  await expect.poll(() => page.title()).not.toMatch(/^\(1\) /);
});

it("with a passphrase for answers, asks for it before the first answer of a page", async () => {
  await page.locator(`[data-session="${session_id}"]`).waitFor();
  await page.keyboard.press(",");
  const settings = page.getByRole("dialog", { name: "Settings" });
  const passphrases = settings.getByRole("group", { name: "Passphrase for answers" });
  await passphrases.getByLabel("Passphrase").fill("only I know it");
  await passphrases.getByRole("button", { name: "Set passphrase" }).click();
  await passphrases.getByText("The passphrase is set.").waitFor();
  await passphrases.getByLabel("Current passphrase").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  // The page that set it stays unlocked, until it is reloaded.
  await page.reload();
  await page.locator(`[data-session="${session_id}"]`).waitFor();
  const hook = await ask(bash("touch made.txt"));
  await page.getByText("Allow Bash: touch made.txt").first().waitFor();
  await page.keyboard.press("w");
  const allow = card().getByRole("button", { name: "Allow", exact: true });
  const unlock = page.getByRole("dialog", { name: "Passphrase needed" });
  await answerWith(allow, unlock);
  await unlock.getByRole("button", { name: "Close" }).click();
  await card().getByText("The answer was not sent: it needs the passphrase.").waitFor();
  await answerWith(allow, unlock);
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await unlock.getByText("Wrong passphrase.").waitFor();
  expect(complaints.splice(0)).toEqual([
    expect.stringMatching(/status of 403 .*\/answer-passphrase\/unlock/),
  ]);
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.type("only I know it");
  await page.keyboard.press("Enter");
  expect(JSON.parse((await hook.ended).output).hookSpecificOutput.decision).toEqual({ behavior: "allow" });
  await unlock.waitFor({ state: "detached" });
  await register({ status: "busy" });
  await card().waitFor({ state: "detached" });
  // The next answer of the same page needs no passphrase.
  const next = await ask(bash("touch next.txt"));
  await card().getByText("touch next.txt", { exact: true }).waitFor();
  await answerWith(allow);
  expect(JSON.parse((await next.ended).output).hookSpecificOutput.decision).toEqual({ behavior: "allow" });
});

it("answers requests of terminal agents and managed sessions in the attention list", async () => {
  const command = "touch own.txt";
  const script = {
    title: "Own",
    tokens_per_second: 0,
    steps: [
      { parts: [{ tool_call: { name: "shell", arguments: { command } } }] },
      { parts: [{ text: "Made." }] },
    ],
  };
  const rest = restOf(home, daemon);
  const own = await begin(rest, await scriptFile(home, "own", script), home.path);
  const hook = await ask(bash("touch made.txt"));
  const list = page.getByRole("region", { name: "Needs attention" });
  await list.getByRole("button", { name: "Answer: Allow Bash: touch made.txt" }).click();
  await answerWith(card().getByRole("button", { name: /^Allow/ }));
  expect(JSON.parse((await hook.ended).output).hookSpecificOutput.decision).toEqual({ behavior: "allow" });
  await register({ status: "busy" });
  await list.getByRole("button", { name: "Answer: Allow shell: touch own.txt" }).click();
  const form = list.getByRole("region", { name: "Asked by the agent" });
  await answerWith(form.getByRole("button", { name: /^Allow/ }));
  await idle(rest, own);
  expect(existsSync(join(home.path, "own.txt"))).toBe(true);
});

it("removes an approval that the terminal answers first, with a notice", async () => {
  await page.goto(`${daemon.origin}/session/${session_id}`);
  const hook = await ask(bash("touch made.txt"));
  await card()
    .getByRole("button", { name: /^Allow/ })
    .first()
    .waitFor();
  await register({ status: "busy" });
  expect(await hook.ended).toEqual({ code: 0, output: "" });
  await page.getByText("The request was answered in the terminal.").waitFor();
  expect(await card().count()).toBe(0);
});

it("applies answer keys to the focused request", async () => {
  await page.goto(`${daemon.origin}/session/${session_id}`);
  const hook = await ask(bash("touch made.txt"));
  await card()
    .getByRole("button", { name: /^Allow/ })
    .first()
    .waitFor();
  await card().locator("article").focus();
  // A key that was meant for something else when the request appeared does not answer it.
  await expect
    .poll(async () => {
      await page.keyboard.press("Shift+Y");
      return await card().count();
    })
    .toBe(0);
  expect(JSON.parse((await hook.ended).output).hookSpecificOutput.decision).toEqual({ behavior: "allow" });
});

it("shows an answer line by line, and replaces it by its record without duplicates", async () => {
  // How often its first line is on the page, in each rendered frame.
  await page.addInitScript(() => {
    const seen = Object.assign(window, { most_shown: 0 });
    const look = () => {
      const text = document.querySelector(".transcript-body")?.textContent ?? "";
      seen.most_shown = Math.max(seen.most_shown, text.split("The file is made.").length - 1);
      requestAnimationFrame(look);
    };
    look();
  });
  await page.goto(`${daemon.origin}/session/${session_id}`);
  const rows = page.locator(".transcript-body article");
  await rows.first().waitFor();
  const display = async (index: number, delta: string, final = false) => {
    const line = { message_id: "2bbf183b-ebf9-4d23-bc68-3e7e25586dbf", index, delta, final };
    await startHook(home.data, { session_id, hook_event_name: "MessageDisplay", ...line }).ended;
  };
  const tail = page.getByRole("region", { name: "Being written, not recorded yet" });
  await display(0, "The file is made.\n");
  await tail.getByText("The file is made.").waitFor();
  await display(1, "Second line.\n");
  await tail.getByText("Second line.").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  // A later visitor sees it too.
  await page.reload();
  await tail.getByText("Second line.").waitFor();

  const last = JSON.parse(session.lines.at(-1) ?? "{}");
  const record = {
    ...last,
    parentUuid: last.uuid,
    uuid: "7d3c1c1e-6a53-4d0c-9a4b-2f0f3c1d9e11",
    timestamp: new Date().toISOString(),
    type: "assistant",
    message: {
      id: "msg_01Live",
      type: "message",
      role: "assistant",
      model: "claude-opus-5-5",
      content: [{ type: "text", text: "The file is made.\nSecond line.\nThird line." }],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  };
  const file = join(home.claude, "projects/-home-ada-attach", `${session_id}.jsonl`);
  await appendFile(file, `${JSON.stringify(record)}\n`);
  await tail.waitFor({ state: "detached" });
  await display(2, "Third line.", true);
  await rows.getByText("Third line.").waitFor();
  const before = await rows.allInnerTexts();
  expect(await page.evaluate(() => Reflect.get(window, "most_shown"))).toBe(1);
  await page.reload();
  await rows.getByText("Third line.").waitFor();
  expect(await rows.allInnerTexts()).toEqual(before);
  expect(await tail.count()).toBe(0);
});

it("attaches and detaches Claude Code in the settings, which show the change first", async () => {
  const settings = join(home.claude, "settings.json");
  await writeFile(settings, '{ "theme": "dark" }\n');
  await page.getByRole("button", { name: "Settings" }).click();
  const dialog = page.getByRole("dialog", { name: "Settings" });
  await dialog.getByText("Show the change").first().click();
  await dialog.getByText(/^\+ .*claude-code-hook\.mjs/m).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Attach Claude Code" }).click();
  await dialog.getByRole("button", { name: "Detach Claude Code" }).waitFor();
  expect(await readFile(settings, "utf8")).toContain("PermissionRequest");
  await dialog.getByRole("button", { name: "Detach Claude Code" }).click();
  await dialog.getByRole("button", { name: "Attach Claude Code" }).waitFor();
  expect(await readFile(settings, "utf8")).toBe('{ "theme": "dark" }\n');
  await writeFile(settings, "{ broken");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Settings" }).click();
  await dialog.getByText(/Fix it first/).waitFor();
  expect(await dialog.getByRole("button", { name: "Attach Claude Code" }).isDisabled()).toBe(true);
  await rm(settings);
});
