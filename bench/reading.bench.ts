import { join } from "node:path";
import { createReading } from "../src/server/import/reading.ts";
import type { Format } from "../src/sources/contract.ts";
import { decodeAndParse, parse } from "./index-floor.ts";
import { type Row, report, round } from "./measure.ts";
import { type SourceFiles, sourceFiles } from "./reading-sources.ts";
import { continued } from "./scale.ts";

/**
 * The cost of reading session files compared with `JSON.parse` of their lines: decoded and parsed, which is the floor for reading
 * lines from bytes; into frames, into a row of the list, into a transcript. The bytes are in memory. The stages alternate on each
 * file, so that a slow machine affects all of them.
 *
 * `node bench/reading.bench.ts [FOLDER…]`: a row for each source, from the session files below the folders or from those of the
 * tests. Sources with few bytes are continued (`scale.ts`): small files would measure what a file costs, not its records.
 */
const PIECE = 256 * 1024;
/** Number of measured reads per source, after a warm-up read. */
const ROUNDS = 3;
/** Minimum bytes per source before it is read, and maximum that is measured. */
const LEAST_BYTES = 5 * 1024 * 1024;
const MOST_BYTES = 12 * 1024 * 1024;

const folders = process.argv.slice(2);
const TESTS = join(import.meta.dirname, "../test/fixtures");
const sources = sourceFiles(folders.length > 0 ? folders : [TESTS]).map(atLeast);

/** The largest files of a source, continued until they have the bytes together. */
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

/** Reads only frames; the daemon's `Reading` makes a row of them, and with `folding` a transcript. */
async function read(
  format: Format,
  path: string,
  bytes: Uint8Array,
  as: "frames" | "row" | "transcript",
): Promise<void> {
  const reader = format.createReader({ path });
  const reading = createReading({
    path,
    format,
    folding: as === "transcript",
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

const STAGES = ["frames", "row", "transcript"] as const;
type Times = Record<"parse" | "floor" | (typeof STAGES)[number], number>;

async function measure({
  format,
  files,
}: SourceFiles): Promise<{ bytes: number; records: number; times: Times }> {
  const times: Times = { parse: 0, floor: 0, frames: 0, row: 0, transcript: 0 };
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const records = files.reduce((sum, file) => sum + file.bytes.toString("utf8").split("\n").length, 0);
  for (let round_number = 0; round_number <= ROUNDS; round_number += 1) {
    // The first round is a warm-up.
    if (round_number === 1) Object.assign(times, { parse: 0, floor: 0, frames: 0, row: 0, transcript: 0 });
    for (const file of files) {
      const lines = file.bytes.toString("utf8").split("\n");
      let begun = performance.now();
      for (const line of lines) parse(line);
      times.parse += performance.now() - begun;
      begun = performance.now();
      decodeAndParse(file.bytes);
      times.floor += performance.now() - begun;
      for (const stage of STAGES) {
        begun = performance.now();
        await read(format, file.path, file.bytes, stage);
        times[stage] += performance.now() - begun;
      }
    }
  }
  return { bytes, records, times };
}

const rows: Row[] = [];
for (const source of sources) {
  const { bytes, records, times } = await measure(source);
  rows.push({
    row: `reading ${source.format.name} / JSON.parse of its lines`,
    goal: "≤ 3",
    figures: {
      megabytes: round(bytes / 1024 / 1024),
      "bytes per record": Math.round(bytes / records),
      // A record costs about the same in all sources: with small records, the ratio is high.
      "microseconds per record": round((times.frames / ROUNDS / records) * 1_000),
      "decoded and parsed": round(times.floor / times.parse),
      "into frames": round(times.frames / times.parse),
      "into a row": round(times.row / times.parse),
      "into a transcript": round(times.transcript / times.parse),
    },
  });
}
report("reading", rows, { rounds: ROUNDS });
