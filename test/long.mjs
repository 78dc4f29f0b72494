// `npm run test:long`: the suites about faults and live sessions, with the full number of repetitions; browser tests use the last
// build of the page. The results belong in docs/quality.md.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const SUITES = [
  "archive",
  "faults",
  "restarts",
  "disk",
  "damage",
  "session-files",
  "callers",
  "lost-replies",
  "watch",
  "managed/kill",
  "verify",
].map((name) => `test/server/${name}.test.ts`);
const TOOLS = ["approval-text", "files", "shell"].map((name) => `test/agent/tools/${name}.test.ts`);
const IN_BROWSER = [
  "live",
  "live-laws",
  "many-runs",
  "approvals",
  "hostile",
  "hostile-sizes",
  "long-answer",
  "long-session",
].map((name) => `test/browser/${name}.test.ts`);
const named = process.argv.slice(2);
const files = [...SUITES, ...TOOLS, "test/sources/many-kinds.test.ts", ...IN_BROWSER];
const missing = files.filter((file) => !existsSync(join(root, file)));
if (missing.length > 0)
  throw new Error(`No such test files: ${missing.join(", ")}. Correct their names in test/long.mjs.`);

const { status } = spawnSync(
  join(root, "node_modules/node/bin", process.platform === "win32" ? "node.exe" : "node"),
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--project",
    "library",
    "--project",
    "unit*",
    "--project",
    "components*",
    "--project",
    "browser",
    // One after the other, because each of them needs the whole machine.
    "--no-file-parallelism",
    ...(named.length > 0 ? named : files),
  ],
  {
    cwd: root,
    env: { ...process.env, VERBATIM_LONG: "1", KILLS: process.env.KILLS ?? "200" },
    stdio: "inherit",
  },
);
process.exitCode = status ?? 1;
