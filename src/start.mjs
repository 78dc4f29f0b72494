// `npm start`: installs and builds what is missing or stale, then becomes the daemon. Plain JavaScript for whatever Node
// the machine has: the pinned one (a dev dependency) runs everything else. Standard output is the daemon's alone.
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
/** Runs before anything is built: no part of it. */
const BOOTSTRAP = ["src/start.mjs", "src/install.mjs"];
/** What is built, how, and what of `src` it is not built from. */
const PAGE = {
  name: "page",
  file: "dist/web/index.html",
  args: [],
  without: new Set([
    ...["server", "formats", "streams", "providers", "agent"].map((folder) => `src/${folder}`),
    ...BOOTSTRAP,
  ]),
};
/** One file: it is there in two thirds of the time that all the sources take. */
const DAEMON = {
  name: "daemon",
  file: "dist/server/main.js",
  args: ["--ssr"],
  without: new Set(["src/web", ...BOOTSTRAP]),
};
/** Commands that serve no page. */
const WITHOUT_PAGE = new Set(["show", "decode", "token"]);

if (!isInstalled(root)) {
  console.error("Installing (once, and after updates) …");
  const problem = install(root);
  if (problem) fail(problem);
}
if (needsPage()) buildIfStale(PAGE);
buildIfStale(DAEMON);
runDaemon();

/** Everything but a few commands, `--help` and the like serves the page. */
function needsPage() {
  const command = args.find((arg) => !arg.startsWith("-"));
  return (
    !WITHOUT_PAGE.has(command) && !args.some((arg) => ["--help", "-h", "--version", "--link"].includes(arg))
  );
}

function buildIfStale({ name, file, args, without }) {
  // Beside what it is about: every build empties the folder first, also one that is not this one's.
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

/** Of all files that it is built from. */
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

/** Runs a tool whose every word goes to standard error. */
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
  // V8 lets the space for new objects grow to 128 MB, and that for old ones to four times what is alive, and keeps both:
  // with these limits half of it serves nearly as well. The threads that index set their own.
  const memory = ["--max-semi-space-size=4", "--heap-growing-percent=50"];
  const flags = ["--disable-warning=ExperimentalWarning", ...memory];
  const wanted = {
    // Compiling it at every start would be a third of that.
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/verbatim/compiled"),
    // glibc keeps what was freed, for each thread by itself: a fifth of the memory after much was indexed.
    MALLOC_ARENA_MAX: "2",
    MALLOC_MMAP_THRESHOLD_: "131072",
    MALLOC_TRIM_THRESHOLD_: "131072",
  };
  // What the operator set is theirs, and goes on to what the daemon starts; ours is named, so that it does not.
  const own = Object.fromEntries(Object.entries(wanted).filter(([name]) => process.env[name] === undefined));
  const env = { ...process.env, ...own, VERBATIM_LAUNCHER: Object.keys(own).join(",") };
  // npm goes to this folder first: paths and the folder to work in are meant from where the operator is.
  const cwd = process.env.npm_lifecycle_event === "start" ? process.env.INIT_CWD : undefined;
  const daemon = spawn(node, [...flags, main, ...args], { stdio: "inherit", env, cwd });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // The daemon takes one signal that comes twice (from the terminal, and from here) as one.
    process.on(signal, () => daemon.kill(signal));
  }
  daemon.on("error", (error) => fail(`Node could not be started: ${error.message}`));
  daemon.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
