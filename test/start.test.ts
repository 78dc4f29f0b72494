import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
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
const say = (word: string) => write("src/server/cli/main.ts", `console.log(${JSON.stringify(word)});\n`);

/** A tree like this one, whose daemon prints a word and exits. */
function plant(word: string) {
  say(word);
  for (const path of ["index.html", "public/empty.txt"]) write(path, "");
  for (const path of ["package.json", "package-lock.json", "node_modules/.package-lock.json"]) {
    write(path, '{"type":"module","packages":{}}');
  }
  const output = { entryFileNames: "main.js" };
  const build = { outDir: "dist/server", rolldownOptions: { input: "src/server/cli/main.ts", output } };
  write("vite.config.ts", `export default ${JSON.stringify({ build })};\n`);
  for (const path of ["src/start.mjs", "src/install.mjs", "test/run.mjs", "test/browser/find-chromium.mjs"])
    cpSync(join(root, path), join(tree, path));
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
  it("builds only what is missing or has changed", () => {
    plant("one");
    expect(start()).toEqual({ out: "one", built: true });
    expect(start()).toEqual({ out: "one", built: false });
    say("two");
    expect(start()).toEqual({ out: "two", built: true });
  });

  it("does not run a manual build of an edit that was undone", () => {
    plant("one");
    expect(start()).toEqual({ out: "one", built: true });
    say("an edit");
    build();
    say("one");
    expect(start()).toEqual({ out: "one", built: true });
  });

  it.each([
    ["npm start", "src/start.mjs", ["token"]],
    ["npm test", "test/run.mjs", []],
  ])(
    "%s installs if another version than package-lock.json's is installed, whichever file is newer",
    (_, script, args) => {
      plant("one");
      const lock = (version: string) => JSON.stringify({ packages: { "node_modules/tool": { version } } });
      write("npm.js", 'import { writeFileSync } from "node:fs";\nwriteFileSync("npm-was-run", "");\n');
      const installs = (wanted: string, present: string, newer: "wanted" | "present") => {
        write("package-lock.json", lock(wanted));
        write("node_modules/.package-lock.json", lock(present));
        const older = newer === "wanted" ? "node_modules/.package-lock.json" : "package-lock.json";
        utimesSync(join(tree, older), 1_000, 1_000);
        rmSync(join(tree, "npm-was-run"), { force: true });
        const env = { ...process.env, npm_execpath: join(tree, "npm.js"), CHROMIUM_PATH: process.execPath };
        spawnSync(process.execPath, [join(tree, script), ...args], { cwd: tree, env });
        return existsSync(join(tree, "npm-was-run"));
      };
      expect(installs("2.0.0", "1.0.0", "present")).toBe(true);
      expect(installs("2.0.0", "2.0.0", "wanted")).toBe(false);
    },
  );

  it("works in the user's folder, not in npm's", () => {
    plant("one");
    write("src/server/cli/main.ts", "console.log(process.cwd());\n");
    write("package.json", '{"type":"module","packages":{},"scripts":{"start":"node src/start.mjs"}}');
    const args = ["--silent", "--prefix", tree, "start", "--", "token"];
    const cwd = mkdtempSync(join(tree, "project-"));
    expect(spawnSync("npm", args, { cwd, encoding: "utf8" }).stdout.trim()).toBe(realpathSync(cwd));
  });
});
