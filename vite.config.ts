import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build, type Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { BREAKPOINTS, LOW_WINDOWS } from "./src/web/ui/breakpoints.ts";

/** The daemon reads its sample sessions, and the hook that it installs, beside it, in the package as in the sources. */
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

/** The daemon's threads run programs of their own, which load less than the daemon: 40 MB less memory for each. */
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
/** The session store for the Claude Agent SDK is a package of its own, without dependencies: its source serves as its types. */
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

/** Puts the media queries in the places where style sheets name them, so that they are written once. */
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

/** What is bundled asks for its licence to be passed on. */
const LICENSES = { fileName: "licenses.md" };

/**
 * Scripts of the page that are one file each, with all that they import: one file compresses better than a dozen. What is in one of a
 * higher priority is not in the others. The page's entry stays apart: its address tells the daemon's build.
 */
const SCRIPTS = [
  // Sheets of requests, which the list shows too: it does not load the session's screen for them.
  { name: "request-sheets", test: /\/src\/web\/(?:transcript\/requests|ui\/action)\.css$/, priority: 7 },
  // The protocol names it, the screens that search use it.
  { name: "query", test: /\/src\/model\/search\/query\.ts$/, priority: 6 },
  // What every screen has.
  {
    name: "page",
    test: /\/node_modules\/react-dom\/|\/src\/model\/tokens\.ts$|\/src\/web\/(?:app\/(?:App|ConnectionState|read-state|session-title)|text\/(?:format|status-rule)|transcript\/(?:activity|price|StateBadge)|ui\/(?:StatusBadge|breakpoints|use-match|hidden-text|ScrollBox|duration|composing))\.tsx?$/,
    priority: 5,
  },
  // What a session's screen shares with others: they do not load all of it.
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

/** A busy machine is no fault of the plugins, which would be named in a warning. */
const CHECKS = { bundlerTimings: false };

/** Folders of the packages that workers hold: Vite's own list of licences does not look into them. */
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
 * Headless Chromium sometimes stops drawing a page on a machine of two busy cores: what waits for a frame then times out, or a
 * click is lost. One more try tells that from a fault of the page. The report marks each test that needed it.
 */
const BROWSER_RETRIES = 1;

/** Tests that measure. */
const ALONE = ["test/browser/many-runs.test.ts"];

/** Tests of the agent loop, which start no processes either. */
const LOOP = "test/agent/{calls,context,file-change,laws,loop,permissions,wires}.test.ts";

/**
 * Tests that replace modules, clocks or variables of their process, or measure its memory or processor time: each file needs a
 * process of its own. Others that start daemons or write huge files gain nothing from a shared one.
 */
const OWN_PROCESS = [
  "test/adapters/claude-session-store.test.ts",
  "test/agent/{acp/acp-agent,mcp,tools/files,tools/shell,tools/web-fetch}.test.ts",
  "test/server/{attach/opencode,callers,disk,faults,growth,huge,list,main,restarts,run,segments,sessions,verify,watch}.test.ts",
  "test/server/managed/{kill,managed-sessions,runs}.test.ts",
  "test/{fuzz,long-texts,mutation,soak,start}.test.ts",
];

/** Tests of what a page does once: it chooses its language, and it loads scripts. Each needs a window and modules of its own. */
const OWN_WINDOW = ["test/web/chinese.test.tsx", "test/web/ui/on-demand.test.tsx"];

/** Files that take long for their size, by which Vitest orders them without an earlier run. Started last, one of them would leave the other cores idle. */
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

/** Both halves: `vite build` makes the page (dist/web), `vite build --ssr` the daemon (dist/server). */
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
            // One file: what it finds beside itself (the samples, the page) is found from every part of it.
            codeSplitting: false,
            // SQLite is still marked experimental in Node 22; the flag keeps that notice off the operator's screen. The
            // others are `src/start.mjs`'s, which says why.
            banner:
              "#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --max-semi-space-size=4 --heap-growing-percent=50",
          },
        },
      }
    : {
        outDir: "dist/web",
        license: LICENSES,
        target: "es2023",
        // Every browser of that target preloads modules by itself.
        modulePreload: { polyfill: false },
        // The page folds what the daemon has checked: it needs the contract's types and constants, not its schemas, and
        // their library would try `new Function`, which the page's policy forbids.
        rolldownOptions: {
          checks: CHECKS,
          output: { codeSplitting: { groups: SCRIPTS } },
          treeshake: {
            manualPureFunctions: ["z", "record", "optional"],
            propertyReadSideEffects: false,
            // Importing the model runs nothing: what a script does not use of it, it does not load.
            moduleSideEffects: [{ test: /\/src\/(?:model\/|protocol\.ts$)/, sideEffects: false }],
          },
        },
      },
  resolve: {
    alias: {
      // Every browser of the target has what this stands in for.
      "@ungap/structured-clone": "data:text/javascript,export default structuredClone",
      // Its build for browsers sets innerHTML to a string, which the page's policy forbids; its other build has a table of 8 KB.
      "decode-named-character-reference": fileURLToPath(
        new URL("src/web/markdown/character-reference.ts", import.meta.url),
      ),
      // property-information's table of SVG's attributes: of Markdown no such element is made.
      "./lib/svg.js": "data:text/javascript,export const svg = { property: {}, normal: {} }",
    },
  },
  // All is in the bundle; tests take packages as they are.
  ...(isSsrBuild ? { ssr: { noExternal: true as const } } : {}),
  // The worker that highlights loads its languages one by one, which only modules can.
  worker: { format: "es", plugins: () => [packagesOfWorkers] },
  // The limits are for tests that hang: a busy machine must not fail a good test.
  test: {
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Half as many again as there are cores: tests wait for processes, pages and disks much of their time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: LongFirst },
    setupFiles: ["test/properties.ts"],
    projects: [
      {
        // Without processes and servers: the files of a worker can share its modules, which saves a quarter of the time.
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
          // Loading the daemon's modules for each file would take longer than many files' tests.
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
          // The files of a worker share one simulated window too.
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
          exclude: ALONE,
          retry: BROWSER_RETRIES,
          // The files of a worker share Playwright and a Chromium; each test has a profile of its own.
          isolate: false,
          // Not at once with what needs no browser.
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Measures what a page costs, for which nothing else may run.
        extends: true,
        test: {
          name: "browser-alone",
          environment: "node",
          include: ALONE,
          fileParallelism: false,
          retry: BROWSER_RETRIES,
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
        // Starts agents that npm fetches: not part of `npm test`.
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
          // It builds the page anew, which others show: after them.
          fileParallelism: false,
        },
      },
    ],
  },
}));
