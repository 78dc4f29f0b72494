import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSearch } from "../../src/model/search/query.ts";
import { sparseSequence } from "../../src/model/transcript/sequence.ts";
import { startAfter } from "../../src/model/transcript/transcript-start.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import {
  type IndexedPart,
  type IndexedStep,
  PART_TEXT_LIMIT,
  type PartIndex,
  type SearchRequest,
  type SegmentStart,
  type SessionUpdate,
  type SourceUpdate,
} from "../../src/store/index/contract.ts";
import { createMemoryIndex } from "../../src/store/index/memory.ts";
import { deleteIndex, openSqliteIndex, prepareIndex } from "../../src/store/index/sqlite.ts";
import { uuidOf } from "../uuid-of.ts";

const NOW = Date.parse("2026-11-26T12:00:00Z");

let folder: string;
const opened: PartIndex[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-index-"));
});
afterEach(async () => {
  for (const index of opened.splice(0)) await index.close();
  rmSync(folder, { recursive: true });
});

const path = () => join(folder, "index.db");
function open(): PartIndex {
  const index = openSqliteIndex(path());
  opened.push(index);
  return index;
}

const part = (seq: number, text: string, more: Partial<IndexedPart> = {}): IndexedPart => ({
  seq,
  id: uuidOf(`part ${seq} ${text}`),
  kind: "text",
  turn: 0,
  text,
  ...more,
});
const session = (
  name: string,
  parts: readonly IndexedPart[],
  more: Partial<SessionUpdate> = {},
): SessionUpdate => ({
  id: uuidOf(name),
  agent: "claude-code",
  title: name,
  cwd: `/home/ada/${name}`,
  is_run: false,
  last_activity_at: NOW,
  steps: [],
  steps_from: 0,
  part_count: parts.length,
  parts,
  turns: [
    {
      index: 0,
      id: uuidOf(`${name} turn`),
      first_seq: 0,
      status: "completed",
      title: "Do it",
      steps: 1,
      tool_calls: 0,
      errors: 0,
    },
  ],
  ...more,
});
const source = (key: string, sessions: readonly SessionUpdate[], stamp = "1"): SourceUpdate => ({
  key,
  stamp,
  sessions,
});

describe.each([
  ["memory", () => createMemoryIndex()],
  [
    "sqlite",
    () => {
      prepareIndex(path());
      return open();
    },
  ],
])("a part index (%s)", (_name, create) => {
  let index: PartIndex;
  beforeEach(() => {
    index = create();
  });

  const page = (query: string, more: Partial<SearchRequest> = {}) =>
    index.search({ query: parseSearch(query, NOW), limit: 30, sort: "newest", budget: 10_000, ...more });
  const found = async (query: string, more: Partial<SearchRequest> = {}) =>
    (await page(query, more)).hits.map(({ part: { seq }, session: { title } }) => `${title} ${seq}`);

  it("returns what was written", async () => {
    const parts = [
      part(0, "a"),
      part(1, "b", { kind: "call", tool: "Bash", status: "failed", step: 2, line: 7, byte: 99 }),
    ];
    await index.write([source("one", [session("tides", parts)])]);
    const [row] = await index.sessions();
    expect(row).toMatchObject({ source: "one", title: "tides", agent: "claude-code", part_count: 2 });
    expect(await index.parts("one", uuidOf("tides"), 0, 10)).toEqual(parts);
    expect(await index.turns("one", uuidOf("tides"))).toMatchObject([{ index: 0, title: "Do it" }]);
    expect(await index.sources()).toEqual([{ key: "one", stamp: "1" }]);
  });

  it("finds the position of a part by its id, the newest of equal ones", async () => {
    const parts = [part(0, "a"), part(1, "b"), { ...part(2, "c"), id: part(1, "b").id }];
    await index.write([source("one", [session("tides", parts), session("other", [part(0, "d")])])]);
    expect(await index.position("one", uuidOf("tides"), part(0, "a").id)).toBe(0);
    expect(await index.position("one", uuidOf("tides"), part(1, "b").id)).toBe(2);
    expect(await index.position("one", uuidOf("tides"), uuidOf("nothing"))).toBeUndefined();
    expect(await index.position("two", uuidOf("tides"), part(0, "a").id)).toBeUndefined();
  });

  it("removes the sessions that a source no longer has, unless only its end was read", async () => {
    const parts = [part(0, "a")];
    await index.write([source("one", [session("tides", parts), session("other", parts)])]);
    await index.write([{ ...source("one", [session("other", parts)]), is_end_only: true }]);
    expect((await index.sessions()).map(({ title }) => title).toSorted()).toEqual(["other", "tides"]);
    await index.write([source("one", [session("other", parts)])]);
    expect((await index.sessions()).map(({ title }) => title)).toEqual(["other"]);
  });

  it("keeps the starts of segments until their source is removed", async () => {
    const start = (segment: number, byte: number): SegmentStart => ({
      segment,
      byte,
      version: 3,
      checkpoint: { agent: "codex", byte: byte - 5, state: `{"segment":${segment}}` },
      transcripts: [startAfter({ ...emptyTranscript(uuidOf("tides")), parts: sparseSequence(10 * segment) })],
    });
    await index.write([{ ...source("one", []), segments: [start(1, 100), start(2, 200)] }]);
    await index.write([{ ...source("one", []), segments: [start(2, 210)] }]);
    expect(await index.segment("one", 2)).toEqual(start(2, 210));
    expect(await index.segment("one", 3)).toBeUndefined();
    expect(await index.segments()).toEqual([
      { source: "one", segment: 1, version: 3 },
      { source: "one", segment: 2, version: 3 },
    ]);
    const known = await index.segmentsOf("one");
    expect(known.map(({ byte, transcripts }) => [byte, transcripts[0]?.part_count])).toEqual([
      [100, 10],
      [210, 20],
    ]);
    expect(await index.segmentsOf("two")).toEqual([]);
    await index.remove(["one"]);
    expect(await index.segments()).toEqual([]);
  });

  it("adds up steps by session, day and model, at the day's price and in a time zone", async () => {
    const at = (time: string) => Date.parse(time);
    const step = (seq: number, more: Partial<IndexedStep> = {}): IndexedStep => ({
      ...{ seq, active: 1_000, tool_calls: 1, failed: 0 },
      ...more,
    });
    const usage = { input: 1_000_000, output: 0 };
    const steps = [
      step(0, { at: at("2026-11-24T22:30:00Z"), model: "a", usage }),
      step(2, { at: at("2026-11-24T23:30:00Z"), model: "a", usage, failed: 1 }),
      step(4, {
        at: at("2026-11-25T09:00:00Z"),
        model: "a",
        usage: { ...usage, cost: 9, cache_write_1h: 0 },
      }),
      step(6, { at: at("2026-11-25T09:00:00Z"), model: "b", usage }),
      // Counts on the day on which its session began.
      step(8),
    ];
    const written = { started_at: at("2026-11-24T12:00:00Z"), steps, part_count: 10 };
    await index.write([source("one", [session("tides", [part(0, "a"), part(8, "b")], written)])]);
    const sum = async (since = 0, zone = "Europe/Berlin") =>
      (
        await index.usage({
          since,
          zone,
          prices: [
            { model: "a", input: 1, output: 0 },
            { model: "a", from: "2026-11-25", input: 2, output: 0 },
          ],
        })
      )
        .map(({ day, model, steps: count, failed, active, cost }) => [
          ...[day, model, count, failed, active],
          ...[cost.total, cost.unpriced_tokens],
        ])
        .sort((one, other) => String(one.slice(0, 2)).localeCompare(String(other.slice(0, 2))));
    expect(await sum()).toEqual([
      ["2026-11-24", undefined, 1, 0, 1_000, undefined, 0],
      ["2026-11-24", "a", 1, 0, 1_000, 1, 0],
      // 23:30 UTC is the next day in Berlin, at the price of the UTC day.
      ["2026-11-25", "a", 2, 1, 2_000, 10, 0],
      ["2026-11-25", "b", 1, 0, 1_000, undefined, 1_000_000],
    ]);
    expect((await sum(0, "UTC")).map(([day, model, count]) => [day, model, count])).toEqual([
      ["2026-11-24", undefined, 1],
      ["2026-11-24", "a", 2],
      ["2026-11-25", "a", 1],
      ["2026-11-25", "b", 1],
    ]);
    expect(await sum(at("2026-11-25T00:00:00Z"))).toEqual([
      ["2026-11-25", "a", 1, 0, 1_000, 9, 0],
      ["2026-11-25", "b", 1, 0, 1_000, undefined, 1_000_000],
    ]);

    // Steps replace the stored ones from their position on; earlier ones stay.
    const later = [step(5, { at: at("2026-11-26T09:00:00Z"), model: "c" })];
    await index.write([
      source("one", [session("tides", [], { ...written, steps: later, steps_from: 4, part_count: 10 })], "2"),
    ]);
    expect((await sum()).map(([day, model, count]) => [day, model, count])).toEqual([
      ["2026-11-24", "a", 1],
      ["2026-11-25", "a", 1],
      ["2026-11-26", "c", 1],
    ]);
    await index.remove(["one"]);
    expect(await sum()).toEqual([]);
  });

  it("writes only changes", async () => {
    const parts = Array.from({ length: 200 }, (_, seq) => part(seq, `text ${seq}`));
    expect(await index.write([source("one", [session("tides", parts)])])).toEqual({
      written: 200,
      unchanged: 0,
    });
    const grown = [...parts, part(200, "more")];
    grown[70] = { ...part(70, "another text"), id: parts[70]?.id ?? "" };
    expect(await index.write([source("one", [session("tides", grown)], "2")])).toEqual({
      written: 2,
      unchanged: 199,
    });
    expect(await index.parts("one", uuidOf("tides"), 0, 300)).toEqual(grown);
    expect(await found('"another text"')).toEqual(["tides 70"]);
    expect(await found('"text 70"')).toEqual([]);
  });

  it("finds parts with a note, and parts without one", async () => {
    const parts = [part(0, "high water"), part(1, "low water"), part(2, "the moon", { kind: "thought" })];
    await index.write([
      source("one", [session("tides", parts)]),
      source("two", [
        session(
          "moon",
          [part(7, "high noon")].map((one) => ({ ...one, seq: 0 })),
        ),
      ]),
    ]);
    const noted_parts = [1, 2].flatMap((seq) => parts[seq]?.id ?? []).concat(uuidOf("gone"));
    expect(await found("has:note", { noted_parts })).toEqual(["tides 2", "tides 1"]);
    expect(await found("has:note water", { noted_parts })).toEqual(["tides 1"]);
    expect(await found("has:note kind:thought", { noted_parts })).toEqual(["tides 2"]);
    expect((await found("-has:note high", { noted_parts })).sort()).toEqual(["moon 0", "tides 0"]);
    expect(await found("has:note")).toEqual([]);
  });

  it("finds gaps within turns, and turns by their end, newest first", async () => {
    const at = (minutes: number) => NOW + minutes * 60_000;
    const parts = [
      part(0, "a", { started_at: at(0) }),
      part(1, "b", { started_at: at(1), kind: "request" }),
      // A request was open.
      part(2, "c", { started_at: at(30) }),
      part(3, "no time"),
      part(4, "d", { started_at: at(45), byte: 99 }),
      // Between two turns.
      part(5, "e", { started_at: at(99), turn: 1 }),
      part(6, "f", { started_at: at(120), turn: 1 }),
    ];
    const [head] = session("tides", parts).turns;
    if (!head) throw new Error("There is no turn");
    const turns = [
      { ...head, ended_at: at(45) },
      { ...head, index: 1, id: uuidOf("second"), first_seq: 5, status: "failed" as const, ended_at: at(120) },
    ];
    await index.write([
      source("one", [session("tides", parts, { turns })]),
      source("two", [session("moon", [])]),
    ]);
    const gaps = await index.past({ type: "gaps", longer_than: 10 * 60_000 });
    expect(gaps).toMatchObject({ sessions: 2, is_more: false });
    expect(gaps.places).toMatchObject([
      { source: "one", session: { title: "tides" }, part_id: parts[6]?.id, at: at(120), length: 21 * 60_000 },
      { part_id: parts[4]?.id, at: at(45), length: 15 * 60_000 },
    ]);
    expect((await index.past({ type: "gaps", longer_than: 15 * 60_000 })).places).toHaveLength(1);
    const failed = await index.past({ type: "turns", status: "failed" });
    expect(failed.places).toMatchObject([{ part_id: parts[5]?.id, at: at(120) }]);
    expect((await index.past({ type: "turns", status: "interrupted" })).places).toEqual([]);
  });

  it("removes parts and sessions that no longer exist", async () => {
    await index.write([
      source("one", [
        session("tides", [part(0, "stays"), part(1, "vanishes")]),
        session("moon", [part(0, "vanishes")]),
      ]),
    ]);
    await index.write([source("one", [session("tides", [part(0, "stays")])], "2")]);
    expect(await found("vanishes")).toEqual([]);
    expect(await index.sessions()).toHaveLength(1);
    await index.remove(["one"]);
    expect(await index.sources()).toEqual([]);
    expect(await found("stays")).toEqual([]);
  });

  it("takes several updates of a session in one batch, in order", async () => {
    await index.write([
      source("one", [session("tides", [part(0, "alder"), part(1, "birch"), part(2, "cedar")])]),
      source("one", [session("tides", [part(0, "alder"), part(1, "beech")])], "2"),
      source("one", [session("tides", [part(0, "aspen"), part(1, "beech"), part(2, "cherry")])], "3"),
    ]);
    expect(await found("beech")).toEqual(["tides 1"]);
    expect(await found("cherry")).toEqual(["tides 2"]);
    for (const gone of ["alder", "birch", "cedar"]) expect(await found(gone)).toEqual([]);
  });

  it("distinguishes a partly read source from a complete one", async () => {
    await index.write([{ key: "one", sessions: [session("tides", [part(0, "early")])] }]);
    expect(await index.sources()).toEqual([{ key: "one", stamp: "" }]);
    expect(await found("early")).toEqual(["tides 0"]);
  });

  it.each([
    ["getUserById", "const user = await getUserById(7)"],
    ["userbyid", "const user = await getUserById(7)"],
    ["src/a.ts:12", "at handler (src/a.ts:12:5)"],
    ["std::vec", "use std::vec;"],
    ["ENOENT", "Error: ENOENT: no such file"],
    ['"the bold word"', "see the **bold** word here"],
    ["ls", "run ls now"],
    ["größe", "die Größe"],
    ["日本語", "これは日本語です"],
    ["/E[A-Z]+T: no/", "Error: ENOENT: no such file"],
    ["/colou?r{1}s/", "many colors"],
    ["/a|b/", "xbx"],
    ["no such", "Error: ENOENT: no such file"],
  ])("finds %s", async (query, text) => {
    await index.write([source("one", [session("tides", [part(0, "nothing of the kind"), part(1, text)])])]);
    expect(await found(query)).toContain("tides 1");
    const { hits } = await page(query);
    const hit = hits.find(({ part: { seq } }) => seq === 1);
    expect(hit?.snippet.ranges.length).toBeGreaterThan(0);
  });

  it("finds parts with all words, and without excluded ones", async () => {
    const parts = [part(0, "alpha beta"), part(1, "alpha"), part(2, "beta alpha gamma")];
    await index.write([source("one", [session("tides", parts)])]);
    expect(await found("alpha beta")).toEqual(["tides 2", "tides 0"]);
    expect(await found("alpha beta -gamma")).toEqual(["tides 0"]);
  });

  it("filters by fields of rows", async () => {
    const parts = [
      part(0, "needle", { kind: "prompt", mine: true, started_at: NOW - 10 * 86_400_000 }),
      part(1, "needle", { kind: "call", tool: "Bash", status: "failed", started_at: NOW - 86_400_000 }),
      part(2, "needle", { kind: "output", tool: "Bash", status: "ok", started_at: NOW }),
      part(3, "needle", { kind: "thought" }),
    ];
    await index.write([
      source("one", [session("tides", parts, { model: "opus-5" })]),
      source("two", [
        session("moon", [part(0, "needle", { kind: "prompt", mine: true })], {
          agent: "codex",
          is_run: true,
        }),
      ]),
    ]);
    expect(await found("needle kind:thought")).toEqual(["tides 3"]);
    expect(await found("needle kind:tool")).toEqual(["tides 2", "tides 1"]);
    expect(await found("needle tool:bash status:failed")).toEqual(["tides 1"]);
    expect(await found("needle agent:codex")).toEqual(["moon 0"]);
    expect(await found("needle project:tides kind:prompt")).toEqual(["tides 0"]);
    expect(await found("needle model:opus -kind:thought -kind:tool")).toEqual(["tides 0"]);
    expect(await found("needle is:mine")).toEqual(["tides 0"]);
    expect(await found("needle is:run")).toEqual(["moon 0"]);
    expect(await found("needle after:2d")).toEqual(["tides 2", "tides 1"]);
    expect(await found("needle before:2026-11-20")).toEqual(["tides 0"]);
    expect(await found("status:failed")).toEqual(["tides 1"]);
    expect(await found("status:failed status:ok")).toEqual(["tides 2", "tides 1"]);
    expect(await found("kind:tool status:ok")).toEqual(["tides 2"]);
    expect(await found("kind:note kind:thought")).toEqual(["tides 3"]);
    expect(await found("kind:note")).toEqual([]);
    expect(await found("-kind:thought -status:failed session:tides")).toEqual(["tides 2", "tides 0"]);
  });

  it("returns pages, newest first, each hit once", async () => {
    const names = ["first", "second", "third"];
    await index.write(
      names.map((name, n) =>
        source(name, [
          session(
            name,
            Array.from({ length: 5 }, (_, seq) => part(seq, "needle")),
            { last_activity_at: NOW + n },
          ),
        ]),
      ),
    );
    const all: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const { hits, next } = await page("needle", { limit: 4, ...(cursor !== undefined && { cursor }) });
      all.push(...hits.map(({ part: { seq }, session: { title } }) => `${title} ${seq}`));
      cursor = next;
    }
    expect(all).toEqual(names.toReversed().flatMap((name) => [4, 3, 2, 1, 0].map((seq) => `${name} ${seq}`)));
  });

  it("ranks text of people and models above tool output", async () => {
    const parts = [part(0, "needle", { kind: "prompt" }), part(1, "needle", { kind: "output" })];
    await index.write([source("one", [session("tides", parts)])]);
    expect(await found("needle", { sort: "rank" })).toEqual(["tides 0", "tides 1"]);
  });

  it("counts truncated texts", async () => {
    await index.write([
      source("one", [
        session("tides", [part(0, "needle", { full_length: PART_TEXT_LIMIT * 2 }), part(1, "needle")]),
      ]),
    ]);
    const reply = await page("needle is:cut");
    expect(reply).toMatchObject({ cut_parts: 1, sessions: 1, searched: 1 });
    expect(reply.hits).toHaveLength(1);
    expect(reply.next).toBeUndefined();
  });
});

describe("the index file", () => {
  it("has the texts of a batch in one segment of the text index", async () => {
    prepareIndex(path());
    const parts = Array.from({ length: 200 }, (_, seq) => part(seq, `The tide ${seq} comes in.`));
    await open().write(["one", "two"].map((name) => source(name, [session(name, parts)])));
    const database = new DatabaseSync(path(), { readOnly: true });
    // FTS5's own table of the pages of its segments.
    const segments = database.prepare("SELECT count(DISTINCT segid) AS count FROM part_text_idx").get();
    database.close();
    expect(segments?.count).toBe(1);
  });

  it("is recreated if it is damaged or has another version", async () => {
    expect(prepareIndex(path())).toEqual({ rebuilt: false });
    const index = open();
    await index.write([source("one", [session("tides", [part(0, "needle")])])]);
    await index.close();
    opened.pop();
    expect(prepareIndex(path())).toEqual({ rebuilt: false });

    truncateSync(path(), Math.floor(statSync(path()).size / 3));
    expect(prepareIndex(path())).toEqual({ rebuilt: true });
    writeFileSync(path(), "not a database");
    expect(prepareIndex(path())).toEqual({ rebuilt: true });
    expect(await open().sources()).toEqual([]);
    deleteIndex(path());
  });

  it("is searched while it is written", async () => {
    prepareIndex(path());
    const writer = open();
    const reader = openSqliteIndex(path(), { read_only: true });
    opened.push(reader);
    const request = { query: parseSearch("needle", NOW), limit: 9, sort: "newest", budget: 9_999 } as const;
    expect((await reader.search(request)).hits).toEqual([]);
    await writer.write([source("one", [session("tides", [part(0, "needle")])])]);
    expect((await reader.search(request)).hits).toHaveLength(1);
  });
});
