import {
  agent,
  bash,
  ClaudeSession,
  edit,
  failingBash,
  grep,
  read,
  readImage,
  type Tool,
  todos,
  write,
} from "./claude-code.ts";
import { tideChart } from "./picture.ts";

const cwd = "/home/mara/tidewatch";
const at = (path: string) => `${cwd}/${path}`;
const ESC = "\u001b[";
const red = (text: string) => `${ESC}31m${text}${ESC}39m`;
const green = (text: string) => `${ESC}32m${text}${ESC}39m`;
const dim = (text: string) => `${ESC}2m${text}${ESC}22m`;

const LOCAL_DAY = `import { utcToZoned } from "./zones.ts";

const DAY = 86_400_000;

/** The local day that contains \`instant\`, as instants in UTC. */
export function localDay(instant: number, zone: string): { start: number; end: number } {
  const local = utcToZoned(instant, zone);
  const start = instant - (local.hour * 3_600_000 + local.minute * 60_000 + local.second * 1_000);
  return { start, end: start + DAY };
}`;

const PREDICT_TEST = `import { describe, expect, it } from "vitest";
import { predict } from "../src/predict.ts";
import liverpool from "./fixtures/liverpool.json" with { type: "json" };

describe("predict", () => {
  it("crosses the end of daylight saving", () => {
    const day = predict(liverpool, { date: "2026-10-25", zone: "Europe/London" });
    expect(day.extremes.map((extreme) => extreme.local)).toEqual([
      "00:31", "05:43", "11:55", "18:07",
    ]);
  });
});`;

function verbose(): string {
  const files = [
    "predict",
    "constituents",
    "harmonics",
    "extremes",
    "zones",
    "local-day",
    "stations",
    "cache",
  ];
  const cases = [
    "adds the nodal correction of the year",
    "keeps the phase within one turn",
    "refuses a station without a datum",
    "agrees with the printed tables to the minute",
    "orders high and low water",
    "crosses the start of daylight saving",
    "crosses the end of daylight saving",
    "knows a zone that shifts by thirty minutes",
    "works at the date line",
    "gives an empty list for a lake",
    "is the same for two runs",
  ];
  const lines = [`${ESC}1m${ESC}46m RUN ${ESC}49m${ESC}22m ${dim("v4.1.2 /home/mara/tidewatch")}`, ""];
  files.forEach((file, index) => {
    for (const station of ["liverpool", "brest"]) {
      for (const [place, name] of cases.entries()) {
        const took = ((index + 3) * (place + 5) * 7) % 41;
        lines.push(
          ` ${green("✓")} test/${file}.test.ts ${dim(">")} ${station} ${dim(">")} ${name} ${dim(`${took}ms`)}`,
        );
      }
    }
  });
  lines.push(
    "",
    `${dim(" Test Files ")} ${green("8 passed")} (8)`,
    `${dim("      Tests ")} ${green("176 passed")} (176)`,
  );
  return lines.join("\n");
}

const SOURCES: [string, string][] = [
  ["src/time/local-day.ts", LOCAL_DAY],
  [
    "src/time/zones.ts",
    'const formats = new Map<string, Intl.DateTimeFormat>();\n\nexport function utcToZoned(instant: number, zone: string) {\n  let format = formats.get(zone);\n  if (format === undefined) {\n    format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", dateStyle: "short", timeStyle: "medium" });\n    formats.set(zone, format);\n  }\n  return parts(format, instant);\n}',
  ],
  [
    "src/predict.ts",
    'import { extremes } from "./extremes.ts";\nimport { localDay } from "./time/local-day.ts";\n\nexport function predict(station: Station, { date, zone }: Query): Day {\n  const { start, end } = localDay(noon(date, zone), zone);\n  return { date, extremes: extremes(station, start, end) };\n}',
  ],
  [
    "src/extremes.ts",
    "export function extremes(station: Station, start: number, end: number): Extreme[] {\n  const found: Extreme[] = [];\n  for (let t = start; t < end; t += SIX_MINUTES) {\n    if (turns(station, t)) found.push(refine(station, t));\n  }\n  return found;\n}",
  ],
  ["test/predict.test.ts", PREDICT_TEST],
  [
    "test/fixtures/liverpool.json",
    '{\n  "name": "Liverpool, Gladstone Dock",\n  "datum": 4.93,\n  "constituents": { "M2": [3.12, 323.1], "S2": [1.01, 8.2], "N2": [0.59, 300.4] }\n}',
  ],
  [
    "src/stations.ts",
    "export interface Station {\n  name: string;\n  /** Metres above chart datum. */\n  datum: number;\n  constituents: Record<string, [amplitude: number, phase: number]>;\n}",
  ],
  [
    "src/cli.ts",
    'const { values } = parseArgs({ options: { zone: { type: "string" }, date: { type: "string" } } });\nprint(predict(station, values));',
  ],
  [
    "package.json",
    '{\n  "name": "tidewatch",\n  "type": "module",\n  "scripts": { "test": "vitest run" }\n}',
  ],
  [
    "CHANGELOG.md",
    "## 3.4.0\n- Predictions by local day instead of UTC day.\n\n## 3.3.1\n- Nodal corrections for 2026.",
  ],
];

/** The session that is replayed: a failing test, found, fixed and widened. */
export function daylightSaving(): ClaudeSession {
  const session = new ClaudeSession({
    id: "6f0c2a9e-41d7-4c55-9a3b-0d2f7e88b114",
    cwd,
    git_branch: "fix/dst-extremes",
    start: "2026-11-18T08:41:12.207Z",
  });
  session.begin();
  session.prompt(
    "CI is red on main since the clocks went back: `predict › crosses the end of daylight saving` fails for Liverpool. Find out why and fix the cause, please. Don't loosen the assertion.",
  );
  session.step({
    think:
      "A test about daylight saving that began to fail when the clocks went back. I should see the failure itself before I read anything, so that I don't explain a different bug.",
    text: "I'll look at the failure first.",
    tools: [
      failingBash(
        "pnpm vitest run test/predict.test.ts",
        "Run the failing test",
        1,
        `${ESC}1m${ESC}46m RUN ${ESC}49m${ESC}22m ${dim("v4.1.2 /home/mara/tidewatch")}\n\n ${red("❯")} test/predict.test.ts ${dim("(1 test | ")}${red("1 failed")}${dim(") 38ms")}\n   ${red("×")} predict > crosses the end of daylight saving ${dim("31ms")}\n\n${red("AssertionError")}: expected [ '05:43', '11:55', '18:07' ] to deeply equal [ '00:31', '05:43', '11:55', …(1) ]\n\n${green("- Expected")}\n${red("+ Received")}\n\n  [\n${green('-   "00:31",')}\n    "05:43",\n    "11:55",\n    "18:07",\n  ]\n\n ${dim("❯")} test/predict.test.ts:8:63\n\n${dim(" Test Files ")} ${red("1 failed")} (1)\n${dim("      Tests ")} ${red("1 failed")} (1)`,
      ),
    ],
    tokens: [4, 16_900, 148],
  });
  session.title("Fix tide extremes on the day daylight saving ends");
  session.step({
    think:
      "The first high water, 00:31, is missing. Not wrong: missing. And it is the only one of the four before the clocks go back at 02:00, so the only one in summer time. Either the search begins too late or it drops what lies before the change. I need everything between the date and the extremes, so one batch.",
    text: "The first high water is not wrong, it is *missing*, and it is the only one still in summer time: the window that we search seems to start too late. Let me read everything between the date and the extremes at once.",
    tools: SOURCES.map(([path, content], index) => read(at(path), content, 200 + ((index * 137) % 5) * 90)),
    finish: [0, 1, 3, 2, 4, 6, 5, 7, 8, 9],
    tokens: [5, 18_230, 611],
  });
  const plan = [
    ["Find the window's true bounds on a day of 25 hours", "Finding the window's bounds"],
    ["Check the other callers of localDay()", "Checking callers"],
    ["Make localDay() ask the zone for both midnights", "Fixing localDay()"],
    ["Cover a zone that shifts by thirty minutes", "Covering half-hour shifts"],
  ] as const;
  const list = (done: number) =>
    plan.map(([content, activeForm], index) => ({
      content,
      activeForm,
      status:
        index < done
          ? ("completed" as const)
          : index === done
            ? ("in_progress" as const)
            : ("pending" as const),
    }));
  session.step({
    think:
      "`start = instant - time since midnight on the wall clock`, called with local noon. Noon GMT minus twelve hours on the wall is 00:00 GMT. But the day began at 00:00 BST, which is 23:00 GMT of the day before: the start is an hour late, and 00:31 BST falls out. And `end = start + DAY` is right only because the two errors cancel. On the day in March they will not cancel in our favour: there the window reaches an hour into the day before.",
    text: "Found it. `localDay()` subtracts *wall clock* hours from an instant, then adds 24 hours. On the day that the clocks go back, noon minus twelve wall-clock hours is 01:00 BST, an hour after the day began; and the day has 25 hours. I'll keep a list, and check who else relies on this.",
    tools: [todos([], list(0))],
    tokens: [3, 24_871, 502],
  });
  session.step({
    tools: [
      agent(
        "Explore",
        "Find callers of localDay()",
        "Find every caller of localDay() in /home/mara/tidewatch and say for each whether it assumes that a day has 24 hours. Read only. Answer with a short list.",
        (child) => {
          child.step({
            text: "Searching for callers and for arithmetic with day lengths.",
            tools: [
              grep("localDay\\(", cwd, [
                "src/predict.ts:5:  const { start, end } = localDay(noon(date, zone), zone);",
                "src/almanac.ts:41:    const day = localDay(cursor, zone);",
                "src/api/tables.ts:18:  const { start } = localDay(Date.now(), station.zone);",
              ]),
              grep("86_?400_?000|24 \\* 60", `${cwd}/src`, [
                "src/time/local-day.ts:3:const DAY = 86_400_000;",
                "src/almanac.ts:44:    cursor += 86_400_000;",
              ]),
            ],
          });
          child.step({
            think:
              "almanac.ts walks days by adding 24 hours to a cursor. On the 25 hour day it visits the same local day twice.",
            tools: [
              read(
                at("src/almanac.ts"),
                "export function almanac(station: Station, from: number, to: number, zone: string) {\n  const days: Day[] = [];\n  for (let cursor = from; cursor < to; ) {\n    const day = localDay(cursor, zone);\n    days.push(table(station, day));\n    cursor += 86_400_000;\n  }\n  return days;\n}",
              ),
              read(
                at("src/api/tables.ts"),
                'app.get("/tables/today", (c) => {\n  const station = find(c.req.query("station"));\n  const { start } = localDay(Date.now(), station.zone);\n  return c.json(table(station, { start }));\n});',
              ),
            ],
          });
          child.step({
            text: "Three callers:\n\n1. `src/predict.ts:5` uses both bounds; correct once `localDay()` is.\n2. `src/almanac.ts:41-44` **assumes 24 hours**: it steps a cursor by 86,400,000 ms, so the almanac lists 25 October twice. It should step to `day.end`.\n3. `src/api/tables.ts:18` uses only `start`; correct once `localDay()` is.",
            tokens: [4, 9_120, 188],
          });
        },
      ),
    ],
    tokens: [2, 26_004, 190],
  });
  session.step({
    text: "The almanac steps by 24 hours too, so it must have listed 25 October twice. Before I write date arithmetic of my own I want to know what the platform gives us.",
    tools: [
      {
        name: "WebSearch",
        input: { query: "Temporal ZonedDateTime startOfDay hoursInDay Node 24 support" },
        takes: 2_900,
        content:
          'Web search results for query: "Temporal ZonedDateTime startOfDay hoursInDay Node 24 support"\n\nLinks: [{"title":"Temporal.ZonedDateTime.prototype.startOfDay() - MDN","url":"https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Temporal/ZonedDateTime/startOfDay"},{"title":"Temporal documentation","url":"https://tc39.es/proposal-temporal/docs/"}]\n\nNode 24 ships V8 13.6, in which Temporal is behind a flag.',
        structured: {
          query: "Temporal ZonedDateTime startOfDay hoursInDay Node 24 support",
          results: [
            {
              tool_use_id: "srvtoolu_01",
              content: [
                {
                  title: "Temporal.ZonedDateTime.prototype.startOfDay() - MDN",
                  url: "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Temporal/ZonedDateTime/startOfDay",
                },
                { title: "Temporal documentation", url: "https://tc39.es/proposal-temporal/docs/" },
              ],
            },
            "Node 24 ships V8 13.6, in which Temporal is behind a flag.",
          ],
          durationSeconds: 2.81,
        },
      },
      {
        name: "WebFetch",
        input: {
          url: "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Temporal/ZonedDateTime/startOfDay",
          prompt: "What does startOfDay return on days without a midnight?",
        },
        takes: 1_700,
        content:
          "`startOfDay()` returns the first instant of the date in the zone. Most of the time that is 00:00:00; where the clocks skip midnight it is the first wall-clock time that exists.",
        structured: {
          bytes: 61_442,
          code: 200,
          codeText: "OK",
          result:
            "`startOfDay()` returns the first instant of the date in the zone. Most of the time that is 00:00:00; where the clocks skip midnight it is the first wall-clock time that exists.",
          durationMs: 1_655,
          url: "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Temporal/ZonedDateTime/startOfDay",
        },
      },
    ],
    tokens: [5, 27_310, 274],
  });
  session.step({
    think:
      "Temporal is behind a flag in Node 24, so not yet. Do it with the zone's offset: find the midnight of a civil date by asking for the offset at a first guess and correcting once. A second correction is needed only where midnight itself does not exist; then the first instant after the gap is right, which the fixed point gives as well.",
    text: "Temporal still needs a flag there, so I'll ask the zone for the offset at each midnight instead. Both midnights, so that the length of the day comes out by itself.",
    tools: [
      edit(
        at("src/time/local-day.ts"),
        7,
        "  const local = utcToZoned(instant, zone);\n  const start = instant - (local.hour * 3_600_000 + local.minute * 60_000 + local.second * 1_000);\n  return { start, end: start + DAY };",
        "  const { year, month, day } = utcToZoned(instant, zone);\n  return { start: midnight(year, month, day, zone), end: midnight(year, month, day + 1, zone) };",
        ["export function localDay(instant: number, zone: string): { start: number; end: number } {", "}"],
      ),
      edit(
        at("src/time/local-day.ts"),
        3,
        "const DAY = 86_400_000;",
        "/** The first instant of a civil date. Corrected twice: the offset at the guess may differ from the one at midnight. */\nfunction midnight(year: number, month: number, day: number, zone: string): number {\n  const civil = Date.UTC(year, month - 1, day);\n  const guess = civil - offset(civil, zone);\n  return civil - offset(guess, zone);\n}",
        ["", ""],
      ),
      edit(at("src/almanac.ts"), 6, "    cursor += 86_400_000;", "    cursor = day.end;", [
        "    days.push(table(station, day));",
        "  }",
      ]),
    ],
    queued: "good catch. please also add Lord Howe, their clocks shift by 30 minutes",
    tokens: [3, 31_202, 890],
  });
  session.step({
    think:
      "Lord Howe: +10:30 standard, +11:00 in summer. The change on 4 October 2026 makes a day of 23.5 hours. A good case: nothing that assumes whole hours survives it.",
    text: "Lord Howe Island is a good case: its day on 4 October has 23½ hours, which nothing that counts whole hours survives.",
    tools: [
      write(
        at("test/local-day.test.ts"),
        'import { expect, it } from "vitest";\nimport { localDay } from "../src/time/local-day.ts";\n\nconst hours = ({ start, end }: { start: number; end: number }) => (end - start) / 3_600_000;\n\nit.each([\n  ["Europe/London", "2026-10-25T12:00Z", 25],\n  ["Europe/London", "2026-03-29T12:00Z", 23],\n  ["Australia/Lord_Howe", "2026-10-04T01:00Z", 23.5],\n  ["Australia/Lord_Howe", "2026-04-05T01:00Z", 24.5],\n  ["Asia/Kathmandu", "2026-06-01T12:00Z", 24],\n])("a day in %s at %s has %s hours", (zone, instant, expected) => {\n  expect(hours(localDay(Date.parse(instant), zone))).toBe(expected);\n});\n',
      ),
      bash("pnpm vitest run --reporter=verbose", "Run all tests", verbose(), 6_200),
      bash(
        "git diff --stat",
        "Show what changed",
        " src/almanac.ts        |  2 +-\n src/time/local-day.ts | 13 ++++++++-----\n 2 files changed, 9 insertions(+), 6 deletions(-)",
        120,
      ),
    ],
    tokens: [4, 34_515, 702],
  });
  session.step({ tools: [todos(list(0), list(4))], tokens: [2, 36_040, 120] });
  session.step({
    text: `All 176 tests pass, with the assertion as it was.

**What was wrong.** \`localDay()\` mixed two clocks: it subtracted *wall-clock* hours from an *instant* and then assumed a day of 24 hours.

| date | zone | hours in the day | before | now |
|---|---|---:|---|---|
| 25 Oct 2026 | Europe/London | 25 | first high water missing | ✓ |
| 29 Mar 2026 | Europe/London | 23 | an extreme of the day before[^1] | ✓ |
| 4 Oct 2026 | Australia/Lord_Howe | 23½ | shifted by 30 min | ✓ |

What I changed:

- [x] \`src/time/local-day.ts\` asks the zone for **both** midnights
- [x] \`src/almanac.ts\` steps to the end of the day, so 25 October is listed once
- [x] \`test/local-day.test.ts\` has days of 23, 23½, 24, 24½ and 25 hours
- [ ] \`Temporal\` would replace \`midnight()\`; it still needs a flag in Node 24

\`\`\`ts
return { start: midnight(year, month, day, zone), end: midnight(year, month, day + 1, zone) };
\`\`\`

[^1]: No test noticed, because March was never in the fixtures.`,
    tokens: [2, 36_377, 481],
  });
  session.end();
  session.lastPrompt("good catch. please also add Lord Howe, their clocks shift by 30 minutes");
  return session;
}

/** Two parallel sub-agents, one of them with a nested sub-agent. */
export function memoryGrowth(): ClaudeSession {
  const session = new ClaudeSession({
    id: "b2d5e1f7-93aa-4d0e-8c46-5e1b70a9d3c2",
    cwd,
    git_branch: "main",
    start: "2026-11-17T13:05:44.018Z",
  });
  session.begin();
  session.prompt(
    "The API process grows by about 40 MB an hour in production until it is restarted. Use two agents: one to profile the harmonics cache, one to audit everything that subscribes to something. Then tell me which of the two it is.",
  );
  session.step({
    think:
      "Two independent lines of enquiry, so two agents at once. The profile needs a heap comparison, the audit only reading.",
    text: "I'll run the two in parallel and compare what they find.",
    tools: [
      agent(
        "general-purpose",
        "Profile the harmonics cache",
        "Profile the memory of the harmonics cache in /home/mara/tidewatch (src/cache.ts). Run scripts/soak.ts for a minute with --expose-gc, compare the heap before and after, and say what grows. If a structure of ours grows, let an Explore agent find who writes to it.",
        (child) => {
          child.step({
            think: "First the numbers, then the suspects.",
            text: "Soaking for a minute with a heap sample at both ends.",
            tools: [
              bash(
                "node --expose-gc scripts/soak.ts --seconds 60 --sample",
                "Run the soak test",
                `[soak] 0 s   heap ${green("31.2 MB")}\n[soak] 20 s  heap 38.9 MB\n[soak] 40 s  heap 46.1 MB\n[soak] 60 s  heap ${red("53.4 MB")}\n[soak] retained: Map @cache.entries 21.7 MB (18,204 entries), string 0.3 MB`,
                4_800,
              ),
              read(
                at("src/cache.ts"),
                'const entries = new Map<string, Float64Array>();\n\nexport function harmonics(station: Station, instant: number): Float64Array {\n  const key = [station.name, instant].join(":");\n  let value = entries.get(key);\n  if (value === undefined) {\n    value = compute(station, instant);\n    entries.set(key, value);\n  }\n  return value;\n}',
              ),
            ],
          });
          child.step({
            text: "`entries` holds 18,204 arrays after a minute: the key contains the exact instant, so nothing is ever found again. An Explore agent can tell who calls it with unrounded instants.",
            tools: [
              agent(
                "Explore",
                "Find writers of the cache",
                "Find every caller of harmonics() in /home/mara/tidewatch and say whether the instant that it passes is rounded.",
                (grandchild) => {
                  grandchild.step({
                    tools: [
                      grep("harmonics\\(", `${cwd}/src`, [
                        "src/extremes.ts:22:  const wave = harmonics(station, t);",
                        "src/api/now.ts:9:  const wave = harmonics(station, Date.now());",
                      ]),
                      read(
                        at("src/api/now.ts"),
                        'app.get("/now", (c) => {\n  const station = find(c.req.query("station"));\n  const wave = harmonics(station, Date.now());\n  return c.json({ level: level(station, wave) });\n});',
                      ),
                    ],
                  });
                  grandchild.step({
                    text: "Two callers. `src/extremes.ts:22` steps by six minutes (rounded). `src/api/now.ts:9` passes `Date.now()`, **unrounded**: every request makes a new entry.",
                  });
                },
              ),
            ],
          });
          child.step({
            think: "That matches the rate: about 300 entries a second in the soak, 1.2 KB each.",
            text: "The cache grows without bound: `/now` calls `harmonics()` with `Date.now()`, and the key contains that instant. 18,204 entries of 1.2 KB after one minute of soak, none of them ever read again. At production's rate of 9 requests a second that is about **39 MB an hour**.",
          });
        },
      ),
      agent(
        "Explore",
        "Audit event listeners",
        "Audit /home/mara/tidewatch for listeners, timers and subscriptions that are added and never removed. Read only. List file, line and verdict.",
        (child) => {
          child.step({
            text: "Looking for everything that subscribes.",
            tools: [
              grep("\\.on\\(|addEventListener|setInterval|subscribe\\(", `${cwd}/src`, [
                'src/api/stream.ts:14:  gauge.on("reading", send);',
                'src/server.ts:31:process.on("SIGTERM", stop);',
                "src/gauge.ts:52:  this.timer = setInterval(() => this.poll(), 60_000);",
              ]),
            ],
          });
          child.step({
            tools: [
              read(
                at("src/api/stream.ts"),
                'app.get("/stream", (c) =>\n  streamSSE(c, async (stream) => {\n    const send = (reading: Reading) => stream.writeSSE({ data: JSON.stringify(reading) });\n    gauge.on("reading", send);\n    stream.onAbort(() => gauge.off("reading", send));\n    await closed(stream);\n  }),\n);',
              ),
              read(
                at("src/gauge.ts"),
                "  start() {\n    this.timer = setInterval(() => this.poll(), 60_000);\n  }\n  stop() {\n    clearInterval(this.timer);\n  }",
              ),
              {
                name: "Read",
                input: { file_path: at("src/listeners.ts") },
                content: "File does not exist. Note: your current working directory is /home/mara/tidewatch.",
                structured: "Error: File does not exist.",
                is_error: true,
              },
            ],
            finish: [1, 0, 2],
          });
          child.step({
            text: "All three are balanced: `stream.ts` removes its listener on abort, `gauge.ts` clears its timer in `stop()`, the signal handler lives as long as the process. **No leak here.**",
          });
        },
      ),
    ],
    finish: [1, 0],
  });
  session.title("Find what makes the API process grow");
  session.step({
    think:
      "The audit is clean, the profile is not, and the arithmetic of the profile agrees with production: 9 requests/s × 3600 × 1.2 KB = 38.9 MB.",
    text: "It is the cache, and the arithmetic agrees: 9 requests a second × 3,600 × 1.2 KB ≈ **39 MB an hour**, which is what production shows. Rounding the instant in `/now` to the six minutes that the rest uses bounds it by the number of stations.",
    tools: [
      edit(
        at("src/api/now.ts"),
        3,
        "  const wave = harmonics(station, Date.now());",
        "  const wave = harmonics(station, roundDown(Date.now(), SIX_MINUTES));",
        [
          '  const station = find(c.req.query("station"));',
          "  return c.json({ level: level(station, wave) });",
        ],
      ),
      bash(
        "node --expose-gc scripts/soak.ts --seconds 60 --sample",
        "Run the soak test again",
        `[soak] 0 s   heap 31.1 MB\n[soak] 20 s  heap 31.9 MB\n[soak] 40 s  heap 31.4 MB\n[soak] 60 s  heap ${green("31.6 MB")}`,
        4_700,
      ),
    ],
  });
  session.step({
    text: "Flat at 31 MB over a minute of soak. The listeners were all balanced; nothing to change there.",
  });
  session.end();
  session.lastPrompt("The API process grows by about 40 MB an hour…");
  return session;
}

/** An image in the prompt, a question, a plan, an interrupt, and the finished work. */
export function chartLegend(): ClaudeSession {
  const before = tideChart(true);
  const after = tideChart(false);
  const session = new ClaudeSession({
    id: "0e7b94c3-5d21-4f6a-b8e0-a91c3d47f265",
    cwd,
    git_branch: "feat/legend",
    start: "2026-11-16T15:20:03.551Z",
  });
  session.begin();
  session.prompt([
    {
      type: "text",
      text: "The legend covers the first high water, see [Image #1]. Can it move out of the way?",
    },
    { type: "image", source: { type: "base64", media_type: "image/png", data: before.base64 } },
  ]);
  session.step({
    think:
      "The legend sits top left, and the curve's first maximum is there. Where it should go is a matter of taste: ask.",
    tools: [
      {
        name: "AskUserQuestion",
        input: {
          questions: [
            {
              question: "Where should the legend stand?",
              header: "Legend",
              multiSelect: false,
              options: [
                {
                  label: "Wherever the curve is not",
                  description: "Choose the corner with the most room, chart by chart",
                },
                { label: "Below the chart", description: "Always the same place, costs 24 px of height" },
              ],
            },
          ],
        },
        takes: 9_400,
        content:
          'Your questions have been answered: "Where should the legend stand?"="Wherever the curve is not". You can now continue with these answers in mind.',
        structured: {
          questions: [
            {
              question: "Where should the legend stand?",
              header: "Legend",
              options: [
                {
                  label: "Wherever the curve is not",
                  description: "Choose the corner with the most room, chart by chart",
                },
                { label: "Below the chart", description: "Always the same place, costs 24 px of height" },
              ],
              multiSelect: false,
            },
          ],
          answers: { "Where should the legend stand?": "Wherever the curve is not" },
          annotations: {},
        },
      },
    ],
  });
  session.title("Move the chart legend out of the curve's way");
  const plan =
    "## Legend in the emptiest corner\n\n1. `emptiestCorner(points, box)`: count the samples of the curve inside each corner's box, take the least; ties go to the bottom right.\n2. Use it in `src/chart/legend.ts` instead of the fixed `top left`.\n3. One test with a curve that is high on the left, one with a flat curve.\n\nNo change to the chart's size, no new dependency.";
  session.step({
    text: "Then I'd count how much of the curve lies in each corner and take the emptiest.",
    tools: [
      {
        name: "ExitPlanMode",
        input: { plan },
        takes: 5_100,
        content: `User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\n## Approved Plan:\n${plan}`,
        structured: { plan, isAgent: false, filePath: "/home/mara/.claude/plans/calm-tidal-lantern.md" },
      },
    ],
  });
  session.step({
    tools: [
      write(
        at("src/chart/corner.ts"),
        '/** The corner of the chart that holds the fewest samples of the curve; ties go to the bottom right. */\nexport function emptiestCorner(points: Point[], box: Size, chart: Size): Corner {\n  const corners: Corner[] = ["bottom-right", "bottom-left", "top-right", "top-left"];\n  return corners.reduce((best, corner) => (inside(points, corner, box, chart) < inside(points, best, box, chart) ? corner : best));\n}\n',
      ),
      edit(
        at("src/chart/legend.ts"),
        12,
        '  const corner = "top-left";',
        "  const corner = emptiestCorner(points, LEGEND, chart);",
        ["export function legend(points: Point[], chart: Size): Svg {", "  return place(corner, labels);"],
      ),
      {
        ...bash("pnpm dev", "Start the dev server", ""),
        takes: 21_000,
      },
    ],
    interrupt: true,
  });
  session.now += 14_000;
  session.prompt(
    "Not the dev server, it never returns. Render the chart with `pnpm chart` and look at the picture.",
  );
  session.step({
    text: "Right: rendering once, then looking at the result.",
    tools: [
      bash(
        "pnpm -s chart --station liverpool --out /tmp/chart.png",
        "Render the chart",
        `${green("✔")} liverpool, 2 days, 280×140 → /tmp/chart.png ${dim("(212 ms)")}`,
        900,
      ),
      readImage("/tmp/chart.png", after.base64, after.width, after.height),
    ],
  });
  session.step({
    think: "The legend is at the bottom right now, and the curve is free.",
    text: "The legend stands at the bottom right now, and the first high water is free. Both tests pass.",
  });
  session.end();
  return session;
}

/** A long job: a compaction in its middle, retries, and an error that ends it. */
export function storeMigration(): ClaudeSession {
  const session = new ClaudeSession({
    id: "d94f3b06-7c18-4a2d-95e7-21fb6c0e8a57",
    cwd,
    git_branch: "chore/node-sqlite",
    start: "2026-11-14T18:02:31.940Z",
  });
  session.begin();
  session.prompt(
    "Move the reading store from better-sqlite3 to node:sqlite. Keep the file format, keep the tests.",
  );
  session.step({
    think:
      "Same file format, other binding. The differences that bite: `node:sqlite` has no `.pluck()`, no `.transaction()`, and returns null-prototype rows.",
    text: "I'll see how much of the old binding's own API is in use.",
    tools: [
      grep("\\.pluck\\(|\\.transaction\\(|\\.pragma\\(|\\.iterate\\(", `${cwd}/src`, [
        'src/store/readings.ts:11:db.pragma("journal_mode = WAL");',
        'src/store/readings.ts:29:const last = db.prepare("SELECT max(at) FROM reading").pluck();',
        "src/store/readings.ts:37:const insertAll = db.transaction((readings: Reading[]) => {",
      ]),
      read(
        at("src/store/readings.ts"),
        'import Database from "better-sqlite3";\n\nconst db = new Database(path);\ndb.pragma("journal_mode = WAL");',
      ),
      {
        name: "mcp__issues__search",
        input: { query: "node:sqlite", state: "open" },
        content: [
          {
            type: "text",
            text: '{"issues":[{"number":212,"title":"Drop the native build step","labels":["chore"]}]}',
          },
        ],
        structured: [
          {
            type: "text",
            text: '{"issues":[{"number":212,"title":"Drop the native build step","labels":["chore"]}]}',
          },
        ],
      },
    ],
    tokens: [4, 120_400, 388],
  });
  session.title("Move the reading store to node:sqlite");
  session.retry(1, 612.4);
  session.retry(2, 1_180.9);
  session.retry(3, 2_291.3);
  session.step({
    text: "Three places. Each has a plain replacement:",
    tools: [
      edit(
        at("src/store/readings.ts"),
        1,
        'import Database from "better-sqlite3";\n\nconst db = new Database(path);\ndb.pragma("journal_mode = WAL");',
        'import { DatabaseSync } from "node:sqlite";\n\nconst db = new DatabaseSync(path);\ndb.exec("PRAGMA journal_mode = WAL");',
        ["", ""],
      ),
      edit(
        at("src/store/readings.ts"),
        29,
        'const last = db.prepare("SELECT max(at) FROM reading").pluck();',
        'const last = db.prepare("SELECT max(at) AS at FROM reading");',
        ["", ""],
      ),
      {
        name: "Edit",
        input: {
          file_path: at("src/store/readings.ts"),
          old_string: "db.transaction(",
          new_string: "transaction(",
          replace_all: false,
        },
        content:
          "<tool_use_error>String to replace not found in file.\nString: db.transaction(</tool_use_error>",
        structured: "Error: String to replace not found in file.\nString: db.transaction(",
        is_error: true,
      },
    ],
    tokens: [2, 161_800, 512],
  });
  session.compact(
    168_204,
    9_310,
    "Summary:\n1. Request: move src/store/readings.ts from better-sqlite3 to node:sqlite; keep the file format and the tests.\n2. Done: the import, the pragma and `.pluck()` are replaced.\n3. Open: `db.transaction(...)` at line 37 was not found by the last edit (it is written over two lines); then run the tests.\n4. Note: rows of node:sqlite have a null prototype; `toEqual` is fine with that, `toStrictEqual` is not.",
  );
  session.step({
    think: "The edit failed because the call is broken over two lines. Read the place first.",
    tools: [
      read(
        at("src/store/readings.ts"),
        "const insertAll = db\n  .transaction((readings: Reading[]) => {\n    for (const reading of readings) insert.run(reading);\n  });",
      ),
    ],
    tokens: [6, 9_310, 160],
  });
  session.step({
    tools: [
      edit(
        at("src/store/readings.ts"),
        37,
        "const insertAll = db\n  .transaction((readings: Reading[]) => {\n    for (const reading of readings) insert.run(reading);\n  });",
        'function insertAll(readings: Reading[]): void {\n  db.exec("BEGIN");\n  try {\n    for (const reading of readings) insert.run(reading);\n    db.exec("COMMIT");\n  } catch (error) {\n    db.exec("ROLLBACK");\n    throw error;\n  }\n}',
        ["", ""],
      ),
      failingBash(
        "pnpm vitest run test/store",
        "Run the store's tests",
        1,
        `${red("FAIL")} test/store/readings.test.ts > keeps a reading\n${red("AssertionError")}: expected [Object: null prototype] { at: 1731607200, … } to strictly equal { at: 1731607200, … }`,
      ),
    ],
    tokens: [3, 12_902, 402],
  });
  session.apiError(
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  );
  session.end();
  session.lastPrompt("Move the reading store from better-sqlite3 to node:sqlite.");
  return session;
}

export type { Tool };
