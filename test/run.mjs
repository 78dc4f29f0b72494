// `npm test`: all checks, also in a fresh clone. Plain JavaScript for any installed Node; the checks themselves run on the pinned
// one.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { install, isInstalled, nodeOf } from "../src/install.mjs";
import { findChromium } from "./browser/find-chromium.mjs";

class StepFailed extends Error {}

const root = resolve(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), "..");
const windows = process.platform === "win32";
const scratch = mkdtempSync(join(tmpdir(), "verbatim-test-"));
const counts = { passed: 0, failed: 0, skipped: 0 };

try {
  if (!isInstalled(root)) {
    process.stdout.write("\n— Install\n");
    const problem = install(root);
    if (problem) throw new StepFailed(problem);
  }
  await installChromiumIfMissing();
  const environment = pinnedEnvironment();
  const pinned = (script, ...options) => [nodeOf(root), join(root, "node_modules", script), ...options];

  // Together, so that no core waits while one of them reads files.
  await Promise.all([
    step(
      "Format and lint",
      pinned("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."),
      environment,
    ),
    step("Types", pinned("typescript/bin/tsc", "--noEmit"), environment),
    step("Build of the page", pinned("vite/bin/vite.js", "build", "--logLevel", "warn"), environment),
    step(
      "Build of the daemon",
      pinned("vite/bin/vite.js", "build", "--ssr", "--logLevel", "warn"),
      environment,
    ),
  ]);
  // Marks the build as current. Otherwise a test that runs `npm start` would build again while others start the daemon.
  await step("First start", [nodeOf(root), join(root, "src/start.mjs"), "--version"], environment);
  tests(
    "Unit and component tests",
    ["library", "unit", "unit-alone", "components", "components-alone"],
    environment,
  );
  tests("Browser and package tests", ["browser", "package"], environment);
} catch (error) {
  if (!(error instanceof StepFailed)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
  if (process.exitCode && counts.failed === 0) counts.failed = 1;
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
}

/** Installs Chromium if there is none, on Debian and its derivatives. */
async function installChromiumIfMissing() {
  if (findChromium()) return;
  if (!existsSync("/usr/bin/apt-get")) {
    throw new StepFailed(
      "No Chromium was found. Install Chromium or Google Chrome, or name one: CHROMIUM_PATH=/path/to/chrome npm test",
    );
  }
  const privileges = process.getuid?.() === 0 ? [] : ["sudo"];
  const quiet = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await step("Package lists, to install Chromium", [...privileges, "apt-get", "-qq", "update"], quiet);
  // Older releases have no separate headless shell.
  const packages = ["chromium", "chromium-headless-shell"].filter(
    (name) => spawnSync("apt-cache", ["show", name], { stdio: "ignore" }).status === 0,
  );
  const options = ["-qq", "install", "-y", "--no-install-recommends", ...packages];
  await step("Install Chromium", [...privileges, "apt-get", ...options], quiet);
  if (!findChromium())
    throw new StepFailed(
      "apt-get installed chromium, yet no chromium is in PATH. Name it with CHROMIUM_PATH.",
    );
}

/**
 * Lets tools that start `node` or the repository's commands find the pinned ones. Compiled code (with types stripped) is cached
 * between processes, because tests start hundreds of them; they start the daemon that was just built.
 */
function pinnedEnvironment() {
  const path = [join(root, "node_modules/node/bin"), join(root, "node_modules/.bin"), process.env.PATH];
  return {
    ...process.env,
    PATH: path.join(windows ? ";" : ":"),
    NODE_COMPILE_CACHE: join(scratch, "compiled"),
    VERBATIM_TEST_DAEMON: "built",
  };
}

/** Runs a command quietly; its output is shown if it fails or warns. */
async function step(name, [command, ...options], env) {
  const started = Date.now();
  const child = spawn(command, options, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { all: "", warnings: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output.all += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output.all += text;
    output.warnings += text;
  });
  const problem = await new Promise((done) => {
    child.on("error", ({ message }) => done(`: ${message}`));
    child.on("close", (status) => done(status === 0 ? undefined : ` with exit code ${status}`));
  });
  console.log(`\n— ${name}`);
  const shown = (problem === undefined ? output.warnings : output.all).trim();
  if (shown) console.log(shown);
  if (problem !== undefined) throw new StepFailed(`${name}: failed${problem}.`);
  console.log(`  ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

/** Runs projects of the test suite with live output, and counts passed tests. */
function tests(name, projects, env) {
  const report = join(scratch, `${projects.join("-")}.json`);
  process.stdout.write(`\n— ${name}\n`);
  const { status } = spawnSync(
    nodeOf(root),
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      ...projects.flatMap((project) => ["--project", project]),
      "--passWithNoTests",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ],
    { cwd: root, env, stdio: "inherit" },
  );
  if (existsSync(report)) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
      readFileSync(report, "utf8"),
    );
    counts.passed += numPassedTests;
    counts.failed += numFailedTests;
    counts.skipped += numPendingTests + numTodoTests;
  }
  if (status !== 0) throw new StepFailed(`${name}: failed.`);
}
