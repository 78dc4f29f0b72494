import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FoundFile } from "../../src/server/import/watch/found-file.ts";
import { type SessionWatch, type WatchOptions, watchSessions } from "../../src/server/import/watch/watch.ts";
import { eventually } from "../eventually.ts";
import { times } from "../long.ts";
import { append, frameFormat, prompt, write } from "./frame-source.ts";

/** Above 16,384 the system's queue of file events overflows. */
const MANY = times(3_000, 20_000);

let folder: string;
let found: FoundFile[];
let gone: string[];
let readyTimes: number;
let watches: SessionWatch[];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "watch-")));
  found = [];
  gone = [];
  readyTimes = 0;
  watches = [];
});
afterEach(async () => {
  for (const watch of watches) await watch.close();
  rmSync(folder, { recursive: true });
});

function start(options: Partial<WatchOptions> = {}): SessionWatch {
  const watch = watchSessions({
    roots: [{ format: frameFormat, path: join(folder, "agent") }],
    paths: [],
    formats: [frameFormat],
    hotInterval: 20,
    listInterval: 20,
    hints: false,
    onFound: (files) => found.push(...files),
    onGone: (paths) => gone.push(...paths),
    onReady: () => {
      readyTimes += 1;
    },
    ...options,
  });
  watches.push(watch);
  return watch;
}
async function ready(): Promise<void> {
  await eventually(() => expect(readyTimes).toBe(1));
}
const sessionsFolder = () => join(folder, "agent", "sessions");
const paths = () => found.map(({ path }) => path);

describe.each([
  ["by polling", { hints: false }],
  [
    "by file system events, with a polling interval too long to contribute",
    { hints: true, listInterval: 60_000, hotInterval: 60_000 },
  ],
])("files are found %s", (_how, options) => {
  it("in folders that are created later, at any depth", async () => {
    write(join(sessionsFolder(), "one.jsonl"), prompt("one", "Hello"));
    start(options);
    await ready();
    expect(paths()).toEqual([join(sessionsFolder(), "one.jsonl")]);
    const deep = join(sessionsFolder(), "2026", "11", "21", "two.jsonl");
    write(deep, prompt("two", "Hello"));
    await eventually(() => expect(paths()).toContain(deep));
  });

  it("when they grow, move and disappear", async () => {
    const path = join(sessionsFolder(), "day", "one.jsonl");
    write(path, prompt("one", "Hello"));
    start(options);
    await ready();
    const first = found.at(-1);
    append(path, prompt("one", "Again"));
    await eventually(() => expect(found.at(-1)?.size).toBeGreaterThan(first?.size ?? 0));
    expect(found.at(-1)?.inode).toBe(first?.inode);
    const moved = join(sessionsFolder(), "day", "moved.jsonl");
    renameSync(path, moved);
    await eventually(() => expect(gone).toEqual([path]));
    expect(found.at(-1)).toMatchObject({ path: moved, inode: first?.inode });
    rmSync(moved);
    await eventually(() => expect(gone).toEqual([path, moved]));
  });

  it("in folders that were deleted or moved, and created again", async () => {
    const day = join(sessionsFolder(), "day");
    const session = async (...names: string[]) => {
      const path = join(sessionsFolder(), ...names);
      write(path, prompt("one", "Hello"));
      await eventually(() => expect(paths()).toContain(path));
    };
    write(join(day, "deep", "one.jsonl"), prompt("one", "Hello"));
    start(options);
    await ready();
    rmSync(day, { recursive: true });
    await session("day", "deep", "two.jsonl");
    await session("day", "deep", "three.jsonl");
    renameSync(day, join(sessionsFolder(), "yesterday"));
    await session("day", "deep", "four.jsonl");
    await session("day", "deep", "five.jsonl");
    await session("day", "six.jsonl");
    await session("yesterday", "deep", "seven.jsonl");
  });

  it("when only the side file of a run appears or changes", async () => {
    const path = join(sessionsFolder(), "day", "run-1.jsonl");
    write(path, prompt("run", "Look"));
    start(options);
    await ready();
    expect(found.at(-1)).toMatchObject({ kind: "run" });
    expect(found.at(-1)?.side_stamp).toBeUndefined();
    writeFileSync(join(sessionsFolder(), "day", "run-1.meta.json"), "{}");
    await eventually(() => expect(found.at(-1)?.side_stamp).toBeDefined());
    expect(found.at(-1)?.path).toBe(path);
  });
});

describe("a watch", () => {
  it("does not report the same state twice", async () => {
    write(join(sessionsFolder(), "one.jsonl"), prompt("one", "Hello"));
    const watch = start();
    await ready();
    await watch.rescan();
    await watch.rescan();
    expect(found).toHaveLength(1);
  });

  it("follows no links and opens no pipes, but a root may be a link", async () => {
    const outside = join(folder, "outside");
    write(join(outside, "secret.jsonl"), prompt("secret", "Hello"));
    const real = join(folder, "real");
    write(join(real, "sessions", "one.jsonl"), prompt("one", "Hello"));
    symlinkSync(real, join(folder, "agent"));
    symlinkSync(outside, join(real, "sessions", "folder"));
    symlinkSync(join(outside, "secret.jsonl"), join(real, "sessions", "link.jsonl"));
    execFileSync("mkfifo", [join(real, "sessions", "pipe.jsonl")]);
    start();
    await ready();
    expect(paths()).toEqual([join(real, "sessions", "one.jsonl")]);
  });

  it("treats a file replaced by a link as gone", async () => {
    const path = join(sessionsFolder(), "one.jsonl");
    write(path, prompt("one", "Hello"));
    write(join(folder, "secret.jsonl"), prompt("secret", "Hello"));
    start();
    await ready();
    rmSync(path);
    symlinkSync(join(folder, "secret.jsonl"), path);
    await eventually(() => expect(gone).toEqual([path]));
  });

  it("treats a file replaced by a folder as gone", async () => {
    const path = join(sessionsFolder(), "one.jsonl");
    write(path, prompt("one", "Hello"));
    start();
    await ready();
    rmSync(path);
    mkdirSync(path);
    await eventually(() => expect(gone).toEqual([path]));
  });

  it("reports a root and its content again after it was missing during a scan", async () => {
    const watch = start({ hints: true, listInterval: 60_000, hotInterval: 60_000 });
    const session = (name: string) => join(sessionsFolder(), "day", name);
    write(session("one.jsonl"), prompt("one", "Hello"));
    await ready();
    await watch.rescan();
    renameSync(join(folder, "agent"), join(folder, "elsewhere"));
    await watch.rescan();
    write(session("two.jsonl"), prompt("two", "Hello"));
    await watch.rescan();
    write(session("three.jsonl"), prompt("three", "Hello"));
    await eventually(() => expect(paths()).toContain(session("three.jsonl")));
  });

  it("finds a root that is created later", async () => {
    start();
    await ready();
    write(join(sessionsFolder(), "one.jsonl"), prompt("one", "Hello"));
    await eventually(() => expect(found).toHaveLength(1));
  });

  it("recognizes sessions in a named folder by content, and a named file with any name", async () => {
    const named = join(folder, "named");
    write(join(named, "deep", "one.jsonl"), prompt("one", "Hello"));
    write(join(named, "other.jsonl"), '{"no":"session"}\n');
    write(join(named, "notes.txt"), prompt("notes", "Hello"));
    write(join(named, "node_modules", "x.jsonl"), prompt("x", "Hello"));
    write(join(folder, "single.log"), prompt("single", "Hello"));
    const watch = start({ roots: [], paths: [named, join(folder, "single.log"), join(folder, "missing")] });
    await ready();
    expect(paths().sort()).toEqual([join(named, "deep", "one.jsonl"), join(folder, "single.log")].sort());
    expect([...watch.errors.keys()]).toEqual([join(folder, "missing")]);
    // The format of a file that was empty at first is detected once it has content.
    write(join(named, "late.jsonl"));
    await watch.rescan();
    append(join(named, "late.jsonl"), prompt("late", "Hello"));
    await eventually(() => expect(paths()).toContain(join(named, "late.jsonl")));
  });

  it("tells by their content the sessions of two agents that share a folder, also if one is switched off", async () => {
    const other = { ...frameFormat, id: "other", detect: (head: Uint8Array) => head[0] === 91 };
    const roots = [frameFormat, other].map((format) => ({ format, path: join(folder, "agent") }));
    const [own, second] = ["a.jsonl", "b.jsonl"].map((name) => join(sessionsFolder(), name));
    write(own ?? "", prompt("s", "Hi"));
    write(second ?? "", "[]\n");
    const formatsFound = () => found.map(({ path, format }) => [path, format.id]).sort();
    start({ roots, formats: [frameFormat, other] });
    await ready();
    expect(formatsFound()).toEqual([
      [own, "frames"],
      [second, "other"],
    ]);
    found = [];
    readyTimes = 0;
    start({ roots, formats: [frameFormat, other], off: new Set(["other"]) });
    await ready();
    expect(formatsFound()).toEqual([[own, "frames"]]);
  });

  it("reports a named file without a session, until it has one", async () => {
    const named = (name: string) => join(folder, name);
    write(named("notes.md"), "# Notes\n");
    write(named("late.jsonl"));
    execFileSync("mkfifo", [named("pipe")]);
    write(named("one.log"), prompt("one", "Hello"));
    const given = ["notes.md", "late.jsonl", "pipe", "one.log"].map(named);
    const watch = start({ roots: [], paths: given });
    await ready();
    expect([...watch.errors].map(([path, { text }]) => [path, text])).toEqual([
      [named("notes.md"), `${named("notes.md")}: it contains no session that Verbatim can read.`],
      [named("late.jsonl"), `${named("late.jsonl")}: it contains no session that Verbatim can read.`],
      [named("pipe"), `${named("pipe")}: it is not a regular file.`],
    ]);
    append(named("late.jsonl"), prompt("late", "Hello"));
    await watch.rescan();
    expect([...watch.errors.keys()]).toEqual([named("notes.md"), named("pipe")]);
  });

  it("keeps the format of a followed file, also if it is empty or gone", async () => {
    const run = join(folder, "earlier", "run-1.jsonl");
    const side = join(folder, "earlier", "run-1.meta.json");
    const empty = join(folder, "earlier", "empty.jsonl");
    write(run, "Not yet\n");
    write(side, "{}");
    write(empty);
    const watch = start();
    await ready();
    watch.follow({ path: run, format: frameFormat, kind: "run", side });
    watch.follow({ path: empty, format: frameFormat, kind: "session" });
    watch.follow({ path: join(folder, "none.jsonl"), format: frameFormat, kind: "session" });
    await watch.rescan();
    expect(found).toMatchObject([
      { path: run, format: frameFormat, kind: "run", side, side_stamp: expect.any(String) },
      { path: empty, format: frameFormat, kind: "session", size: 0 },
    ]);
    expect([...watch.errors]).toEqual([]);
  });

  it("checks hot files more often than others", async () => {
    const path = join(sessionsFolder(), "one.jsonl");
    write(path, prompt("one", "Hello"));
    const watch = start({ listInterval: 60_000 });
    await ready();
    watch.setHot(path, true);
    append(path, prompt("one", "Again"));
    await eventually(() => expect(found).toHaveLength(2));
  });

  it("finds all of many files that are created at once", async () => {
    const day = join(sessionsFolder(), "day");
    mkdirSync(day, { recursive: true });
    start({ hints: true });
    await ready();
    const first = join(day, "0.jsonl");
    write(first, prompt("0", "Hello"));
    for (let n = 1; n < MANY; n++) linkSync(first, join(day, `${n}.jsonl`));
    await eventually(() => expect(new Set(paths()).size).toBe(MANY), times(30_000, 120_000));
  });
});

it("can be closed during its first scan without keeping the process alive", async () => {
  write(join(folder, "agent", "sessions", "one.jsonl"), prompt("one", "First"));
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const closing = Promise.withResolvers<void>();
  const watch = start({
    listInterval: 3_600_000,
    hotInterval: 3_600_000,
    onFound: () => closing.resolve(watch.close()),
  });
  await closing.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(timers()).toBeLessThanOrEqual(before);
});
