import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** Both halves: `vite build` makes the page (dist/web), `vite build --ssr` the daemon (dist/server). */
export default defineConfig(({ isSsrBuild }) => ({
  plugins: [react()],
  build: isSsrBuild
    ? {
        outDir: "dist/server",
        ssr: "src/server/main.ts",
        target: "node22",
        copyPublicDir: false,
      }
    : { outDir: "dist/web", target: "es2023" },
  ssr: { noExternal: true },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          environment: "node",
          include: ["test/{model,formats,server}/**/*.test.ts", "test/*.test.ts"],
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
    ],
  },
}));
