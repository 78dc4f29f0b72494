import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { openCode } from "../../src/sources/opencode/format.ts";
import { openCodeSessionId } from "../../src/sources/opencode/ids.ts";
import { sharedData } from "../shared-data.ts";
import { orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SESSION = "ses_e04b39ee9ffeCPZ0z4MvrMT7hk";

/** A session of a store after its end. */
function readFrom(path: string, session_id: string) {
  for (const session of look(openCode, openStore(path)).values()) {
    const { parts, transcript } = closed(session);
    if (transcript.session_id === session_id) return { parts, transcript };
  }
  throw new Error(`${path} has no session ${session_id}`);
}

const message = (id: string, role: string, parts: object[], fields: object = {}) => ({
  info: { id, sessionID: SESSION, role, time: { created: 1_790_000_000_000 }, ...fields },
  parts: parts.map((part, at) => ({ id: `${id.replace("msg", "prt")}${at}`, messageID: id, ...part })),
});

it("reads the output of `opencode export` like the session itself", () => {
  const path = join(folder, "export.json");
  const state = {
    status: "completed",
    input: { command: "ls" },
    output: "bergen.csv",
    time: { start: 1, end: 2 },
  };
  const answer = { finish: "stop", time: { created: 1_790_000_000_001, completed: 1_790_000_000_002 } };
  const messages = [
    message("msg_000000000001a", "user", [{ type: "text", text: "Fix the table" }]),
    message(
      "msg_000000000002a",
      "assistant",
      [
        { type: "reasoning", text: "Look first." },
        { type: "text", text: "I look." },
        { type: "tool", callID: "c1", tool: "bash", state },
      ],
      answer,
    ),
    message("msg_000000000003a", "user", [{ type: "text", text: "[redacted:text:1]" }]),
  ];
  const info = { id: SESSION, title: "Fix the table", directory: "/w/tide", version: "1.18.33" };
  writeFileSync(path, JSON.stringify({ info, messages }, null, 2));
  expect(openCode.snapshots?.recognizes(openStore(path))).toBe(true);
  const { parts, transcript } = readFrom(path, openCodeSessionId(SESSION));
  expect(orderOf(parts)).toBe("U T x c:bash U");
  expect([...transcript.turns].map((turn) => turn?.title)).toEqual(["Fix the table", "[redacted:text:1]"]);
});

it.each(['{"info":{"id":"x"}}', '{"messages":[]}', "[]", "{"])("ignores other documents: %s", (text) => {
  const path = join(folder, "other.json");
  writeFileSync(path, text);
  expect(openCode.snapshots?.recognizes(openStore(path))).toBe(false);
});

const recorded = sharedData("corpus", "recorded/opencode");
const exported =
  recorded === undefined
    ? []
    : readdirSync(recorded, { recursive: true, encoding: "utf8" }).filter((name) =>
        /export.*\.json$/.test(name),
      );

describe.skipIf(recorded === undefined)("recorded exports (skipped without the shared data)", () => {
  it.each(exported)("%s has the parts of the database, in order", (name) => {
    const id = openCodeSessionId(/(ses_\w+)\.json$/.exec(name)?.[1] ?? "");
    const databases = readdirSync(recorded ?? "", { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith("opencode.db"),
    );
    const database = databases
      .map((file) => join(recorded ?? "", file))
      .find((path) =>
        [...look(openCode, openStore(path)).values()].some(
          (each) => closed(each).transcript.session_id === id,
        ),
      );
    if (database === undefined) throw new Error(`No database has ${id}`);
    expect(factsOf(join(recorded ?? "", name), id)).toEqual(factsOf(database, id));
  });
});

/** Everything that is shown of a session except places: a document repeats the ids of its rows in each value. */
function factsOf(path: string, session_id: string): unknown[] {
  const ids = new Set(["id", "messageID", "sessionID"]);
  return readFrom(path, session_id).parts.map(({ source: _, at: __, ...part }) =>
    JSON.parse(
      JSON.stringify({ ...part, part_id: part.id }, (key, value) => (ids.has(key) ? undefined : value)),
    ),
  );
}

// --- The export of every stored session ---------------------------------------------------------------------------------

type Value = Record<string, unknown>;
interface Exported {
  info: Value;
  messages: { info: Value; parts: Value[] }[];
}
const jsonOf = (text: unknown): Value => JSON.parse(String(text));

/** The output of `opencode export` for each session of a database: rows with their ids, sorted by id. */
function exportsOfDatabase(path: string): Exported[] {
  const copy = join(mkdtempSync(join(folder, "database-")), "opencode.db");
  cpSync(path, copy);
  const database = new DatabaseSync(copy);
  const rows = (sql: string, ...values: string[]): Value[] => database.prepare(sql).all(...values);
  const exports = rows("SELECT * FROM session").map((row) => {
    const id = String(row.id);
    return {
      info: {
        id,
        title: row.title,
        directory: row.directory,
        version: row.version,
        ...(row.parent_id !== null && { parentID: row.parent_id }),
        ...(typeof row.revert === "string" && { revert: jsonOf(row.revert) }),
        time: { created: row.time_created, updated: row.time_updated },
      },
      messages: rows("SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id", id).map(
        (message) => ({
          info: { ...jsonOf(message.data), id: message.id, sessionID: id },
          parts: rows("SELECT * FROM part WHERE message_id = ? ORDER BY id", String(message.id)).map(
            (part) => ({ ...jsonOf(part.data), id: part.id, messageID: message.id, sessionID: id }),
          ),
        }),
      ),
    };
  });
  database.close();
  return exports;
}

/** The same for the older folder. */
function exportsOfStorage(storage: string): Exported[] {
  const below = (path: string): Value[] =>
    readdirSync(path)
      .sort()
      .map((name) => jsonOf(readFileSync(join(path, name), "utf8")));
  const orNone = <Item>(read: () => Item[]): Item[] => {
    try {
      return read();
    } catch {
      return [];
    }
  };
  return readdirSync(join(storage, "session"))
    .flatMap((project) => below(join(storage, "session", project)))
    .map((info) => ({
      info,
      messages: orNone(() => below(join(storage, "message", String(info.id)))).map((message) => ({
        info: message,
        parts: orNone(() => below(join(storage, "part", String(message.id)))),
      })),
    }));
}

/** Exports a session, and reads it in both ways. */
function expectTheSame(exported: Exported, store: string): void {
  const id = openCodeSessionId(String(exported.info.id));
  const path = join(mkdtempSync(join(folder, "export-")), "session.json");
  writeFileSync(path, JSON.stringify(exported, null, 2));
  expect(openCode.snapshots?.recognizes(openStore(path))).toBe(true);
  expect(factsOf(path, id)).toEqual(factsOf(store, id));
}

/** A folder `storage` with one session: a step with a call, a prompt inside the turn, a failed call, an undone message. */
function writtenStorage(): string {
  const storage = join(mkdtempSync(join(folder, "written-")), "storage");
  const write = (path: string, value: Value) => {
    mkdirSync(join(storage, path, ".."), { recursive: true });
    writeFileSync(join(storage, `${path}.json`), JSON.stringify(value));
  };
  const id = "ses_tide";
  let count = 0;
  const name = (kind: string) => {
    count += 1;
    return `${kind}_${count.toString(16).padStart(12, "0")}a`;
  };
  const say = (role: string, parts: Value[], fields: Value = {}): string => {
    const message = name("msg");
    const time = { created: 1_790_000_000_000 + count };
    write(`message/${id}/${message}`, { id: message, sessionID: id, role, time, ...fields });
    for (const part of parts) {
      const part_id = name("prt");
      write(`part/${message}/${part_id}`, { id: part_id, messageID: message, sessionID: id, ...part });
    }
    return message;
  };
  const ended = (finish: string) => ({
    finish,
    modelID: "model-a",
    tokens: { input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } },
    time: { created: 1_790_000_000_000 + count, completed: 1_790_000_000_900 + count },
  });
  const tool = (callID: string, state: Value) => ({ type: "tool", tool: "bash", callID, state });
  const time = { start: 1, end: 2 };
  const input = { command: "cat bergen.csv" };
  say("user", [{ type: "text", text: "When is high water in Bergen?" }]);
  say(
    "assistant",
    [
      { type: "reasoning", text: "The table has it." },
      { type: "text", text: "I look." },
      tool("c1", { status: "completed", input, output: "11:32", metadata: { exit: 0 }, time }),
      tool("c2", { status: "error", input, error: "No such file", time }),
    ],
    ended("tool-calls"),
  );
  say("assistant", [{ type: "text", text: "At 11:32." }], ended("stop"));
  const messageID = say("user", [{ type: "text", text: "And in Stavanger?" }]);
  say("assistant", [{ type: "text", text: "I do not know." }], ended("stop"));
  const info = { id, title: "High water", directory: "/w/tide", version: "1.1.0", revert: { messageID } };
  write(`session/harbour/${id}`, info);
  return storage;
}

it("shows the export of a generated session like the session itself", () => {
  const storage = writtenStorage();
  const [exported, ...others] = exportsOfStorage(storage);
  if (exported === undefined || others.length > 0) throw new Error("There is one session");
  expectTheSame(exported, storage);
  const { parts } = readFrom(storage, openCodeSessionId("ses_tide"));
  expect(orderOf(parts)).toBe("U T x c:bash c:bash! | x U x");
});

const corpus = sharedData("corpus");
/** Stores that can be read in place; the older folder is recognized by its name. */
function storedSessions(): { store: string; exported: Exported; name: string }[] {
  if (corpus === undefined) return [];
  const storage = join(mkdtempSync(join(folder, "v2-")), "storage");
  cpSync(join(corpus, "opencode/storage_v2"), storage, { recursive: true });
  const databases = readdirSync(corpus, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith("opencode.db"))
    .map((name) => join(corpus, name));
  return [
    ...databases.flatMap((store) => exportsOfDatabase(store).map((exported) => ({ store, exported }))),
    ...exportsOfStorage(storage).map((exported) => ({ store: storage, exported })),
  ].map((each) => ({ ...each, name: String(each.exported.info.id) }));
}

describe.skipIf(corpus === undefined)("exports of stored sessions (skipped without the shared data)", () => {
  const stored = storedSessions();
  it("cover several sessions", () => expect(stored.length).toBeGreaterThan(4));
  it.each(stored)("shows $name like its store", ({ exported, store }) => expectTheSame(exported, store));
});
