import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { createSegmentFinder } from "../../src/server/import/large-files/segment-finder.ts";
import { HUGE_FILE_BYTES, segmentId } from "../../src/server/import/large-files/segments.ts";
import { createReading } from "../../src/server/import/reading.ts";
import { type IndexState, openIndexState } from "../../src/server/index/index-state.ts";
import type { OpenSession, Sessions } from "../../src/server/sessions/sessions.ts";
import { codex } from "../../src/sources/codex/format.ts";
import { openSqliteIndex } from "../../src/store/index/sqlite.ts";
import { eventually } from "../eventually.ts";
import { call, event, meta, output, says, THREAD, user } from "../sources/codex-support.ts";

/** Turns of about 1.5 MB with 300 calls each. Records have no ids, so the reader numbers steps and parts. */
const STEPS = 300;
let folder: string;
let file: string;
let sessions: Sessions;
let state: IndexState;
let expected: ReturnType<typeof wholeTurns>;

function turn(number: number): string {
  const at = Date.UTC(2026, 10, 20) + number * 3_600_000;
  const lines: object[] = [event("task_started", { turn_id: `turn_${number}` }), user(`Prompt ${number}`)];
  for (let step = 0; step < STEPS; step += 1) {
    const id = `call_${number}_${step}`;
    lines.push(
      says(`Step ${step} of ${number}.`),
      call("shell", { command: `sed -n ${step}p` }, id),
      output(`${"x".repeat(5_000)} ${id}`, id),
      event("token_count", { info: { last_token_usage: { input_tokens: step, output_tokens: 1 } } }),
    );
  }
  lines.push(event("task_complete", { turn_id: `turn_${number}` }));
  return lines
    .map((line, index) => `${JSON.stringify({ timestamp: new Date(at + index).toISOString(), ...line })}\n`)
    .join("");
}

/** Each turn with the kind, step and text of its parts, and whether each result has its call. */
function wholeTurns(session: Pick<OpenSession, "transcript">) {
  const { turns, parts } = session.transcript;
  return [...turns].flatMap((each) => {
    if (each === undefined) return [];
    const own = Array.from({ length: each.part_count }, (_, index) => parts.at(each.first_part + index));
    const shown = own.flatMap((part) => (part === undefined || isSegmentMarker(part) ? [] : describe(part)));
    return [{ title: each.title, status: each.status, steps: each.steps, shown }];
  });
}
const isSegmentMarker = (part: TranscriptPart): boolean =>
  part.type === "marker" && typeof part.data === "object" && part.data !== null && "session_id" in part.data;
function describe(part: TranscriptPart): string {
  const text = part.type === "tool_call" ? part.tool_call_id : "text" in part ? part.text : "";
  const isAlone = part.type === "tool_result" && part.call_index === undefined;
  return [part.id, part.type, part.step, text, isAlone ? "without its call" : ""].join(" ");
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "segments-")));
  const day = join(folder, "agent", "sessions", "2026", "11", "20");
  mkdirSync(day, { recursive: true });
  file = join(day, `rollout-2026-11-20T00-00-00-${THREAD}.jsonl`);
  appendFileSync(file, `${JSON.stringify({ timestamp: "2026-11-20T00:00:00.000Z", ...meta() })}\n`);
  for (let number = 0, size = 0; size <= HUGE_FILE_BYTES; number += 1) {
    const text = turn(number);
    appendFileSync(file, text);
    size += text.length;
  }
  const reading = createReading({
    path: file,
    format: codex,
    folding: true,
    idFor: (id) => id,
    isViewed: () => false,
  });
  await reading.decoder.write(readFileSync(file));
  const [builder] = reading.builders.values();
  if (!builder?.buffer) throw new Error("The file has no session.");
  expected = wholeTurns(builder.buffer);

  mkdirSync(join(folder, "data"));
  state = await openIndexState(join(folder, "data", "index.db"), true);
  const indexer = createIndexer((report) => {
    if (report.type === "indexed") state.written(report.generation, report);
  });
  sessions = createSessions({
    formats: [codex],
    roots: [{ format: codex, path: join(folder, "agent") }],
    dataFolder: join(folder, "data"),
    indexer,
    part_index: state,
    timing: { hot: 20, list: 50, publish: 5, persist: 20, tick: 50 },
  });
  await eventually(() => expect(sessions.isIndexed?.(THREAD)).toBe(true));
});
afterAll(async () => {
  await sessions.close();
  state.close();
  rmSync(folder, { recursive: true });
});

async function opened(id: string): Promise<OpenSession> {
  const open = await sessions.open(id);
  if (!open) throw new Error(`${id} cannot be opened`);
  return open;
}

it("shows complete turns in each segment, equal to those of a full read", async () => {
  const ids = Array.from({ length: 5 }, (_, segment) => segmentId(THREAD, segment));
  const segments = await Promise.all([...ids, THREAD].map(opened));
  expect(segments.flatMap(wholeTurns)).toEqual(expected);
  expect(segments.map(wholeTurns).every((turns) => turns.length > 2)).toBe(true);
});

it("opens an indexed part in the segment that contains its turn", async () => {
  const index = openSqliteIndex(state.path, { read_only: true });
  const [row] = await index.sessions();
  if (row === undefined) throw new Error("Nothing is indexed.");
  expect(row.part_count).toBe(expected.reduce((sum, { shown }) => sum + shown.length, 0));
  expect((await index.turns(row.source, row.id)).map(({ steps }) => steps)).toEqual(
    expected.map(({ steps }) => steps),
  );
  const places = await index.parts(row.source, row.id, 0, row.part_count);
  await index.close();
  for (let seq = 7; seq < places.length; seq += 997) {
    const place = places[seq];
    const id = sessions.indexedAs?.(row.source, row.id, place?.byte) ?? "";
    const parts = [...(await opened(id)).transcript.parts];
    expect(parts.some((part) => part?.id === place?.id)).toBe(true);
  }
});

it("starts a segment at a record within a turn that is longer than a segment", () => {
  const checkpoints = [8.2, 16.1, 24.3].map((at) => ({ agent: "codex", byte: at * 2 ** 20, state: "{}" }));
  const reader = { ...codex.createReader({ path: "a" }), checkpoint: () => checkpoints.shift() };
  const finder = createSegmentFinder(() => reader);
  const starts: (number | undefined)[] = [];
  for (let at = 1; at <= 25; at += 1) {
    const frames: Frame[] =
      at === 3 || at === 19
        ? [{ type: "turn.start", session_id: THREAD, at: 0, turn_id: `turn ${at}` }]
        : [{ type: "message.start", session_id: THREAD, at: 0, message_id: THREAD }];
    const place = { line: at, byte: at * 2 ** 20, length: 1 };
    const start = finder.next({ place, disposition: { kind: "shown" }, frames });
    starts.push(start?.byte, finder.chunkEnd((at + 1) * 2 ** 20)?.byte);
  }
  // No turn begins between 8 and 16 MB. The one at 19 MB begins the next segment.
  expect(starts.filter((start) => start !== undefined)).toEqual([8.2 * 2 ** 20, 19 * 2 ** 20]);
});

it("reports the correct number of turns in the row", () => {
  expect(sessions.get(THREAD)?.turns).toBe(expected.length);
});
