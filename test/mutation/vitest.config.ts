import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What `run.ts` chose for the files that are mutated. */
const tests = process.env.VERBATIM_MUTATION_TESTS?.split(" ") ?? ["test/model/**/*.test.ts"];
const isComponents = tests.some((path) => path.startsWith("test/web/") && path.includes("tsx"));

/** What is quick goes first: most mutants are noticed before the properties are tried. */
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
