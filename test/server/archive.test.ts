import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { eventually } from "../eventually.ts";
import { times } from "../long.ts";
import { answer, append, frameFormat, prompt, sessionId, write } from "./frame-source.ts";
import { mountable, mountSmall } from "./small-disk.ts";
import { archivedFiles, storedIn } from "./stored-in.ts";

const KILLS = times(3, 20);

let folder: string;
let data: string;
const running = new Set<Sessions>();

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "archive-")));
  data = join(folder, "data");
});
afterEach(async () => {
  for (const sessions of running) await sessions.close();
  running.clear();
  rmSync(folder, { recursive: true });
});

const path = (name: string) => join(folder, "agent", "sessions", `${name}.jsonl`);

function start(now = Date.now): Sessions {
  const sessions = createSessions({
    now,
    formats: [frameFormat],
    roots: [{ format: frameFormat, path: join(folder, "agent") }],
    ...storedIn(data),
    hints: false,
    timing: { hot: 20, list: 20, last_line: 30, publish: 5, persist: 10, retry: 50, tick: 20 },
  });
  running.add(sessions);
  return sessions;
}

async function stop(sessions: Sessions): Promise<void> {
  running.delete(sessions);
  await sessions.close();
}

/** Runs a daemon until the archive contains every existing session file, byte for byte. */
async function archiveAll(): Promise<void> {
  const names = readdirSync(join(folder, "agent", "sessions")).map((name) => basename(name, ".jsonl"));
  await eventually(async () => {
    const sessions = start();
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    await stop(sessions);
    const archive = await archived();
    for (const name of names)
      expect(archive.get(path(name)) === readFileSync(path(name), "utf8"), name).toBe(true);
  });
}

/** The archived text of every file. For a path with two files, that of the existing one. */
async function archived(): Promise<Map<string, string>> {
  const files = await archivedFiles(data);
  return new Map(files.filter(({ gone }) => !gone).map(({ path, bytes }) => [path, bytes.toString()]));
}

/** The archived texts of all files that were at a path, oldest first. */
async function archivedAt(wanted: string): Promise<string[]> {
  const files = await archivedFiles(data, { read_only: true });
  return files.filter(({ path }) => path === wanted).map(({ bytes }) => bytes.toString());
}

const texts = ({ parts }: Transcript): string[] =>
  [...parts].flatMap((part) => {
    if (part?.type === "text") return [part.text];
    if (part?.type === "prompt") return part.parts.map((item) => (item.type === "text" ? item.text : ""));
    return [];
  });

async function textsOf(sessions: Sessions, name: string): Promise<string[]> {
  const session = await sessions.open(sessionId(name));
  return session ? texts(session.transcript) : [];
}

/** Text that does not compress. */
function noise(length: number, seed: number): string {
  let state = seed + 1;
  const letters: string[] = [];
  for (let n = 0; n < length; n++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    letters.push(String.fromCharCode(0x21 + 0x10 + ((state >>> 16) % 64)));
  }
  return letters.join("").replaceAll("\\", "/");
}

describe("a session stays complete", () => {
  it("when its file is deleted while no daemon runs", async () => {
    const long = noise(600_000, 1);
    write(path("one"), prompt("one", "First"), answer("one", long));
    await archiveAll();
    rmSync(path("one"));
    const sessions = start();
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
    expect(await textsOf(sessions, "one")).toEqual(["First", long]);
  });

  it("when another session's file replaces its file while no daemon runs", async () => {
    const long = noise(600_000, 2);
    write(path("one"), prompt("one", "First"), answer("one", long));
    await archiveAll();
    rmSync(path("one"));
    write(path("one"), prompt("other", "Something else"), answer("other", noise(700_000, 3)));
    const sessions = start();
    await eventually(() => expect(sessions.get(sessionId("other"))).toBeDefined());
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
    expect(await textsOf(sessions, "one")).toEqual(["First", long]);
    await stop(sessions);
    rmSync(path("one"));
    const again = start();
    await eventually(() => expect(again.get(sessionId("other"))?.archived).toBe(true));
    expect(await textsOf(again, "one")).toEqual(["First", long]);
    expect(await textsOf(again, "other")).toEqual(["Something else", noise(700_000, 3)]);
  });

  it(`when the daemon is killed ${KILLS} times while archiving`, async () => {
    const expected = new Map<string, string[]>();
    const grow = (name: string, seed: number) => {
      const said = expected.get(name) ?? [];
      if (said.length === 0) write(path(name), prompt(name, name));
      const text = noise(20_000 + ((seed * 7_919) % 400_000), seed);
      append(path(name), answer(name, text));
      expected.set(name, [...(said.length > 0 ? said : [name]), text]);
    };
    for (let kill = 0; kill < KILLS; kill++) {
      // New and grown files in a different order each time: new names sort before existing ones.
      grow(`${99 - kill}`, kill);
      grow(`${99 - (kill >> 1)}`, kill + 100);
      grow(`${99 - (kill >> 2)}`, kill + 200);
      await killedAfter(1 + ((kill * 13) % 40));
    }
    await archiveAll();
    for (const name of expected.keys()) rmSync(path(name));
    const sessions = start();
    for (const [name, said] of expected) {
      await eventually(() => expect(sessions.get(sessionId(name))?.archived).toBe(true));
      expect((await textsOf(sessions, name)).map((text) => text.length)).toEqual(
        said.map((text) => text.length),
      );
      expect((await textsOf(sessions, name)).join() === said.join()).toBe(true);
    }
    expect(sessions.status().notices).toEqual([]);
  }, 180_000);
});

describe("for a replaced file", () => {
  /** Replaces a file as editors and backups do: writes the text to a new file, and renames it. */
  function replace(name: string, text: string): string {
    const fresh = join(folder, "fresh");
    writeFileSync(fresh, text);
    renameSync(fresh, path(name));
    return text;
  }

  it("keeps one archive if the new content begins with all of the old content", async () => {
    write(path("one"), prompt("one", "First"), answer("one", noise(600_000, 1)));
    const sessions = start();
    let text = readFileSync(path("one"), "utf8");
    await eventually(async () => expect(await archivedAt(path("one"))).toEqual([text]));
    for (const more of ["Second", "Third"]) {
      text = replace("one", text + prompt("one", more));
      await eventually(async () => expect((await archivedAt(path("one"))).at(-1) === text).toBe(true));
    }
    await eventually(async () => expect(await archivedAt(path("one"))).toHaveLength(1));
    await stop(sessions);
    rmSync(path("one"));
    const again = start();
    await eventually(() => expect(again.get(sessionId("one"))?.archived).toBe(true));
    expect(await textsOf(again, "one")).toEqual(["First", noise(600_000, 1), "Second", "Third"]);
  });

  it("keeps the old content archived if the new content is different", async () => {
    const long = noise(600_000, 1);
    write(path("one"), prompt("one", "First"), answer("one", `${long}.`));
    const before = readFileSync(path("one"), "utf8");
    start();
    await eventually(async () => expect(await archivedAt(path("one"))).toEqual([before]));
    const text = replace("one", before.replace(`${long}.`, `${long}!`));
    await eventually(async () => expect(await archivedAt(path("one"))).toEqual([before, text]));
    // Once the later copy was removed, the earlier one has been checked.
    write(path("other"), prompt("other", "First"));
    await eventually(async () => expect(await archivedAt(path("other"))).toHaveLength(1));
    const longer = replace("other", prompt("other", "First") + prompt("other", "Second"));
    await eventually(async () => expect(await archivedAt(path("other"))).toEqual([longer]));
    expect(await archivedAt(path("one"))).toEqual([before, text]);
  });

  it("removes a duplicate that an earlier daemon left", async () => {
    write(path("one"), prompt("one", "First"), answer("one", noise(600_000, 1)));
    const text = readFileSync(path("one"), "utf8");
    const sessions = start();
    await eventually(async () => expect(await archivedAt(path("one"))).toEqual([text]));
    // Outside the folder it keeps its inode, so that no other file gets it.
    const away = join(folder, "away");
    renameSync(path("one"), away);
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
    copyFileSync(away, path("one"));
    await eventually(async () => expect(await archivedAt(path("one"))).toEqual([text, text]));
    await stop(sessions);
    start();
    await eventually(async () => expect(await archivedAt(path("one"))).toEqual([text]));
  });
});

/** Runs a daemon in a child process, and kills it after it has printed this many dots. */
async function killedAfter(dots: number): Promise<void> {
  const script = join(import.meta.dirname, "archiving-daemon.ts");
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", script, join(folder, "agent"), data],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let printed = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.length;
    if (printed >= dots) child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.once("exit", resolve));
}

it("resumes archiving after a failure, even if the clock was set back", async () => {
  let put_back = 0;
  write(path("one"), prompt("one", "First"));
  const sessions = start(() => Date.now() - put_back);
  await eventually(() => expect(sessions.status().index.done).toBe(true));
  const other = new DatabaseSync(join(data, "verbatim.db"));
  other.exec("BEGIN IMMEDIATE");
  append(path("one"), answer("one", "Then"));
  const notices = () => sessions.status().notices.map(({ text }) => text);
  await eventually(() => expect(notices()).toEqual([expect.stringContaining("cannot be written")]));
  put_back = 2 * 3_600_000;
  other.close();
  await eventually(() => expect(notices()).toEqual([]));
  await stop(sessions);
  expect((await archived()).get(path("one"))).toBe(readFileSync(path("one"), "utf8"));
});

describe.skipIf(!mountable)("a full disk (skipped where no small file system can be mounted)", () => {
  it("is reported, keeps everything visible, and is recovered from when there is space", async () => {
    expect(mountSmall(data, 2 * 1024 * 1024)).toBe(true);
    try {
      const long = noise(1_500_000, 5);
      writeFileSync(join(data, "ballast"), noise(1_200_000, 6));
      write(path("one"), prompt("one", "First"), answer("one", long));
      const sessions = start();
      const notices = () =>
        sessions
          .status()
          .notices.map(({ text }) => text)
          .join();
      await eventually(() => expect(notices()).toContain("cannot be written"));
      expect(await textsOf(sessions, "one")).toEqual(["First", long]);
      append(path("one"), answer("one", "Then"));
      await eventually(async () => expect(await textsOf(sessions, "one")).toEqual(["First", long, "Then"]));
      rmSync(join(data, "ballast"));
      spawnSync("mount", ["-o", "remount,size=64m", data]);
      await eventually(() => expect(notices()).toBe(""));
      rmSync(path("one"));
      await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
      await stop(sessions);
      expect(await textsOf(start(), "one")).toEqual(["First", long, "Then"]);
    } finally {
      for (const sessions of running) await stop(sessions);
      spawnSync("umount", [data]);
    }
  });
});
