import { restoreAllMocks, spyOn } from "../../node_modules/@vitest/spy/dist/index.js";
import { expect } from "../../node_modules/vitest/dist/index.js";

/**
 * Replaces Vitest when `in-process.ts` runs the tests: it collects them, and uses Vitest's own expectations. It supports only
 * what the tests of pure functions use.
 */
type Body = (...given: readonly unknown[]) => unknown;
interface Test {
  name: string;
  run: () => unknown;
}
interface Collected {
  file: string;
  tests: Test[];
  afterEach: (() => unknown)[];
  after: (() => unknown)[];
}

let current: Collected | undefined;
let path: string[] = [];

/** The tests that a file declares while `load` loads it. */
export async function collect(file: string, load: () => Promise<unknown>): Promise<Collected> {
  const collected: Collected = { file, tests: [], afterEach: [], after: [] };
  current = collected;
  path = [];
  await load();
  current = undefined;
  return collected;
}

function describeNow(name: string, body: () => void): void {
  path.push(name);
  body();
  path.pop();
}

function add(name: string, run: () => unknown): void {
  if (current === undefined) return;
  const { tests, afterEach } = current;
  const whole = [...path, name].join(" > ");
  const same = tests.filter((test) => test.name.replace(/ #\d+$/, "") === whole).length;
  tests.push({
    name: same === 0 ? whole : `${whole} #${same}`,
    async run() {
      try {
        await run();
      } finally {
        for (const end of afterEach) await end();
      }
    },
  });
}

function each(items: readonly unknown[]) {
  return (name: string, body: Body): void => {
    for (const item of items) add(name, () => (Array.isArray(item) ? body(...item) : body(item)));
  };
}

const added = Object.assign((name: string, run: () => unknown): void => add(name, run), { each });
const skipped = Object.assign((): void => {}, { each: () => (): void => {} });
export const it = Object.assign(added, {
  skipIf: (isSkipped: unknown) => (isSkipped ? skipped : added),
  runIf: (isRun: unknown) => (isRun ? added : skipped),
});
export const test = it;
export const describe = Object.assign(describeNow, {
  skipIf: (isSkipped: unknown) => (isSkipped ? (): void => {} : describeNow),
});
export const afterEach = (run: () => unknown): void => void current?.afterEach.push(run);
export const afterAll = (run: () => unknown): void => void current?.after.push(run);
export const vi = { restoreAllMocks, setConfig: (): void => {}, spyOn };
export { expect };
