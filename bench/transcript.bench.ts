import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createHome, enter, startDaemon } from "../test/browser/harness.ts";
import { generateClaudeSession } from "../test/generate-session.ts";
import { load, median, meter, openChromium, type Row, report, round, servePages } from "./measure.ts";

/**
 * A session of 20,000 parts compared to one of 200: opening, following while it grows, flinging and jumping. Uses the built page
 * and the real daemon: run `npm run build` first. Also measures the virtual lists of peers, with the same bare rows on pages of
 * their own; only the growth of their cost is compared. `node bench/transcript.bench.ts [--rounds 5] [--peers 2]`
 */
const { values: flags } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, peers: { type: "string", default: "2" } },
});
const SIZES = [200, 20_000] as const;
/** Sizes for Verbatim only. The list of turns next to it reaches its full height at 2,400 parts. */
const OWN_SIZES = [200, 4_000, 20_000] as const;
const LINES = 40;

const home = await createHome();
const folder = join(home.claude, "projects/-home-ada-long-session");
mkdirSync(folder, { recursive: true });
const sessions = OWN_SIZES.map((parts) => {
  const { session_id, lines } = generateClaudeSession({ parts, turns: Math.ceil(parts / 80), seed: parts });
  const path = join(folder, `${session_id}.jsonl`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return { parts, session_id, path, last: lines.at(-1) ?? "{}" };
});
const daemon = await startDaemon(home, ["--no-samples"]);
const browser = await openChromium();

/** Runs in the page: the share of five probes in the view without a row, in each frame of a fling and after jumps. */
async function blanks(): Promise<{ fling: number; jumps: number; frames_ms: number[] }> {
  const region = document.querySelector('[role="region"][aria-label="Transcript"]');
  if (!(region instanceof HTMLElement)) throw new Error("no transcript");
  const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  const probe = (): number => {
    const box = region.getBoundingClientRect();
    const bare = [0.05, 0.3, 0.5, 0.7, 0.95].filter((share) => {
      // Elements that cover a row, such as the button to the end, do not make it blank.
      const found = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height * share);
      return !found.some((element) => element.closest("article, .turn-heading, .part-row, .turn"));
    });
    return bare.length / 5;
  };
  region.scrollTop = region.scrollHeight * 0.4;
  await frame();
  const frames_ms: number[] = [];
  let fling = 0;
  let last = await frame();
  for (let n = 0; n < 60; n++) {
    region.scrollTop += 250;
    const now = await frame();
    frames_ms.push(now - last);
    last = now;
    fling += probe();
  }
  let jumps = 0;
  for (let n = 0; n < 20; n++) {
    region.scrollTop = region.scrollHeight * ((n * 7) % 20) * 0.05;
    await frame();
    jumps += probe();
  }
  return { fling: fling / 60, jumps: jumps / 20, frames_ms };
}

interface Sample {
  open_cpu_ms: number;
  line_cpu_ms: number;
  elements: number;
  heap_mb: number;
  load: number;
}
/** A sample of Verbatim's own page, which is also probed for blank areas while it scrolls. */
interface ScrolledSample extends Sample {
  fling: number;
  jumps: number;
  frame_p95_ms: number;
}
const samples = new Map<number, ScrolledSample[]>(OWN_SIZES.map((parts) => [parts, []]));
const PEERS = ["virtua", "tanstack", "everything-mounted"] as const;
const peers = new Map<string, Map<number, Sample[]>>(
  PEERS.map((name) => [name, new Map(SIZES.map((parts) => [parts, []]))]),
);
const pages = await servePages();
let appended = 0;

async function measurePeer(list: string, parts: number): Promise<Sample> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(240_000);
  const { read, collect } = await meter(page);
  await page.goto(`${pages.origin}/transcript.html?${new URLSearchParams({ list, parts: String(parts) })}`);
  await page.waitForFunction("window.__ready");
  await collect();
  const before = await read();
  await page.evaluate("window.__show()");
  const opened = await read();
  await page.waitForTimeout(1_000);
  const quiet = await read();
  // Each line takes about a tenth of a second here, so fewer are sufficient.
  const lines = list === "everything-mounted" ? 5 : LINES;
  for (let line = 0; line < lines; line++) await page.evaluate("window.__append()");
  const grown = await read();
  await collect();
  const sample = {
    open_cpu_ms: opened.cpu_ms - before.cpu_ms,
    line_cpu_ms: (grown.cpu_ms - quiet.cpu_ms) / lines,
    elements: await page.evaluate(() => document.querySelectorAll("*").length),
    heap_mb: (await read()).heap_mb,
    load: load(),
  };
  console.error(`${list} ${parts} parts`, JSON.stringify(sample));
  await context.close();
  return sample;
}
try {
  for (let n = 0; n < Number(flags.rounds); n++) {
    for (const { parts, session_id, path, last } of sessions) {
      const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
      const { page } = await enter(context, { ...daemon, launch: await launchLink() });
      const { read, collect } = await meter(page);
      await page.getByRole("main").waitFor();
      // The script of the session screen is loaded already, so that only the session is measured.
      await page.waitForTimeout(500);
      await collect();
      const before = await read();
      await page.evaluate((address) => {
        history.pushState(null, "", address);
        dispatchEvent(new PopStateEvent("popstate"));
      }, `/session/${session_id}`);
      const region = page.getByRole("region", { name: "Transcript", exact: true });
      await region.locator("article").last().waitFor();
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
      const opened = await read();
      await page.waitForTimeout(1_000);
      await region.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      const quiet = await read();
      const { message, ...record } = JSON.parse(last);
      for (let line = 0; line < LINES; line++) {
        appended += 1;
        const text = `Appended line ${appended}.`;
        const uuid = `aaaaaaaa-0000-4000-8000-${String(appended).padStart(12, "0")}`;
        appendFileSync(
          path,
          `${JSON.stringify({ ...record, uuid, message: { ...message, id: `msg_${uuid}`, content: [{ type: "text", text }] } })}\n`,
        );
        await region.getByText(text, { exact: true }).waitFor();
      }
      const grown = await read();
      const seen = await page.evaluate(blanks);
      await collect();
      const sorted = seen.frames_ms.toSorted((one, other) => one - other);
      const sample: ScrolledSample = {
        open_cpu_ms: opened.cpu_ms - before.cpu_ms,
        line_cpu_ms: (grown.cpu_ms - quiet.cpu_ms) / LINES,
        elements: await page.evaluate(() => document.querySelectorAll("*").length),
        heap_mb: (await read()).heap_mb,
        fling: seen.fling,
        jumps: seen.jumps,
        frame_p95_ms: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN,
        load: load(),
      };
      samples.get(parts)?.push(sample);
      console.error(`${n} ${parts} parts`, JSON.stringify(sample));
      await context.close();
    }
    if (n < Number(flags.peers))
      for (const name of PEERS)
        for (const parts of SIZES)
          if (n === 0 || name !== "everything-mounted")
            peers
              .get(name)
              ?.get(parts)
              ?.push(await measurePeer(name, parts));
  }
} finally {
  await browser.close();
  pages.close();
  await daemon.stop();
  await home.remove();
}

/** Requests further launch links with the token, because the printed one works only once. */
async function launchLink(): Promise<string> {
  const { readAccess } = await import("../src/server/auth/access.ts");
  const access = readAccess(join(home.data, "access.json"));
  const reply = await fetch(`${daemon.origin}/api/link`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${access?.api_token}`,
      "content-type": "application/json",
      "x-verbatim-client": "1",
    },
    body: "{}",
  });
  const { link }: { link?: unknown } = await reply.json();
  if (typeof link !== "string") throw new Error(`The daemon gave no link: ${reply.status}.`);
  return link;
}

const of = (parts: number, figure: (sample: ScrolledSample) => number): number =>
  median((samples.get(parts) ?? []).map(figure));
/** The ratio of 20,000 parts to a smaller session within each round, then the median. */
const ratio = (
  figure: (sample: Sample) => number,
  from: ReadonlyMap<number, Sample[]> = samples,
  parts = 200,
): number => {
  const small = from.get(parts) ?? [];
  return round(
    median((from.get(20_000) ?? []).map((sample, n) => figure(sample) / figure(small[n] ?? sample))),
  );
};
const ofPeers = <Figure>(figure: (from: Map<number, Sample[]>) => Figure): Record<string, Figure> =>
  Object.fromEntries(
    [...peers].flatMap(([name, from]) => (from.get(200)?.length ? [[name, figure(from)]] : [])),
  );
const rows: Row[] = [
  {
    row: "open 20,000 / 200 parts, CPU to first content",
    goal: "≤ 1.15",
    figures: {
      verbatim: ratio((each) => each.open_cpu_ms),
      "verbatim, 20,000 / 4,000": ratio((each) => each.open_cpu_ms, samples, 4_000),
      ...ofPeers((from) => ratio((each) => each.open_cpu_ms, from)),
      "ms at 20,000": round(of(20_000, (each) => each.open_cpu_ms)),
      elements: of(20_000, (each) => each.elements),
      "heap MB": round(of(20_000, (each) => each.heap_mb)),
    },
  },
  {
    row: "a line appended, 20,000 / 200 parts, CPU",
    goal: "≤ 1.2",
    figures: {
      verbatim: ratio((each) => each.line_cpu_ms),
      ...ofPeers((from) => ratio((each) => each.line_cpu_ms, from)),
      "ms at 20,000": round(of(20_000, (each) => each.line_cpu_ms)),
    },
  },
  {
    row: "blank probes in 20,000 parts",
    goal: "0 %",
    figures: {
      "on a fling": `${round(100 * of(20_000, (each) => each.fling))} %`,
      "after jumps": `${round(100 * of(20_000, (each) => each.jumps))} %`,
      "frame p95 ms": round(of(20_000, (each) => each.frame_p95_ms)),
    },
  },
];
report("transcript", rows, {
  verbatim: Object.fromEntries(samples),
  ...Object.fromEntries([...peers].map(([name, from]) => [name, Object.fromEntries(from)])),
});
