import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The tests that `run.ts` chose for the mutated files. */
const tests = process.env.VERBATIM_MUTATION_TESTS?.split(" ") ?? ["test/model/**/*.test.ts"];
const isComponents = tests.some((path) => path.startsWith("test/web/") && path.includes("tsx"));

/** Quick tests first: most mutants are detected before the properties run. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (/laws|hostile|summarize/.test(moduleId) ? 1 : 0);
    return [...files].sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "fast-check": fileURLToPath(new URL("fast-check.ts", import.meta.url)) } },
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: tests,
    environment: isComponents ? "jsdom" : "node",
    ...(isComponents ? { setupFiles: ["test/setup.ts"] } : {}),
    sequence: { sequencer: QuickFirst },
    testTimeout: 60_000,
  },
});
