import { join } from "node:path";
import { createReading } from "../src/server/import/reading.ts";
import type { Format } from "../src/sources/contract.ts";
import { decodeAndParse, parse } from "./index-floor.ts";
import { median, type Row, report, round } from "./measure.ts";
import { type SourceFiles, sourceFiles } from "./reading-sources.ts";
import { continued } from "./scale.ts";

/**
 * The cost of reading session files compared with `JSON.parse` of their lines: into frames, into a row of the list, into a
 * transcript. Two baselines show the minimum cost of any reader: decoding and parsing the lines; and in addition creating the
 * same frames with `JSON.parse` of their own JSON. The bytes are in memory, and times are CPU times of the main thread.
 *
 * `node bench/reading.bench.ts [FOLDER…]`: a row for each source, from the short recordings of the tests. With folders, rows for
 * the session files below them come first. Sources with few bytes are extended (`scale.ts`), because with small files the cost
 * per file would be measured rather than the cost per record.
 */
const PIECE = 256 * 1024;
/** Number of measured rounds per source, after a warm-up round. */
const ROUNDS = 3;
/** Short stages run this often in a round: the system counts CPU time in steps of 4 ms, and some stages take 20 ms. */
const REPEATS = 6;
const GOAL = 3;
/** A transcript is `indexed` for search, or a `transcript` that clients follow and resume, with digests of its frames. */
const STAGES = ["frames", "row", "indexed", "transcript"] as const;
/** Minimum bytes per source before it is read, and maximum that is measured. */
const LEAST_BYTES = 5 * 1024 * 1024;
const MOST_BYTES = 12 * 1024 * 1024;

const folders = process.argv.slice(2);
const TESTS = join(import.meta.dirname, "../test/fixtures");

/** The largest files of a source, extended until their total size is at least `LEAST_BYTES`. */
function atLeast({ format, files }: SourceFiles): SourceFiles {
  let room = MOST_BYTES;
  const chosen = files
    .toSorted((one, other) => other.bytes.length - one.bytes.length)
    .filter(({ bytes }) => {
      room -= bytes.length;
      return room >= 0;
    });
  const total = chosen.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const factor = LEAST_BYTES / Math.max(1, total);
  if (factor <= 1) return { format, files: chosen };
  return {
    format,
    files: chosen.map(({ path, bytes }) => ({
      path,
      bytes: Buffer.from(continued(bytes.toString("utf8"), bytes.length * factor)),
    })),
  };
}

/** Reads only frames; the daemon's `Reading` makes a row or a transcript of them. */
async function read(
  format: Format,
  path: string,
  bytes: Uint8Array,
  as: (typeof STAGES)[number],
): Promise<void> {
  const reader = format.createReader({ path });
  const reading = createReading({
    path,
    format,
    folding: as === "indexed" || as === "transcript",
    resumable: as === "transcript",
    idFor: (id) => id,
    isViewed: () => false,
  });
  for (let at = 0; at < bytes.length; at += PIECE) {
    const piece = bytes.subarray(at, at + PIECE);
    if (as === "frames") reader.push(piece);
    else await reading.decoder.write(piece);
  }
  if (as === "frames") reader.close();
  else reading.close();
}

type Times = Record<"decoded" | "parse" | "made" | (typeof STAGES)[number], number>;

/** The CPU times of each round in milliseconds. The stages alternate, so that a slow machine affects all of them. */
async function measure({ format, files }: SourceFiles): Promise<{ records: number; rounds: Times[] }> {
  const lines = files.flatMap(({ bytes }) => bytes.toString("utf8").split("\n"));
  const frames = files.flatMap(({ path, bytes }) => framesIn(format, path, bytes));
  const readAll = async (as: (typeof STAGES)[number]): Promise<void> => {
    for (const { path, bytes } of files) await read(format, path, bytes, as);
  };
  const rounds: Times[] = [];
  for (let number = 0; number <= ROUNDS; number += 1) {
    const times: Times = {
      decoded: await cpuOf(() => {
        for (const { bytes } of files) decodeAndParse(bytes);
      }, REPEATS),
      parse: await cpuOf(() => {
        for (const line of lines) parse(line);
      }, REPEATS),
      made: await cpuOf(() => {
        for (const text of frames) parse(text);
      }, REPEATS),
      frames: await cpuOf(() => readAll("frames"), REPEATS),
      row: await cpuOf(() => readAll("row")),
      indexed: await cpuOf(() => readAll("indexed")),
      transcript: await cpuOf(() => readAll("transcript")),
    };
    // The first round is a warm-up.
    if (number > 0) rounds.push(times);
  }
  return { records: lines.length, rounds };
}

/** The JSON of each record's frames. */
function framesIn(format: Format, path: string, bytes: Uint8Array): string[] {
  const reader = format.createReader({ path });
  return [...reader.push(bytes), ...reader.close()].map(({ frames }) => JSON.stringify(frames));
}

/** CPU time of one run in milliseconds, on average. */
async function cpuOf(run: () => void | Promise<void>, repeats = 1): Promise<number> {
  const before = process.threadCpuUsage();
  for (let n = 0; n < repeats; n += 1) await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / repeats;
}

/** A row for each source, then one with the number of sources within the goal. `view`: describes the files. */
async function rowsOf(view: string, sources: readonly SourceFiles[]): Promise<Row[]> {
  const rows: Row[] = [];
  const within: string[] = [];
  const beyond: string[] = [];
  const impossible: string[] = [];
  for (const source of sources) {
    const { name } = source.format;
    const bytes = source.files.reduce((sum, file) => sum + file.bytes.length, 0);
    const { records, rounds } = await measure(source);
    const ratio = (of: (times: Times) => number): number =>
      round(median(rounds.map((times) => of(times) / times.parse)));
    const frames = ratio((times) => times.frames);
    const least = ratio((times) => times.decoded + times.made);
    if (frames <= GOAL) within.push(name);
    else if (least >= GOAL) impossible.push(name);
    else beyond.push(name);
    rows.push({
      row: `reading ${view} of ${name} / JSON.parse of its lines`,
      goal: `≤ ${GOAL}`,
      figures: {
        megabytes: round(bytes / 1024 / 1024),
        "bytes per record": Math.round(bytes / records),
        // A record costs about the same in all sources, so the ratio to parsing is high for sources with small records.
        "microseconds per record": round((median(rounds.map((times) => times.frames)) / records) * 1_000),
        "decoded and parsed": ratio((times) => times.decoded),
        "and the same frames parsed": least,
        "into frames": frames,
        "into a row": ratio((times) => times.row),
        "into a transcript for the index": ratio((times) => times.indexed),
        "into a transcript": ratio((times) => times.transcript),
      },
    });
  }
  rows.push({
    row: `sources whose ${view} are read into frames within the goal`,
    figures: {
      within: `${within.length} of ${sources.length}: ${within.join(", ")}`,
      beyond: beyond.join(", "),
      "beyond, and so is the floor": impossible.join(", "),
    },
  });
  return rows;
}

const rows: Row[] = [];
if (folders.length > 0) rows.push(...(await rowsOf("session files", sourceFiles(folders).map(atLeast))));
rows.push(...(await rowsOf("test records", sourceFiles([TESTS]).map(atLeast))));
report("reading", rows, { rounds: ROUNDS });
