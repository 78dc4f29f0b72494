// `npm start`: installs and builds what is missing or outdated, then runs the daemon. Plain JavaScript for any installed Node; the
// pinned one (a dev dependency) runs everything else. Only the daemon writes to standard output.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install, isInstalled, nodeOf } from "./install.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const node = nodeOf(root);
const args = process.argv.slice(2);
/** Runs before the builds and is not part of them. */
const BOOTSTRAP = ["src/start.mjs", "src/install.mjs"];
/** A build: its main file, its arguments, and what in `src` it does not use. */
const PAGE = {
  name: "page",
  file: "dist/web/index.html",
  args: [],
  without: new Set([
    ...["server", "sources", "providers", "agent", "store", "adapters"].map((folder) => `src/${folder}`),
    ...BOOTSTRAP,
  ]),
};
/** Bundled into one file, which starts faster than the sources. */
const DAEMON = {
  name: "daemon",
  file: "dist/server/main.js",
  args: ["--ssr"],
  without: new Set(["src/web", ...BOOTSTRAP]),
};
/** Commands that do not serve the page. */
const WITHOUT_PAGE = new Set([
  "show",
  "decode",
  "token",
  "export",
  "search",
  "mcp",
  "agents",
  "attach",
  "detach",
]);

if (!isInstalled(root)) {
  console.error("Installing (once, and after updates) …");
  const problem = install(root);
  if (problem) fail(problem);
}
if (needsPage()) buildIfStale(PAGE);
buildIfStale(DAEMON);
runDaemon();

/** Whether the command serves the page. */
function needsPage() {
  const command = args.find((arg) => !arg.startsWith("-"));
  return (
    !WITHOUT_PAGE.has(command) && !args.some((arg) => ["--help", "-h", "--version", "--link"].includes(arg))
  );
}

function buildIfStale({ name, file, args, without }) {
  // In the output folder, which every build empties first, so that a manual build removes it.
  const stamp = join(root, dirname(file), "sources.sha256");
  const hash = hashOfSources(without);
  const built = existsSync(join(root, file)) && existsSync(stamp) && readFileSync(stamp, "utf8");
  if (built === hash) return;
  console.error(`Building the ${name} …`);
  run(
    node,
    [join(root, "node_modules/vite/bin/vite.js"), "build", ...args, "--logLevel", "error"],
    "The build failed",
  );
  writeFileSync(stamp, hash);
}

/** Of all files that the build reads. */
function hashOfSources(without) {
  const hash = createHash("sha256");
  const add = (path) =>
    hash
      .update(path)
      .update("\0")
      .update(readFileSync(join(root, path)))
      .update("\0");
  const walk = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = `${folder}/${entry.name}`;
      if (without.has(path)) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) add(path);
    }
  };
  walk("src");
  walk("public");
  for (const file of ["index.html", "vite.config.ts", "package.json", "package-lock.json"]) add(file);
  return hash.digest("hex");
}

/** Runs a tool, with its output on standard error. */
function run(command, options, problem) {
  const { status, error } = spawnSync(command, options, { cwd: root, stdio: ["ignore", 2, 2] });
  if (error || status !== 0) fail(`${problem}${error ? `: ${error.message}` : ` (exit code ${status})`}.`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

function runDaemon() {
  const main = join(root, DAEMON.file);
  // V8 lets the space for new objects grow to 128 MB and that for old objects to four times the live size, and keeps both.
  // These limits halve the memory at little cost. Indexing threads set their own.
  const memory = ["--max-semi-space-size=4", "--heap-growing-percent=50"];
  const flags = ["--disable-warning=ExperimentalWarning", ...memory];
  const wanted = {
    // Without it, compilation takes a third of each start.
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/verbatim/compiled"),
    // By default, glibc keeps freed memory per thread: a fifth of the memory after much was indexed.
    MALLOC_ARENA_MAX: "2",
    MALLOC_MMAP_THRESHOLD_: "131072",
    MALLOC_TRIM_THRESHOLD_: "131072",
  };
  // The operator's settings win, and the daemon's child processes inherit them. Ours are listed, so that they are not inherited.
  const own = Object.fromEntries(Object.entries(wanted).filter(([name]) => process.env[name] === undefined));
  const env = { ...process.env, ...own, VERBATIM_LAUNCHER: Object.keys(own).join(",") };
  // npm changes to this folder first, but paths are relative to the operator's folder.
  const cwd = process.env.npm_lifecycle_event === "start" ? process.env.INIT_CWD : undefined;
  const daemon = spawn(node, [...flags, main, ...args], { stdio: "inherit", env, cwd });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // The daemon handles the same signal from the terminal and from here as one.
    process.on(signal, () => daemon.kill(signal));
  }
  daemon.on("error", (error) => fail(`Node could not be started: ${error.message}`));
  daemon.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
