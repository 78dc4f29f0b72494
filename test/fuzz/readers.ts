import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { Format, ReadRecord } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { createLineReader, type LineRecord } from "../../src/sources/lines/lines.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { isRecordLog, parseLogLine } from "../../src/sources/record-log/log-line.ts";
import { anyCharacter } from "../any-character.ts";
import { readResumed } from "../sources/resumed.ts";
import { cutPlaces, damaged, damages, pieces } from "./damage.ts";
import { expectFramesInOrder, foldLawfully, same } from "./laws.ts";
import { type TargetList, target } from "./target.ts";

/** Maximum number of lines and characters per case: cases must be quick, so that many can be tried. */
const LINES = 60;
const CHARACTERS = 200_000;
const LARGEST_FILE = 2 << 20;

interface SessionFile {
  path: string;
  lines: string[];
}

const cuts = fc.array(fc.nat(200_000), { maxLength: 6 });
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export const readerTargets: TargetList = (watch, { sessions }) => {
  const files = sessions.flatMap(sessionFiles);
  return [
    target(watch, "lines", fc.record({ text: anyLines(files), cuts }), ({ text, cuts: at }) =>
      expectLines(bytesOf(text), at),
    ),
    ...formats
      .filter((format) => files.some((file) => belongs(format, file)))
      .map((format) =>
        target(
          watch,
          `reader ${format.id}`,
          fc.record({ text: excerpt(files.filter((file) => belongs(format, file))), cuts }),
          ({ text, cuts: at }) => expectRead(format, bytesOf(text), at),
        ),
      ),
  ];
};

function sessionFiles(folder: string): SessionFile[] {
  return (
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      // Verbatim itself writes record logs: `hostile.ts` changes the agent's records in them.
      .filter((path) => path.endsWith(".jsonl") && !isRecordLog(path))
      .filter((path) => statSync(path).isFile() && statSync(path).size < LARGEST_FILE)
      .sort()
      .map((path) => ({ path, lines: readFileSync(path, "utf8").trimEnd().split("\n") }))
  );
}

function belongs(format: Format, { lines }: SessionFile): boolean {
  return format.detect(bytesOf(lines.join("\n").slice(0, 65_536)));
}

/** A damaged excerpt of one file, or of two files in one. */
function excerpt(files: readonly SessionFile[]): fc.Arbitrary<string> {
  const stretch = fc.record({ file: fc.nat(files.length - 1), from: fc.nat(5_000), head: fc.boolean() });
  return fc
    .record({ stretches: fc.array(stretch, { minLength: 1, maxLength: 2 }), damage: damages })
    .map(({ stretches, damage }) => {
      const lines = stretches.flatMap(({ file, from, head }) => {
        const all = files[file]?.lines ?? [];
        const start = head ? 0 : from % Math.max(1, all.length);
        return all.slice(start, start + LINES);
      });
      return damaged(lines, damage).slice(0, CHARACTERS);
    });
}

function anyLines(files: readonly SessionFile[]): fc.Arbitrary<string> {
  const scraps = fc.array(
    fc.oneof(
      fc.constantFrom(
        "{",
        "}",
        '"',
        "\\",
        "\n",
        "\r\n",
        "\u0000",
        "[",
        "]",
        ":",
        ",",
        " ",
        "\ufeff",
        '{"a":1}',
        "}{",
      ),
      fc.string({ unit: anyCharacter, maxLength: 6 }),
      fc.json({ maxDepth: 2 }),
    ),
    { maxLength: 80, size: "max" },
  );
  return fc.oneof(
    scraps.map((all) => all.join("")),
    excerpt(files).map((text) => text.slice(0, 20_000)),
  );
}

function readLines(chunks: readonly Uint8Array[], settle: boolean): LineRecord[] {
  const reader = createLineReader();
  const records = chunks.flatMap((chunk) => [...reader.push(chunk), ...(settle ? reader.settle() : [])]);
  return [...records, ...reader.close()];
}

/** Every byte except white space is in exactly one record, every line has a record, and chunk boundaries do not matter. */
function expectLines(bytes: Uint8Array, at: readonly number[]): void {
  const whole = readLines([bytes], false);
  same(readLines(pieces(bytes, at), false), whole, "cuts change the records");
  const newlines = bytes.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
  const lines = new Set(whole.map(({ place }) => place.line));
  assert.equal(
    lines.size,
    newlines + (bytes.length > 0 && bytes.at(-1) !== 0x0a ? 1 : 0),
    "lines without a record",
  );
  for (const records of [whole, readLines(pieces(bytes, at), true)]) {
    let end = 0;
    const skipped: number[] = [];
    for (const { place } of records) {
      assert.ok(place.byte >= end, "records overlap");
      skipped.push(...bytes.subarray(end, place.byte));
      end = place.byte + place.length;
    }
    skipped.push(...bytes.subarray(end));
    const lost = skipped.filter(
      (byte, index) => ![0x20, 0x09, 0x0d, 0x0a].includes(byte) && !(index < 3 && bytes[0] === 0xef),
    );
    assert.deepEqual(lost, [], "bytes in no record");
  }
}

function pathFor(format: Format, isLog: boolean): string {
  return `fuzz/${format.id}/019f2023-0000-7000-8000-000000000001${isLog ? ".records" : ""}.jsonl`;
}

/** `isLog`: the bytes are a record log, which a reader recognizes by its path. */
function read(
  format: Format,
  chunks: readonly Uint8Array[],
  isLog: boolean,
): { records: ReadRecord[]; end: ReadRecord[] } {
  const reader = format.createReader({ path: pathFor(format, isLog) });
  const records = chunks.flatMap((chunk) => reader.push(chunk));
  const end = reader.close();
  linkRuns(reader.linkFacts().sessions);
  return { records, end };
}

/**
 * Each record of the file is returned once and in order, the result is valid, and it depends neither on chunk boundaries nor on where
 * reading was stopped and resumed.
 */
export function expectRead(format: Format, bytes: Uint8Array, at: readonly number[]): void {
  const isLog = isLogged(bytes);
  const whole = read(format, [bytes], isLog);
  const records = [...whole.records, ...whole.end];
  const inPieces = read(format, pieces(bytes, at), isLog);
  same([...inPieces.records, ...inPieces.end], records, "cuts change what is read");
  const resumed = readResumed(format, pathFor(format, isLog), bytes, cutPlaces(bytes.length, at));
  same(resumed.records, records, "resuming changes what is read");

  const lines = readLines([bytes], false).filter((record) => record.blank !== true);
  const places = records
    .filter(({ place }) => place.length > 0)
    .map(({ place }) => `${place.byte}+${place.length}`);
  const expected = lines.map(({ place }) => `${place.byte}+${place.length}`);
  const told = new Set(places);
  const uncounted = expected.filter((place) => !told.has(place));
  assert.deepEqual(uncounted, [], "records without a disposition");
  const frames = records.flatMap((record) => record.frames);
  expectFramesInOrder(frames);
  const transcripts = foldLawfully(frames);
  const sources = new Set<number>();
  for (const transcript of transcripts.values()) {
    for (const part of transcript.parts) {
      const place = linePlace(part?.source);
      if (place !== undefined) sources.add(place.byte);
    }
  }
  const keys = isLog ? logKeys(bytes) : new Map<number, string>();
  const shownKeys = new Set([...sources].flatMap((byte) => keys.get(byte) ?? []));
  for (const { place, disposition } of records) {
    if (place.length === 0 || !["shown", "unknown", "unreadable"].includes(disposition.kind)) continue;
    assert.ok(
      sources.has(place.byte) || shownKeys.has(keys.get(place.byte) ?? ""),
      `${disposition.kind}, yet in no part: line ${place.line} of ${basename(format.id)}`,
    );
  }
}

/** Whether any line is the header of a record log. */
function isLogged(bytes: Uint8Array): boolean {
  return readLines([bytes], false).some(
    (line) => line.value !== undefined && parseLogLine(line)?.kind === "header",
  );
}

/** The key of each record of a log, by its offset. The part of a repeated record is at the first one. */
function logKeys(bytes: Uint8Array): Map<number, string> {
  const keys = new Map<number, string>();
  for (const line of readLines([bytes], false)) {
    const entry = line.value === undefined ? undefined : parseLogLine(line);
    if (entry?.kind === "record") keys.set(line.place.byte, entry.record.key);
  }
  return keys;
}
