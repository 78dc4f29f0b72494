import { describe, expect, it } from "vitest";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { show } from "../../src/server/cli/show-files.ts";
import type { Format, RecordReader } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { createLineReader } from "../../src/sources/lines/lines.ts";
import { parseLogLine } from "../../src/sources/record-log/log-line.ts";
import { times } from "../long.ts";
import { orderOf, type ReadSession, readSession } from "./record-laws.ts";
import { encode, joined, type SourceFixture, sourceFixtures, unknownLine } from "./source-fixtures.ts";

// Properties of the sessions of every agent. A new source is included through its fixtures.

/** By file, the order of its parts (`orderOf`) and how its turns ended. The others are in the tests of their agents. */
const ORDERS: Readonly<Record<string, { order: string; statuses: string }>> = {
  "aider/tide.records.jsonl": {
    order: "[note] U [note] U x [note] | x U [error] U [interrupt]",
    statuses: "completed completed failed interrupted",
  },
  "amp/T-019b9d03-62e3-772f-9780-3e637f90eaec.records.jsonl": {
    order: "U x U x U x",
    statuses: "completed completed completed",
  },
  "atif/terminus.records.jsonl": {
    order: "[context] U T x c:bash c:read_file [note] | x ??",
    statuses: "completed",
  },
  "chat-messages/sums.records.jsonl": {
    order: "[context] U T c:add | x",
    statuses: "completed",
  },
  "cline-vscode/1767261600000.records.jsonl": {
    order: "U c:read_file [note] | x",
    statuses: "completed",
  },
  "cline/1_a.records.jsonl": {
    order: "U x U x | x",
    statuses: "completed completed",
  },
  "continue/cli.records.jsonl": {
    order: "[context] U x c:Read c:Bash! | x U [note] U x U c:Write- [compaction] U x",
    statuses: "completed completed completed interrupted completed",
  },
  "continue/extension.records.jsonl": {
    order:
      "[note] [context] U T x c:run_terminal_command c:single_find_and_replace! | T x [compaction] [note] U c:create_new_file?",
    statuses: "completed failed",
  },
  "copilot-chat/331fed7f-cfd6-409c-8502-06a56322b636.records.jsonl": {
    order:
      "[context] U [note] T x c:read_file c:run_in_terminal- c:runSubagent | x c:replace_string_in_file | x c:get_errors- [context] [context] U x [interrupt] U [note] [error] U ?? x U c:list_dir | x",
    statuses: "completed interrupted failed completed completed",
  },
  "crush/5e6f7a8b-9c0d-4e1f-8a2b-3c4d5e6f7a8b.records.jsonl": {
    order: "U T x c:bash c:edit u | c:agent | x [compaction] U [note] U c:view- [interrupt]",
    statuses: "completed completed interrupted",
  },
  "cursor/3b1d2e3f-4a5b-4c6d-8e7f-901234567890.records.jsonl": {
    order: "[context] [context] U T T x c:Shell c:Read! | x",
    statuses: "completed",
  },
  "cursor-ide/5d0c9a71-3b42-4f6e-9a18-27c4e1f0b6d3.records.jsonl": {
    order: "[context] U T c:run_terminal_command_v2 | c:search_replace c:delete_file- | x U x U [error]",
    statuses: "completed completed failed",
  },
  "gemini-cli/tmp/tide/chats/session-2026-10-05T08-00-8f0e1d2c.jsonl": {
    order:
      "[context] U T x c:read_file c:run_shell_command! | x c:replace | x [note] U x [rewind] U [error] ?? ??",
    statuses: "completed completed running",
  },
  "goose/20251109_3.records.jsonl": {
    order: "U x c:developer__shell | x [context] U",
    statuses: "completed failed",
  },
  "hermes/20260504_070000_a1b2c3.records.jsonl": {
    order: "[context] U T x c:terminal! c:terminal- | T c:patch c:delegate_task | x [context] U x |",
    statuses: "completed completed",
  },
  "inspect/arithmetic.records.jsonl": {
    order: "[note] [context] U T x c:bash! [note] | x ?? [note]",
    statuses: "completed",
  },
  "kiro/3f2b8c1e-9d7a-4e6b-b1c2-0a9f8e7d6c5b.records.jsonl": {
    order:
      "[compaction] [context] U x c:fs_read c:execute_bash! | x c:fs_write | x U c:github___create_release- U x",
    statuses: "completed interrupted completed",
  },
  "opencode/ses_tide.records.jsonl": {
    order: "U T x c:bash c:bash! | x U x",
    statuses: "completed completed",
  },
  "openhands/3f0a1c520d6e4a779a106b1f2c3d4e5f.records.jsonl": {
    order: "[context] U T x c:terminal c:file_editor! c:terminal- | x [compaction] [interrupt] ??",
    statuses: "completed",
  },
  "roo-code/0f1e2d3c-4b5a-4968-8776-655443322110.records.jsonl": {
    order: "[context] U [note] T x c:read_file c:execute_command- [context] ?? | c:attempt_completion U",
    statuses: "completed failed",
  },
  "swe-agent/swe_main.records.jsonl": {
    order: "[context] [context] U x c:bash | x c:submit [note]",
    statuses: "completed",
  },
  "verbatim/7c8d9e0f-1a2b-4c3d-8e4f-506172839405.jsonl": {
    order:
      "U [context] T x c:view c:edit c:bash- c:github-search c:task [note] u | T x x [compaction] | U [note] [model_switch] [note] U x c:bash? | [interrupt] [note] [note] [context] [hook] [notification] [compaction] [note] [note] [context] U [error] r ??",
    statuses: "completed completed interrupted failed",
  },
  "vibe/session_20260601_100000_1b2c3d4e.records.jsonl": {
    order: "[context] U T x c:bash c:task- | [context] | x U x",
    statuses: "completed completed",
  },
  "zed/0a1b2c3d-0001-4002-8003-aabbccddeeff.records.jsonl": {
    order: "[context] U T x c:terminal! c:edit_file c:delete_path- | x U x [compaction] U [note] x",
    statuses: "completed completed completed",
  },
};

const read = ({ format, path }: SourceFixture, ...pieces: Uint8Array[]): ReadSession =>
  readSession(format, path, pieces);

/** Rules that hide a record whatever it is. */
const HIDES_ALL = /^(?:history copied from another session|warm-up of a sub-agent|helper of a compaction)$/;

/** Without the `undefined` members of plain objects, which a reader's state may have. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutUndefined(member)]));
}

const json = ({ records }: ReadSession): string => JSON.stringify(records);

/** The content in order, without ids and places, which depend on preceding lines. */
function contentOf(parts: readonly TranscriptPart[]): string[] {
  return parts
    .filter(({ type }) => !["unknown", "step_start", "step_finish"].includes(type))
    .map((part) => {
      switch (part.type) {
        case "text":
          return `text ${part.text}`;
        case "thinking":
          return `thinking ${part.thinking}`;
        case "tool_call":
          return `call ${part.tool_name} ${part.arguments_json}`;
        case "tool_result":
          return `result ${part.status} ${part.output_text}`;
        case "marker":
          return `${part.kind} ${part.title} ${part.text ?? ""}`;
        case "prompt":
          return `prompt ${JSON.stringify(part.parts)}`;
        default:
          return part.type;
      }
    });
}

const unknownsOf = ({ parts }: ReadSession) => parts.filter(({ type }) => type === "unknown");

const recordReaderOf = (format: Format): RecordReader<unknown> | undefined =>
  // `recordLinesFormat` keeps the reader of every format that it creates.
  "reader" in format ? (format.reader as RecordReader<unknown>) : undefined;

it("the fixtures have a session of every source", () => {
  const known = new Set(sourceFixtures.map(({ format }) => format.id));
  expect(formats.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([]);
});

describe.each(sourceFixtures)("$name", (fixture) => {
  const { format, path, text, lines } = fixture;
  const bytes = encode(text);
  const whole = read(fixture, bytes);

  it.runIf(fixture.name in ORDERS)("shows its parts in the order of its records", () => {
    const statuses = whole.transcripts.flatMap(({ turns }) => [...turns].map((turn) => turn?.status));
    expect({ order: orderOf(whole.parts), statuses: statuses.join(" ") }).toEqual(ORDERS[fixture.name]);
  });

  it("keeps the order of frames", () => {
    const checker = createOrderChecker();
    const violations = whole.records
      .flatMap(({ frames }) => frames)
      .flatMap((frame) => checker.check(frame))
      .filter(({ rule }) => rule !== "orphan_result");
    expect(violations).toEqual([]);
  });

  it("is the same byte by byte, and split in two before and after every line", () => {
    const wanted = json(whole);
    expect(json(read(fixture, ...Array.from(bytes, (byte) => Uint8Array.of(byte)))) === wanted).toBe(true);
    const borders = Array.from(bytes).flatMap((byte, at) => (byte === 10 ? [at, at + 1] : []));
    const step = Math.ceil(borders.length / times(16, borders.length));
    for (const at of borders.filter((_, index) => index % step === 0))
      expect(json(read(fixture, bytes.subarray(0, at), bytes.subarray(at))) === wanted).toBe(true);
  });

  it("is the same with a settle after every chunk", () => {
    const reader = format.createReader({ path });
    const records = lines.flatMap((line) => [
      ...reader.push(encode(line)),
      ...reader.settle(),
      ...reader.push(encode("\n")),
    ]);
    records.push(...reader.close());
    if (recordReaderOf(format) !== undefined) expect(JSON.stringify(records) === json(whole)).toBe(true);
    // Other readers buffer some records until more is known, which is not possible then.
    expect(records.length).toBeGreaterThanOrEqual(lines.length);
  });

  it("has `--accounting` figures that add up to its lines", async () => {
    const written: string[] = [];
    const status = await show({
      files: [path],
      formats,
      as: "accounting",
      write: async (piece) => void written.push(piece),
      warn: (problem) => written.push(problem),
    });
    expect(status, written.join("")).toBe(0);
    const { hidden, ...figures } = JSON.parse(written.join("")) as Record<string, number> & {
      hidden: Record<string, number>;
    };
    expect(figures.lines).toBe(lines.length);
    const sum = [
      figures.shown,
      figures.folded,
      figures.unknown,
      figures.unreadable,
      ...Object.values(hidden),
    ];
    expect(sum.reduce((one = 0, other = 0) => one + other, 0)).toBe(lines.length);
  });

  it("shows an unknown record at any position", () => {
    for (let at = 1; at <= lines.length; at += 1) {
      const with_odd = read(
        fixture,
        joined([...lines.slice(0, at), unknownLine(fixture), ...lines.slice(at)]),
      );
      const odd = with_odd.records.find(({ place }) => place.line === at + 1 && place.length > 0);
      // In the copied history of another session, everything is hidden.
      if (odd?.disposition.kind === "hidden") expect(odd.disposition.rule).toMatch(HIDES_ALL);
      else expect(odd?.disposition.kind, `after line ${at}`).toBe("unknown");
      const added = odd?.disposition.kind === "hidden" ? 0 : 1;
      expect(unknownsOf(with_odd).length, `after line ${at}`).toBe(unknownsOf(whole).length + added);
    }
  });

  it("shows a damaged line in its place, and the rest unchanged", () => {
    const content = contentOf(whole.parts);
    for (let at = 1; at <= lines.length; at += 1) {
      const damaged = read(fixture, joined([...lines.slice(0, at), "{damaged", ...lines.slice(at)]));
      const line = damaged.records.find(({ place }) => place.line === at + 1 && place.length > 0);
      expect(line?.disposition.kind, `after line ${at}`).toBe("unreadable");
      const places = unknownsOf(damaged).map(({ source }) => linePlace(source)?.line);
      expect(places, `after line ${at}`).toContain(at + 1);
      if (recordReaderOf(format) !== undefined)
        expect(contentOf(damaged.parts), `after line ${at}`).toEqual(content);
      // For Codex, the next record may determine how a record is read.
      else expect(contentOf(damaged.parts), `after line ${at}`).toHaveLength(content.length);
    }
  });

  it("shows a torn last line as unreadable, and the complete record once the rest is written", () => {
    const last = encode(lines.at(-1) ?? "");
    const before = joined(lines.slice(0, -1));
    const at = Math.floor(last.length / 2);
    const torn = read(fixture, before, last.subarray(0, at));
    expect(torn.records.filter(({ disposition }) => disposition.kind === "unreadable")).toHaveLength(
      whole.records.filter(
        ({ disposition, place }) => disposition.kind === "unreadable" && place.line < lines.length,
      ).length + 1,
    );
    const grown = read(fixture, before, last.subarray(0, at), last.subarray(at), encode("\n"));
    expect(json(grown) === json(whole)).toBe(true);
  });

  const reader = recordReaderOf(format);
  it.runIf(reader !== undefined)("resumes from its JSON state after any record, and after any end", () => {
    if (reader === undefined) return;
    const kept = reader.initialState({ path, isInside: false });
    let saved: unknown = structuredClone(kept);
    const source = createLineReader();
    for (const line of [...source.push(bytes), ...source.close()]) {
      if (line.value === undefined) continue;
      const entry = fixture.isLog ? parseLogLine(line) : undefined;
      if (fixture.isLog && entry?.kind !== "record") continue;
      const own = {
        key: String(line.place.byte),
        revision: "",
        place: { file: path, ...line.place },
        value: line.value,
        text: line.text,
      };
      const record = entry?.kind === "record" ? entry.record : own;
      const expected = reader.read(kept, record);
      saved = JSON.parse(JSON.stringify(saved));
      expect(reader.read(saved, structuredClone(record))).toEqual(expected);
      expect(JSON.parse(JSON.stringify(saved)), "a member that is no JSON").toStrictEqual(
        withoutUndefined(saved),
      );
      expect(reader.end(structuredClone(saved))).toEqual(reader.end(structuredClone(kept)));
    }
    expect(JSON.stringify(kept).length).toBeLessThan(64 * 1024);
  });
});
