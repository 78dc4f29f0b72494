import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { HUGE_FILE_BYTES } from "../../src/server/import/large-files/segments.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { LONG, times } from "../long.ts";
import { answer, frameFormat, prompt, sessionId, write } from "./frame-source.ts";
import { wordsOf } from "./page-client.ts";
import { storedIn } from "./stored-in.ts";

let folder: string;
const running = new Set<Sessions>();
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "session-files-")));
});
afterEach(async () => {
  for (const sessions of running) await sessions.close();
  running.clear();
  rmSync(folder, { recursive: true });
});

const timing = { hot: 5, list: 10, settle: 60_000, publish: 5, persist: 10, retry: 20, tick: 20 };
const agent = () => join(folder, "agent");
const path = (name: string) => join(agent(), "sessions", `${name}.jsonl`);

function start(dataFolder?: string): Sessions {
  const sessions = createSessions({
    formats: [frameFormat],
    roots: [{ format: frameFormat, path: agent() }],
    ...(dataFolder !== undefined && storedIn(dataFolder)),
    hints: false,
    timing,
  });
  running.add(sessions);
  return sessions;
}
async function stop(sessions: Sessions): Promise<void> {
  running.delete(sessions);
  await sessions.close();
}

/**
 * The sessions of every file, part by part, as a page shows them. Replaces session ids: if two files contain the same
 * session, the one found first gets its id.
 */
async function viewOf(sessions: Sessions): Promise<Record<string, string[][]>> {
  const view: Record<string, string[][]> = {};
  for (const row of sessions.list()) {
    if (row.archived) continue;
    const open = await sessions.open(row.id);
    if (!open) throw new Error(`${row.id} is listed and cannot be opened`);
    expect(sessions.get(row.id)?.parts).toBe(open.transcript.parts.length);
    // An unreadable line is shown unchanged, including the session id in it.
    const ids = [row.id, sessionId("one"), sessionId("two")];
    const words = [...open.transcript.parts].map((part) =>
      part ? ids.reduce((all, id) => all.replaceAll(id, "itself"), wordsOf(part)) : "nothing",
    );
    view[row.file ?? ""] = [...(view[row.file ?? ""] ?? []), words].sort();
  }
  return view;
}

/** An event of a session file while it is read. */
const step = fc.record({
  file: fc.constantFrom("one", "two"),
  what: fc.constantFrom(
    ...([
      "append",
      "append",
      "append",
      "torn",
      "joined",
      "nul",
      "malformed",
      "truncate",
      "empty",
      "replace",
    ] as const),
    ...(["rotate", "reuse", "link", "pipe", "folder", "remove", "copy"] as const),
  ),
  n: fc.nat(1_000),
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  /** Whether the test waits, so that the daemon can read the file. */
  seen: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const isFile = (at: string) => {
  try {
    return existsSync(at) && readFileSync(at).length >= 0;
  } catch {
    return false;
  }
};

function apply({ file, what, n, place }: Step): void {
  const at = path(file);
  const text = answer(file, `Answer ${n}. ${"More of it. ".repeat(n % 60)}`);
  const fresh = () => `${prompt(file, `Prompt ${n}`)}${text}`;
  const clear = () => rmSync(at, { recursive: true, force: true });
  // Nothing is written to a link, a pipe or a folder. The agent recreates its file instead.
  const special = ["link", "pipe", "folder"].includes(kinds.get(at) ?? "");
  if (special) clear();
  kinds.set(at, what);
  switch (what) {
    case "append":
      appendFileSync(at, isFile(at) ? text : fresh());
      break;
    case "torn":
      appendFileSync(at, text.slice(0, Math.floor(place * text.length)));
      break;
    case "joined":
      appendFileSync(at, text.replaceAll("\n", place < 0.5 ? "" : " "));
      break;
    case "nul":
      appendFileSync(at, Buffer.alloc(1 + (n % 300)));
      break;
    case "malformed":
      appendFileSync(at, `{"frame":\n}}\n\u2028\n"\\ud800"\n[]\nnull\n${"[".repeat(n)}\n`);
      break;
    case "truncate":
      if (isFile(at)) truncateSync(at, Math.floor(readFileSync(at).length * place));
      break;
    case "empty":
      writeFileSync(at, "");
      break;
    case "replace":
      writeFileSync(join(folder, "draft"), fresh());
      renameSync(join(folder, "draft"), at);
      break;
    case "rotate":
      rmSync(`${at}.1`, { force: true });
      if (isFile(at)) renameSync(at, `${at}.1`);
      writeFileSync(at, fresh());
      break;
    case "reuse":
      // On most file systems the next file in this folder gets the inode number of the deleted one.
      clear();
      writeFileSync(at, fresh().padEnd(n * 10));
      break;
    case "link":
      clear();
      writeFileSync(join(folder, "secret"), prompt("secret", "Not for you"));
      symlinkSync(join(folder, "secret"), at);
      break;
    case "pipe":
      clear();
      execFileSync("mkfifo", [at]);
      break;
    case "folder":
      clear();
      mkdirSync(at);
      break;
    case "remove":
      clear();
      break;
    case "copy":
      if (isFile(at)) copyFileSync(at, path(`${file} copy`));
      break;
    default:
      what satisfies never;
  }
}
const kinds = new Map<string, string>();

describe("misbehaving session files", { timeout: LONG ? 900_000 : 120_000 }, () => {
  it("are shown correctly whatever happens to them while they are read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        kinds.clear();
        rmSync(agent(), { recursive: true, force: true });
        rmSync(join(folder, "data"), { recursive: true, force: true });
        write(path("one"), prompt("one", "First"), answer("one", "Hello"));
        write(path("two"), prompt("two", "First"), answer("two", "Hello"));
        const live = start(join(folder, "data"));
        await eventually(() => expect(live.status().index.done).toBe(true));
        for (const { id } of live.list()) await live.open(id);
        for (const one of steps) {
          apply(one);
          if (one.seen) await new Promise((resolve) => setTimeout(resolve, 25));
        }
        // Ends the last line, since the comparison must not depend on how much of it was read.
        for (const name of readdirSync(join(agent(), "sessions"))) {
          const at = join(agent(), "sessions", name);
          if (lstatSync(at).isFile()) appendFileSync(at, "\n");
        }
        const fresh = start();
        await eventually(() => expect(fresh.status().index.done).toBe(true));
        await eventually(async () => expect(await viewOf(live)).toEqual(await viewOf(fresh)));
        expect(JSON.stringify(await viewOf(live))).not.toContain("Not for you");
        await stop(live);
        await stop(fresh);
      }),
      // `npm test` repeats a few fixed cases. The long run uses a new seed, and prints it on a failure.
      { numRuns: times(4, 300), endOnFailure: true, ...(LONG ? {} : { seed: 1 }) },
    );
  });

  it("with 10,000 malformed lines show the good ones, and each malformed one in its place", async () => {
    const claude = formats.find(({ id }) => id === "claude-code");
    if (!claude) throw new Error("There is no format claude-code");
    const { session_id, lines } = generateClaudeSession({ parts: 400, turns: 4 });
    const malformed = (n: number) =>
      [
        "{",
        `{"type":"user","n":${n}`,
        "}{",
        "\u0000".repeat(1 + (n % 50)),
        `"${"x".repeat(n % 200)}`,
        "[1,2",
        "nul",
        `{"a":${"[".repeat(600)}`,
        "\ufeff{]",
        "\u2028\u2029 {",
      ][n % 10] ?? "";
    const project = join(folder, "claude/projects/-home");
    mkdirSync(project, { recursive: true });
    const plain = join(project, `${session_id}.jsonl`);
    const read = async () => {
      const sessions = createSessions({
        formats: [claude],
        roots: [{ format: claude, path: join(folder, "claude") }],
        indexer: createIndexer(),
        timing,
      });
      running.add(sessions);
      await eventually(() => expect(sessions.status().index.done).toBe(true));
      const open = await sessions.open(session_id);
      if (!open) throw new Error("The session cannot be opened");
      const parts = [...open.transcript.parts].flatMap((part) => part ?? []);
      const row = sessions.get(session_id);
      return { parts, row, sessions };
    };
    writeFileSync(plain, lines.map((line) => `${line}\n`).join(""));
    const good = await read();
    await stop(good.sessions);
    const mixed: string[] = [];
    const places: number[] = [];
    for (let n = 0; n < 10_000; n += 1) {
      if (n % 25 === 0)
        mixed.push(
          ...lines.slice(
            (n / 25) * Math.ceil(lines.length / 400),
            (n / 25 + 1) * Math.ceil(lines.length / 400),
          ),
        );
      places.push(mixed.length + 1);
      mixed.push(malformed(n));
    }
    writeFileSync(plain, mixed.map((line) => `${line}\n`).join(""));
    const { parts, row, sessions } = await read();
    const unknown = parts.filter((part) => part.type === "unknown");
    expect(unknown.map((part) => linePlace(part.source)?.line)).toEqual(places);
    const said = (list: typeof parts) =>
      list.filter(({ type }) => type !== "unknown").map(({ id, type }) => `${type} ${id}`);
    expect(said(parts)).toEqual(said(good.parts));
    expect(row?.parts).toBe(parts.length);
    expect({ turns: row?.turns, calls: row?.tool_calls }).toEqual({
      turns: good.row?.turns,
      calls: good.row?.tool_calls,
    });
    // The raw record of each can be read.
    for (const n of [0, 4_321, 9_999]) {
      const raw = await sessions.raw(session_id, unknown[n]?.id ?? "");
      expect(raw).toMatchObject({ line: places[n], text: malformed(n) });
    }
  });

  it("that cannot be read, or their folder, are reported once with path, cause and remedy", async () => {
    write(path("locked"), prompt("locked", "Hello"));
    const locked = join(agent(), "sessions", "locked-folder");
    mkdirSync(locked);
    for (const open of [folder, agent(), join(agent(), "sessions")]) chmodSync(open, 0o755);
    for (const closed of [path("locked"), locked]) chmodSync(closed, 0);
    // Root may read everything.
    const is_root = process.geteuid?.() === 0;
    if (is_root) process.seteuid?.(65_534);
    try {
      const sessions = start();
      const remedy = "Give the user who runs Verbatim permission to read it. Verbatim retries automatically.";
      await eventually(() =>
        expect(sessions.status().notices).toEqual(
          [locked, path("locked")].map((place) => ({
            level: "warning",
            text: `${place}: no permission to read it.`,
            text_code: { code: "path_no_permission", params: { path: place } },
            remedy,
            remedy_code: { code: "give_permission" },
            unread: true,
          })),
        ),
      );
    } finally {
      if (is_root) process.seteuid?.(0);
      chmodSync(locked, 0o700);
    }
  });

  it("that come back empty and are written again are shown to viewers", async () => {
    write(path("one"), prompt("one", "First"), answer("one", "Hello"));
    const sessions = start(join(folder, "data"));
    await eventually(() => expect(sessions.list()).toHaveLength(1));
    const [row] = sessions.list();
    await sessions.open(row?.id ?? "");
    rmSync(path("one"));
    await eventually(() => expect(sessions.list()).toMatchObject([{ archived: true }]));
    writeFileSync(path("one"), "");
    await eventually(() =>
      expect(sessions.status().index).toMatchObject({ files_found: 1, files_done: 1, done: true }),
    );
    appendFileSync(path("one"), prompt("one", "Second") + answer("one", "Hello again"));
    await eventually(async () =>
      expect((await viewOf(sessions))[path("one")]?.[0]?.[0]).toContain('"Second"'),
    );
  });

  it("that come back as old copies elsewhere are shown to viewers", async () => {
    const claude = formats.find(({ id }) => id === "claude-code");
    if (!claude) throw new Error("There is no format claude-code");
    const { session_id, lines } = generateClaudeSession({ parts: 60, turns: 3 });
    const at = (project: string) => join(folder, "claude/projects", project, `${session_id}.jsonl`);
    write(
      at("-one"),
      lines
        .slice(0, 20)
        .map((line) => `${line}\n`)
        .join(""),
    );
    const sessions = createSessions({
      formats: [claude],
      roots: [{ format: claude, path: join(folder, "claude") }],
      indexer: createIndexer(),
      ...storedIn(join(folder, "data")),
      hints: false,
      timing: { ...timing, idle: 1_000 },
    });
    running.add(sessions);
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    const open = await sessions.open(session_id);
    const before = open?.transcript.parts.length ?? 0;
    const resets: string[] = [];
    open?.subscribe(({ type }) => resets.push(type));
    rmSync(at("-one"));
    await eventually(() => expect(sessions.get(session_id)?.archived).toBe(true));
    const draft = join(folder, "draft");
    writeFileSync(draft, lines.map((line) => `${line}\n`).join(""));
    utimesSync(draft, new Date(0), new Date(0));
    mkdirSync(dirname(at("-two")), { recursive: true });
    renameSync(draft, at("-two"));
    await eventually(() => expect(resets).toContain("reset"));
    expect(open?.transcript.parts.length).toBeGreaterThan(before + 10);
    expect(open?.transcript.parts.length).toBe(sessions.get(session_id)?.parts);
  });

  it.skipIf(!LONG)(
    "of any size may be replaced while they are shown in segments (skipped without `npm run test:long`)",
    async () => {
      const claude = formats.find(({ id }) => id === "claude-code");
      if (!claude) throw new Error("There is no format claude-code");
      const { session_id, lines } = generateClaudeSession({ parts: 600, turns: 6 });
      const project = join(folder, "claude/projects/-home");
      mkdirSync(project, { recursive: true });
      const at = join(project, `${session_id}.jsonl`);
      const filler = `${JSON.stringify({ type: "something new", note: "x".repeat(200_000) })}\n`;
      const end = `${lines.slice(-40).join("\n")}\n`;
      const huge = `${lines.join("\n")}\n${filler.repeat(Math.ceil(HUGE_FILE_BYTES / filler.length))}${end.replaceAll('"uuid":"', '"uuid":"f')}`;
      writeFileSync(at, huge);
      const sessions = createSessions({
        formats: [claude],
        roots: [{ format: claude, path: join(folder, "claude") }],
        indexer: createIndexer(),
        ...storedIn(join(folder, "data")),
        timing,
      });
      running.add(sessions);
      const partsOf = async () =>
        [...((await sessions.open(session_id))?.transcript.parts ?? [])].flatMap((part) => part ?? []);
      await eventually(async () =>
        expect((await partsOf())[0]).toMatchObject({ type: "marker", kind: "note" }),
      );
      // Truncates within a record, and then far below the size at which segments are used.
      truncateSync(at, huge.length - 1_000);
      await eventually(async () => expect((await partsOf()).length).toBeGreaterThan(10));
      truncateSync(at, Buffer.byteLength(`${lines.join("\n")}\n`));
      const counted = createSessions({ formats: [claude], roots: [], paths: [at], timing });
      running.add(counted);
      await eventually(() => expect(counted.status().index.done).toBe(true));
      const whole = [...((await counted.open(session_id))?.transcript.parts ?? [])].length;
      await eventually(async () => expect((await partsOf()).length).toBe(whole), 60_000);
      expect((await partsOf())[0]?.type).not.toBe("marker");
      // A link, a pipe, and the same huge file again.
      rmSync(at);
      writeFileSync(join(folder, "secret"), huge.replaceAll("x", "y"));
      symlinkSync(join(folder, "secret"), at);
      await eventually(() => expect(sessions.get(session_id)?.archived).toBe(true));
      rmSync(at);
      execFileSync("mkfifo", [at]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      rmSync(at);
      // Creates the file by a rename, since a file that grows while it is open is shown without segments.
      writeFileSync(join(folder, "draft"), huge);
      renameSync(join(folder, "draft"), at);
      await eventually(() => expect(sessions.get(session_id)?.archived ?? false).toBe(false));
      await eventually(
        async () => expect((await partsOf())[0]).toMatchObject({ type: "marker", kind: "note" }),
        60_000,
      );
      await eventually(() => expect(sessions.status().index.done).toBe(true), 60_000);
      expect(sessions.status().notices).toEqual([]);
      expect(existsSync(dirname(at))).toBe(true);
    },
  );
});
