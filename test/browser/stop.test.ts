import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MARK } from "../../src/agent/processes.ts";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import { rawReply, sessionsReply } from "../../src/protocol.ts";
import { eventually } from "../eventually.ts";
import { createHome, type Daemon, enterAt, type Home, startDaemon } from "./harness.ts";
import {
  begin,
  configure,
  disorder,
  idle,
  pageParts,
  type Rest,
  restOf,
  rowOf,
  scriptFile,
  storedParts,
} from "./managed-session.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

let home: Home;
let folder: string;
let daemon: Daemon;
let rest: Rest;
let browser: TestBrowser;
beforeEach(async () => {
  home = await createHome();
  folder = join(home.path, "harbour");
  await mkdir(folder);
  await configure(home, { rules: [{ tool: "shell", decision: "allow" }] });
  daemon = await startDaemon(home, ["--no-samples"]);
  rest = restOf(home, daemon);
  browser = await openTestBrowser();
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  await home.remove();
});

/** Running processes that a command of this test's sessions started, by their command lines. */
async function leftovers(): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const about = async (file: string) =>
      (await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")).replaceAll("\0", " ");
    const environment = await about("environ");
    if (environment.includes(`${MARK}=`) && environment.includes(`HOME=${home.path} `))
      found.push(await about("cmdline"));
  }
  return found;
}

/** Background children, one that ignores TERM, one in its own session, and the same in a run. */
const COMMAND =
  "sleep 3001 & (trap '' TERM; while :; do sleep 3002; done) & setsid sleep 3003 & nohup sleep 3004 >/dev/null 2>&1 & echo started; wait";

it.runIf(process.platform === "linux")(
  "an agent stopped with Esc Esc leaves no process, and a complete record with the interrupt in its place",
  async () => {
    const script = (name: string, ...parts: unknown[]) =>
      scriptFile(home, name, { title: name, tokens_per_second: 0, steps: [{ parts }] });
    const task = (model: string) => ({
      tool_call: { name: "task", arguments: { task: "Wait", prompt: `Wait. [[script:${model}]]` } },
    });
    const worker = await script(
      "worker",
      { text: "I wait below." },
      { tool_call: { name: "shell", arguments: { command: COMMAND } } },
    );
    const between = await script("between", { text: "I have it done." }, task(worker));
    const model = await script(
      "parent",
      { thinking: "Something that takes long." },
      { text: "I start it." },
      { tool_call: { name: "glob", arguments: { pattern: "*" } } },
      task(worker),
      task(between),
    );
    const session_id = await begin(rest, model, folder);
    const path = `/session/${session_id}`;
    const { page, complaints } = await enterAt(path, await browser.newContext(), daemon);
    const field = page.getByRole("textbox", { name: "Prompt", exact: true });
    await field.waitFor();
    // One of a run, one of a nested run.
    await eventually(async () => {
      for (const seconds of [3001, 3002, 3003, 3004])
        expect((await leftovers()).filter((line) => line.startsWith(`sleep ${seconds}`)).length).toBe(2);
    });
    const before = await pageParts(page);
    await field.press("Escape");
    await page.getByText("Press Esc again to stop").first().waitFor();
    await field.press("Escape");
    expect((await idle(rest, session_id)).status).toBe("interrupted");
    expect(await leftovers()).toEqual([]);

    const { sessions } = sessionsReply.parse(await rest.get("/api/sessions"));
    expect(sessions.length).toBe(4);
    for (const { id } of sessions) {
      // The list publishes changes together a moment later, so a session's own row is never older than its parent's.
      expect((await rowOf(rest, id)).status).toBe("interrupted");
      const parts = await storedParts(rest, id);
      expect(disorder(parts, id)).toEqual([]);
      // Earlier parts are unchanged and in the same order; then the marker follows, and after it only the ends of calls.
      const at = parts.findIndex((part) => part.type === "marker" && part.kind === "interrupt");
      expect(at).toBeGreaterThan(0);
      expect(parts.slice(at + 1).map(({ type }) => type)).toEqual(
        parts.slice(at + 1).map(() => "tool_result"),
      );
      if (id === session_id)
        expect(parts.slice(0, before.length).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      const call = parts.find((part) => part.type === "tool_call" && part.tool_name !== "glob");
      expect(call).toMatchObject({ state: { status: "aborted" } });
      const result = parts.find(
        (part) => part.type === "tool_result" && part.call_index === parts.indexOf(call ?? part),
      );
      const raw = rawReply.parse(await rest.get(`/api/sessions/${id}/parts/${result?.id}/raw`));
      expect(JSON.parse(raw.text)).toMatchObject({ role: "tool", status: "aborted" });
      if (call?.type === "tool_call" && call.tool_name === "shell") expect(raw.text).toContain("started");
    }
    await eventually(async () => {
      const stored = await storedParts(rest, session_id);
      expect((await pageParts(page)).map(truncatePart)).toEqual(stored);
    });
    await page
      .getByRole("region", { name: "Transcript", exact: true })
      .getByText("Interrupted")
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  },
);
