import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createHome, enter, openBrowser, startDaemon } from "../test/browser/harness.ts";
import { registerClaude } from "../test/claude-register.ts";
import { generateClaudeSession } from "../test/generate-session.ts";
import { load, median, report, round } from "./measure.ts";

/**
 * The time from a changed state in an agent's process registry until Chromium has painted it in the list. `node
 * bench/state.bench.ts`, after `npm run build`. The agent is this process: it writes Claude Code's registry file like 2.1.332.
 */
const CHANGES = 60;
/** Number of listed sessions, one of which changes. */
const SESSIONS = 2_000;

const home = await createHome();
const folder = join(home.claude, "projects/-home-ada-state");
await mkdir(folder, { recursive: true });
await mkdir(join(home.claude, "sessions"));
const sessions = Array.from({ length: SESSIONS }, (_, seed) =>
  generateClaudeSession({ parts: 10, turns: 1, seed: seed + 1 }),
);
for (const { session_id, lines } of sessions)
  await writeFile(join(folder, `${session_id}.jsonl`), lines.map((line) => `${line}\n`).join(""));
const session_id = sessions.at(-1)?.session_id ?? "";

const STATES = [
  { status: "busy" },
  { status: "waiting", waitingFor: "permission prompt" },
  { status: "idle" },
] as const;
const daemon = await startDaemon(home, ["--no-samples"]);
const browser = await openBrowser();
const { page } = await enter(await browser.newContext({ viewport: { width: 1280, height: 800 } }), daemon);
await page.getByRole("searchbox", { name: "Filter sessions" }).fill(session_id);
const badge = page.locator(`[data-session="${session_id}"] .session-state`);
await badge.waitFor();
const text = (): Promise<string> => badge.innerText();

const took: number[] = [];
for (let change = 0; change < CHANGES; change += 1) {
  const before = await text();
  const painted = page.evaluate(
    async ([id, old]) => {
      const state = (): string =>
        document.querySelector<HTMLElement>(`[data-session="${id}"] .session-state`)?.innerText ?? "";
      while (state() === old) await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      return Date.now();
    },
    [session_id, before] as const,
  );
  const written_at = Date.now();
  await registerClaude(home.claude, session_id, STATES[change % STATES.length] ?? {});
  took.push((await painted) - written_at);
}
await browser.close();
await daemon.stop();
await home.remove();
const sorted = took.toSorted((one, other) => one - other);
report(
  "state",
  [
    {
      row: "a state in an agent's register until it is painted, ms",
      goal: "≤ 500",
      figures: {
        median: round(median(took)),
        p95: round(sorted[Math.floor(0.95 * sorted.length)] ?? 0),
        longest: round(sorted.at(-1) ?? 0),
      },
    },
  ],
  { changes: CHANGES, sessions: SESSIONS, load: load() },
);
