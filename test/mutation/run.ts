// `npm run test:mutation [-- PATHS…]`: makes small changes to the code and counts those that the tests detect.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { PLAIN } from "./plain-tests.ts";

const root = resolve(import.meta.dirname, "../..");
const results = join(root, ".cache/mutation");
const stryker = join(import.meta.dirname, "node_modules/@stryker-mutator/core/bin/stryker.js");

/** Runs the tests of pure functions in Stryker's own process. */
const inProcess = join(import.meta.dirname, "in-process.ts");

/** A file with a smaller share of killed mutants fails the run; the goal is in docs/quality.md. */
const LEAST = 80;

/** The mutated sources, and the tests that must detect mutants. The first match for a file counts. */
const TARGETS: { sources: string; tests: readonly string[] }[] = [
  {
    sources: "src/model/{frame,message,part,record,request,session,transcript,ui-extra}.ts",
    tests: ["test/model/schemas.test.ts"],
  },
  { sources: "src/model/**/*.ts", tests: ["test/model/**/*.test.ts"] },
  { sources: "src/sources/lines/{lines,line-records}.ts", tests: ["test/sources/lines.test.ts"] },
  {
    sources: "src/sources/claude-code/*.ts",
    tests: ["test/sources/claude-code*.test.ts"],
  },
  {
    sources: "src/sources/codex/*.ts",
    tests: ["test/sources/codex*.test.ts"],
  },
  { sources: "src/sources/link-runs.ts", tests: ["test/sources/link-runs.test.ts"] },
  // Code that several readers share and that has no tests of its own.
  {
    sources: "src/sources/{error-words,lines/first-line,lines/parse-object}.ts",
    tests: ["test/sources/{claude-code,codex,many-records}*.test.ts"],
  },
  // Its decisions, without a port: the servers of `guard.test.ts` take too long for each mutant.
  {
    sources: "src/server/auth/{auth-request,credentials,guard,refusals}.ts",
    tests: ["test/server/guard-decisions.test.ts"],
  },
  { sources: "src/web/ui/safe-url.ts", tests: ["test/web/ui/safe-url.test.ts"] },
  { sources: "src/web/code/ansi.ts", tests: ["test/web/ui/ansi.test.ts"] },
  { sources: "src/hidden-text/*.ts", tests: ["test/hidden-text.test.ts"] },
  { sources: "src/web/ui/hidden-text.tsx", tests: ["test/web/ui/hidden-text.test.tsx"] },
  { sources: "src/web/ui/SafeLink.tsx", tests: ["test/web/ui/safe-link.test.tsx"] },
  { sources: "src/web/ui/ExactText.tsx", tests: ["test/web/ui/exact-signs.test.tsx"] },
  { sources: "src/web/code/Output.tsx", tests: ["test/web/ui/output.test.tsx"] },
  // Not the hundreds of texts of `markdown.test.tsx`, which would take a minute per mutant.
  { sources: "src/web/markdown/Markdown.tsx", tests: ["test/web/ui/markdown-view.test.tsx"] },
  { sources: "src/web/markdown/tree.ts", tests: ["test/web/ui/markdown-tree.test.ts"] },
  { sources: "src/web/markdown/document.ts", tests: ["test/web/ui/markdown-document.test.ts"] },
  { sources: "src/web/markdown/source.ts", tests: ["test/web/ui/markdown-source.test.ts"] },
  { sources: "src/web/markdown/window.ts", tests: ["test/web/ui/markdown-window.test.ts"] },
  {
    sources: "src/web/markdown/syntax.ts",
    tests: ["test/web/ui/markdown-syntax.test.ts", "test/web/ui/markdown-blocks.test.ts"],
  },
  {
    sources: "src/web/markdown/{blocks,finished-children,parser,references}.ts",
    tests: ["test/web/ui/markdown-blocks.test.ts"],
  },
];

interface Mutant {
  status: string;
  mutatorName: string;
  replacement?: string;
  location: { start: { line: number; column: number } };
}
interface Score {
  file: string;
  /** Includes mutants that timed out. */
  killed: number;
  timeouts: number;
  survived: number;
  uncovered: number;
}

const asked = process.argv.slice(2).map((path) => relative(root, resolve(path)));
const files = TARGETS.flatMap(({ sources, tests }) =>
  globSync(sources, { cwd: root }).map((file) => ({ file, tests })),
)
  .filter(({ file }, index, all) => all.findIndex((other) => other.file === file) === index)
  .filter(
    ({ file }) => asked.length === 0 || asked.some((path) => file === path || file.startsWith(`${path}/`)),
  );
if (files.length === 0) throw new Error(`Nothing to mutate in ${asked.join(", ")}`);

if (!existsSync(stryker)) {
  spawnSync("npm", ["ci", "--loglevel=error"], { cwd: import.meta.dirname, stdio: "inherit" });
}
mkdirSync(results, { recursive: true });

const scores: Score[] = [];
for (const { file, tests } of files) {
  const score = mutate(file, tests);
  scores.push(score);
  console.log(row(score));
}
const total = scores.reduce((sum, score) => ({
  file: "all",
  killed: sum.killed + score.killed,
  timeouts: sum.timeouts + score.timeouts,
  survived: sum.survived + score.survived,
  uncovered: sum.uncovered + score.uncovered,
}));
console.log(row(total));
if (scores.some((score) => share(score) < LEAST)) process.exitCode = 1;

/** Mutates one file; each mutant runs only with the tests that reach it. */
function mutate(file: string, tests: readonly string[]): Score {
  const name = join(results, file.replaceAll("/", "-"));
  const report = `${name}.json`;
  const testFiles = tests.flatMap((pattern) => globSync(pattern, { cwd: root })).sort(byCost);
  const isPlain = testFiles.every((path) => PLAIN.test(path));
  const config = {
    ...(isPlain
      ? // Modules that are loaded again for every mutant are never freed.
        { testRunner: "in-process", plugins: [inProcess], maxTestRunnerReuse: 150 }
      : { testRunner: "vitest", plugins: ["@stryker-mutator/vitest-runner"] }),
    mutate: [file],
    concurrency: Number(process.env.VERBATIM_MUTATION_CONCURRENCY ?? 1),
    tempDirName: `.cache/stryker-${process.pid}`,
    ignorePatterns: ["dist", "bench", "docs", ".cache", "test/browser", "test/engines", "*.tgz"],
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    // A mutant that loops is detected by its steps; on a busy machine a shorter time would count surviving mutants as killed.
    timeoutMS: 60_000,
    reporters: ["json"],
    jsonReporter: { fileName: report },
    // Stryker reads this file with TypeScript's JavaScript interface, which version 7 does not have.
    tsconfigFile: "absent",
    allowConsoleColors: false,
    logLevel: "error",
  };
  writeFileSync(`${name}.config.json`, JSON.stringify(config));
  const { status, stdout, stderr } = spawnSync(process.execPath, [stryker, "run", `${name}.config.json`], {
    cwd: root,
    env: {
      ...process.env,
      VERBATIM_MUTATION_TESTS: tests.join(" "),
      VERBATIM_MUTATION_FILES: testFiles.join(" "),
    },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${file}: Stryker failed.\n${stdout}${stderr}`);
  // Stryker's own report, written just now.
  const found = JSON.parse(readFileSync(report, "utf8")) as { files: Record<string, { mutants: Mutant[] }> };
  const mutants = Object.values(found.files).flatMap((entry) => entry.mutants);
  writeFileSync(`${name}.survivors.txt`, survivors(file, mutants));
  const count = (...statuses: string[]) =>
    mutants.filter((mutant) => statuses.includes(mutant.status)).length;
  return {
    file,
    killed: count("Killed", "Timeout"),
    timeouts: count("Timeout"),
    survived: count("Survived"),
    uncovered: count("NoCoverage"),
  };
}

/** Quick tests first: most mutants are detected before the properties run. */
function byCost(left: string, right: string): number {
  const cost = (path: string) => Number(/laws/.test(path));
  return cost(left) - cost(right) || left.localeCompare(right);
}

function survivors(file: string, mutants: readonly Mutant[]): string {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return mutants
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .map(({ location: { start }, mutatorName, replacement = "", status }) => {
      const source = lines[start.line - 1]?.trim() ?? "";
      return `${file}:${start.line}:${start.column} ${mutatorName}${status === "NoCoverage" ? " (not reached)" : ""}\n  ${source}\n  → ${replacement.slice(0, 200)}\n`;
    })
    .join("");
}

function share({ killed, survived, uncovered }: Score): number {
  const all = killed + survived + uncovered;
  return all === 0 ? 100 : (100 * killed) / all;
}

function row(score: Score): string {
  const { file, killed, timeouts, survived, uncovered } = score;
  return `${share(score).toFixed(1).padStart(6)} %  ${file}: ${killed} killed (${timeouts} by time), ${survived} survived, ${uncovered} not reached`;
}
