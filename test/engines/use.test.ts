import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createHome, startDaemon } from "../browser/harness.ts";
import { startRecordingProxy } from "../browser/hostile/recording-proxy.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { findFirefox, openFirefox } from "./firefox.ts";
import { findWebKit, openWebKit } from "./webkit.ts";

const ENGINES = [
  { name: "Firefox", found: findFirefox(), openEngine: openFirefox },
  { name: "WebKitGTK", found: findWebKit(), openEngine: openWebKit },
];
const SESSION = generateClaudeSession({ parts: 400, turns: 4, seed: 7 });

/** The scroll position of the transcript, and the text that copying one call's line gives. */
const look = (): { fromEnd: number; row: string | undefined; copied: string } | undefined => {
  const box = document.querySelector("[role=region][aria-label=Transcript]");
  const line = box?.querySelector("article:has(.status-ok) summary");
  if (!box || !line) return undefined;
  getSelection()?.selectAllChildren(line);
  const copied = getSelection()?.toString() ?? "";
  getSelection()?.removeAllRanges();
  const { top } = box.getBoundingClientRect();
  const row = [...box.querySelectorAll("article")].find(
    (each) => each.getBoundingClientRect().top > top + 100,
  );
  return { row: row?.id, fromEnd: Math.round(box.scrollHeight - box.clientHeight - box.scrollTop), copied };
};

describe.each(ENGINES)("a session in $name", ({ found, openEngine }) => {
  it.skipIf(found === undefined)(
    "is copied as text, and keeps its position when the user returns",
    async () => {
      const home = await createHome();
      const folder = join(home.claude, "projects/-home-ada-use");
      await mkdir(folder, { recursive: true });
      const file = join(folder, `${SESSION.session_id}.jsonl`);
      await writeFile(file, SESSION.lines.map((line) => `${line}\n`).join(""));
      const daemon = await startDaemon(home, ["--no-samples"]);
      const proxy = await startRecordingProxy({ origin: daemon.origin });
      const engine = await openEngine(proxy.port);
      try {
        const page = await engine.newPage();
        await page.goto(daemon.launch);
        await page.goto(`${daemon.origin}/session/${SESSION.session_id}`);
        await eventually(async () => expect((await page.run(look, undefined))?.fromEnd).toBe(0));
        expect((await page.run(look, undefined))?.copied).toMatch(/^\[OK\]\s+\w+\s+\S/);
        for (const up of [0, 2_000]) {
          await page.run(async (by) => {
            document.querySelector("[role=region][aria-label=Transcript]")?.scrollBy(0, -by);
            for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
          }, up);
          const before = await page.run(look, undefined);
          expect(before?.row).toBeTruthy();
          await page.goto(`${daemon.origin}/`);
          await page.run(() => void setTimeout(() => history.back()), undefined);
          await eventually(async () => expect((await page.run(look, undefined))?.row).toBe(before?.row));
          // Until the connection is back, its notice takes some of the transcript's height, which changes a frame later.
          if (up === 0)
            await eventually(async () => expect((await page.run(look, undefined))?.fromEnd).toBe(0));
        }
      } finally {
        await engine.close();
        await proxy.close();
        await daemon.stop();
        await home.remove();
      }
    },
  );
});
