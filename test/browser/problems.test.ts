import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { uuidOf } from "../uuid-of.ts";
import { createHome, enter, openBrowser, startDaemon } from "./harness.ts";

const SESSION = uuidOf("session with a failed run");

/** Lines of Claude Code: a prompt, then each call with its result, then an answer. */
function lines(prompt: string, calls: Call[], agentId?: string): string {
  let parentUuid: string | null = null;
  const records: string[] = [];
  const write = (type: string, content: unknown, fields: object = {}, beside: object = {}): void => {
    const uuid = uuidOf(`${prompt} ${records.length}`);
    const timestamp = new Date(Date.UTC(2026, 10, 20, 9, 0, records.length)).toISOString();
    const message = { role: type, id: `msg_${uuid}`, model: "claude-opus-4-7", content, ...fields };
    const place = {
      sessionId: SESSION,
      cwd: "/home/ada/tide",
      version: "2.1.197",
      parentUuid,
      uuid,
      timestamp,
    };
    const run = agentId === undefined ? {} : { isSidechain: true, agentId };
    records.push(JSON.stringify({ type, ...place, ...run, message, ...beside }));
    parentUuid = uuid;
  };
  write("user", prompt);
  for (const { id, name, input, output, is_error, agent } of calls) {
    write("assistant", [{ type: "tool_use", id, name, input }], { stop_reason: "tool_use" });
    const result = { type: "tool_result", tool_use_id: id, content: output, is_error: is_error ?? false };
    write("user", [result], {}, agent === undefined ? {} : { toolUseResult: { agentId: agent } });
  }
  write("assistant", [{ type: "text", text: "That is all." }], { stop_reason: "end_turn" });
  return `${records.join("\n")}\n`;
}
interface Call {
  id: string;
  name: string;
  input: object;
  output: string;
  is_error?: boolean;
  /** The id of the run that it started. */
  agent?: string;
}
const bash = (id: string, command: string, output: string, is_error = false): Call => ({
  id,
  name: "Bash",
  input: { command },
  output,
  is_error,
});

it("goes to the next error, down into a run, and back", async () => {
  const home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-tide");
  await mkdir(join(folder, SESSION, "subagents"), { recursive: true });
  const run = lines("Read the basin", [bash("t1", "cat depth.csv", "no such file", true)], "a1");
  await writeFile(join(folder, SESSION, "subagents/agent-a1.jsonl"), run);
  const input = { description: "Basin", prompt: "Read the basin", subagent_type: "general-purpose" };
  const calls = [
    bash("t2", "ls", "a.txt"),
    { id: "t3", name: "Agent", input, output: "It could not be read.", agent: "a1" },
    bash("t4", "plot", "nothing to plot", true),
  ];
  await writeFile(join(folder, `${SESSION}.jsonl`), lines("Survey the harbour", calls));
  const daemon = await startDaemon(home, ["--no-samples"]);
  const browser = await openBrowser();
  const context = await browser.newContext({ viewport: { width: 1400, height: 800 } });
  const { page, complaints } = await enter(context, daemon);
  await page.goto(`${daemon.origin}/session/${SESSION}`);
  const main = page.locator(".pane:not(.pane-beside)");
  const beside = page.locator(".pane-beside");
  await main.getByText("That is all.").waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");

  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await beside.getByText("cat depth.csv").waitFor();
  await main.getByText("Errors in the run Read the basin").waitFor();
  await expect.poll(() => beside.evaluate((pane) => pane.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("e");
  await expect.poll(focused).toContain("cat depth.csv");
  // The first removes the mark, the second closes the run.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await beside.waitFor({ state: "detached" });
  await page.keyboard.press("e");
  await expect.poll(focused).toContain("nothing to plot");
  await page.keyboard.press("E");
  await beside.getByText("cat depth.csv").waitFor();
  expect(complaints).toEqual([]);
  await browser.close();
  await daemon.stop();
  await home.remove();
});
