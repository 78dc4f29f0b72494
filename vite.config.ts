import { cpSync, rmSync } from "node:fs";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The daemon reads its sample sessions from a folder beside it, in the package as in the sources. */
const samplesBesideDaemon: Plugin = {
  name: "samples-beside-daemon",
  apply: (_config, { isSsrBuild }) => isSsrBuild === true,
  writeBundle() {
    rmSync("dist/server/samples", { recursive: true, force: true });
    cpSync("src/server/samples", "dist/server/samples", { recursive: true });
  },
};

/** Both halves: `vite build` makes the page (dist/web), `vite build --ssr` the daemon (dist/server). */
export default defineConfig(({ isSsrBuild }) => ({
  plugins: [react(), samplesBesideDaemon],
  build: isSsrBuild
    ? {
        outDir: "dist/server",
        target: "node22",
        copyPublicDir: false,
        rolldownOptions: {
          input: "src/server/main.ts",
          output: {
            entryFileNames: "main.js",
            // One file: what it finds beside itself (the samples, the page) is found from every part of it.
            codeSplitting: false,
            // SQLite is still marked experimental in Node 22; the flag keeps that notice off the operator's screen.
            banner: "#!/usr/bin/env -S node --disable-warning=ExperimentalWarning",
          },
        },
      }
    : {
        outDir: "dist/web",
        target: "es2023",
        // The page folds what the daemon has checked: it needs the contract's types and constants, not its schemas, and
        // their library would try `new Function`, which the page's policy forbids.
        rolldownOptions: {
          treeshake: {
            manualPureFunctions: ["z", "record", "optional"],
            propertyReadSideEffects: false,
          },
        },
      },
  ssr: { noExternal: true },
  // The worker that highlights loads its languages one by one, which only modules can.
  worker: { format: "es" },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          environment: "node",
          include: ["test/{model,formats,server}/**/*.test.ts", "test/*.test.ts"],
          exclude: ["test/package.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "components",
          environment: "jsdom",
          include: ["test/web/**/*.test.{ts,tsx}"],
          setupFiles: ["test/setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          environment: "node",
          include: ["test/browser/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: "package",
          environment: "node",
          include: ["test/package.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
}));
