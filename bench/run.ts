import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findChromium } from "../test/browser/find-chromium.mjs";
import type { Row } from "./measure.ts";

/**
 * `npm run bench [names…] [--rounds N] [--full]`: installs the peers to compare with, builds the page, runs every `*.bench.ts`
 * (or the named ones) in sequence, and writes the results to `bench/results/<date>.json` and `.md`.
 */
const here = import.meta.dirname;
const root = join(here, "..");
const USAGE = "npm run bench -- [names…] [--rounds N] [--full]";
function printAndExit(message: string): never {
  console.error(message);
  process.exit(2);
}
const { positionals: wanted, values: flags } = (() => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string" },
        full: { type: "boolean", default: false },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    return printAndExit(`${error instanceof Error ? error.message : String(error)}\nUsage: ${USAGE}`);
  }
})();
/** Benchmarks with rounds, whose number can be reduced. */
const IN_ROUNDS = ["attach.bench.ts", "stream.bench.ts", "transcript.bench.ts"];
/** Benchmarks with reduced sizes, unless `--full` is given. */
const SHORTENED = ["daemon.bench.ts", "search.bench.ts"];
const known = readdirSync(here)
  .filter((name) => name.endsWith(".bench.ts"))
  .map((name) => name.replace(".bench.ts", ""))
  .toSorted();
if (flags.help) printAndExit(`${USAGE}\nThe benchmarks: ${known.join(", ")}.`);
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0)
  printAndExit(`Unknown benchmark ${unknown.join(", ")}. Available: ${known.join(", ")}.`);
const benches = known
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .map((name) => `${name}.bench.ts`);

function step(cwd: string, command: string, ...options: string[]): void {
  const { status } = spawnSync(command, options, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${options.join(" ")} failed.`);
}
const installed = join(here, "node_modules/.package-lock.json");
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(join(here, "package-lock.json")).mtimeMs)
  step(here, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts");
// The working folder of the product's own scripts, since the build writes next to itself.
step(
  root,
  process.execPath,
  join(root, "node_modules/vite/bin/vite.js"),
  "build",
  root,
  "-c",
  join(root, "vite.config.ts"),
  "--logLevel",
  "warn",
);

interface Result {
  bench: string;
  rows?: Row[];
  [other: string]: unknown;
}
const results: Result[] = [];
const failed: string[] = [];
for (const name of benches) {
  console.error(`\n— ${name}`);
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      join(here, name),
      ...(flags.rounds !== undefined && IN_ROUNDS.includes(name) ? ["--rounds", flags.rounds] : []),
      ...(flags.full && SHORTENED.includes(name) ? ["--full"] : []),
    ],
    {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 256 * 1024 * 1024,
    },
  );
  const last = stdout?.trim().split("\n").at(-1) ?? "";
  // A benchmark's last line is its result.
  if (status === 0 && last.startsWith("{")) results.push(JSON.parse(last) as Result);
  else failed.push(name);
}

const date = new Date().toISOString();
const chromium = spawnSync(findChromium() ?? "false", ["--version"], { encoding: "utf8" }).stdout?.trim();
const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}, ${chromium ?? "no Chromium"}`;

const lines = [`# Benchmarks of ${date.slice(0, 10)}`, "", machine, "", "| | | goal |", "|---|---|---|"];
for (const { bench, rows, results: figures } of results) {
  if (rows !== undefined)
    for (const { row, figures: all, goal } of rows)
      lines.push(
        `| ${row} | ${Object.entries(all)
          .map(([name, figure]) => `${name} **${figure}**`)
          .join(", ")} | ${goal ?? ""} |`,
      );
  else lines.push(`| ${bench} | \`${JSON.stringify(figures).slice(0, 1_500)}\` | |`);
}
if (failed.length > 0) lines.push("", `Failed: ${failed.join(", ")}.`);
const folder = join(here, "results");
mkdirSync(folder, { recursive: true });
// With seconds, so that two short runs within a minute do not overwrite each other.
const base = join(folder, date.slice(0, 19).replaceAll(":", ""));
writeFileSync(`${base}.json`, `${JSON.stringify({ date, machine, failed, results }, null, 1)}\n`);
writeFileSync(`${base}.md`, `${lines.join("\n")}\n`);
console.error(`\n${lines.join("\n")}\n\nWritten to ${base}.md and .json`);
if (failed.length > 0) process.exitCode = 1;
