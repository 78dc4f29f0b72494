import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { createLogWriter } from "../../src/server/import/record-logs/log-writer.ts";
import type { Format, ReadRecord, RecordReader } from "../../src/sources/contract.ts";
import { geminiCli } from "../../src/sources/gemini-cli/format.ts";
import { geminiReader } from "../../src/sources/gemini-cli/reader.ts";
import { createLineReader } from "../../src/sources/lines/lines.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { openCode } from "../../src/sources/opencode/format.ts";
import { openCodeReader } from "../../src/sources/opencode/reader.ts";
import { isRecordLog, parseLogLine } from "../../src/sources/record-log/log-line.ts";
import { times } from "../long.ts";
import { sharedData } from "../shared-data.ts";

// Properties of agents whose sessions are rows, documents, or rewritten lines.

const scratch = mkdtempSync(join(tmpdir(), "stored-sessions-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Session {
  name: string;
  format: Format;
  path: string;
}

let folders = 0;
/** The logs of a store, which is copied first, because nothing may be written beside the original. */
function logsOf(format: Format, store: string): Session[] {
  folders += 1;
  const folder = join(scratch, String(folders));
  const copy = join(scratch, `store-${folders}`, store.split("/").slice(-2).join("/"));
  cpSync(store, copy, { recursive: true });
  if (format.snapshots === undefined) throw new Error(`${format.id} has no stores`);
  createLogWriter().update({ agent: format.id, snapshots: format.snapshots, store: copy, folder });
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(isRecordLog)
    .map((name) => ({ name: `${format.id} ${name}`, format, path: join(folder, name) }));
}

const below = (folder: string | undefined, end: string): string[] =>
  folder === undefined
    ? []
    : readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(end))
        .map((name) => join(folder, name))
        .sort();

const corpus = sharedData("corpus");
const sessions: Session[] =
  corpus === undefined
    ? []
    : [
        ...below(join(corpus, "recorded/opencode/.local"), "opencode.db").flatMap((path) =>
          logsOf(openCode, path),
        ),
        ...logsOf(openCode, join(corpus, "opencode/Xuanwo-xurl/opencode.db")),
        ...logsOf(openCode, copyAs("storage", join(corpus, "opencode/storage_v2"))),
        ...below(join(corpus, "recorded/gemini"), ".jsonl").map((path) => ({
          name: path.slice(corpus.length),
          format: geminiCli,
          path,
        })),
        ...below(join(corpus, "gemini-cli"), ".jsonl").map((path) => ({
          name: path.slice(corpus.length),
          format: geminiCli,
          path,
        })),
        ...below(join(corpus, "gemini-cli"), ".json").flatMap((path) => logsOf(geminiCli, path)),
      ];

function copyAs(name: string, folder: string): string {
  const copy = join(scratch, name);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

const bytesOf = ({ path }: Session) => new Uint8Array(readFileSync(path));
function readAll(
  { format, path }: Pick<Session, "format" | "path">,
  pieces: readonly Uint8Array[],
): ReadRecord[] {
  const reader = format.createReader({ path });
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.close()];
}
function fold(records: readonly ReadRecord[]): Transcript {
  let transcript: Transcript | undefined;
  for (const frame of records.flatMap(({ frames }) => frames))
    transcript = accumulate(transcript ?? emptyTranscript(frame.session_id), frame);
  return transcript ?? emptyTranscript("00000000-0000-8000-8000-000000000000");
}
const partsOf = (transcript: Transcript): TranscriptPart[] =>
  [...transcript.parts].filter((part) => part !== undefined);

describe.skipIf(!corpus)(
  "every real session of opencode and Gemini CLI (skipped without the shared data)",
  () => {
    it.each(sessions)("accounts for every record: $name", (session) => {
      const bytes = bytesOf(session);
      expect(session.format.detect(bytes.subarray(0, 65_536))).toBe(true);
      const records = readAll(session, [bytes]);
      const lines = new TextDecoder().decode(bytes).trimEnd().split("\n").length;
      expect(new Set(records.map(({ place }) => place.line)).size).toBe(lines);
      expect(records.filter(({ disposition }) => disposition.kind === "unreadable")).toEqual([]);
      const checker = createOrderChecker();
      const violations = records
        .flatMap(({ frames }) => frames)
        .flatMap((frame) => checker.check(frame))
        .filter(({ rule }) => rule !== "orphan_result" && rule !== "end_after_interrupt");
      expect(violations).toEqual([]);
      const parts = partsOf(fold(records));
      expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
      expect(parts.filter((part) => part.type === "unknown")).toEqual([]);
    });

    it.each(sessions)("is the same for all chunk boundaries: $name", (session) => {
      const bytes = bytesOf(session);
      const whole = JSON.stringify(readAll(session, [bytes]));
      for (let part = 1; part < 12; part += 1) {
        const at = Math.floor((bytes.length * part) / 12) + part;
        expect(JSON.stringify(readAll(session, [bytes.subarray(0, at), bytes.subarray(at)])) === whole).toBe(
          true,
        );
      }
    });

    it.each(sessions)("shows damaged, unknown and torn records, and the rest unchanged: $name", (session) => {
      const text = new TextDecoder().decode(bytesOf(session));
      const lines = text.trimEnd().split("\n");
      const middle = Math.max(2, Math.floor(lines.length / 2));
      const odd = [
        ...lines.slice(0, middle),
        "{damaged",
        '{"never":"seen"}',
        ...lines.slice(middle),
        '{"torn":',
      ];
      const records = readAll(session, [new TextEncoder().encode(`${odd.join("\n")}`)]);
      const unknown = partsOf(fold(records)).filter((part) => part.type === "unknown");
      expect(unknown).toHaveLength(3);
      const others = (all: readonly ReadRecord[]) =>
        partsOf(fold(all)).flatMap(({ type, id }) => (type === "unknown" ? [] : [`${type} ${id}`]));
      const wanted = isRecordLog(session.path) ? others : (all: readonly ReadRecord[]) => others(all).length;
      expect(wanted(records)).toEqual(wanted(readAll(session, [new TextEncoder().encode(text)])));
    });
  },
);

/** Reads each record with a state that was serialized before it, like a reader that stops and resumes. */
function resumed<State>(
  reader: RecordReader<State>,
  { format, path }: Session,
  bytes: Uint8Array,
): unknown[] {
  let state = reader.initialState({ path, isInside: false });
  const read: unknown[] = [];
  const records = createLineReader();
  for (const line of [...records.push(bytes), ...records.close()]) {
    if (line.value === undefined) continue;
    const entry = isRecordLog(path) ? parseLogLine(line) : undefined;
    if (entry !== undefined && entry.kind !== "record") continue;
    const place = { file: path, ...line.place };
    const own = { key: String(line.place.byte), revision: "", place, value: line.value, text: line.text };
    // Parsed JSON has the state's type.
    state = JSON.parse(JSON.stringify(state)) as State;
    read.push(reader.read(state, entry?.record ?? own).frames);
  }
  expect(JSON.stringify(state).length, format.id).toBeLessThan(256 * 1024);
  return read;
}

describe.skipIf(!corpus)("interrupted and resumed reading (skipped without the shared data)", () => {
  it.each(sessions)("returns the same frames: $name", (session) => {
    const bytes = bytesOf(session);
    const whole = readAll(session, [bytes]).filter(({ place }) => place.length > 0);
    const frames = whole.map((record) => record.frames);
    if (isRecordLog(session.path)) frames.splice(0, 1);
    const again =
      session.format === openCode
        ? resumed(openCodeReader, session, bytes)
        : resumed(geminiReader, session, bytes);
    expect(JSON.stringify(again) === JSON.stringify(frames)).toBe(true);
  });
});

// --- The order that was played ------------------------------------------------------------------------------------------

/** The steps of the scripted model, by scenario. */
function played(): Map<string, string[]> {
  const index = sharedData("corpus", "recorded", "INDEX-others.tsv");
  const rows = index === undefined ? [] : readFileSync(index, "utf8").split("\n");
  const known = new Map<string, string[]>();
  for (const row of rows.filter((each) => /^(?:gemini|opencode)\/\./.test(each))) {
    const agent = row.startsWith("gemini") ? "gemini" : "opencode";
    for (const turn of (row.split("\t")[6] ?? "").split(" || ")) {
      const [, name, steps = ""] = /^user ([\w-]+): (.*)$/.exec(turn.trim()) ?? [];
      if (name !== undefined) known.set(`${agent}-${name}`, steps.split(" / "));
    }
  }
  return known;
}

/** Each turn of a scenario, with its steps. */
function turnsOf(transcript: Transcript): { scenario: string; status: string; steps: string[] }[] {
  const parts = partsOf(transcript);
  return [...transcript.turns].flatMap((turn) => {
    if (turn === undefined) return [];
    const own = parts.slice(turn.first_part, turn.first_part + turn.part_count);
    const [, scenario] = /\[\[scenario:([\w-]+)\]\]/.exec(turn.title ?? "") ?? [];
    if (scenario === undefined) return [];
    const steps = new Map<number, string[]>();
    for (const part of own) {
      const word =
        part.type === "thinking"
          ? "think"
          : part.type === "text"
            ? "text"
            : part.type === "tool_call"
              ? `call:${part.tool_name}`
              : "";
      if (word === "" || part.step === undefined) continue;
      steps.set(part.step, [...(steps.get(part.step) ?? []), word]);
    }
    return [{ scenario, status: turn.status, steps: [...steps.values()].map((step) => step.join(" ")) }];
  });
}

describe.skipIf(!corpus)("the order that the model played (skipped without the shared data)", () => {
  const known = played();
  const turns = sessions.flatMap((session) =>
    turnsOf(fold(readAll(session, [bytesOf(session)]))).map((turn) => ({ ...turn, name: session.name })),
  );
  const told = turns.filter(({ scenario }) => known.has(scenario));
  it("is known of every recorded prompt", () => {
    expect(turns.length).toBeGreaterThan(15);
    expect(turns.filter(({ scenario }) => !known.has(scenario) && !scenario.includes("-child-"))).toEqual([]);
  });
  it.each(told)("equals the order of the parts: $scenario in $name", ({ scenario, status, steps }) => {
    const wanted = known.get(scenario) ?? [];
    if (scenario.endsWith("-long")) {
      expect(steps.slice(0, 3)).toEqual(wanted.slice(0, 3));
      expect(steps).toHaveLength(15);
      expect(steps.at(-1)).toBe("text");
      return;
    }
    const said = wanted
      .filter((step) => !step.startsWith("("))
      .map((step) => step.replace(" (stalls) text", ""));
    if (scenario.endsWith("-failure")) expect(steps).toEqual(said);
    else if (status === "completed" && !scenario.includes("slow")) expect(steps).toEqual(said);
    // A stopped turn is a prefix of the played steps. A cancelled call is a separate message.
    else expect(said.join(" ").startsWith(steps.join(" "))).toBe(true);
  });
  it("links calls to the runs that they started", () => {
    for (const format of [openCode, geminiCli]) {
      const facts = sessions
        .filter((session) => session.format === format)
        .flatMap((session) => {
          const reader = format.createReader({ path: session.path });
          reader.push(bytesOf(session));
          return reader.linkFacts().sessions;
        });
      const runs = facts.filter(({ run }) => run !== undefined);
      expect(runs.length).toBeGreaterThanOrEqual(2);
      const linked = linkRuns(facts).filter(({ tool_call_id }) => tool_call_id !== undefined);
      expect(new Set(linked.map(({ tool_call_id }) => tool_call_id)).size).toBe(runs.length);
    }
  });
});

// --- Documents ----------------------------------------------------------------------------------------------------------

const shape = (transcript: Transcript) =>
  partsOf(transcript).map(({ type, id, retracted }) => `${type} ${id} ${retracted ?? ""}`);

describe.skipIf(!corpus)("a document that grows (skipped without the shared data)", () => {
  it("is the same whether it is followed or read at once", () => {
    const steps = below(sharedData("corpus", "gemini-cli", "growth"), ".json");
    expect(steps).toHaveLength(3);
    const snapshots = geminiCli.snapshots;
    if (snapshots === undefined) throw new Error("no snapshots");
    const store = join(scratch, "growing.json");
    const writer = createLogWriter();
    const folder = join(scratch, "growing");
    for (const step of steps) {
      writeFileSync(store, readFileSync(step));
      writer.update({ agent: geminiCli.id, snapshots, store, folder });
    }
    const read = (of: string) => {
      const [log] = below(of, ".records.jsonl");
      if (log === undefined) throw new Error("no log");
      return fold(readAll({ format: geminiCli, path: log }, [new Uint8Array(readFileSync(log))]));
    };
    const followed = read(folder);
    createLogWriter().update({ agent: geminiCli.id, snapshots, store, folder: join(scratch, "at-once") });
    expect(shape(followed)).toEqual(shape(read(join(scratch, "at-once"))));
    expect(partsOf(followed).length).toBeGreaterThan(8);
  });
});

const REWRITES = times(40, 200);
it(`logs only the changes of a document of 5 MB that is rewritten ${REWRITES} times`, () => {
  const { snapshots } = geminiCli;
  if (snapshots === undefined) throw new Error("no snapshots");
  const messages: object[] = Array.from({ length: 500 }, (_, n) => ({
    id: `m${n}`,
    timestamp: "2026-01-01T00:00:00Z",
    type: n % 2 === 0 ? "user" : "gemini",
    content: `${n} ${"x".repeat(10_000)}`,
  }));
  const store = join(scratch, "large.json");
  const folder = join(scratch, "large");
  const writer = createLogWriter();
  for (let n = 0; n < REWRITES; n += 1) {
    // The first version of each pair lacks a field of the second.
    const id = `n${n >> 1}`;
    const tokens = n % 2 === 1 ? { tokens: { input: 1, output: 1 } } : {};
    const message = { id, type: "gemini", content: `Answer ${id} ${"y".repeat(1_000)}`, ...tokens };
    if (n % 2 === 1) messages.pop();
    messages.push(message);
    writeFileSync(store, JSON.stringify({ sessionId: "s", projectHash: "p", messages }, undefined, 2));
    writer.update({ agent: geminiCli.id, snapshots, store, folder });
  }
  const [log = ""] = below(folder, ".records.jsonl");
  expect(statSync(store).size).toBeGreaterThan(5_000_000);
  expect(statSync(log).size).toBeLessThan(1.5 * statSync(store).size);
  const parts = partsOf(fold(readAll({ format: geminiCli, path: log }, [new Uint8Array(readFileSync(log))])));
  expect(parts.filter((part) => part.type === "text")).toHaveLength(250 + REWRITES / 2);
}, 120_000);

it("a sub-agent of Gemini CLI that returned its result has completed", () => {
  const at = "2026-11-20T23:39:06.836Z";
  const call = (status: string) => ({
    ...{ id: "m2", timestamp: at, type: "gemini", content: "", model: "m" },
    toolCalls: [{ id: "c1", name: "complete_task", args: {}, status, timestamp: at, result: [] }],
  });
  const statusAfter = (...records: object[]) => {
    const reader = geminiCli.createReader({
      path: "/h/.gemini/tmp/p/chats/parent/c0ffee00-0000-4000-8000-000000000001.jsonl",
    });
    const lines = [
      { sessionId: "c0ffee00-0000-4000-8000-000000000001", startTime: at, kind: "subagent" },
      { id: "m1", timestamp: at, type: "user", content: "Count the lines" },
      ...records,
    ];
    const frames = reader
      .push(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")))
      .flatMap((record) => record.frames);
    const [first] = frames;
    if (first === undefined) throw new Error("no frames");
    return frames.reduce(accumulate, emptyTranscript(first.session_id)).turns.at(0)?.status;
  };
  expect(statusAfter(call("success"))).toBe("completed");
  expect(statusAfter(call("error"))).toBe("running");
});
