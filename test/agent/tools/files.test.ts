import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { locate } from "../../../src/agent/paths.ts";
import type { PermissionRule } from "../../../src/agent/permissions.ts";
import type { Tool } from "../../../src/agent/tool.ts";
import { createEditTool } from "../../../src/agent/tools/edit.ts";
import { createGlobTool } from "../../../src/agent/tools/glob.ts";
import { createGrepTool } from "../../../src/agent/tools/grep.ts";
import { createReadTool } from "../../../src/agent/tools/read.ts";
import { createWriteTool } from "../../../src/agent/tools/write.ts";
import { eventually } from "../../eventually.ts";
import { times } from "../../long.ts";
import { call, createTestHost, type TestHost } from "../host.ts";

/** Number of attempts to read and to write a file while links are swapped. */
const ATTEMPTS = times(300, 1_000);

const read = createReadTool();
const write = createWriteTool();
const edit = createEditTool();
const glob = createGlobTool({ rules: () => rules });
const grep = createGrepTool({ rules: () => rules });
const impatient = createGrepTool({ rules: () => rules, pattern_time_ms: 500 });

let host: TestHost;
/** The user's rules. */
let rules: PermissionRule[];
let outside: string;
let children: ChildProcess[];
beforeEach(() => {
  host = createTestHost();
  rules = [];
  outside = join(dirname(host.cwd), "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), "SECRET\n");
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  host.remove();
});

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(host.cwd, path)), { recursive: true });
  writeFileSync(join(host.cwd, path), content);
}
const text = (path: string): string => readFileSync(join(host.cwd, path), "utf8");

/** The output of a call, or the refusal of its preparation. */
async function said(tool: Tool, input: Record<string, unknown>): Promise<string> {
  try {
    return (await call(tool, host, input)).output_text;
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message : error}`;
  }
}

/** Input for any of the file tools to read or write the secret at a path. */
const inputFor = (tool: Tool, path: string) => ({
  path,
  content: "OUT",
  old_text: "SECRET",
  new_text: "OUT",
  pattern: tool === grep ? "SECRET" : "**",
});

describe("read", () => {
  it("returns lines with their numbers", async () => {
    put("a.txt", "one\ntwo\r\nthree");
    expect(await call(read, host, { path: "a.txt" })).toEqual({
      output_text: "     1\tone\n     2\ttwo\n     3\tthree",
      ui_extra: { type: "read", path: "a.txt", start_line: 1, line_count: 3, total_lines: 3 },
    });
  });

  it("returns a part of a long file, and says how to continue", async () => {
    put("long.txt", Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}\n`).join(""));
    const output = await call(read, host, { path: "long.txt", offset: 4_001, limit: 2 });
    expect(output.output_text).toBe(
      "  4001\tline 4001\n  4002\tline 4002\n[Lines 4001 to 4002 of 5000; continue with offset 4003]",
    );
    expect(await said(read, { path: "long.txt", offset: 6_000 })).toContain(
      "has no line 6000. It has 5000 lines",
    );
    expect((await call(read, host, { path: "long.txt" })).ui_extra).toMatchObject({
      line_count: 2_000,
      total_lines: 5_000,
    });
  });

  it("truncates a line of many megabytes without keeping it in memory", async () => {
    put("line.txt", `${"x".repeat(50_000_000)}\nend\n`);
    const { output_text } = await call(read, host, { path: "line.txt" });
    expect(output_text.length).toBeLessThan(3_000);
    expect(output_text).toContain("[… line of 50000000 characters]\n     2\tend");
  });

  it("returns an image as a part, stored with the session", async () => {
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("rest")]);
    put("picture.png", png);
    const { parts } = await call(read, host, { path: "picture.png" });
    expect(parts).toMatchObject([{ type: "image_file", mime_type: "image/png", byte_size: 12 }]);
    const [part] = parts ?? [];
    expect(part?.type === "image_file" && readFileSync(part.file_path).equals(png)).toBe(true);
    expect(part?.type === "image_file" && dirname(part.file_path)).toBe(host.files);
  });

  it("explains what it cannot read", async () => {
    put("data.bin", Uint8Array.of(1, 2, 0, 3));
    put("empty", "");
    expect(await said(read, { path: "data.bin" })).toContain("data.bin is not text (4 bytes of binary data)");
    expect(await said(read, { path: "nothing" })).toBe("nothing does not exist.");
    expect(await said(read, { path: "." })).toContain("is a folder");
    expect(await said(read, { path: "empty" })).toBe("[The file is empty.]");
    expect(await said(read, {})).toContain("refused: path:");
  });

  it("reads outputs stored by other calls of the session, and nothing else outside", async () => {
    writeFileSync(join(host.files, "c1.log"), "whole output\n");
    expect(await said(read, { path: join(host.files, "c1.log") })).toContain("whole output");
    expect(await said(read, { path: join(host.files, "../outside/secret.txt") })).toContain("is outside");
    expect(await said(write, { path: join(host.files, "c1.log"), content: "x" })).toContain("is outside");
  });
});

describe("write", () => {
  it("creates a file and its folders, and shows the change", async () => {
    expect(await call(write, host, { path: "new/deep/a.txt", content: "one\ntwo\n" })).toMatchObject({
      output_text: "new/deep/a.txt was created (+2 −0 lines).",
      ui_extra: {
        type: "diff",
        files: [{ path: "new/deep/a.txt", change: "create", additions: 2, deletions: 0 }],
      },
    });
    const again = await call(write, host, { path: "new/deep/a.txt", content: "one\n2\n" });
    expect(again.ui_extra).toMatchObject({
      files: [{ change: "update", hunks: [{ old_start: 1, lines: [" one", "-two", "+2"] }] }],
    });
    expect(text("new/deep/a.txt")).toBe("one\n2\n");
    expect(readdirSync(join(host.cwd, "new/deep"))).toEqual(["a.txt"]);
  });

  it("keeps the mode of a file", async () => {
    put("run.sh", "#!/bin/sh\n");
    execFileSync("chmod", ["750", join(host.cwd, "run.sh")]);
    await call(write, host, { path: "run.sh", content: "#!/bin/sh\ntrue\n" });
    expect(statSync(join(host.cwd, "run.sh")).mode & 0o777).toBe(0o750);
  });

  it("rejects text that cannot be encoded", async () => {
    expect(await said(write, { path: "a", content: "\ud800" })).toContain(
      "refused: The content contains half of a surrogate",
    );
  });
});

describe("edit", () => {
  it("replaces a text that occurs once, and shows the hunk", async () => {
    put("a.ts", Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join(""));
    const { ui_extra } = await call(edit, host, {
      path: "a.ts",
      old_text: "line 10\n",
      new_text: "line ten\n",
    });
    expect(ui_extra).toMatchObject({
      type: "diff",
      files: [
        {
          change: "update",
          additions: 1,
          deletions: 1,
          hunks: [{ old_start: 7, old_lines: 7, new_start: 7, new_lines: 7 }],
        },
      ],
    });
    expect(text("a.ts")).toContain("line 9\nline ten\nline 11");
  });

  it("treats both texts literally: no patterns, no dollar signs", async () => {
    put("a", "cost: $1 (.*)");
    await call(edit, host, { path: "a", old_text: "$1 (.*)", new_text: "$& $$ $`" });
    expect(text("a")).toBe("cost: $& $$ $`");
  });

  it("explains failures: missing, several occurrences, different white space or line ends", async () => {
    put("a", "x = 1\nx = 1\n\tindented\n");
    put("windows", "one\r\ntwo\r\n");
    put("latin", Buffer.from("caf\xe9", "latin1"));
    expect(await said(edit, { path: "a", old_text: "y", new_text: "z" })).toContain("was not found in a.");
    expect(await said(edit, { path: "a", old_text: "x = 1", new_text: "z" })).toContain(
      "occurs 2 times in a",
    );
    expect(await said(edit, { path: "a", old_text: "    indented", new_text: "z" })).toContain(
      "different white space",
    );
    expect(await said(edit, { path: "windows", old_text: "one\ntwo", new_text: "z" })).toContain(
      "end with \\r\\n",
    );
    expect(await said(edit, { path: "latin", old_text: "caf", new_text: "tea" })).toContain(
      "not text in UTF-8",
    );
    expect(await said(edit, { path: "none", old_text: "a", new_text: "b" })).toBe("none does not exist.");
    expect(text("a")).toBe("x = 1\nx = 1\n\tindented\n");
    await call(edit, host, { path: "a", old_text: "x = 1", new_text: "z", replace_all: true });
    expect(text("a")).toBe("z\nz\n\tindented\n");
  });
});

describe("glob and grep", () => {
  beforeEach(() => {
    put("src/a.ts", "const one = 1;\nconst two = 2;\n");
    put("src/deep/b.test.ts", "const ONE = 1;\n");
    put("src/deep/c.md", "# one\n");
    put("node_modules/p/index.ts", "const one = 1;\n");
    put(".git/config", "one\n");
    put(".gitignore", "dist/\n*.log\n!keep.log\n");
    put("dist/a.ts", "const one = 1;\n");
    put("x.log", "one\n");
    put("keep.log", "one\n");
    put("data.bin", Buffer.from("one\0one"));
    symlinkSync(outside, join(host.cwd, "out"));
    symlinkSync(join(outside, "secret.txt"), join(host.cwd, "out.txt"));
  });

  it("find files by pattern, without ignored ones and without following links", async () => {
    const files = async (pattern: string, path?: string) =>
      (await call(glob, host, { pattern, ...(path === undefined ? {} : { path }) })).output_text.split("\n");
    expect(await files("**/*.ts")).toEqual(["src/a.ts", "src/deep/b.test.ts"]);
    expect(await files("*.ts", "src")).toEqual(["src/a.ts"]);
    expect(await files("src/**/*.{md,test.ts}")).toEqual(["src/deep/b.test.ts", "src/deep/c.md"]);
    expect(await files("src/[ab].ts")).toEqual(["src/a.ts"]);
    expect(await files("**/*")).toEqual([
      ".gitignore",
      "data.bin",
      "keep.log",
      "src/a.ts",
      "src/deep/b.test.ts",
      "src/deep/c.md",
    ]);
    expect(await files("**", "node_modules")).toEqual(["node_modules/p/index.ts"]);
    expect(await files("out/*")).toEqual(["No file matches."]);
  });

  it("find lines by pattern", async () => {
    expect(await call(grep, host, { pattern: "one\\b" })).toEqual({
      output_text: "keep.log:1: one\nsrc/a.ts:1: const one = 1;\nsrc/deep/c.md:1: # one",
      ui_extra: {
        type: "search",
        query: "one\\b",
        match_count: 3,
        files: ["keep.log", "src/a.ts", "src/deep/c.md"],
      },
    });
    expect(await said(grep, { pattern: "one", glob: "*.ts", ignore_case: true })).toBe(
      "src/a.ts:1: const one = 1;\nsrc/deep/b.test.ts:1: const ONE = 1;",
    );
    expect(await said(grep, { pattern: "two", path: "src/a.ts" })).toBe("src/a.ts:2: const two = 2;");
    expect(await said(grep, { pattern: "const", limit: 1 })).toContain(
      "[only the first 1 matching lines are listed]",
    );
    expect(await said(grep, { pattern: "SECRET" })).toBe("No match.");
    expect(await said(grep, { pattern: "(" })).toContain("refused: The pattern is not a regular expression");
    expect(await said(grep, { pattern: "x", path: "nowhere" })).toContain("does not exist");
  });

  it("stop an endless pattern, and keep working", async () => {
    put("evil.txt", `${"a".repeat(40)}b\n`);
    const started = await said(impatient, { pattern: "^(a+)+$" });
    expect(started).toContain("took longer than 0.5 s on one file");
    expect(started).toContain("evil.txt");
    expect(await said(grep, { pattern: "aab$" })).toContain("evil.txt:1");
  });

  it("match hostile file patterns in few steps", async () => {
    put(`${"a".repeat(200)}`, "");
    expect(await said(glob, { pattern: `${"*a".repeat(100)}b` })).toBe("No file matches.");
    expect(await said(glob, { pattern: `${"**/".repeat(100)}x/y` })).toBe("No file matches.");
    expect(await said(glob, { pattern: "{a,b}".repeat(20) })).toContain("refused");
    writeFileSync(join(host.cwd, ".gitignore"), `${"*a".repeat(400)}\n`.repeat(1_000));
    expect(await said(glob, { pattern: "src/*.ts" })).toBe("src/a.ts");
  });
});

describe("a .gitignore", () => {
  it("is interpreted as in git: no braces, and no trailing blanks unless escaped", async () => {
    for (const name of ["a.txt", "{a,b}.txt", "kept ", "kept", "gone", "\u00a0"]) put(name, "");
    put(".gitignore", "{a,b}.txt\nkept\\ \t \ngone \t\n\\\u00a0\n");
    expect(await said(glob, { pattern: "*" })).toBe(".gitignore\na.txt\nkept");
  });

  it("with very many blanks takes linear time", async () => {
    const cpuOf = async (blanks: number): Promise<number> => {
      for (let n = 0; n < 3; n++) put(`${n}/.gitignore`, `x${" ".repeat(blanks)}x\n`);
      const before = process.cpuUsage();
      await said(glob, { pattern: "**" });
      return process.cpuUsage(before).user;
    };
    await cpuOf(60);
    expect(await cpuOf(60_000)).toBeLessThan(20 * (await cpuOf(60)) + 100_000);
  });

  it("with slow rules does not block other work", async () => {
    for (let n = 0; n < 30; n++) put(`${n}${"a".repeat(200)}`, "");
    put(".gitignore", `*\n${`${"*a".repeat(30)}*b\n`.repeat(1_000)}`);
    const { longest, whole } = await turnsBeside(async () =>
      expect(await said(glob, { pattern: "**" })).toBe("No file matches."),
    );
    expect(longest).toBeLessThan(whole / 4);
  });
});

it("does not block other work with many rules of the user", async () => {
  for (let n = 0; n < 200; n++) put(`${n}${"a".repeat(200)}`, "");
  const pattern = `${"*a".repeat(20)}*b`;
  rules = Array.from({ length: 100 }, () => ({ tool: "glob", pattern, decision: "deny" }));
  const { longest, whole } = await turnsBeside(async () =>
    expect((await said(glob, { pattern: "*" })).split("\n")).toHaveLength(200),
  );
  expect(longest).toBeLessThan(whole / 4);
});

/** CPU time of some work, and the longest time for which it blocked other work. */
async function turnsBeside(work: () => Promise<void>): Promise<{ longest: number; whole: number }> {
  const begun = process.threadCpuUsage();
  let longest = 0;
  let last = begun;
  const turn = (): void => {
    const { user } = process.threadCpuUsage(last);
    longest = Math.max(longest, user);
    last = process.threadCpuUsage();
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  await work();
  clearImmediate(next);
  longest = Math.max(longest, process.threadCpuUsage(last).user);
  return { longest, whole: process.threadCpuUsage(begun).user };
}

describe("searches restricted by rules", () => {
  beforeEach(() => {
    put("secrets/key.txt", "TOKEN=1\n");
    put("secrets/other.txt", "TOKEN=2\n");
    put("src/a.txt", "TOKEN from the environment\n");
  });
  const left = "src/a.txt:1: TOKEN from the environment";
  const all = `secrets/key.txt:1: TOKEN=1\nsecrets/other.txt:1: TOKEN=2\n${left}`;

  it("exclude files that a rule denies or asks about, and count them", async () => {
    for (const decision of ["deny", "ask"] as const) {
      rules = [{ tool: "*", pattern: "secrets*", decision }];
      expect(await said(grep, { pattern: "TOKEN" })).toBe(`${left}\n[2 files excluded by rules]`);
      expect(await said(glob, { pattern: "**/*.txt" })).toBe("src/a.txt\n[2 files excluded by rules]");
    }
    rules = [{ tool: "*", exact: "secrets/key.txt", decision: "deny" }];
    expect(await said(grep, { pattern: "TOKEN", glob: "key.*" })).toBe(
      "No match.\n[1 file excluded by rules]",
    );
    expect(await said(grep, { pattern: "TOKEN", path: "secrets" })).toBe(
      "secrets/other.txt:1: TOKEN=2\n[1 file excluded by rules]",
    );
    expect(await said(glob, { pattern: "src/*" })).toBe("src/a.txt");
  });

  it("show no lines of files that must not be read, but may list them", async () => {
    rules = [{ tool: "read", pattern: "secrets/*", decision: "deny" }];
    expect(await said(grep, { pattern: "TOKEN" })).toBe(`${left}\n[2 files excluded by rules]`);
    expect(await said(grep, { pattern: "TOKEN", path: "secrets/key.txt" })).toBe(
      "No match.\n[1 file excluded by rules]",
    );
    expect(await said(glob, { pattern: "secrets/*" })).toBe("secrets/key.txt\nsecrets/other.txt");
  });

  it("allow exceptions by later rules, but not from a deny", async () => {
    rules = [
      { tool: "*", pattern: "secrets*", decision: "ask" },
      { tool: "*", exact: "secrets/key.txt", decision: "allow" },
    ];
    expect(await said(grep, { pattern: "TOKEN" })).toBe(
      `secrets/key.txt:1: TOKEN=1\n${left}\n[1 file excluded by rules]`,
    );
    rules = [
      { tool: "*", pattern: "secrets*", decision: "deny" },
      { tool: "*", decision: "allow" },
    ];
    expect(await said(grep, { pattern: "TOKEN" })).toBe(`${left}\n[2 files excluded by rules]`);
  });

  it("include everything covered by the rule for which the search was approved", async () => {
    for (const tool of ["grep", "*"]) {
      rules = [{ tool, decision: "ask" }];
      expect(await said(grep, { pattern: "TOKEN" })).toBe(all);
    }
    rules = [{ tool: "*", pattern: "secrets*", decision: "ask" }];
    expect(await said(glob, { pattern: "*", path: "secrets" })).toBe("secrets/key.txt\nsecrets/other.txt");
  });
});

describe("files outside the session's folder", () => {
  it("are rejected under any name, with the folder in the message", async () => {
    symlinkSync(outside, join(host.cwd, "link"));
    symlinkSync(join(outside, "secret.txt"), join(host.cwd, "secret"));
    symlinkSync("../outside", join(host.cwd, "relative"));
    symlinkSync(join(outside, "not-yet"), join(host.cwd, "dangling"));
    symlinkSync("/proc/self", join(host.cwd, "proc"));
    symlinkSync("round", join(host.cwd, "round"));
    mkdirSync(join(host.cwd, "sub"));
    symlinkSync("../link", join(host.cwd, "sub/twice"));
    const before = readdirSync(outside);
    const paths = [
      "../outside/secret.txt",
      "sub/../../outside/secret.txt",
      "./..//outside/./secret.txt",
      join(outside, "secret.txt"),
      "/etc/passwd",
      "/proc/self/environ",
      "/dev/zero",
      "~/.bashrc",
      "~",
      "link/secret.txt",
      "link/new.txt",
      "secret",
      "relative/secret.txt",
      "sub/twice/secret.txt",
      "proc/environ",
      "proc/root/etc/passwd",
      "dangling",
      "round",
      `${host.cwd}-other/a`,
      "a\0b",
      "a\ud800",
      "",
    ];
    for (const path of paths) {
      for (const tool of [read, write, edit, grep, glob]) {
        const answer = await said(tool, inputFor(tool, path));
        expect(answer, `${tool.definition.name} ${path}`).toMatch(/^refused: /);
        expect(answer).not.toContain("SECRET");
      }
    }
    expect(await said(read, { path: "../outside/secret.txt" })).toContain(`the session's folder ${host.cwd}`);
    expect(readdirSync(outside)).toEqual(before);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
  });

  it("include devices, pipes and sockets, which are not waited for", async () => {
    execFileSync("mkfifo", [join(host.cwd, "pipe")]);
    expect(await said(read, { path: "pipe" })).toBe("pipe is a named pipe, not a file.");
    expect(await said(write, { path: "pipe", content: "x" })).toBe("pipe is a named pipe, not a file.");
    expect(await said(edit, { path: "pipe", old_text: "a", new_text: "b" })).toBe(
      "pipe is a named pipe, not a file.",
    );
    expect(await said(grep, { pattern: "x" })).toBe("No match.");
  });

  it("can be linked to if the links stay inside, or named by the folder's own path", async () => {
    put("real/a.txt", "inside\n");
    symlinkSync("real", join(host.cwd, "alias"));
    const other = join(dirname(host.cwd), "other-name");
    symlinkSync(host.cwd, other);
    expect(locate(host, "alias/a.txt").relative).toBe("real/a.txt");
    expect(await said(read, { path: "alias/a.txt" })).toContain("inside");
    expect(await said(read, { path: join(host.cwd, "real/a.txt") })).toContain("inside");
    const named = { ...host, cwd: other };
    expect((await call(read, named, { path: join(other, "alias/a.txt") })).output_text).toContain("inside");
    expect(read.prepare({ path: "alias/a.txt" }, host).target).toBe("real/a.txt");
  });

  it("stay inaccessible if a link is created between approval and run", async () => {
    put("sub/a.txt", "inside\n");
    const signal = new AbortController().signal;
    const context = { host, message_id: "m", call_id: "c", signal, progress: () => {} };
    const prepared = [
      read.prepare({ path: "sub/secret.txt" }, host),
      write.prepare({ path: "sub/secret.txt", content: "OUT" }, host),
      write.prepare({ path: "sub/new/secret.txt", content: "OUT" }, host),
      grep.prepare({ path: "sub", pattern: "SECRET" }, host),
    ];
    rmSync(join(host.cwd, "sub"), { recursive: true });
    symlinkSync(outside, join(host.cwd, "sub"));
    for (const call of prepared) {
      const output = await call.run(context);
      expect(output).toMatchObject({ status: "error", output_text: expect.stringContaining("link") });
    }
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
  });
});

describe("the data folder inside the session's folder", () => {
  const DATA = ".local/share/verbatim";
  beforeEach(() => {
    const data = join(host.cwd, DATA);
    host = { ...host, private_folder: data, files: join(data, "files/this") };
    put(`${DATA}/keys.json`, '{ "anthropic": "sk-SECRET" }\n');
    put(`${DATA}/files/this/c1.log`, "whole output\n");
    put(`${DATA}/files/other/c1.log`, "SECRET of another session\n");
    put(`${DATA}/playground/a.txt`, "played\n");
    put(".local/share/other/a.txt", "beside\n");
    symlinkSync(data, join(host.cwd, "data"));
    symlinkSync(join(data, "keys.json"), join(host.cwd, "keys"));
  });

  it("is rejected by every file tool, under any name", async () => {
    const real = host.private_folder;
    const paths = [
      `${DATA}/keys.json`,
      join(real, "keys.json"),
      `${DATA}/files/this/../other/c1.log`,
      join(real, "files/other/c1.log"),
      `${DATA}/new.txt`,
      "data/keys.json",
      "keys",
      DATA,
      "data",
    ];
    for (const path of paths) {
      for (const tool of [read, write, edit, grep, glob]) {
        expect(await said(tool, inputFor(tool, path)), `${tool.definition.name} ${path}`).toBe(
          `refused: ${path}: this is in Verbatim's data folder with keys and histories, which file tools cannot access.`,
        );
      }
    }
    expect(text(`${DATA}/keys.json`)).toContain("SECRET");
  });

  it("is excluded from searches that begin above it, but nothing next to it", async () => {
    expect(await said(grep, { pattern: "." })).toBe(".local/share/other/a.txt:1: beside");
    expect(await said(glob, { pattern: "**", path: ".local" })).toBe(".local/share/other/a.txt");
  });

  it("is rejected under another name", async () => {
    host = { ...host, private_folder: join(host.cwd, "data") };
    expect(await said(read, { path: `${DATA}/keys.json` })).toContain("refused");
    expect(await said(grep, { pattern: "SECRET" })).toBe("No match.");
  });

  it("is rejected if it is moved there between approval and run", async () => {
    put("sub/keys.json", "{}\n");
    const context = {
      host,
      message_id: "m",
      call_id: "c",
      signal: new AbortController().signal,
      progress: () => {},
    };
    const calls = [
      read.prepare({ path: "sub/keys.json" }, host),
      grep.prepare({ path: "sub", pattern: "SECRET" }, host),
    ];
    rmSync(join(host.cwd, "sub"), { recursive: true });
    renameSync(host.private_folder, join(host.cwd, "sub"));
    for (const call of calls) {
      const output = await call.run(context);
      expect(output.status).toBe("error");
      expect(output.output_text).not.toContain("SECRET");
    }
  });

  it("contains stored outputs, which the session's own calls may read", async () => {
    expect(await said(read, { path: join(host.files, "c1.log") })).toContain("whole output");
    expect(await said(read, { path: `${DATA}/files/this/c1.log` })).toContain("whole output");
  });

  it("may contain a session's whole folder: the playground", async () => {
    host = { ...host, cwd: join(host.private_folder, "playground") };
    expect(await said(read, { path: "a.txt" })).toContain("played");
    expect(await said(grep, { pattern: "." })).toBe("a.txt:1: played");
    expect(await said(read, { path: "../keys.json" })).toContain("is outside");
  });

  it("is inaccessible to the file tools of a session in it", async () => {
    host = { ...host, cwd: host.private_folder };
    expect(await said(read, { path: "keys.json" })).toContain("data folder");
    expect(await said(grep, { pattern: "SECRET" })).toContain("data folder");
  });
});

describe.skipIf(process.platform !== "linux")("files outside while links are constantly swapped", () => {
  /** A process that alternates `sub` (a folder) and `sub/file` between a real one and a link to the same name outside. */
  async function startSwapping(): Promise<void> {
    const script = `
      const fs = require("node:fs");
      const at = (name) => ${JSON.stringify(host.cwd)} + "/" + name;
      const outside = ${JSON.stringify(outside)};
      // The writer may interfere with any step.
      const quietly = (act) => { try { act(); } catch {} };
      for (let round = 0; ; round++) {
        quietly(() => fs.rmSync(at("sub"), { recursive: true, force: true }));
        quietly(() => fs.mkdirSync(at("sub")));
        quietly(() => fs.writeFileSync(at("sub/file"), "INSIDE\\n"));
        for (let swap = 0; swap < 5; swap++) {
          quietly(() => fs.renameSync(at("sub"), at("aside")));
          quietly(() => fs.symlinkSync(outside, at("sub")));
          quietly(() => fs.unlinkSync(at("sub")));
          quietly(() => fs.renameSync(at("aside"), at("sub")));
          quietly(() => fs.symlinkSync(outside + "/file", at("leaf")));
          quietly(() => fs.renameSync(at("leaf"), at("sub/file")));
          quietly(() => fs.writeFileSync(at("plain"), "INSIDE\\n"));
          quietly(() => fs.renameSync(at("plain"), at("sub/file")));
        }
        quietly(() => fs.rmSync(at("aside"), { recursive: true, force: true }));
        if (round === 0) fs.writeFileSync(at("ready"), "");
      }`;
    children.push(spawn(process.execPath, ["-e", script], { stdio: "inherit" }));
    await eventually(() => expect(existsSync(join(host.cwd, "ready"))).toBe(true));
  }

  it(`are never read or written in ${ATTEMPTS} attempts each`, { timeout: 240_000 }, async () => {
    writeFileSync(join(outside, "file"), "SECRET\n");
    put("sub/file", "INSIDE\n");
    // Prepared while no link is in place, so that only the runs decide what is opened.
    const reading = read.prepare({ path: "sub/file" }, host);
    const writing = write.prepare({ path: "sub/file", content: "WRITTEN\n" }, host);
    rmSync(join(host.cwd, "sub"), { recursive: true });
    await startSwapping();
    const context = {
      host,
      message_id: "m",
      call_id: "c",
      signal: new AbortController().signal,
      progress: () => {},
    };
    const ends = { inside: 0, refused: 0, escaped: 0 };
    for (let round = 0; round < ATTEMPTS; round++) {
      const { output_text: answer } = await reading.run(context);
      if (answer.includes("SECRET")) ends.escaped++;
      else if (answer.includes("INSIDE") || answer.includes("WRITTEN")) ends.inside++;
      else ends.refused++;
      await writing.run(context);
      if (round % 100 === 0) {
        const found = await said(grep, { path: "sub", pattern: "SECRET" });
        if (found.includes("file:1")) ends.escaped++;
      }
    }
    expect(readdirSync(outside).toSorted()).toEqual(["file", "secret.txt"]);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("SECRET\n");
    expect(ends.escaped).toBe(0);
    // The race took place: the same path was both accepted and refused.
    expect(ends.inside).toBeGreaterThan(0);
    expect(ends.refused).toBeGreaterThan(0);
  });
});
