import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openCode } from "../../src/sources/opencode/format.ts";
import { openCodeSessionId } from "../../src/sources/opencode/reader.ts";
import { sharedData } from "../shared-data.ts";
import { orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SESSION = "ses_e04b39ee9ffeCPZ0z4MvrMT7hk";

/** A session of a store, as it is shown when nobody writes to it any more. */
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

it("opens what `opencode export` prints as the session itself", () => {
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

it.each(['{"info":{"id":"x"}}', '{"messages":[]}', "[]", "{"])("leaves other documents alone: %s", (text) => {
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
  it.each(exported)("%s has the parts of the database, in their order", (name) => {
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
    // A document repeats the ids of its rows in each value.
    const ids = new Set(["id", "messageID", "sessionID"]);
    const facts = (path: string) =>
      readFrom(path, id).parts.map(({ source: _, at: __, ...part }) =>
        JSON.parse(
          JSON.stringify({ ...part, part_id: part.id }, (key, value) => (ids.has(key) ? undefined : value)),
        ),
      );
    expect(facts(join(recorded ?? "", name))).toEqual(facts(database));
  });
});
