import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PLAIN } from "./mutation/plain-tests.ts";

const standIn = readFileSync("test/mutation/vitest-stand-in.ts", "utf8");
const names = (list: string): string[] => list.split(",").map((name) => name.replace(/:.*/s, "").trim());
const namesIn = (pattern: RegExp): string[] =>
  [...standIn.matchAll(pattern)].flatMap(([, found = ""]) => names(found));

test("the tests of pure functions use only Vitest features that the in-process mutation runner supports", () => {
  const exported = new Set([
    ...namesIn(/^export const (\w+)/gm),
    ...namesIn(/^export \{(.*)\};/gm),
    ...namesIn(/^export const vi = \{(.*)\};/gm).map((name) => `vi.${name}`),
  ]);
  expect(exported).toContain("vi.spyOn");
  const files = globSync("test/**/*.ts").filter((path) => PLAIN.test(path));
  expect(files.length).toBeGreaterThan(30);
  const missing = files.flatMap((path) => {
    const text = readFileSync(path, "utf8");
    const imported = names(/^import \{(.*)\} from "vitest";/m.exec(text)?.[1] ?? "");
    const used = [...text.matchAll(/\bvi\.\w+/g)].map(([name]) => name);
    return [...imported, ...used]
      .filter((name) => name !== "" && !exported.has(name))
      .map((name) => `${path}: ${name}`);
  });
  expect(missing).toEqual([]);
});
