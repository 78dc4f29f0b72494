import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The daemon as `npm start` runs it: its build, with the flags and settings of `src/start.mjs`. */
const root = resolve(import.meta.dirname, "..");
const launcher = readFileSync(join(root, "src/start.mjs"), "utf8");

export const BUILT_DAEMON = join(root, "dist/server/main.js");

/** Builds `BUILT_DAEMON` again; the build's output goes to standard error. Throws if it fails. */
export function buildDaemon(): void {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const { status } = spawnSync(process.execPath, [vite, "build", "--ssr", "--logLevel", "warn"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error("The daemon could not be built.");
  // Fills the compile cache, which every start but the first one after an update finds.
  spawnSync(process.execPath, [...NODE_FLAGS, BUILT_DAEMON, "--version"], {
    env: { ...process.env, ...NODE_ENVIRONMENT },
    stdio: "ignore",
  });
}

/** The launcher's flags for Node. */
export const NODE_FLAGS: readonly string[] = [
  "--disable-warning=ExperimentalWarning",
  ...[...launcher.matchAll(/"(--(?:max|heap)-[a-z-]+=\d+)"/g)].flatMap(([, flag = ""]) => flag),
];

/** The launcher's settings for the allocator and the compile cache. */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...launcher.matchAll(/(MALLOC_[A-Z_]+): "(\d+)"/g)].map(([, name = "", value = ""]) => [name, value]),
  ),
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/verbatim/compiled"),
};
