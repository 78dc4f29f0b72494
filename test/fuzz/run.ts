// `npm run test:fuzz [-- --seconds N] [--seed N] [--only NAME] [--path PATH]`
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { corpora } from "./corpora.ts";
import { fuzz } from "./fuzz.ts";

const root = resolve(import.meta.dirname, "../..");
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: process.env.VERBATIM_FUZZ_SECONDS ?? "600" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    only: { type: "string" },
    path: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const seed = Number(values.seed);
if (!(seconds > 0) || !Number.isInteger(seed)) throw new RangeError("--seconds and --seed are numbers");

console.log(`Fuzzing for ${seconds} s with seed ${seed}`);
const { cases, findings } = await fuzz({
  seconds,
  seed,
  corpora,
  folder: join(root, ".cache/fuzz"),
  ...(values.only === undefined ? {} : { only: values.only }),
  ...(values.path === undefined ? {} : { path: values.path }),
  onFinding({ target, seed: at, path, error, file }) {
    console.log(
      `\n${target}: ${error.split("\n").slice(0, 12).join("\n")}\n  ${relative(root, file)}\n  again: npm run test:fuzz -- --only "${target}" --seed ${at} --path ${path}`,
    );
  },
});
const total = Object.values(cases).reduce((sum, count) => sum + count, 0);
console.log(`\n${total} cases, ${findings.length} findings`);
for (const [name, count] of Object.entries(cases)) console.log(`  ${String(count).padStart(8)}  ${name}`);
if (findings.length > 0) process.exitCode = 1;
