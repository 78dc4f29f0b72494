import { readFileSync } from "node:fs";
import { createReading } from "../src/server/import/reading.ts";
import { formats } from "../src/sources/index.ts";
import { generateClaudeText } from "./claude-session.ts";
import { decodeAndParse, parse } from "./index-floor.ts";
import { report, round } from "./measure.ts";

/**
 * What reading a session file costs beside nothing but `JSON.parse` of its lines: into text that is parsed, which is the floor of
 * whatever reads lines out of bytes; into frames, into a row of the list, into a transcript. `node bench/reading.bench.ts [FILE…]`: generated sessions of Claude Code, or files of either agent. The bytes
 * are in memory; the stages take turns on each file, so that a machine that slows down slows all.
 */
const PIECE = 256 * 1024;
const ROUNDS = 5;

const given = process.argv.slice(2).map((path) => ({ path, bytes: readFileSync(path) }));
const files = given.length > 0 ? given : Array.from({ length: 20 }, (_, n) => generated(n + 1));

function generated(seed: number): { path: string; bytes: Buffer } {
  const id = `00000000-0000-4000-8000-${seed.toString().padStart(12, "0")}`;
  const path = `/home/ada/.claude/projects/-work/${id}.jsonl`;
  return { path, bytes: Buffer.from(generateClaudeText({ id, bytes: 1024 * 1024, seed })) };
}

/** Into frames alone; the `Reading` of the daemon makes a row of them, and with `folding` a transcript. */
async function read(path: string, bytes: Uint8Array, as: "frames" | "row" | "transcript"): Promise<void> {
  const format = formats.find(({ id }) => id === (path.includes("rollout-") ? "codex" : "claude-code"));
  if (!format) throw new Error(`No format reads ${path}`);
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
}

const stages = { parse: 0, floor: 0, frames: 0, row: 0, transcript: 0 };
for (let turn = 0; turn <= ROUNDS; turn += 1) {
  // The first round is for the compiler.
  if (turn === 1)
    for (const stage of ["parse", "floor", "frames", "row", "transcript"] as const) stages[stage] = 0;
  for (const { path, bytes } of files) {
    const lines = bytes.toString("utf8").split("\n");
    let begun = performance.now();
    for (const line of lines) parse(line);
    stages.parse += performance.now() - begun;
    begun = performance.now();
    decodeAndParse(bytes);
    stages.floor += performance.now() - begun;
    for (const stage of ["frames", "row", "transcript"] as const) {
      begun = performance.now();
      await read(path, bytes, stage);
      stages[stage] += performance.now() - begun;
    }
  }
}
const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
report(
  "reading",
  [
    {
      row: "reading a session file / JSON.parse of its lines",
      goal: "≤ 1.5",
      figures: {
        "decoded and parsed": round(stages.floor / stages.parse),
        "into frames": round(stages.frames / stages.parse),
        "into a row": round(stages.row / stages.parse),
        "into a transcript": round(stages.transcript / stages.parse),
      },
    },
  ],
  { megabytes: round(bytes / 1024 / 1024), rounds: ROUNDS, milliseconds: stages },
);
