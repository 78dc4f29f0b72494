import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The daemon as `npm start` runs it: what that builds, with the flags and the settings of `src/start.mjs`. */
const root = resolve(import.meta.dirname, "..");
const launcher = readFileSync(join(root, "src/start.mjs"), "utf8");

export const BUILT_DAEMON = join(root, "dist/server/main.js");

/** Writes `BUILT_DAEMON` anew; what the build says goes to standard error. Throws where it fails. */
export function buildDaemon(): void {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const { status } = spawnSync(process.execPath, [vite, "build", "--ssr", "--logLevel", "warn"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error("The daemon could not be built.");
}

/** What the launcher gives Node. */
export const NODE_FLAGS: readonly string[] = [
  "--disable-warning=ExperimentalWarning",
  ...[...launcher.matchAll(/"(--(?:max|heap)-[a-z-]+=\d+)"/g)].flatMap(([, flag = ""]) => flag),
];

/** What the launcher sets for the allocator, and where it keeps what was compiled. */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...launcher.matchAll(/(MALLOC_[A-Z_]+): "(\d+)"/g)].map(([, name = "", value = ""]) => [name, value]),
  ),
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/verbatim/compiled"),
};
