import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build, type Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { BREAKPOINTS, LOW_WINDOWS } from "./src/web/ui/breakpoints.ts";

/** Copies the sample sessions and the hook scripts into the folder of the daemon's bundle, where the daemon looks for them. */
const filesBesideDaemon: Plugin = {
  name: "files-beside-daemon",
  apply: (_config, { isSsrBuild }) => isSsrBuild === true,
  writeBundle() {
    rmSync("dist/server/samples", { recursive: true, force: true });
    cpSync("src/server/samples", "dist/server/samples", { recursive: true });
    for (const file of ["agent-hook.mjs", "opencode/plugin.mjs"])
      cpSync(`src/server/attach/${file}`, `dist/server/${basename(file)}`);
  },
};

/** Builds a bundle for each kind of worker thread. It is smaller than the daemon's bundle, which saves 40 MB of memory per thread. */
const threadPrograms: Plugin = {
  name: "thread-programs",
  apply: (_config, { isSsrBuild }) => isSsrBuild === true,
  async writeBundle() {
    for (const program of ["import/index-worker", "import/record-logs/log-worker", "index/search-worker"])
      await build({
        configFile: false,
        logLevel: "warn",
        ssr: { noExternal: true },
        build: {
          ssr: `src/server/${program}.ts`,
          outDir: "dist/server",
          emptyOutDir: false,
          target: "node22",
          copyPublicDir: false,
          rolldownOptions: { checks: CHECKS, output: { entryFileNames: "[name].js", codeSplitting: false } },
        },
      });
  },
};

const SESSION_STORE = "src/adapters/claude-session-store";
/** Builds the session store for the Claude Agent SDK as a separate package. It has no dependencies, and its source file provides its types. */
const sessionStorePackage: Plugin = {
  name: "session-store-package",
  apply: (_config, { isSsrBuild }) => isSsrBuild === true,
  async writeBundle() {
    const outDir = "dist/claude-session-store";
    await build({
      configFile: false,
      logLevel: "warn",
      build: {
        outDir,
        target: "node20",
        minify: false,
        copyPublicDir: false,
        lib: { entry: `${SESSION_STORE}/session-store.ts`, formats: ["es"], fileName: "session-store" },
      },
    });
    for (const file of ["package.json", "README.md", "session-store.ts"])
      cpSync(`${SESSION_STORE}/${file}`, `${outDir}/${file}`);
  },
};

/** Replaces the named breakpoints in style sheets with their media queries, which are defined once. */
const namedMediaQueries: Plugin = {
  name: "named-media-queries",
  enforce: "pre",
  transform: {
    filter: { id: /\/src\/web\/.*\.css$/ },
    handler: (css) =>
      Object.entries({ ...BREAKPOINTS, ...LOW_WINDOWS }).reduce(
        (rest, [name, query]) => rest.replaceAll(`(--${name})`, query),
        css,
      ),
  },
};

/** The licences of the bundled packages, which require that they are distributed with the bundle. */
const LICENSES = { fileName: "licenses.md" };

/**
 * Chunks of the page. Each contains the matching modules and their imports, because one large file compresses better than many small
 * ones. A module belongs to the matching chunk with the highest priority. The page's entry is not listed: its URL identifies the build.
 */
const SCRIPTS = [
  // The list shows requests too, and needs their style sheets without the session screen.
  { name: "request-sheets", test: /\/src\/web\/(?:transcript\/requests|ui\/action)\.css$/, priority: 7 },
  // Imported by the protocol and by the screens that search.
  { name: "query", test: /\/src\/model\/search\/query\.ts$/, priority: 6 },
  // Shared by all screens.
  {
    name: "page",
    test: /\/node_modules\/react-dom\/|\/src\/model\/tokens\.ts$|\/src\/web\/(?:app\/(?:App|ConnectionState|read-state|session-title)|text\/(?:format|status-rule)|transcript\/(?:activity|price|StateBadge)|ui\/(?:StatusBadge|breakpoints|use-match|hidden-text|ScrollBox|duration|composing))\.tsx?$/,
    priority: 5,
  },
  // Shared by the session screen and other screens, which need not load the rest of it.
  { name: "session-text", test: /\/src\/web\/text\/session-text\.ts$/, priority: 4 },
  {
    name: "requests",
    test: /\/src\/model\/(?:is-uuid|usage|opened-session)\.ts$|\/src\/web\/(?:api\/api|text\/failure-text|transcript\/RequestView|screens\/session\/session-keys|app\/new-id|ui\/script-url)\.tsx?$/,
    priority: 4,
  },
  { name: "open-session", test: /\/src\/web\/app\/open-session\.ts$/, priority: 3 },
  { name: "SessionsScreen", test: /\/screens\/sessions\/SessionsScreen\.tsx$/, priority: 2 },
  { name: "SessionScreen", test: /\/screens\/session\/SessionScreen\.tsx$/, priority: 1 },
];

/** No warnings about slow plugins: on a busy machine, every plugin is slow. */
const CHECKS = { bundlerTimings: false };

/** Folders of the packages that are bundled into web workers, which Vite's list of licences omits. */
const workerPackages = new Set<string>();
const packagesOfWorkers: Plugin = {
  name: "packages-of-workers",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      for (const id of file.type === "chunk" ? Object.keys(file.modules) : []) {
        const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
        if (folder !== undefined) workerPackages.add(folder);
      }
    }
  },
};
const licensesOfWorkers: Plugin = {
  name: "licenses-of-workers",
  apply: (_config, { isSsrBuild }) => isSsrBuild !== true,
  writeBundle() {
    for (const folder of [...workerPackages].toSorted()) {
      const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? "" : `\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
      appendFileSync("dist/web/licenses.md", `\n## ${name} - ${version} (${license})\n${text}`);
    }
  },
};

/**
 * On two busy cores, headless Chromium sometimes stops rendering a page: a test that waits for a frame times out, or a click is
 * lost. A retry distinguishes this from a defect of the page. The report marks each test that was retried.
 */
const BROWSER_RETRIES = 1;

/** Tests of the agent loop. They start no processes, like the other tests of the project `library`. */
const LOOP = "test/agent/{calls,context,file-change,laws,loop,permissions,api-protocols}.test.ts";

/**
 * Test files that need a process of their own, because they replace modules, clocks or variables of the process or measure its
 * memory or CPU time. Also some that start daemons or write huge files, which a shared process would not make faster.
 */
const OWN_PROCESS = [
  "test/adapters/claude-session-store.test.ts",
  "test/agent/{acp/acp-agent,mcp,tools/files,tools/shell,tools/web-fetch}.test.ts",
  "test/server/{attach/opencode,callers,disk,faults,growth,huge,list,main,restarts,run,segments,sessions,verify,watch}.test.ts",
  "test/server/managed/{kill,managed-sessions,runs}.test.ts",
  "test/{fuzz,long-texts,mutation,soak,start}.test.ts",
];

/**
 * Tests of what a page does only once, such as choosing its language or loading a script, and tests that measure memory. Each file
 * needs its own window and modules.
 */
const OWN_WINDOW = ["test/web/chinese.test.tsx", "test/web/ui/{markdown-blocks.test.ts,on-demand.test.tsx}"];

/**
 * Slow test files, which are started first. Without the times of an earlier run, Vitest orders files by size, and a slow file that
 * starts last would leave the other cores idle.
 */
const LONG = [
  "test/server/main.test.ts",
  "test/server/run.test.ts",
  "test/fuzz.test.ts",
  "test/server/huge.test.ts",
  "test/server/segments.test.ts",
  "test/server/disk.test.ts",
  "test/server/verify.test.ts",
  "test/server/managed/kill.test.ts",
  "test/browser/hostile.test.ts",
  "test/browser/hostile-sizes.test.ts",
  "test/browser/live-laws.test.ts",
  "test/browser/long-session.test.ts",
  "test/browser/timeline.test.ts",
];
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const { true: first = [], false: others = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      String(LONG.some((file) => moduleId.endsWith(file))),
    );
    return [...first, ...others];
  }
}

/** `vite build` builds the page (dist/web), `vite build --ssr` the daemon (dist/server). */
export default defineConfig(({ isSsrBuild }) => ({
  plugins: [
    react(),
    namedMediaQueries,
    filesBesideDaemon,
    threadPrograms,
    sessionStorePackage,
    licensesOfWorkers,
  ],
  build: isSsrBuild
    ? {
        outDir: "dist/server",
        target: "node22",
        copyPublicDir: false,
        license: LICENSES,
        rolldownOptions: {
          input: "src/server/cli/main.ts",
          checks: CHECKS,
          output: {
            entryFileNames: "main.js",
            // One file, because modules find the samples and the page relative to their own path.
            codeSplitting: false,
            // Node 22 still prints a warning that SQLite is experimental. `src/start.mjs` explains the other flags.
            banner:
              "#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --max-semi-space-size=4 --heap-growing-percent=50",
          },
        },
      }
    : {
        outDir: "dist/web",
        license: LICENSES,
        target: "es2023",
        // All target browsers support module preloading.
        modulePreload: { polyfill: false },
        // Removes the schemas from the page. The daemon has already validated all data, and the schema library would call
        // `new Function`, which the content security policy forbids.
        rolldownOptions: {
          checks: CHECKS,
          output: { codeSplitting: { groups: SCRIPTS } },
          treeshake: {
            manualPureFunctions: ["z", "record", "optional"],
            propertyReadSideEffects: false,
            // These modules have no side effects, so unused ones can be removed.
            moduleSideEffects: [{ test: /\/src\/(?:model\/|protocol\.ts$)/, sideEffects: false }],
          },
        },
      },
  resolve: {
    alias: {
      // A polyfill that no target browser needs.
      "@ungap/structured-clone": "data:text/javascript,export default structuredClone",
      // Its browser build assigns strings to innerHTML, which the content security policy forbids. Its other build adds a table of 8 KB.
      "decode-named-character-reference": fileURLToPath(
        new URL("src/web/markdown/character-reference.ts", import.meta.url),
      ),
      // The SVG attributes of property-information: Markdown never produces SVG elements.
      "./lib/svg.js": "data:text/javascript,export const svg = { property: {}, normal: {} }",
    },
  },
  // The daemon's bundle includes all packages. Tests import them from node_modules.
  ...(isSsrBuild ? { ssr: { noExternal: true as const } } : {}),
  // The highlighting worker loads languages on demand, which requires module workers.
  worker: { format: "es", plugins: () => [packagesOfWorkers] },
  // Generous timeouts, which only detect tests that hang: a busy machine must not fail a correct test.
  test: {
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Two workers per core, because tests often wait for processes, pages and disks.
    maxWorkers: availableParallelism() * 2,
    sequence: { sequencer: LongFirst },
    setupFiles: ["test/properties.ts"],
    projects: [
      {
        // No processes and servers, so all files of a worker share its modules, which saves a quarter of the time.
        extends: true,
        test: {
          name: "library",
          environment: "node",
          include: ["test/{model,sources,store,providers}/**/*.test.ts", LOOP],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "unit",
          environment: "node",
          include: ["test/{agent,server,adapters}/**/*.test.ts", "test/*.test.ts"],
          exclude: ["test/package.test.ts", LOOP, ...OWN_PROCESS],
          // Loading the daemon's modules for each file would take longer than the tests of many files.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "unit-alone",
          environment: "node",
          include: OWN_PROCESS,
        },
      },
      {
        extends: true,
        test: {
          name: "components",
          environment: "jsdom",
          include: ["test/web/**/*.test.{ts,tsx}"],
          exclude: OWN_WINDOW,
          setupFiles: ["test/setup.ts"],
          // All files of a worker share one jsdom window.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "components-alone",
          environment: "jsdom",
          include: OWN_WINDOW,
          setupFiles: ["test/setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          environment: "node",
          include: ["test/browser/**/*.test.ts"],
          retry: BROWSER_RETRIES,
          // All files of a worker share one Chromium. Each test has its own browser context.
          isolate: false,
          // Not in parallel with tests that need no browser.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "engines",
          environment: "node",
          include: ["test/engines/**/*.test.ts"],
          fileParallelism: false,
        },
      },
      {
        // Installs real agents from npm and runs them. Not part of `npm test`.
        extends: true,
        test: {
          name: "agents",
          environment: "node",
          include: ["test/real-agents/**/*.test.ts"],
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
          // With the browser tests: both use the build.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
}));
