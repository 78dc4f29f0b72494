import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
let tree: string;
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), "verbatim-start-"));
});
afterEach(() => {
  rmSync(tree, { recursive: true, force: true });
});

function write(path: string, text: string) {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}
const say = (word: string) => write("src/server/main.ts", `console.log(${JSON.stringify(word)});\n`);

/** A tree like this one, whose daemon says a word and ends. */
function plant(word: string) {
  say(word);
  for (const path of ["index.html", "public/empty.txt"]) write(path, "");
  for (const path of ["package.json", "package-lock.json", "node_modules/.package-lock.json"]) {
    write(path, '{"type":"module","packages":{}}');
  }
  const output = { entryFileNames: "main.js" };
  const build = { outDir: "dist/server", rolldownOptions: { input: "src/server/main.ts", output } };
  write("vite.config.ts", `export default ${JSON.stringify({ build })};\n`);
  cpSync(join(root, "src/start.mjs"), join(tree, "src/start.mjs"));
  mkdirSync(join(tree, "node_modules/node/bin"), { recursive: true });
  symlinkSync(process.execPath, join(tree, "node_modules/node/bin/node"));
  symlinkSync(realpathSync(join(root, "node_modules/vite")), join(tree, "node_modules/vite"), "dir");
}

/** The daemon's half of `npm run build`. */
function build() {
  const vite = join(tree, "node_modules/vite/bin/vite.js");
  execFileSync(process.execPath, [vite, "build", "--ssr", "--logLevel", "warn"], { cwd: tree });
}

/** `npm start -- token`, for which no page is built. */
function start() {
  const args = [join(tree, "src/start.mjs"), "token"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree, encoding: "utf8" });
  return { out: stdout.trim(), built: stderr.includes("Building the daemon") };
}

describe.skipIf(process.platform === "win32")("npm start", () => {
  it("builds what is not built yet or has changed, and nothing else", () => {
    plant("one");
    expect(start()).toEqual({ out: "one", built: true });
    expect(start()).toEqual({ out: "one", built: false });
    say("two");
    expect(start()).toEqual({ out: "two", built: true });
  });

  it("does not run what was built by hand from an edit that is undone", () => {
    plant("one");
    expect(start()).toEqual({ out: "one", built: true });
    say("an edit");
    build();
    say("one");
    expect(start()).toEqual({ out: "one", built: true });
  });

  it("works where the operator is, not where npm goes to", () => {
    plant("one");
    write("src/server/main.ts", "console.log(process.cwd());\n");
    write("package.json", '{"type":"module","packages":{},"scripts":{"start":"node src/start.mjs"}}');
    const args = ["--silent", "--prefix", tree, "start", "--", "token"];
    const cwd = mkdtempSync(join(tree, "project-"));
    expect(spawnSync("npm", args, { cwd, encoding: "utf8" }).stdout.trim()).toBe(realpathSync(cwd));
  });
});
