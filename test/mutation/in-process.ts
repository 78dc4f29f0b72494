import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { collect } from "./vitest-stand-in.ts";

// A Stryker test runner for tests of pure functions: it loads them into its own process, again for every mutant, which takes a
// tenth of Vitest's start time. Tests that need a page, a port or a Vitest hook run in Vitest.

// The used part of Stryker's own types, because its package is installed only at the first run.
interface Outcome {
  id: string;
  name: string;
  fileName: string;
  timeSpentMs: number;
  /** Success, failure. */
  status: 0 | 1;
  failureMessage?: string;
}
interface Coverage {
  static: Record<string, number>;
  perTest: Record<string, Record<string, number>>;
}
interface Stryker {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: Coverage | undefined;
}
interface MutantRun {
  testFilter?: string[];
  hitLimit?: number;
  activeMutant: { id: string };
}

const standIns = new Map([
  ["vitest", new URL("vitest-stand-in.ts", import.meta.url).href],
  ["fast-check", new URL("fast-check.ts", import.meta.url).href],
]);
/** Modules of the sandbox are loaded again in each round; those of packages are kept. */
let round = 0;
const stripped = new Map<string, string>();
let registered = false;

function register(): void {
  if (registered) return;
  registered = true;
  // Stryker enters its sandbox after it has loaded this file.
  const ours = `${pathToFileURL(process.cwd()).href}/`;
  registerHooks({
    resolve(specifier, context, next) {
      const standIn = standIns.get(specifier);
      if (standIn !== undefined) return { url: standIn, shortCircuit: true };
      const resolved = next(specifier, context);
      const isOurs = resolved.url.startsWith(ours) && !resolved.url.includes("/node_modules/");
      return isOurs && !/\?|\/test\/mutation\//.test(resolved.url)
        ? { ...resolved, url: `${resolved.url}?${round}` }
        : resolved;
    },
    load(url, context, next) {
      if (!/\.ts\?\d+$/.test(url)) return next(url, context);
      const file = fileURLToPath(url.replace(/\?\d+$/, ""));
      let source = stripped.get(file);
      if (source === undefined) {
        source = stripTypeScriptTypes(readFileSync(file, "utf8"));
        stripped.set(file, source);
      }
      return { format: "module", source, shortCircuit: true };
    },
  });
}

class InProcessRunner {
  /** Stryker injects nothing. */
  static inject = [] as const;
  private readonly files = (process.env.VERBATIM_MUTATION_FILES ?? "").split(" ");

  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun() {
    const state = stryker();
    state.activeMutant = undefined;
    state.hitCount = undefined;
    state.mutantCoverage = { static: {}, perTest: {} };
    const tests = await this.run(undefined, false);
    return { status: "complete", tests, mutantCoverage: state.mutantCoverage };
  }

  async mutantRun({ testFilter, hitLimit, activeMutant }: MutantRun) {
    const state = stryker();
    state.mutantCoverage = undefined;
    state.activeMutant = activeMutant.id;
    state.hitCount = 0;
    state.hitLimit = hitLimit;
    let tests: Outcome[];
    try {
      tests = await this.run(testFilter === undefined ? undefined : new Set(testFilter), true);
    } catch (problem) {
      // The mutant prevents a module from loading.
      return killed("(loading)", problem, 0);
    }
    if (hitLimit !== undefined && (state.hitCount ?? 0) > hitLimit) {
      return { status: "timeout", reason: `${state.hitCount} steps` };
    }
    const failed = tests.find(({ status }) => status === 1);
    if (failed !== undefined) return killed(failed.id, failed.failureMessage, tests.length);
    return { status: "survived", nrOfTests: tests.length };
  }

  private async run(only: ReadonlySet<string> | undefined, stopAtFailure: boolean): Promise<Outcome[]> {
    register();
    round += 1;
    const root = process.cwd();
    const outcomes: Outcome[] = [];
    const state = stryker();
    for (const file of this.files) {
      const isWanted = only === undefined || [...only].some((id) => id.startsWith(`${file}#`));
      if (!isWanted) continue;
      const { tests, after } = await collect(file, () => import(pathToFileURL(`${root}/${file}`).href));
      for (const { name, run } of tests) {
        const id = `${file}#${name}`;
        if (only !== undefined && !only.has(id)) continue;
        state.currentTestId = id;
        const start = performance.now();
        const outcome: Outcome = { id, name, fileName: `${root}/${file}`, timeSpentMs: 0, status: 0 };
        try {
          await run();
        } catch (problem) {
          outcome.status = 1;
          outcome.failureMessage = String(problem);
        }
        state.currentTestId = undefined;
        outcome.timeSpentMs = performance.now() - start;
        outcomes.push(outcome);
        if (outcome.status === 1 && stopAtFailure) break;
      }
      for (const end of after) await end();
      if (stopAtFailure && outcomes.at(-1)?.status === 1) break;
    }
    return outcomes;
  }
}

function killed(id: string, problem: unknown, nrOfTests: number) {
  return { status: "killed", killedBy: [id], failureMessage: String(problem), nrOfTests };
}

/** Where the mutated code looks up the active mutant. */
function stryker(): Stryker {
  const holder = globalThis as { __stryker__?: Stryker };
  holder.__stryker__ ??= {};
  return holder.__stryker__;
}

export const strykerPlugins = [{ kind: "TestRunner", name: "in-process", injectableClass: InProcessRunner }];
