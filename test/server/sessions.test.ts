import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
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
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { OUTPUT_PIECE } from "../../src/model/parts/kept-output.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { sessionState, turnState } from "../../src/model/session-state.ts";
import { accumulate, restoreTranscript } from "../../src/model/transcript/accumulate.ts";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { tableOfTurns } from "../../src/model/transcript/turn-table.ts";
import { uuidFrom } from "../../src/model/uuid.ts";
import type { ChannelFrame } from "../../src/protocol.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { SessionsOptions } from "../../src/server/import/sessions-options.ts";
import type { OpenSession, SessionEvent, Sessions } from "../../src/server/sessions/sessions.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import type { Format } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { pi } from "../../src/sources/pi/format.ts";
import { eventually } from "../eventually.ts";
import { sharedData } from "../shared-data.ts";
import {
  call as agentCall,
  result as agentResult,
  SESSION as CLAUDE_SESSION,
  writer,
} from "../sources/claude-support.ts";
import {
  AT,
  answer,
  append,
  call,
  facts,
  frame,
  frameFormat,
  prompt,
  result,
  sessionId,
  turnEnd,
  write,
} from "./frame-source.ts";
import { storedIn } from "./stored-in.ts";

/** Makes opening files fail, as at the limit of open files. */
const descriptors = vi.hoisted(() => ({ are_exhausted: false }));
vi.mock("node:fs/promises", async (importOriginal) => {
  const original = await importOriginal<typeof import("node:fs/promises")>();
  const open: typeof original.open = async (...given) => {
    if (descriptors.are_exhausted) throw new Error("EMFILE: too many open files");
    return await original.open(...given);
  };
  return { ...original, open };
});

let folder: string;
let running: Sessions[];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sessions-")));
  running = [];
});
afterEach(async () => {
  descriptors.are_exhausted = false;
  for (const sessions of running) await sessions.close();
  rmSync(folder, { recursive: true });
});

const path = (...names: string[]) => join(folder, "agent", "sessions", ...names);
const dataFolder = () => join(folder, "data");
const quick = { hot: 20, list: 20, settle: 30, publish: 5, persist: 10, retry: 50, tick: 20 };

function start({ timing, ...options }: Partial<SessionsOptions> = {}): Sessions {
  const sessions = createSessions({
    formats: [frameFormat],
    roots: [{ format: frameFormat, path: join(folder, "agent") }],
    ...storedIn(dataFolder()),
    hints: false,
    timing: { ...quick, ...timing },
    ...options,
  });
  running.push(sessions);
  return sessions;
}

async function stop(sessions: Sessions): Promise<void> {
  running.splice(running.indexOf(sessions), 1);
  await sessions.close();
}

async function listed(sessions: Sessions, ...names: string[]): Promise<SessionSummary[]> {
  return await eventually(() => {
    expect(sessions.status().index.done).toBe(true);
    return names.map((name) => {
      const row = sessions.get(sessionId(name));
      if (!row) throw new Error(`${name} is not on the list`);
      return row;
    });
  });
}

async function opened(sessions: Sessions, name: string): Promise<OpenSession> {
  await listed(sessions, name);
  const session = await sessions.open(sessionId(name));
  if (!session) throw new Error(`${name} cannot be opened`);
  return session;
}

const texts = ({ parts }: Transcript): string[] =>
  [...parts].flatMap((part) => {
    if (part?.type === "text") return [part.text];
    if (part?.type === "prompt") return part.parts.map((item) => (item.type === "text" ? item.text : ""));
    return [];
  });

describe("the list", () => {
  it("links a rewound session to its continuation, also after a restart", async () => {
    const [first = "", second = "", third = ""] = ["one", "two", "three"].sort((one, other) =>
      sessionId(one) < sessionId(other) ? -1 : 1,
    );
    const goesOn = (name: string, from: string, at_byte: number) => {
      const [session_id, whole] = [sessionId(name), sessionId(first)];
      const patch = { forked_from: { session_id: sessionId(from), at_byte, rewind: true } };
      return [
        frame({ type: "session.update", session_id, at: AT, patch }),
        prompt(name, "Again"),
        facts({ session_id, group: whole, registered_as: whole, calls: [] }),
      ].join("");
    };
    const continuations = (sessions: Sessions) =>
      [first, second, third].map((name) => sessions.get(sessionId(name))?.continued_in);
    const second_place = { session_id: sessionId(second), at_byte: 2 };
    const third_place = { session_id: sessionId(third), at_byte: 3 };
    write(path("2.jsonl"), goesOn(second, first, 2));
    const sessions = start();
    await listed(sessions, second);
    write(path("1.jsonl"), prompt(first, "Go"), turnEnd(first));
    await eventually(() => expect(continuations(sessions)).toEqual([second_place, undefined, undefined]));
    // Rewound to an earlier prompt: the last rewind counts.
    write(path("3.jsonl"), goesOn(third, first, 3));
    await eventually(() => expect(continuations(sessions)).toEqual([third_place, undefined, undefined]));
    await stop(sessions);
    const again = start();
    await listed(again, first, second, third);
    expect(continuations(again)).toEqual([third_place, undefined, undefined]);
    await stop(again);
    // Or within its continuation, of which nothing is kept.
    write(path("3.jsonl"), goesOn(third, second, 3));
    const unarchived = createSessions({
      formats: [frameFormat],
      roots: [{ format: frameFormat, path: join(folder, "agent") }],
      hints: false,
      timing: quick,
    });
    running.push(unarchived);
    await listed(unarchived, first, second, third);
    await eventually(() => expect(continuations(unarchived)).toEqual([second_place, third_place, undefined]));
    rmSync(path("3.jsonl"));
    await eventually(() => expect(continuations(unarchived)).toEqual([second_place, undefined, undefined]));
  });

  it("contains every session of the folder, newest activity first, and new ones", async () => {
    write(path("one.jsonl"), prompt("one", "First"), answer("one", "Yes"), turnEnd("one"));
    const sessions = start();
    const [one] = await listed(sessions, "one");
    expect(one).toMatchObject({
      agent: "frames",
      first_prompt: "First",
      model: "model-1",
      status: "completed",
      turns: 1,
      file: path("one.jsonl"),
      byte_size: readFileSync(path("one.jsonl")).length,
    });
    const changes: SessionSummary[] = [];
    let before = sessions.seq;
    sessions.subscribe(({ seq, changed }) => {
      expect(seq).toBe(before + 1);
      before = seq;
      changes.push(...changed);
    });
    write(path("2026", "two.jsonl"), prompt("two", "Second"));
    await eventually(() => expect(changes.map(({ id }) => id)).toContain(sessionId("two")));
    append(path("one.jsonl"), prompt("one", "Third"));
    await eventually(() => expect(changes.at(-1)).toMatchObject({ id: sessionId("one"), turns: 2 }));
    expect(
      sessions
        .list()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([sessionId("one"), sessionId("two")].sort());
  });

  it("uses titles from the agent's file of titles, and follows that file", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const titles = join(folder, "agent", "titles.json");
    write(titles, JSON.stringify({ [sessionId("one")]: "A name" }));
    const sessions = start();
    await eventually(() => expect(sessions.get(sessionId("one"))?.title).toBe("A name"));
    write(titles, JSON.stringify({ [sessionId("one")]: "Another one" }));
    await eventually(() => expect(sessions.get(sessionId("one"))?.title).toBe("Another one"));
    expect((await opened(sessions, "one")).summary.title).toBe("Another one");
    rmSync(titles);
    await eventually(() => expect(sessions.get(sessionId("one"))?.title).toBeUndefined());
  });

  it("excludes files without a conversation", async () => {
    write(path("empty.jsonl"));
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    await listed(sessions, "one");
    expect(sessions.list()).toHaveLength(1);
    append(path("empty.jsonl"), prompt("late", "Hello"));
    await listed(sessions, "late");
  });

  it("is complete with 2,000 files, and reports its progress", async () => {
    for (let n = 0; n < 2_000; n++) write(path(`${n}.jsonl`), prompt(`${n}`, `Prompt ${n}`));
    const sessions = start({ hints: true });
    await eventually(() => expect(sessions.list()).toHaveLength(2_000));
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    const { index } = sessions.status();
    expect(index).toMatchObject({ files_found: 2_000, files_done: 2_000 });
    expect(index.bytes_done).toBe(index.bytes_found);
  });

  it("retries an unreadable file even though the file itself does not change", async () => {
    let broken = true;
    const sometimes: Format = {
      ...frameFormat,
      createReader(options) {
        if (broken) throw new Error("EMFILE: too many open files");
        return frameFormat.createReader(options);
      },
    };
    for (let n = 0; n < 20; n++) write(path(`${n}.jsonl`), prompt(`${n}`, `Prompt ${n}`));
    const sessions = start({
      formats: [sometimes],
      roots: [{ format: sometimes, path: join(folder, "agent") }],
    });
    await eventually(() => expect(sessions.status().notices).toHaveLength(20));
    expect(sessions.status().notices[0]?.text).toContain("EMFILE");
    expect(sessions.status().index).toMatchObject({ files_found: 20, files_done: 0, bytes_done: 0 });
    broken = false;
    await eventually(() => expect(sessions.list()).toHaveLength(20));
    await eventually(() => expect(sessions.status().notices).toEqual([]));
    expect(sessions.status().index).toMatchObject({ files_done: 20, done: true });
  });

  it("removes the notice of an unreadable file once it is deleted", async () => {
    write(path("one.jsonl.zst"), "no such thing");
    const sessions = start();
    await eventually(() => expect(sessions.status().notices).toHaveLength(1));
    rmSync(path("one.jsonl.zst"));
    await eventually(() => expect(sessions.status().notices).toEqual([]));
  });

  it("archives a session whose file was deleted while no file could be opened", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    await opened(sessions, "one");
    descriptors.are_exhausted = true;
    rmSync(path("one.jsonl"));
    await eventually(() => expect(sessions.status().notices[0]?.text).toContain("EMFILE"));
    descriptors.are_exhausted = false;
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
    expect(sessions.status().notices).toEqual([]);
  });

  it("follows a session of a folder that only an earlier daemon was given", async () => {
    const file = join(folder, "other", "one.jsonl");
    write(file, prompt("one", "First"));
    const before = start({ paths: [join(folder, "other")] });
    await listed(before, "one");
    await stop(before);
    const sessions = start();
    const session = await opened(sessions, "one");
    append(file, answer("one", "Yes"), prompt("one", "Second"));
    await eventually(() => expect(texts(session.transcript)).toEqual(["First", "Yes", "Second"]));
    await eventually(() => expect(sessions.get(sessionId("one"))?.turns).toBe(2));
    rmSync(file);
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
    write(file, prompt("one", "Anew"));
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBeUndefined());
    expect(sessions.status().notices).toEqual([]);
  });

  it("archives what it could not while no file could be opened", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const before = start();
    await opened(before, "one");
    await stop(before);
    const store = new DatabaseSync(join(dataFolder(), "verbatim.db"));
    store.exec("DELETE FROM chunk");
    descriptors.are_exhausted = true;
    const sessions = start();
    await eventually(() => expect(sessions.status().notices[0]?.text ?? "").toContain("EMFILE"));
    descriptors.are_exhausted = false;
    await eventually(() => expect(store.prepare("SELECT * FROM chunk").all()).toHaveLength(1));
    expect(sessions.status().notices).toEqual([]);
    store.close();
  });

  it("distinguishes a copy of a session's file from the session", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    await listed(sessions, "one");
    mkdirSync(path("backup"));
    copyFileSync(path("one.jsonl"), path("backup", "one.jsonl"));
    await eventually(() => expect(sessions.list()).toHaveLength(2));
    const copy = sessions.list().find(({ id }) => id !== sessionId("one"));
    const both = await Promise.all(sessions.list().map(({ id }) => sessions.open(id)));
    expect(both.map((session) => session && texts(session.transcript))).toEqual([["First"], ["First"]]);
    expect(copy?.file).toBe(path("backup", "one.jsonl"));
  });

  it("lists a session whose id another source has under another id, permanently", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const own = uuidFrom(sessionId("one"), path("one.jsonl"));
    const isInOtherSource = (id: string) => id === sessionId("one");
    const before = start();
    await listed(before, "one");
    await stop(before);
    // It was listed before the other source had the id. Then its file is deleted.
    const after = start({ isInOtherSource });
    await eventually(() => expect(after.status().index.done).toBe(true));
    expect(after.list().map(({ id }) => id)).toEqual([own]);
    append(path("one.jsonl"), answer("one", "Yes"));
    const session = await after.open(own);
    await eventually(() => expect(session && texts(session.transcript)).toEqual(["First", "Yes"]));
    rmSync(path("one.jsonl"));
    await eventually(() => expect(after.get(own)?.archived).toBe(true));
    await stop(after);
    const last = start({ isInOtherSource });
    await eventually(() => expect(last.list().map(({ id }) => id)).toEqual([own]));
    const kept = await last.open(own);
    expect(kept && texts(kept.transcript)).toEqual(["First", "Yes"]);
  });

  it("leaves runs, title and process to the other source's session with the same id", async () => {
    const one = sessionId("one");
    const run = sessionId("run");
    const own = uuidFrom(one, path("one.jsonl"));
    const calls = [{ tool_call_id: "call-1", agent_key: "a", at: AT }];
    write(path("one.jsonl"), prompt("one", "First"), call("one", "call-1"), turnEnd("one"));
    append(path("one.jsonl"), facts({ session_id: one, group: one, calls }));
    const started = { agent_key: "a", parent_session_id: one, at: AT };
    write(path("run-1.jsonl"), prompt("run", "Look"), turnEnd("run"));
    append(path("run-1.jsonl"), facts({ session_id: run, group: one, calls: [], run: started }));
    const lost = sessionId("lost");
    const unknown = { agent_key: "b", parent_session_id: run, at: AT };
    write(path("run-2.jsonl"), prompt("lost", "Look too"), turnEnd("lost"));
    append(path("run-2.jsonl"), facts({ session_id: lost, group: one, calls: [], run: unknown }));
    write(join(folder, "agent", "titles.json"), JSON.stringify({ [one]: "A name" }));

    const taken = (...ids: string[]) => ({ isInOtherSource: (id: string) => ids.includes(id) });
    const first = start(taken(one));
    const isWhole = async (sessions: Sessions, run_id = run) =>
      await eventually(() => {
        expect(sessions.get(own)).toMatchObject({ title: "A name", runs: 1 });
        expect(sessions.get(run_id)?.parent).toEqual({ session_id: own, tool_call_id: "call-1" });
        expect(sessions.get(lost)?.parent).toEqual({ session_id: run_id });
      });
    await isWhole(first);
    write(join(folder, "agent", "running", one), JSON.stringify({ busy: true }));
    await eventually(() => expect(first.get(own)?.status).toBe("running"));
    await stop(first);
    // The next daemon reads the stored rows. For it, the run's id is taken too.
    await isWhole(start(taken(one, run)), uuidFrom(run, path("run-1.jsonl")));
  });

  it("reads compressed files, and prefers the plain one", async () => {
    const text = prompt("one", "First") + answer("one", "Yes");
    mkdirSync(path(), { recursive: true });
    writeFileSync(path("one.jsonl.zst"), zstdCompressSync(text));
    const sessions = start();
    const session = await opened(sessions, "one");
    expect(texts(session.transcript)).toEqual(["First", "Yes"]);
    const part = [...session.transcript.parts].find((one) => one?.type === "prompt");
    const raw = await sessions.raw(session.id, part?.id ?? "");
    expect(raw).toMatchObject({ archived: false, text: prompt("one", "First").trimEnd() });
    write(path("one.jsonl"), text, prompt("one", "Again"));
    await eventually(() => expect(sessions.get(sessionId("one"))?.turns).toBe(2));
    expect(sessions.list()).toHaveLength(1);
    expect(sessions.get(sessionId("one"))?.archived).toBeUndefined();
  });
});

it("limits how much of a compressed file is read, and shows where it stops", async () => {
  const answers = Array.from({ length: 30 }, (_, n) => answer("one", `Answer ${n} ${"a".repeat(2_000_000)}`));
  const bytes = zstdCompressSync(prompt("one", "First") + answers.join("") + answer("one", "The end"));
  expect(bytes.length).toBeLessThan(100_000);
  mkdirSync(path(), { recursive: true });
  writeFileSync(path("one.jsonl.zst"), bytes);
  const sessions = start();
  const session = await opened(sessions, "one");
  const parts = [...session.transcript.parts];
  expect(parts.filter((part) => part?.type === "text")).toHaveLength(26);
  expect(parts.at(-1)).toMatchObject({
    type: "marker",
    title: "The rest of this session is not shown",
    text: expect.stringMatching(/more than 50.3 MB of text.*zstd -d/),
  });
  expect(parts.filter((part) => part?.type === "unknown")).toEqual([]);
  expect(session.summary).toMatchObject({ steps: 26, parts: parts.length });
});

it("limits decompression to the longest supported line if no line ends", async () => {
  const bomb = zstdFrame(prompt("one", "First") + answer("one", "Yes"), 512 * 1024 * 1024);
  expect(bomb.length).toBeLessThan(100_000);
  mkdirSync(path(), { recursive: true });
  writeFileSync(path("one.jsonl.zst"), bomb);
  const session = await opened(start(), "one");
  const [line, marker] = [...session.transcript.parts].slice(-2);
  const [, length] = /^a line of (\d+) bytes/.exec((line?.type === "unknown" && line.error) || "") ?? [];
  expect(Number(length)).toBeLessThan(128 * 1024 * 1024);
  expect(texts(session.transcript)).toEqual(["First", "Yes"]);
  expect(marker).toMatchObject({ title: "The rest of this session is not shown" });
});

/** A frame with this text, followed by an unterminated line of `length` bytes. Four compressed bytes expand to 128 KiB. */
function zstdFrame(text: string, length: number): Buffer {
  const block = (type: number, size: number, content: string) => {
    const head = Buffer.alloc(3);
    head.writeUIntLE((size << 3) | (type << 1), 0, 3);
    return Buffer.concat([head, Buffer.from(content)]);
  };
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]);
  const last = Buffer.from([0x01, 0x00, 0x00]);
  const repeated = Array.from({ length: length / 131_072 }, () => block(1, 131_072, "a"));
  return Buffer.concat([head, block(0, Buffer.byteLength(text), text), ...repeated, last]);
}

describe("an open session", () => {
  it("grows with its file, and its frames fold into the same transcript", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    const session = await opened(sessions, "one");
    const { epoch, seq, transcript } = session;
    const received: ChannelFrame[] = [];
    session.subscribe((event) => {
      if (event.type === "frames") received.push(...event.frames);
    });
    append(path("one.jsonl"), answer("one", "Yes"));
    await eventually(() => expect(texts(session.transcript)).toEqual(["First", "Yes"]));
    append(path("one.jsonl"), call("one", "call-1"), result("one", "call-1"), turnEnd("one"));
    await eventually(() => expect(session.summary.status).toBe("completed"));
    expect(session.epoch).toBe(epoch);
    expect(received.map((frame) => frame.seq)).toEqual(
      Array.from({ length: received.length }, (_, index) => seq + 1 + index),
    );
    expect(session.framesAfter(epoch, seq)).toEqual(received);
    expect(session.framesAfter(epoch, session.seq)).toEqual([]);
    // The last frames of the first reading are kept, too, for clients of an earlier daemon.
    expect(session.framesAfter(epoch, seq - 1)?.slice(1)).toEqual(received);
    expect(session.framesAfter("another", seq)).toBeUndefined();
    let folded = transcript;
    for (const { frame } of received) folded = accumulate(folded, frame);
    expect([...folded.parts]).toEqual([...session.transcript.parts]);
  });

  it("sends frames that a client with only the end of the session can place", async () => {
    write(path("one.jsonl"), prompt("one", "First"), answer("one", "Yes"), call("one", "call-1"));
    const sessions = start();
    const session = await opened(sessions, "one");
    let client = restoreTranscript({
      session_id: session.id,
      turns: tableOfTurns(session.transcript.turns),
      part_count: session.transcript.parts.length,
      parts: [],
      open_calls: [],
      open: session.transcript.open,
    });
    session.subscribe((event) => {
      if (event.type !== "frames") return;
      for (const { frame } of event.frames) client = accumulate(client, frame);
    });
    append(path("one.jsonl"), result("one", "call-1"), answer("one", "Then"), turnEnd("one"));
    await eventually(() => expect(session.summary.status).toBe("completed"));
    expect(client.parts.length).toBe(session.transcript.parts.length);
    expect(client.parts.at(client.parts.length - 2)).toEqual(
      session.transcript.parts.at(session.transcript.parts.length - 2),
    );
  });

  it("shows a last line without a newline once the file is quiet, and only once", async () => {
    const last = answer("one", "Yes").trimEnd();
    write(path("one.jsonl"), prompt("one", "First"), last.slice(0, -30));
    const sessions = start();
    const session = await opened(sessions, "one");
    append(path("one.jsonl"), last.slice(-30));
    await eventually(() => expect([...session.transcript.parts].at(-1)?.type).toBe("step_finish"));
    const { length } = session.transcript.parts;
    append(path("one.jsonl"), "\n", prompt("one", "Again"));
    await eventually(() => expect(session.transcript.parts.length).toBe(length + 1));
  });

  it("shows the torn last line of a complete file", async () => {
    write(path("one.jsonl"), prompt("one", "First"), '{"frame":{"type":"us');
    const longAgo = new Date(Date.now() - 86_400_000);
    utimesSync(path("one.jsonl"), longAgo, longAgo);
    const session = await opened(start(), "one");
    expect([...session.transcript.parts].at(-1)).toMatchObject({
      type: "unknown",
      raw: '{"frame":{"type":"us',
    });
  });

  it.each([
    [
      "was replaced by another one",
      (file: string) => {
        write(`${file}.new`, prompt("one", "New"));
        renameSync(`${file}.new`, file);
      },
    ],
    ["was truncated", (file: string) => truncateSync(file, prompt("one", "First").length)],
    [
      "was rewritten in place, longer",
      (file: string) => write(file, prompt("one", "New"), answer("one", "x".repeat(5_000))),
    ],
    [
      "was truncated and has grown beyond its old end, with the same beginning",
      (file: string) => write(file, prompt("one", "First"), answer("one", "N".repeat(5_000))),
    ],
  ])("begins a new epoch when its file %s", async (_how, change) => {
    write(path("one.jsonl"), prompt("one", "First"), answer("one", "Yes"), turnEnd("one"));
    const sessions = start();
    const session = await opened(sessions, "one");
    const { epoch } = session;
    const events: SessionEvent["type"][] = [];
    session.subscribe(({ type }) => events.push(type));
    change(path("one.jsonl"));
    await eventually(() => expect(events).toEqual(["reset"]));
    expect(session.epoch).not.toBe(epoch);
    expect(session.framesAfter(epoch, 1)).toBeUndefined();
    expect(texts(session.transcript)).not.toContain("Yes");
    // The new epoch is followed like the old one.
    append(path("one.jsonl"), prompt("one", "Later"));
    await eventually(() => expect(texts(session.transcript)).toContain("Later"));
    expect(events.filter((type) => type === "reset")).toHaveLength(1);
  });

  it("stays the same when its file is moved", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    const session = await opened(sessions, "one");
    const { epoch } = session;
    mkdirSync(path("archived"));
    renameSync(path("one.jsonl"), path("archived", "one.jsonl"));
    await eventually(() => expect(session.summary.file).toBe(path("archived", "one.jsonl")));
    append(path("archived", "one.jsonl"), answer("one", "Yes"));
    await eventually(() => expect(texts(session.transcript)).toEqual(["First", "Yes"]));
    expect(session.epoch).toBe(epoch);
    expect(sessions.list()).toHaveLength(1);
    expect(session.summary.archived).toBeUndefined();
  });

  it("is reopened for a viewer that returns after it was evicted", async () => {
    let clock = Date.now();
    write(path("one.jsonl"), prompt("one", "First"), turnEnd("one"));
    const sessions = start({ now: () => clock });
    const session = await opened(sessions, "one");
    clock += 3_600_000;
    // The daemon checks the time when it reads the process registries, which the list shows.
    write(join(folder, "agent", "running", session.id), JSON.stringify({ busy: true }));
    await eventually(() => expect(sessions.get(session.id)?.status).toBe("running"));
    const events: SessionEvent["type"][] = [];
    session.subscribe(({ type }) => events.push(type));
    await eventually(() => expect(events).toEqual(["reset"]));
    append(path("one.jsonl"), answer("one", "Yes"));
    await eventually(() => expect(texts(session.transcript)).toEqual(["First", "Yes"]));
  });

  it("opens at the first click, however many other sessions its file contains", async () => {
    const names = Array.from({ length: 30 }, (_, at) => `many-${at}`);
    write(path("many.jsonl"), ...names.flatMap((name) => [prompt(name, "x".repeat(100_000)), turnEnd(name)]));
    const sessions = start();
    await listed(sessions, ...names);
    for (const name of names) expect((await sessions.open(sessionId(name)))?.id).toBe(sessionId(name));
  });

  it.each([
    ["is evicted for another one by the uncompressed size of both, not by the compressed size", 36],
    ["stays open for a returning viewer if both are short", 1],
  ])("%s", async (_behaviour, megabytes) => {
    let clock = Date.now();
    const names = ["one", "other"];
    for (const name of names) {
      const lines = Array.from({ length: megabytes }, (_, n) =>
        answer(name, `${n} ${"x".repeat(1_000_000)}`),
      );
      mkdirSync(path(), { recursive: true });
      writeFileSync(path(`${name}.jsonl.zst`), zstdCompressSync(lines.join("")));
    }
    const sessions = start({ now: () => clock });
    await listed(sessions, ...names);
    const { epoch } = await opened(sessions, "one");
    clock += quick.tick * 10;
    await opened(sessions, "other");
    expect((await opened(sessions, "one")).epoch === epoch).toBe(megabytes === 1);
  });

  it("continues for its viewers when another one of its file was evicted", async () => {
    let clock = Date.now();
    write(path("two.jsonl"), prompt("one", "First"), prompt("other", "Else"), turnEnd("other"));
    const register = (name: string) =>
      write(join(folder, "agent", "running", sessionId(name)), JSON.stringify({ busy: true }));
    register("one");
    const sessions = start({ now: () => clock });
    const session = await opened(sessions, "one");
    const events: SessionEvent["type"][] = [];
    session.subscribe(({ type }) => events.push(type));
    clock += 3_600_000;
    // The registry poll that sees the activity also evicts sessions.
    register("other");
    await eventually(() => expect(sessions.get(sessionId("other"))?.status).toBe("running"));
    append(path("two.jsonl"), answer("one", "Yes"));
    await eventually(() => expect(texts(session.transcript)).toEqual(["First", "Yes"]));
    expect(events).not.toContain("reset");
  });

  it("does not exist under an unknown id", async () => {
    const sessions = start();
    expect(await sessions.open(sessionId("none"))).toBeUndefined();
    expect(await sessions.raw(sessionId("none"), sessionId("part"))).toBeUndefined();
  });
});

describe("a session without its file", () => {
  async function archivedSession(sessions: Sessions): Promise<OpenSession> {
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
    return await opened(sessions, "one");
  }

  it("is read from the archive, now and after a restart", async () => {
    const image = "data:image/png;base64,iVBORw0KGgo=";
    const lines = [
      prompt("one", "First"),
      answer("one", "Yes ".repeat(100_000)),
      call("one", "call-1"),
      result("one", "call-1", [{ type: "image_url", url: image }]),
      turnEnd("one"),
    ];
    write(path("one.jsonl"), ...lines);
    const sessions = start();
    const before = await opened(sessions, "one");
    const parts = [...before.transcript.parts];
    rmSync(path("one.jsonl"));
    await archivedSession(sessions);
    await stop(sessions);
    const again = start();
    expect(again.get(sessionId("one"))).toMatchObject({ archived: true, status: "completed" });
    const session = await archivedSession(again);
    expect([...session.transcript.parts]).toEqual(parts);
    const shown = parts.find((part) => part?.type === "tool_result");
    const raw = await again.raw(session.id, shown?.id ?? "");
    expect(raw).toMatchObject({ archived: true, text: lines[3]?.trimEnd(), line: 7 });
    const attachment = await again.attachment(session.id, shown?.id ?? "", 0);
    expect(attachment?.mime_type).toBe("image/png");
    expect(Buffer.from(attachment?.bytes ?? []).toString("base64")).toBe("iVBORw0KGgo=");
    expect(await again.attachment(session.id, shown?.id ?? "", 1)).toBeUndefined();
  });

  it("has a file again when it comes back, and continues", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    const session = await opened(sessions, "one");
    const bytes = readFileSync(path("one.jsonl"));
    rmSync(path("one.jsonl"));
    await archivedSession(sessions);
    // Occupies the freed inode number, so that the session's file gets a different one.
    write(join(folder, "other file"), "");
    write(path("one.jsonl"), bytes.toString(), answer("one", "Yes"));
    await eventually(() => expect(texts(session.transcript)).toEqual(["First", "Yes"]));
    expect(sessions.get(sessionId("one"))?.archived).toBeUndefined();
    expect(sessions.list()).toHaveLength(1);
  });

  it("stays in the list when another session replaces the content of its file", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    await opened(sessions, "one");
    write(path("one.jsonl"), prompt("other", "Something else, and longer"));
    await listed(sessions, "other");
    const one = await archivedSession(sessions);
    expect(texts(one.transcript)).toEqual(["First"]);
    await stop(sessions);
    const again = start();
    expect(texts((await opened(again, "one")).transcript)).toEqual(["First"]);
    expect(texts((await opened(again, "other")).transcript)).toEqual(["Something else, and longer"]);
  });

  it("is removed from the list if nothing was archived", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = createSessions({
      formats: [frameFormat],
      roots: [{ format: frameFormat, path: join(folder, "agent") }],
      hints: false,
      timing: quick,
    });
    running.push(sessions);
    await listed(sessions, "one");
    const removed: string[] = [];
    sessions.subscribe((change) => removed.push(...change.removed));
    rmSync(path("one.jsonl"));
    await eventually(() => expect(removed).toEqual([sessionId("one")]));
    expect(sessions.list()).toEqual([]);
  });
});

describe("after a restart", () => {
  it("lists unchanged files at once without reading them again", async () => {
    write(path("one.jsonl"), prompt("one", "First"), turnEnd("one"));
    write(path("two.jsonl"), prompt("two", "Second"), turnEnd("two"));
    const sessions = start();
    const before = await listed(sessions, "one", "two");
    await stop(sessions);
    let readers = 0;
    const counting = {
      ...frameFormat,
      createReader: (options: Parameters<typeof frameFormat.createReader>[0]) => {
        readers += 1;
        return frameFormat.createReader(options);
      },
    };
    const again = start({
      formats: [counting],
      roots: [{ format: counting, path: join(folder, "agent") }],
    });
    expect(again.list()).toHaveLength(2);
    expect(await listed(again, "one", "two")).toEqual(before);
    expect(readers).toBe(0);
    append(path("one.jsonl"), prompt("one", "Again"));
    await eventually(() => expect(again.get(sessionId("one"))?.turns).toBe(2));
    expect(readers).toBe(1);
  });

  it("notices changed, new and deleted files", async () => {
    write(path("grown.jsonl"), prompt("grown", "First"));
    write(path("gone.jsonl"), prompt("gone", "First"));
    write(path("moved.jsonl"), prompt("moved", "First"));
    const sessions = start();
    await listed(sessions, "grown", "gone", "moved");
    await stop(sessions);
    append(path("grown.jsonl"), prompt("grown", "Second"));
    rmSync(path("gone.jsonl"));
    mkdirSync(path("elsewhere"));
    renameSync(path("moved.jsonl"), path("elsewhere", "moved.jsonl"));
    write(path("new.jsonl"), prompt("new", "First"));
    const again = start();
    await eventually(() => {
      expect(again.get(sessionId("grown"))?.turns).toBe(2);
      expect(again.get(sessionId("gone"))?.archived).toBe(true);
      expect(again.get(sessionId("moved"))?.file).toBe(path("elsewhere", "moved.jsonl"));
      expect(again.get(sessionId("new"))?.turns).toBe(1);
    });
    expect(again.get(sessionId("moved"))?.archived).toBeUndefined();
    expect(again.list()).toHaveLength(4);
  });

  it("quarantines a damaged store, reports it, and rebuilds it from the files", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    await listed(sessions, "one");
    await stop(sessions);
    writeFileSync(join(dataFolder(), "verbatim.db"), "no store");
    const again = start();
    await listed(again, "one");
    expect(again.status().notices[0]?.text).toContain("was moved to");
    rmSync(path("one.jsonl"));
    await eventually(() => expect(again.get(sessionId("one"))?.archived).toBe(true));
  });

  it("leaves a newer store alone, and shows sessions without it", async () => {
    await stop(start());
    const database = new DatabaseSync(join(dataFolder(), "verbatim.db"));
    database.exec("PRAGMA user_version = 999");
    database.close();
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    await listed(sessions, "one");
    expect(sessions.status().notices[0]?.text).toContain("newer Verbatim");
    expect(texts((await opened(sessions, "one")).transcript)).toEqual(["First"]);
  });
});

describe("a second daemon on one store", () => {
  it("reports it, shows the same, and writes nothing", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const first = start();
    await listed(first, "one");
    await eventually(() => {
      const database = new DatabaseSync(join(dataFolder(), "verbatim.db"), { readOnly: true });
      try {
        expect(database.prepare("SELECT count(*) AS n FROM chunk").get()).toEqual({ n: 1 });
      } finally {
        database.close();
      }
    });
    const second = start();
    expect(second.status().notices[0]?.text).toContain("already uses the data folder");
    append(path("one.jsonl"), answer("one", "Yes"));
    const both = await Promise.all([opened(first, "one"), opened(second, "one")]);
    await eventually(() => {
      for (const { transcript } of both) expect(texts(transcript)).toEqual(["First", "Yes"]);
    });
    expect(first.status().notices).toEqual([]);
    expect(second.status().notices).toHaveLength(1);
  });
});

describe("a store that cannot be written", () => {
  it("is reported, does not hide sessions, and is completed later", async () => {
    write(path("one.jsonl"), prompt("one", "First"));
    const sessions = start();
    await listed(sessions, "one");
    // Another program holds the write lock of the database.
    const blocker = new DatabaseSync(join(dataFolder(), "verbatim.db"), { timeout: 2_000 });
    blocker.exec("BEGIN IMMEDIATE");
    const session = await opened(sessions, "one");
    append(path("one.jsonl"), answer("one", "Yes"));
    await eventually(() => expect(texts(session.transcript)).toEqual(["First", "Yes"]));
    await eventually(() =>
      expect(
        sessions
          .status()
          .notices.map(({ text }) => text)
          .join(),
      ).toContain("cannot be written"),
    );
    blocker.exec("ROLLBACK");
    blocker.close();
    await eventually(() => expect(sessions.status().notices).toEqual([]));
    rmSync(path("one.jsonl"));
    await eventually(() => expect(sessions.get(sessionId("one"))?.archived).toBe(true));
    await stop(sessions);
    expect(texts((await opened(start(), "one")).transcript)).toEqual(["First", "Yes"]);
  }, 60_000);
});

describe("a sub-agent's run", () => {
  const group = sessionId("parent");
  const parentFacts = facts({
    session_id: group,
    group,
    calls: [{ tool_call_id: "call-1", agent_key: "worker", at: 1 }],
  });
  const runFacts = { session_id: sessionId("run"), group, calls: [], run: { agent_key: "worker", at: 2 } };

  it("is linked both ways, also on open channels, and gets its name when its side file appears", async () => {
    write(path("parent.jsonl"), prompt("parent", "Go"), call("parent", "call-1", "Agent"), parentFacts);
    const sessions = start();
    const parent = await opened(sessions, "parent");
    write(path("run-1.jsonl"), prompt("run", "Look"));
    const run = await opened(sessions, "run");
    expect(run.summary.parent).toBeUndefined();
    const told: string[] = [];
    run.subscribe((event) => {
      if (event.type === "frames") told.push(...event.frames.map(({ frame }) => frame.type));
    });
    writeFileSync(path("run-1.meta.json"), JSON.stringify({ facts: runFacts, name: "Ada" }));
    await eventually(() =>
      expect(run.summary).toMatchObject({
        parent: { session_id: group, tool_call_id: "call-1" },
        run: { name: "Ada" },
      }),
    );
    expect(told).toContain("session.update");
    const card = () => [...parent.transcript.parts].find((part) => part?.type === "tool_call");
    await eventually(() =>
      expect(card()).toMatchObject({ run: { session_id: sessionId("run"), name: "Ada" } }),
    );
    expect(parent.summary.runs).toBe(1);
    await stop(sessions);
    const again = start();
    expect(again.get(sessionId("run"))?.parent).toEqual({ session_id: group, tool_call_id: "call-1" });
    const reopened = await opened(again, "parent");
    expect([...reopened.transcript.parts].find((part) => part?.type === "tool_call")).toEqual(card());
  });

  it("is linked if only the result of its call names the run", async () => {
    const root = { format: claudeCode, path: join(folder, "claude") };
    const file = (name: string) => join(root.path, "projects", "-w", `${name}.jsonl`);
    const line = (record: object) => `${JSON.stringify(record)}\n`;
    const parent = writer("2.0.60");
    write(file(CLAUDE_SESSION), line(parent.user("go")));
    const sessions = start({ formats: [claudeCode], roots: [root] });
    await eventually(() => expect(sessions.get(CLAUDE_SESSION)).toBeDefined());
    // Its file grew before, so its reader stays.
    append(file(CLAUDE_SESSION), line(parent.assistant("m1", [agentCall("t", { prompt: "Look" }, "Task")])));
    await eventually(() => expect(sessions.get(CLAUDE_SESSION)?.tool_calls).toBe(1));
    const run = writer("2.0.60");
    write(
      file("agent-1a2b3c4d"),
      line(run.user("A hook's words", { isSidechain: true, agentId: "1a2b3c4d" })),
    );
    const runOf = () => sessions.list().find(({ parent }) => parent?.session_id === CLAUDE_SESSION);
    await eventually(() => expect(runOf()).toBeDefined());
    expect(runOf()?.parent?.tool_call_id).toBeUndefined();
    const told = { toolUseResult: { status: "completed", agentId: "1a2b3c4d" } };
    append(file(CLAUDE_SESSION), line(parent.user([agentResult("t", "done")], told)));
    await eventually(() => expect(runOf()?.parent?.tool_call_id).toBe("t"));
  });

  it("keeps its parent running while it works", async () => {
    write(path("parent.jsonl"), prompt("parent", "Go"), call("parent", "call-1", "Agent"), parentFacts);
    write(path("run-1.jsonl"), prompt("run", "Look"), facts(runFacts));
    const longAgo = new Date(Date.now() - 86_400_000);
    utimesSync(path("parent.jsonl"), longAgo, longAgo);
    const sessions = start();
    await listed(sessions, "parent", "run");
    await eventually(() => expect(sessions.get(group)?.status).toBe("running"));
    append(path("run-1.jsonl"), turnEnd("run"));
    await eventually(() => expect(sessions.get(group)?.status).toBe("failed"));
  });
});

describe("the status", () => {
  it("of a file copied long after its session is not running until it grows", async () => {
    const old = (lines: string) => lines.replaceAll(/"at":\d+/g, `"at":${AT - 30 * 86_400_000}`);
    write(path("one.jsonl"), old(prompt("one", "First")), old(call("one", "call-1")));
    const sessions = start();
    const [row] = await listed(sessions, "one");
    expect(row?.status).toBe("failed");
    append(path("one.jsonl"), old(call("one", "call-2")));
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).toBe("running"));
  });

  it("is running while an open turn writes, with its activity", async () => {
    write(path("one.jsonl"), prompt("one", "Go"), call("one", "call-1"), call("one", "call-2", "Read"));
    const sessions = start();
    const [row] = await listed(sessions, "one");
    expect(row).toMatchObject({ status: "running", activity: "Bash and 1 more" });
    append(path("one.jsonl"), result("one", "call-1"));
    await eventually(() => expect(sessions.get(sessionId("one"))?.activity).toBe("Read"));
    append(path("one.jsonl"), result("one", "call-2"), turnEnd("one"));
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).toBe("completed"));
    expect(sessions.get(sessionId("one"))?.activity).toBeUndefined();
  });

  it("of a silent open turn is failed, its calls are aborted in view, and a late result still counts", async () => {
    let clock = Date.now();
    write(path("one.jsonl"), prompt("one", "Go"), call("one", "call-1"));
    const sessions = start({ now: () => clock });
    const session = await opened(sessions, "one");
    const events: SessionEvent["type"][] = [];
    session.subscribe(({ type }) => events.push(type));
    const state = () => {
      const part = [...session.transcript.parts].find((one) => one?.type === "tool_call");
      return part?.type === "tool_call" ? part.state.status : undefined;
    };
    expect(state()).toBe("running");
    clock += 61_000;
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).toBe("failed"));
    expect(state()).toBe("aborted");
    expect(events).toEqual(["reset"]);
    append(path("one.jsonl"), result("one", "call-1"));
    utimesSync(path("one.jsonl"), clock / 1000, clock / 1000);
    await eventually(() => expect(state()).toBe("completed"));
    append(path("one.jsonl"), answer("one", "Yes"));
    utimesSync(path("one.jsonl"), clock / 1000 + 1, clock / 1000 + 1);
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).toBe("running"));
  });

  it("of a killed session is failed from the start, with its calls aborted", async () => {
    write(path("one.jsonl"), prompt("one", "Go"), call("one", "call-1"));
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(path("one.jsonl"), longAgo, longAgo);
    const session = await opened(start(), "one");
    expect(session.summary.status).toBe("failed");
    expect([...session.transcript.parts].find((part) => part?.type === "tool_call")).toMatchObject({
      state: { status: "aborted" },
    });
  });

  it("of a session that ends in text is completed, in the list and in view, without a recorded end", async () => {
    write(
      path("one.jsonl"),
      prompt("one", "Go"),
      call("one", "call-1"),
      result("one", "call-1"),
      answer("one", "Done"),
    );
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(path("one.jsonl"), longAgo, longAgo);
    const session = await opened(start(), "one");
    expect(session.summary.status).toBe("completed");
    expect(session.transcript.turns.at(0)?.status).toBe("completed");
  });

  it("follows the agent's own process registry", async () => {
    write(path("one.jsonl"), prompt("one", "Go"), call("one", "call-1"));
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(path("one.jsonl"), longAgo, longAgo);
    const register = join(folder, "agent", "running", sessionId("one"));
    write(register, JSON.stringify({ pid: process.pid }));
    const sessions = start();
    const session = await opened(sessions, "one");
    expect(session.summary.status).toBe("running");
    rmSync(register);
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).toBe("failed"));
    // An ended process did not remove its file.
    write(register, JSON.stringify({ pid: 2 ** 22 + 1, busy: true }));
    append(path("one.jsonl"), turnEnd("one"));
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).not.toBe("running"));
    write(register, JSON.stringify({ pid: process.pid, busy: true }));
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).toBe("running"));
    // An ended process did not remove its file, and its pid was reused.
    utimesSync(register, new Date(0), new Date(0));
    await eventually(() => expect(sessions.get(sessionId("one"))?.status).not.toBe("running"));
  });

  it("is not running if the registry says so since the last record", async () => {
    write(path("one.jsonl"), prompt("one", "Go"), call("one", "call-1"));
    const sessions = start({ timing: { silence: 600_000 } });
    const session = await opened(sessions, "one");
    const register = join(folder, "agent", "running", session.id);
    const last = session.summary.last_activity_at;
    const statusBy = async (status: string, entry: object) => {
      write(register, JSON.stringify({ pid: process.pid, ...entry }));
      await eventually(() => expect(sessions.get(session.id)?.status).toBe(status));
    };
    await statusBy("running", { busy: true });
    await statusBy("interrupted", { busy: false, since: last + 1 });
    await statusBy("running", { busy: false, since: last });
    await statusBy("interrupted", { busy: false, since: last + 2 });
    expect(sessions.get(session.id)?.status_rule).toEqual({ rule: "stopped", since: last + 2 });
  });

  it("is waiting if the registry says so, with reason and time, also for an old file", async () => {
    write(path("one.jsonl"), prompt("one", "Go"), call("one", "call-1"));
    write(path("two.jsonl"), prompt("two", "Go"), turnEnd("two"));
    const longAgo = new Date(Date.now() - 600_000);
    for (const name of ["one", "two"]) utimesSync(path(`${name}.jsonl`), longAgo, longAgo);
    const sessions = start();
    await listed(sessions, "one", "two");
    const row = (name: string) => sessions.get(sessionId(name));
    const says = (name: string, entry: object) =>
      write(
        join(folder, "agent", "running", sessionId(name)),
        JSON.stringify({ pid: process.pid, ...entry }),
      );
    says("one", { busy: true, waiting: { for: "permission prompt" }, since: 5 });
    // The user opened a menu: it waits for input, and nothing is running.
    says("two", { waiting: { for: "dialog open" }, since: 6 });
    await eventually(() => {
      expect(row("one")).toMatchObject({
        status: "running",
        waiting: { for: "permission prompt", since: 5 },
        status_rule: { rule: "register", since: 5 },
      });
      expect(row("two")).toMatchObject({ status: "completed", waiting: { for: "dialog open", since: 6 } });
    });
    says("one", { busy: true, since: 7 });
    // The turn has ended, but a command that it started is still running.
    says("two", { busy: false, background: true, since: 8 });
    await eventually(() => {
      expect(row("one")?.status).toBe("running");
      expect(row("one")?.waiting).toBeUndefined();
      expect(row("two")).toMatchObject({
        status: "running",
        activity: "background command",
        status_rule: { rule: "background" },
      });
      expect(row("two")?.waiting).toBeUndefined();
    });
    says("two", { busy: false, since: 9 });
    await eventually(() =>
      expect(row("two")).toMatchObject({ status: "completed", status_rule: { rule: "record" } }),
    );
  });

  it("follows the state and requests of the agent's own server at once", async () => {
    write(path("one.jsonl"), prompt("one", "Go"), turnEnd("one"));
    const id = sessionId("one");
    let listener = (_id: string): void => {};
    let state: ReturnType<NonNullable<SessionsOptions["terminals"]>["stateOf"]>;
    const request = { request_id: sessionId("ask"), kind: "approval" as const, title: "May I?", asked_at: 5 };
    const sessions = start({
      terminals: {
        stateOf: (name) => (name === id ? state : undefined),
        requestsOf: (name) => (name === id && state?.waiting ? [request] : []),
        subscribe(added) {
          listener = added;
          return () => {};
        },
      },
    });
    await listed(sessions, "one");
    const row = () => sessions.get(id);
    state = { by: "server", busy: true, waiting: { for: "permission prompt" }, since: 5 };
    listener(id);
    await eventually(() =>
      expect(row()).toMatchObject({
        status: "running",
        waiting: { for: "permission prompt", since: 5 },
        requests: [request],
        status_rule: { rule: "server", since: 5 },
      }),
    );
    state = { by: "server", busy: false, since: 6 };
    listener(id);
    await eventually(() =>
      expect(row()).toMatchObject({ status: "completed", status_rule: { rule: "record" } }),
    );
    expect(row()?.requests).toBeUndefined();
  });

  it("follows the agent's hooks until a later record says otherwise", async () => {
    const id = sessionId("one");
    const setTime = (ms: number) => utimesSync(path("one.jsonl"), ms / 1_000, ms / 1_000);
    write(path("one.jsonl"), prompt("one", "Go"));
    setTime(AT + 500);
    let now = AT + 1_500;
    let state: ReturnType<NonNullable<SessionsOptions["terminals"]>["stateOf"]>;
    const listeners = new Set<(id: string) => void>();
    const sessions = start({
      now: () => now,
      terminals: {
        stateOf: (name) => (name === id ? state : undefined),
        requestsOf: () => [],
        subscribe(added) {
          listeners.add(added);
          return () => listeners.delete(added);
        },
      },
    });
    await listed(sessions, "one");
    const row = () => sessions.get(id);
    const report = (next: typeof state) => {
      state = next;
      for (const listener of listeners) listener(id);
    };
    const since = AT + 1_000;
    report({ by: "hook", busy: true, waiting: { for: "permission prompt" }, since });
    const rule = { status_rule: { rule: "hook", since } };
    await eventually(() =>
      expect(row()).toMatchObject({ status: "running", waiting: { for: "permission prompt" }, ...rule }),
    );
    // The answer in the terminal was not reported, but the agent continues.
    append(path("one.jsonl"), call("one", "look"), result("one", "look"));
    setTime(AT + 3_000);
    await eventually(() => expect(row()?.waiting).toBeUndefined());
    expect(row()).toMatchObject({ status: "running", ...rule });
    // The turn has just ended, so its last record may still arrive.
    now = AT + 3_500;
    report({ by: "hook", busy: false, since: now });
    await eventually(() =>
      expect(row()).toMatchObject({ status: "running", status_rule: { rule: "recent" } }),
    );
    now = AT + 10_000;
    await eventually(() =>
      expect(row()).toMatchObject({ status: "completed", status_rule: { rule: "hook" } }),
    );
    // The record contains the end of the turn, although the last hook reported it as running.
    report({ by: "hook", busy: true, since });
    append(path("one.jsonl"), turnEnd("one"));
    await eventually(() =>
      expect(row()).toMatchObject({ status: "completed", status_rule: { rule: "record" } }),
    );
  });

  it("names the rule that determined it if the record does not", async () => {
    write(path("one.jsonl"), prompt("one", "Go"), call("one", "call-1"));
    const sessions = start({ timing: { silence: 600_000 } });
    await listed(sessions, "one");
    const row = () => sessions.get(sessionId("one"));
    await eventually(() =>
      expect(row()).toMatchObject({ status: "running", status_rule: { rule: "recent" } }),
    );
    await stop(sessions);
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(path("one.jsonl"), longAgo, longAgo);
    const later = start();
    await listed(later, "one");
    // The stored row is listed until the file is checked.
    await eventually(() =>
      expect(later.get(sessionId("one"))).toMatchObject({
        status: "failed",
        status_rule: { rule: "silence" },
      }),
    );
    append(path("one.jsonl"), prompt("one", "Again"));
    await eventually(() =>
      expect(later.get(sessionId("one"))).toMatchObject({
        status: "running",
        status_rule: { rule: "recent" },
      }),
    );
    // Its end is as unknown as before.
    rmSync(path("one.jsonl"));
    await eventually(() =>
      expect(later.get(sessionId("one"))).toMatchObject({
        archived: true,
        status: "failed",
        status_rule: { rule: "silence" },
      }),
    );
  });

  it.each([
    ["is completed if it ends in a text", {}, { status: "completed", status_rule: { rule: "answered" } }],
    [
      "has no end if it ends in a text, but its agent records the ends of turns",
      { recordsTurnEnds: true },
      { status: "failed", status_rule: { rule: "silence" } },
    ],
  ] as const)("without a recorded end and a process %s", async (_, facts, expected) => {
    write(path("one.jsonl"), prompt("one", "Go"), answer("one", "It takes long."));
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(path("one.jsonl"), longAgo, longAgo);
    const format = { ...frameFormat, ...facts };
    const sessions = start({ formats: [format], roots: [{ format, path: join(folder, "agent") }] });
    await listed(sessions, "one");
    await eventually(() => expect(sessions.get(sessionId("one"))).toMatchObject(expected));
    const { transcript } = await opened(sessions, "one");
    expect(transcript.turns.at(0)?.status).toBe(expected.status);
  });

  it.each([
    ["has no end if its record stops", [call("one", "c")], "unknown"],
    [
      "has failed if its record stops after an error",
      [
        frame({
          type: "error",
          session_id: sessionId("one"),
          at: AT,
          message: "Overloaded",
          can_retry: true,
        }),
      ],
      "failed",
    ],
  ] as const)("%s, as its last turn has", async (_, records, expected) => {
    write(path("one.jsonl"), prompt("one", "Go"), ...records);
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(path("one.jsonl"), longAgo, longAgo);
    const sessions = start();
    const [row] = await listed(sessions, "one");
    expect(row && sessionState(row)).toBe(expected);
    const turn = (await opened(sessions, "one")).transcript.turns.at(0);
    expect(turn && turnState(turn)).toBe(expected);
  });

  it("is completed if the last turn has nothing but notes", async () => {
    const agent = join(folder, "pi");
    const name = sessionId("one");
    const file = join(agent, "sessions", "--w-app--", `2026-10-02T09-00-00-000Z_${name}.jsonl`);
    const entry = (id: string, parentId: string | null, more: object) =>
      `${JSON.stringify({ id, parentId, timestamp: "2026-10-02T09:00:01.000Z", ...more })}\n`;
    const said = (role: string, text: string) => ({
      type: "message",
      message: {
        role,
        content: [{ type: "text", text }],
        ...(role === "assistant" && { stopReason: "stop" }),
      },
    });
    write(
      file,
      `${JSON.stringify({ type: "session", version: 3, id: name, timestamp: "2026-10-02T09:00:00.000Z", cwd: "/w" })}\n`,
      entry("a", null, said("user", "Go")),
      entry("b", "a", said("assistant", "Done.")),
      // The person went back to the prompt, labelled it and left.
      entry("c", "a", { type: "label", targetId: "a", label: "start" }),
    );
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(file, longAgo, longAgo);
    const sessions = start({ formats: [pi], roots: [{ format: pi, path: agent }] });
    await listed(sessions, "one");
    await eventually(() =>
      expect(sessions.get(name)).toMatchObject({
        status: "completed",
        status_rule: { rule: "record" },
        turns: 2,
      }),
    );
    const { transcript } = await opened(sessions, "one");
    expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed", "completed"]);
  });

  it("is interrupted if the agent's process is idle since its last record, also after it ended", async () => {
    const id = sessionId("one");
    const agent = join(folder, "claude");
    const file = join(agent, "projects", "-w-app", `${id}.jsonl`);
    const said = (uuid: number, text: string) => ({
      type: "user",
      uuid: sessionId(`record ${uuid}`),
      parentUuid: uuid === 1 ? null : sessionId(`record ${uuid - 1}`),
      sessionId: id,
      cwd: "/w/app",
      timestamp: new Date().toISOString(),
      message: { role: "user", content: text },
    });
    write(file, `${JSON.stringify(said(1, "Go"))}\n`);
    const sessions = start({
      formats: [claudeCode],
      roots: [{ format: claudeCode, path: agent }],
      timing: { silence: 600_000 },
    });
    await listed(sessions, "one");
    const status = () => sessions.get(id)?.status;
    expect(status()).toBe("running");
    const register = join(agent, "sessions", `${process.pid}.json`);
    const since = Date.now();
    write(
      register,
      JSON.stringify({ pid: process.pid, sessionId: id, status: "idle", statusUpdatedAt: since + 1 }),
    );
    await eventually(() => expect(status()).toBe("interrupted"));
    rmSync(register);
    expect((await opened(sessions, "one")).transcript.turns.at(0)?.status).toBe("interrupted");
    // An incomplete line is shown once no process will complete it. The reader has ended the turn by then.
    append(file, '{"type":');
    const longAgo = new Date(since - 7_200_000);
    utimesSync(file, longAgo, longAgo);
    await eventually(async () =>
      expect((await opened(sessions, "one")).transcript.parts.slice().at(-1)?.type).toBe("unknown"),
    );
    expect((await opened(sessions, "one")).transcript.turns.at(0)?.status).toBe("interrupted");
    expect(status()).toBe("interrupted");
    append(file, `\n${JSON.stringify(said(2, "Go on"))}\n`);
    await eventually(() => expect(status()).toBe("running"));
  });

  it("of a session that continues in other files is the registry's status, for the last of them", async () => {
    const longAgo = new Date(Date.now() - 600_000);
    const [first = "", second = "", third = ""] = ["one", "two", "three"].sort((one, other) =>
      sessionId(one) < sessionId(other) ? -1 : 1,
    );
    const whole = sessionId(first);
    const later = (name: string) =>
      facts({ session_id: sessionId(name), group: whole, registered_as: whole, calls: [] });
    write(path("1.jsonl"), prompt(first, "Go"), call(first, "call-1"));
    write(path("2.jsonl"), prompt(second, "Again"), call(second, "call-2"), later(second));
    write(path("3.jsonl"), prompt(third, "Once more"), call(third, "call-3"), later(third));
    for (const number of [1, 2, 3]) utimesSync(path(`${number}.jsonl`), longAgo, longAgo);
    const register = join(folder, "agent", "running", whole);
    write(register, JSON.stringify({ pid: process.pid }));
    write(join(folder, "agent", "titles.json"), JSON.stringify({ [whole]: "The whole" }));
    const statuses = (sessions: Sessions) =>
      sessions.list().map(({ file = "", status }) => `${file.at(-7)} ${status}`);
    const ALIVE = ["1 failed", "2 failed", "3 running", "4 failed"];
    const sessions = start();
    await listed(sessions, first, second, third);
    // No process has the copy open.
    write(path("4.jsonl"), prompt(third, "Once more"), call(third, "call-3"), later(third));
    utimesSync(path("4.jsonl"), longAgo, longAgo);
    await eventually(() => expect(statuses(sessions).sort()).toEqual(ALIVE));
    await eventually(() => expect(sessions.get(sessionId(third))?.title).toBe("The whole"));
    rmSync(register);
    await eventually(() => expect(sessions.get(sessionId(third))?.status).toBe("failed"));
    write(register, JSON.stringify({ pid: process.pid }));
    await eventually(() => expect(sessions.get(sessionId(third))?.status).toBe("running"));
    await stop(sessions);
    const again = start();
    await listed(again, first, second, third);
    await eventually(() => expect(statuses(again).sort()).toEqual(ALIVE));
  });

  it("follows the registry even if the clock was set back since this process began", async () => {
    const { now } = Date;
    const back = vi.spyOn(Date, "now").mockImplementation(() => now() - 3_600_000);
    try {
      write(path("one.jsonl"), prompt("one", "First"), turnEnd("one"));
      const register = join(folder, "agent", "running", sessionId("one"));
      write(register, JSON.stringify({ pid: process.pid, busy: true }));
      utimesSync(register, new Date(Date.now()), new Date(Date.now()));
      const sessions = start();
      await eventually(() => expect(sessions.get(sessionId("one"))?.status).toBe("running"));
    } finally {
      back.mockRestore();
    }
  });
});

describe("the process registries of the real agents", () => {
  const id = "0aa1f3c2-5d6e-4f70-8a91-b2c3d4e5f607";
  const register = (agent: string) => formats.find((format) => format.id === agent)?.registry;

  it("contain Claude Code's session and process, and whether it works", () => {
    const entry = { pid: 4242, sessionId: id, cwd: "/w/app", kind: "interactive" };
    const read = (value: object) => register("claude-code")?.read("4242.json", JSON.stringify(value));
    expect(read(entry)).toEqual({ session_id: id, pid: 4242 });
    expect(read({ ...entry, status: "busy" })).toEqual({ session_id: id, pid: 4242, busy: true });
    expect(read({ ...entry, status: "idle" })).toEqual({ session_id: id, pid: 4242, busy: false });
    const told = { status: "idle", statusUpdatedAt: 1_790_000_000_000 };
    expect(read({ ...entry, ...told })).toMatchObject({ busy: false, since: 1_790_000_000_000 });
    expect(read({ kind: "interactive" })).toBeUndefined();
  });

  it("contain the thread that a Codex process has locked", () => {
    expect(register("codex")?.read(`${id}.lock`, "")).toEqual({ session_id: id, locked: true });
    expect(register("codex")?.read("other.txt", "")).toBeUndefined();
  });
});

describe("the file of titles that Codex keeps", () => {
  it("names a thread by its last complete line for it", () => {
    const codex = formats.find((format) => format.id === "codex");
    const line = (id: string, thread_name: string) =>
      JSON.stringify({ id, thread_name, updated_at: "2026-01-01T00:00:00Z" });
    const text = [`"cut":1}`, line("a", "One"), line("b", "Two"), line("a", "Three "), '{"id":"b","thr'];
    expect([...(codex?.titles?.read(text.join("\n")) ?? [])]).toEqual([
      ["a", "Three"],
      ["b", "Two"],
    ]);
  });
});

describe("the raw record of a part", () => {
  it("is read from the agent's file", async () => {
    write(path("one.jsonl"), prompt("one", "First é \u2028 end"), prompt("one", "Second"));
    const sessions = start();
    const session = await opened(sessions, "one");
    const prompts = [...session.transcript.parts].filter((part) => part?.type === "prompt");
    const raw = await sessions.raw(session.id, prompts[1]?.id ?? "");
    expect(raw).toMatchObject({
      file: path("one.jsonl"),
      line: 2,
      text: prompt("one", "Second").trimEnd(),
      archived: false,
    });
    expect(raw?.byte).toBe(Buffer.byteLength(prompt("one", "First é \u2028 end")));
  });

  it("is truncated if it is very long, with its full length", async () => {
    write(path("one.jsonl"), prompt("one", "x".repeat(3_000_000)));
    const sessions = start();
    const session = await opened(sessions, "one");
    const raw = await sessions.raw(session.id, session.transcript.parts.at(0)?.id ?? "");
    expect(raw?.text.length).toBe(1024 * 1024);
    expect(raw?.truncated).toBe(raw?.length);
  });

  it("may be a file in the session's own results folder, and none outside of it", async () => {
    const own = path("one", "tool-results", "own.png");
    write(own, "own image");
    write(join(folder, "secret.png"), "secret");
    write(path("one", "other.png"), "other");
    symlinkSync(join(folder, "secret.png"), path("one", "tool-results", "link.png"));
    symlinkSync(folder, path("one", "tool-results", "folder"));
    const images = [
      own,
      join(folder, "secret.png"),
      path("one", "other.png"),
      path("one", "tool-results", "link.png"),
      path("one", "tool-results", "folder", "secret.png"),
      path("one", "tool-results", "..", "other.png"),
      "/etc/hostname",
    ];
    write(
      path("one.jsonl"),
      prompt("one", "Go"),
      call("one", "call-1"),
      result(
        "one",
        "call-1",
        images.map((file_path) => ({ type: "image_file", file_path, mime_type: "image/png" })),
      ),
    );
    const sessions = start();
    const session = await opened(sessions, "one");
    const part = [...session.transcript.parts].find((one) => one?.type === "tool_result");
    const found = await Promise.all(images.map((_, n) => sessions.attachment(session.id, part?.id ?? "", n)));
    expect(found.map((one) => one && Buffer.from(one.bytes).toString())).toEqual([
      "own image",
      ...images.slice(1).map(() => undefined),
    ]);
  });
});

describe("the complete output of a call", () => {
  const outputs = async (sessions: Sessions, name: string, from = 0) => {
    const session = await opened(sessions, name);
    const results = [...session.transcript.parts].filter((part) => part?.type === "tool_result");
    return await Promise.all(
      results.map(async (part) => {
        const bytes = await sessions.output(session.id, part?.id ?? "", from);
        return bytes && Buffer.from(bytes).toString();
      }),
    );
  };
  /** Writes a session whose calls name these files as their outputs. */
  const naming = (name: string, paths: readonly (string | undefined)[]) =>
    write(
      path(`${name}.jsonl`),
      prompt(name, "Go"),
      ...paths.flatMap((persisted_path, n) => [
        call(name, `call-${n}`),
        result(name, `call-${n}`, [], {
          ui_extra: { type: "shell", ...(persisted_path !== undefined && { persisted_path }) },
        }),
      ]),
    );

  it("is a file in the session's own results folder, even if it was moved, and none outside of it", async () => {
    const results = path("one", "tool-results");
    write(join(results, "own.txt"), "own output");
    write(path("two", "tool-results", "other.txt"), "another session's");
    write(join(folder, "secret.txt"), "secret");
    write(path("one", "beside.txt"), "beside");
    write(join(results, "below", "tool-results", "deep.txt"), "deep");
    symlinkSync(join(folder, "secret.txt"), join(results, "link.txt"));
    symlinkSync(folder, join(results, "folder"));
    const own = [
      join(results, "own.txt"),
      "/moved/home/tool-results/own.txt",
      "C:\\one\\tool-results\\own.txt",
    ];
    const others = [
      undefined,
      join(results, "gone.txt"),
      path("two", "tool-results", "other.txt"),
      join(results, "../../two/tool-results/other.txt"),
      join(folder, "secret.txt"),
      path("one", "beside.txt"),
      `${results}/../beside.txt`,
      `${results}/..`,
      `${results}/.`,
      `${results}/`,
      join(results, "link.txt"),
      join(results, "folder", "secret.txt"),
      join(results, "below", "tool-results", "deep.txt"),
      `${results}/own.txt\0`,
      "/etc/hostname",
      "own.txt",
    ];
    naming("one", [...own, ...others]);
    naming("two", [join(results, "own.txt")]);
    const sessions = start();
    expect(await outputs(sessions, "one")).toEqual([
      ...own.map(() => "own output"),
      ...others.map(() => undefined),
    ]);
    expect(await outputs(sessions, "two")).toEqual([undefined]);
    expect(await sessions.output(sessionId("one"), sessionId("two"), 0)).toBeUndefined();
  });

  it("is not available if the results folder is a link", async () => {
    write(join(folder, "elsewhere", "own.txt"), "elsewhere");
    mkdirSync(path("one"), { recursive: true });
    symlinkSync(join(folder, "elsewhere"), path("one", "tool-results"));
    naming("one", [path("one", "tool-results", "own.txt")]);
    expect(await outputs(start(), "one")).toEqual([undefined]);
  });

  it("is returned in pieces, of which the last is shorter", async () => {
    const whole = "0123456789abcde\n".repeat(OUTPUT_PIECE / 16 + 1);
    write(path("one", "tool-results", "own.txt"), whole);
    naming("one", [path("one", "tool-results", "own.txt")]);
    const sessions = start();
    expect(await outputs(sessions, "one")).toEqual([whole.slice(0, OUTPUT_PIECE)]);
    expect(await outputs(sessions, "one", OUTPUT_PIECE)).toEqual(["0123456789abcde\n"]);
    expect(await outputs(sessions, "one", OUTPUT_PIECE * 3)).toEqual([""]);
  });
});

describe.skipIf(!sharedData("corpus"))(
  "real sessions (skipped where the folder of real sessions is not beside the repository)",
  () => {
    it("are all listed, can be opened, and are the same after a restart", async () => {
      const options = {
        formats,
        roots: [],
        paths: [sharedData("corpus", "claude-code") ?? "", sharedData("corpus", "codex") ?? ""],
      };
      const sessions = start(options);
      await eventually(() => expect(sessions.status().index.done).toBe(true));
      await eventually(() => expect(sessions.list().length).toBeGreaterThan(50));
      expect(sessions.status().notices).toEqual([]);
      for (const { id, file, parent } of sessions.list()) {
        const session = await sessions.open(id);
        expect(session?.transcript.parts.length, file).toBeGreaterThan(0);
        if (parent?.tool_call_id !== undefined) {
          const above = await sessions.open(parent.session_id);
          const card = [...(above?.transcript.parts ?? [])].find(
            (part) => part?.type === "tool_call" && part.tool_call_id === parent.tool_call_id,
          );
          expect(card, file).toMatchObject({ run: { session_id: id } });
        }
      }
      const before = sessions.list();
      await stop(sessions);
      expect(start(options).list()).toEqual(before);
    }, 120_000);
  },
);
