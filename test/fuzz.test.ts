import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type Finding, fuzz } from "./fuzz/fuzz.ts";
import { times } from "./long.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-fuzz-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const here = import.meta.dirname;
/** The inputs that every clone has. `npm run test:fuzz` also uses real sessions if there are any. */
const corpora = {
  sessions: [resolve(here, "../src/server/samples"), resolve(here, "fixtures")],
  streams: [resolve(here, "providers/fixtures")],
};

const SECONDS = times(1, 60);
const BATCH = times(10, 25);
it(`all readers of foreign input withstand damaged and generated input (seconds: ${SECONDS})`, async () => {
  const { cases, findings } = await fuzz({ seconds: SECONDS, batch: BATCH, seed: 4, corpora, folder });
  expect(findings.map(({ target, error }) => `${target}: ${error}`)).toEqual([]);
  expect(Object.keys(cases)).toEqual(
    expect.arrayContaining(["lines", "reader codex", "terminal", "addresses", "Markdown", "frames", "codec"]),
  );
}, 240_000);

const broken = join(here, "fuzz/broken-targets.ts");
const find = (only: string): Promise<Finding | undefined> =>
  new Promise((found, fail) => {
    const options = { seconds: 1, seed: 1, corpora, folder, targets: broken, only, slowest_ms: 200 };
    fuzz(options).then(({ findings: [first] }) => found(first), fail);
  });

it("the fuzzer reports and stores the smallest failing input", async () => {
  const finding = await find("throws");
  expect(finding).toMatchObject({ error: expect.stringContaining("over fifty"), input: [51] });
  expect(JSON.parse(readFileSync(finding?.file ?? "", "utf8"))).toMatchObject({ input: [51], seed: 1 });
  expect(await find("sound")).toBeUndefined();
}, 120_000);

it("the fuzzer reports a slow case, and terminates an endless one", async () => {
  expect(await find("slow")).toMatchObject({ error: expect.stringMatching(/took \d+ ms of CPU/) });
  expect(await find("endless")).toMatchObject({
    error: expect.stringContaining("no end in sight"),
    input: expect.any(Number),
  });
}, 240_000);
