import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/**
 * The daemon that tests start: from the sources, or, if `VERBATIM_TEST_DAEMON` is "built", from the last `vite build --ssr`, which
 * starts twice as fast.
 */
export const DAEMON_SCRIPT = join(
  root,
  process.env.VERBATIM_TEST_DAEMON === "built" ? "dist/server/main.js" : "src/server/cli/main.ts",
);
