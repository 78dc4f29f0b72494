import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { TranscriptPart, Turn } from "../../src/model/transcript/transcript.ts";
import type { VerifyReply } from "../../src/protocol.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { createIndexer, type IndexedRow } from "../../src/server/import/index-threads.ts";
import { createSegmentFinder } from "../../src/server/import/large-files/segment-finder.ts";
import { HUGE_FILE_BYTES, SEGMENT_BYTES } from "../../src/server/import/large-files/segments.ts";
import { loadPart } from "../../src/server/sessions/load-parts.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { codex } from "../../src/sources/codex/format.ts";
import { openSqliteIndex, prepareIndex } from "../../src/store/index/sqlite.ts";
import { eventually } from "../eventually.ts";
import { call, event, meta, output, says, THREAD, user } from "../sources/codex-support.ts";
import { opened, startIndexed, startInMemory, wholeSession } from "./huge-sessions.ts";

/** Turns of about 1.5 MB with 100 calls each. Records have no ids, so the reader numbers steps and parts. */
const STEPS = 100;
/** This turn is longer than two segments, so one of them begins inside it. */
const LONG_TURN = 4;

let folder: string;
let file: string;
let indexed: Awaited<ReturnType<typeof startIndexed>>;
let in_memory: ReturnType<typeof startInMemory>;
let expected: { turns: Turn[]; parts: TranscriptPart[] };

function turn(number: number): string {
  const at = Date.UTC(2026, 10, 20) + number * 3_600_000;
  const lines: object[] = [event("task_started", { turn_id: `turn_${number}` }), user(`Prompt ${number}`)];
  // The answer to a call of the turn before: their segments may differ.
  if (number > 0) lines.push(output("It has ended.", `late_${number - 1}`));
  // Several segments after its call.
  if (number === LONG_TURN + 1) lines.push(output("It has ended long ago.", "far"));
  const steps = number === LONG_TURN ? 12 * STEPS : STEPS;
  for (let step = 0; step < steps; step += 1) {
    const id = `call_${number}_${step}`;
    if (step % 50 === 3) {
      const content = `line ${step}\n`;
      lines.push(
        call(
          "apply_patch",
          `*** Begin Patch\n*** Add File: ${id}.txt\n+${content}*** End Patch`,
          `patch_${id}`,
        ),
        event("patch_apply_end", {
          call_id: `patch_${id}`,
          success: true,
          changes: { [`/w/${id}.txt`]: { type: "add", content } },
        }),
        output("Success. Updated the following files.", `patch_${id}`),
      );
    }
    const text = `${"x".repeat(15_000)} ${id}`;
    const failed = JSON.stringify({ output: `${text}\nerror: no such file`, metadata: { exit_code: 1 } });
    lines.push(
      says(`Step ${step} of ${number}.`),
      call("shell", { command: ["sed", "-n", `${step}p`] }, id),
      output(step % 97 === 96 ? failed : text, id),
      event("token_count", { info: { last_token_usage: { input_tokens: step, output_tokens: 1 } } }),
    );
  }
  lines.push(call("shell", { command: ["sleep", "9"] }, `late_${number}`));
  if (number === LONG_TURN - 1) lines.push(call("shell", { command: ["sleep", "99"] }, "far"));
  lines.push(event("task_complete", { turn_id: `turn_${number}` }));
  return lines
    .map((line, index) => `${JSON.stringify({ timestamp: new Date(at + index).toISOString(), ...line })}\n`)
    .join("");
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "segments-")));
  const agent = join(folder, "agent");
  const day = join(agent, "sessions", "2026", "11", "20");
  mkdirSync(day, { recursive: true });
  file = join(day, `rollout-2026-11-20T00-00-00-${THREAD}.jsonl`);
  appendFileSync(file, `${JSON.stringify({ timestamp: "2026-11-20T00:00:00.000Z", ...meta() })}\n`);
  for (let number = 0, size = 0; size <= HUGE_FILE_BYTES; number += 1) {
    const text = turn(number);
    appendFileSync(file, text);
    size += text.length;
  }
  in_memory = startInMemory(codex, agent);
  indexed = await startIndexed(codex, { agent, data: join(folder, "data") });
  await eventually(() => expect(indexed.sessions.isIndexed?.(THREAD)).toBe(true), 170_000);
  await eventually(() => expect(in_memory.get(THREAD)).toBeDefined());
  expected = await wholeSession(await opened(in_memory, THREAD));
});
afterAll(async () => {
  await indexed.close();
  await in_memory.close();
  rmSync(folder, { recursive: true });
});

it("has the same turns and parts as a session that is read at once, and only its end in memory", async () => {
  const open = await opened(indexed.sessions, THREAD);
  expect(open.transcript.unloaded).toBeGreaterThan(expected.parts.length / 2);
  const whole = await wholeSession(open);
  expect(whole.turns).toEqual(expected.turns);
  expect(whole.parts.length).toBe(expected.parts.length);
  for (const [index, part] of whole.parts.entries()) expect(part).toEqual(expected.parts[index]);
});

it("finds any part by its id", async () => {
  const open = await opened(indexed.sessions, THREAD);
  for (let index = 7; index < expected.parts.length; index += 1_999) {
    const part = expected.parts[index];
    expect(await loadPart(open, part?.id ?? "")).toMatchObject({ index, part });
  }
});

it("has the same rows in the part index", async () => {
  const index = openSqliteIndex(indexed.state.path, { read_only: true });
  const [row] = await index.sessions();
  if (row === undefined) throw new Error("Nothing is indexed.");
  const turns = await index.turns(row.source, row.id);
  const parts = await index.parts(row.source, row.id, 0, row.part_count);
  await index.close();
  expect(turns.map(({ first_seq, steps }) => [first_seq, steps])).toEqual(
    expected.turns.map(({ first_part, steps }) => [first_part, steps]),
  );
  expect(parts.map(({ id, step }) => [id, step])).toEqual(expected.parts.map(({ id, step }) => [id, step]));
  expect(new Set(parts.map(({ turn: of }) => of)).size).toBe(turns.length);
});

const access = newAccess();
const origin = "http://127.0.0.1:4747";
const guard = createGuard({ origins: [origin], access });
async function ask(
  sessions: Sessions,
  path: string,
  posted?: object,
): Promise<{ status: number; body: unknown }> {
  const app = createApp({ sessions, guard, version: "0" });
  const headers = { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}` };
  const reply = await app.request(`${origin}/api/sessions/${THREAD}${path}`, {
    headers: posted ? { ...headers, "content-type": "application/json" } : headers,
    ...(posted && { method: "POST", body: JSON.stringify(posted) }),
  });
  const { epoch: _, seq: __, ...body } = await reply.json();
  return { status: reply.status, body };
}

describe("answers requests like a session that is in memory", () => {
  const middle = () => expected.turns[LONG_TURN]?.first_part ?? 0;
  it.each([
    ["parts", () => `/parts?from=${middle() + 3_000}&to=${middle() + 3_050}`],
    ["the first parts", () => "/parts?from=0&to=20"],
    ["the position of a part", () => `/locate?part=${expected.parts[middle() + 77]?.id}`],
    ["the position of a turn", () => `/locate?turn=${expected.turns[1]?.id}`],
    ["the position of a call", () => "/locate?call=call_1_7"],
    ["the next error", () => "/locate?error=5&by=1"],
    ["the error before", () => `/locate?error=${middle()}&by=-1`],
    ["a whole part", () => `/parts/${expected.parts[44]?.id}/whole`],
    ["the outline of a turn", () => "/outline?turn=2"],
    ["the figures of a turn", () => "/figures?turn=3"],
    ["the figures of a turn that is longer than segments", () => `/figures?turn=${LONG_TURN + 1}`],
    ["the outline of a turn that is longer than segments", () => `/outline?turn=${LONG_TURN + 1}`],
    ["the figures of the session", () => "/figures"],
    ["the changes of a turn", () => "/changes?turn=2"],
    ["the changes of the session", () => "/changes"],
    ["a search", () => "/search?q=call_2_15"],
    ["a filter", () => "/filter?kind=call&status=failed"],
    ["the map", () => "/map"],
    ["the errors", () => "/errors"],
    ["the lanes", () => "/lanes"],
    ["the input of the first model calls", () => `/context?part=${expected.parts[60]?.id}`],
    ["the input of a model call by its number", () => "/context?call=150"],
    ["a search in the input of a model call", () => "/context?call=150&find=call_0_7"],
    ["an item of a model call's input", () => "/context/150/items/3"],
    ["a comparison", () => `/compare?with=${THREAD}`],
  ])("for %s", async (_name, path) => {
    const reply = await ask(indexed.sessions, path());
    expect(reply).toMatchObject({ status: 200 });
    expect(reply).toEqual(await ask(in_memory, path()));
  });

  it("for the parts at the end of each turn, with the results that came after it", async () => {
    for (const { first_part } of expected.turns.slice(1)) {
      const path = `/parts?from=${first_part - 4}&to=${first_part}`;
      expect(await ask(indexed.sessions, path)).toEqual(await ask(in_memory, path));
    }
  });

  it("to compare all parts with the record, read again", async () => {
    const { status, body } = await ask(indexed.sessions, "/verify", {});
    const { digest_shown, digest_reread, ...counts } = body as VerifyReply;
    expect([status, counts]).toEqual([200, { shown: expected.parts.length, reread: expected.parts.length }]);
    expect(digest_shown).toBe(digest_reread);
  });

  it("has changes, errors and calls to answer with", async () => {
    const open = await opened(in_memory, THREAD);
    const result = expected.parts.find(
      (part) => part.type === "tool_result" && part.ui_extra?.type === "diff",
    );
    expect(result).toBeDefined();
    expect([...open.transcript.turns].every((each) => (each?.errors ?? 0) > 0)).toBe(true);
  });

  it("for the record of a part, with its line", async () => {
    const id = expected.parts[middle() + 90]?.id ?? "";
    const raw = await indexed.sessions.raw(THREAD, id);
    expect(raw).toMatchObject({ line: expect.any(Number), archived: false });
    expect(raw).toEqual(await in_memory.raw(THREAD, id));
  });
});

it("reports that its beginning is unavailable while the part index is rebuilt", async () => {
  const open = await opened(indexed.sessions, THREAD);
  indexed.state.rebuild(indexed.state.generation);
  await expect(wholeSession(open)).rejects.toMatchObject({ status: 503, code: "not_indexed" });
  for (const path of ["/parts?from=0&to=20", `/locate?part=${expected.parts[9]?.id}`])
    expect((await ask(indexed.sessions, path)).status).toBe(503);
  await eventually(() => expect(indexed.sessions.isIndexed?.(THREAD)).toBe(true), 170_000);
  expect((await wholeSession(await opened(indexed.sessions, THREAD))).parts).toEqual(expected.parts);
});

it("starts a segment at a record within a turn that is longer than a segment", () => {
  const eighth = SEGMENT_BYTES / 8;
  const checkpoints = [8.2, 16.1, 24.3].map((at) => ({ agent: "codex", byte: at * eighth, state: "{}" }));
  const reader = { ...codex.createReader({ path: "a" }), checkpoint: () => checkpoints.shift() };
  const finder = createSegmentFinder(
    () => reader,
    () => [],
    1,
  );
  const starts: (number | undefined)[] = [];
  for (let at = 1; at <= 25; at += 1) {
    const frames: Frame[] =
      at === 3 || at === 19
        ? [{ type: "turn.start", session_id: THREAD, at: 0, turn_id: `turn ${at}` }]
        : [{ type: "message.start", session_id: THREAD, at: 0, message_id: THREAD }];
    const place = { line: at, byte: at * eighth, length: 1 };
    const start = finder.next({ place, disposition: { kind: "shown" }, frames });
    starts.push(start?.byte, finder.chunkEnd((at + 1) * eighth)?.byte);
  }
  // No turn begins between 8 and 16 eighths. The one at 19 begins the next segment.
  expect(starts.filter((start) => start !== undefined)).toEqual([8.2 * eighth, 19 * eighth]);
});

it("is indexed from its last segment when it has grown, with the same rows as from its beginning", async () => {
  const path = join(folder, "grown.jsonl");
  copyFileSync(file, path);
  const old_size = statSync(path).size;
  const grown = join(folder, "grown.db");
  const read_at_once = join(folder, "at-once.db");
  for (const database of [grown, read_at_once]) prepareIndex(database);
  const first = await index(path, grown);
  expect(first.from).toBeLessThan(SEGMENT_BYTES);
  // The last segment begins before these turns, and another one within them.
  for (let number = 0; number < 7; number += 1) appendFileSync(path, turn(expected.turns.length + number));
  const whole = await index(path, read_at_once);
  const resumed = await index(path, grown, whole.rows);
  expect(resumed.from).toBeGreaterThan(old_size - 2 * SEGMENT_BYTES);
  expect(await contentsOf(grown)).toEqual(await contentsOf(read_at_once));
});

/** Indexes a file. `from`: the end of the first bytes that were read. */
async function index(path: string, database: string, known_rows?: IndexedRow[]) {
  const written = Promise.withResolvers<void>();
  const indexer = createIndexer((report) => {
    if (report.type === "index_failed") written.reject(new Error(report.message));
    else if (report.stamps.length > 0) written.resolve();
  });
  let from = Number.POSITIVE_INFINITY;
  const { rows } = await indexer.index(
    {
      path,
      format: codex.id,
      close_before: 0,
      size: statSync(path).size,
      parts: { key: "one", target: { path: database, generation: 0 }, ...(known_rows && { known_rows }) },
    },
    {
      replaced() {},
      progress(end) {
        from = Math.min(from, end);
        return false;
      },
      preview() {},
    },
  );
  await written.promise;
  await indexer.close();
  return { rows, from };
}

async function contentsOf(database: string) {
  const stored = openSqliteIndex(database, { read_only: true });
  const sessions = await stored.sessions();
  const contents = {
    sessions,
    segments: await stored.segmentsOf("one"),
    sources: await stored.sources(),
    turns: await stored.turns("one", THREAD),
    parts: await stored.parts("one", THREAD, 0, sessions[0]?.part_count ?? 0),
  };
  await stored.close();
  return contents;
}

it("reports the correct number of turns in the row", () => {
  expect(indexed.sessions.get(THREAD)?.turns).toBe(expected.turns.length);
});
