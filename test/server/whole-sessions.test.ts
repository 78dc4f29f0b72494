import fc from "fast-check";
import { expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { fillParts, type PlacedPart } from "../../src/model/transcript/accumulate.ts";
import { sparseSequence } from "../../src/model/transcript/sequence.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import type { OpenSession, Sessions } from "../../src/server/sessions/sessions.ts";
import { anyFrames, id } from "../model/generate.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions, type MemorySessions } from "./memory-sessions.ts";

const SESSION = id(1, 1);
const access = newAccess();
const origin = "http://127.0.0.1:4747";
const guard = createGuard({ origins: [origin], access });

/** Requests views of `SESSION`. */
function viewer(sessions: Sessions) {
  const app = createApp({ sessions, guard, version: "0" });
  const headers = { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}` };
  return async (path: string, signal?: AbortSignal): Promise<{ status: number; body: unknown }> => {
    const reply = await app.request(`${origin}/api/sessions/${SESSION}/${path}`, {
      headers,
      ...(signal && { signal }),
    });
    return { status: reply.status, body: await reply.json() };
  };
}

/**
 * The same sessions, with the first parts of each not in memory. A request loads at most `chunk` of them; `onLoad` is called
 * before with the position of the first.
 */
function partlyLoaded(
  sessions: MemorySessions,
  unloaded: number,
  {
    chunk = 5,
    onLoad = () => {},
    unloaded_id,
  }: { chunk?: number; onLoad?: (from: number) => void; unloaded_id?: string } = {},
): Sessions {
  const opened = new Map<string, OpenSession>();
  async function open(session_id: string): Promise<OpenSession | undefined> {
    const whole = await sessions.open(session_id);
    const known = opened.get(session_id);
    if (whole === undefined || known !== undefined) return known;
    const session: OpenSession = Object.create(whole, {
      transcript: { get: () => withoutBeginning(whole.transcript, unloaded) },
      load: {
        async value(from: number, to: number) {
          onLoad(from);
          const { parts } = whole.transcript;
          const placed: PlacedPart[] = [];
          for (let index = from; index < Math.min(to, from + chunk); index += 1) {
            const part = parts.at(index);
            if (part === undefined) continue;
            placed.push({ index, part });
            const pair_index =
              part.type === "tool_call"
                ? part.result_index
                : part.type === "tool_result"
                  ? part.call_index
                  : undefined;
            const pair = pair_index === undefined ? undefined : parts.at(pair_index);
            if (pair_index !== undefined && pair) placed.push({ index: pair_index, part: pair });
          }
          return fillParts(session.transcript, placed);
        },
      },
      unloaded_id: { value: unloaded_id },
      locate: {
        value: async (part_id: string) =>
          [...whole.transcript.parts].findLastIndex((part) => part?.id === part_id),
      },
    });
    opened.set(session_id, session);
    return session;
  }
  return Object.create(sessions, { open: { value: open } });
}

function withoutBeginning(transcript: Transcript, unloaded: number): Transcript {
  let parts = sparseSequence<TranscriptPart>(transcript.parts.length);
  for (let index = unloaded; index < parts.length; index += 1) {
    const part = transcript.parts.at(index);
    if (part !== undefined) parts = parts.set(index, part);
  }
  return { ...transcript, parts, ...(unloaded > 0 && { unloaded }) };
}

const VIEWS = [
  "map",
  "errors",
  "lanes",
  "figures",
  "filter?kind=call&kind=text&status=failed",
  "filter?every=1&steps=1&tool=Bash",
  `compare?with=${SESSION}`,
];

it("views of a session whose beginning is not in memory are those of the whole session", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyFrames(SESSION),
      fc.nat(100),
      fc.integer({ min: 1, max: 9 }),
      async (frames, percent, chunk) => {
        const sessions = createMemorySessions();
        sessions.add(SESSION, frames);
        const { parts, turns } = sessions.transcript(SESSION);
        const unloaded = Math.floor((parts.length * percent) / 100);
        const whole = viewer(sessions);
        const huge = viewer(partlyLoaded(sessions, unloaded, { chunk }));
        const ofTurns = [...turns].map((_, turn) => `figures?turn=${turn + 1}`);
        const calls = [...parts].flatMap((part) =>
          part?.type === "tool_call" ? `locate?call=${encodeURIComponent(part.tool_call_id)}` : [],
        );
        for (const path of [...VIEWS, ...ofTurns, ...calls])
          expect(await huge(path), path).toEqual(await whole(path));
      },
    ),
    { numRuns: 60 },
  );
});

/** A turn of a few steps with a call each. Calls of odd steps fail. */
function turn(number: number, steps = 3): Frame[] {
  const at = number * 60_000;
  const name = `turn ${number}`;
  const common = { session_id: SESSION, at };
  const frames: Frame[] = [
    {
      ...common,
      type: "user.message",
      message_id: uuidOf(`${name} prompt`),
      part_id: uuidOf(`${name} prompt part`),
      parts: [{ type: "text", text: `Prompt ${number}` }],
    },
  ];
  for (let step = 1; step <= steps; step += 1) {
    const message_id = uuidOf(`${name} ${step}`);
    const tool_call_id = `${number} ${step}`;
    const is_error = step % 2 === 1;
    frames.push(
      { ...common, at: at + step, type: "message.start", message_id, model: "m" },
      {
        ...common,
        at: at + step,
        type: "message.tool_call",
        message_id,
        part_id: uuidOf(`${name} call ${step}`),
        tool_call_id,
        tool_name: "Bash",
        arguments_json: '{"command":"ls"}',
      },
      {
        ...common,
        at: at + step,
        type: "message.end",
        message_id,
        stop_reason: "tool_use",
        usage: { input: 10 * number + step, output: 5 },
      },
      {
        ...common,
        at: at + step + 1,
        type: "message.tool_result",
        part_id: uuidOf(`${name} result ${step}`),
        tool_call_id,
        is_error,
        status: is_error ? "error" : "success",
        output_text: `output ${tool_call_id}`,
        parts: [],
      },
    );
  }
  return frames;
}
const compaction = (number: number): Frame => ({
  type: "marker",
  session_id: SESSION,
  at: number * 60_000,
  part_id: uuidOf(`compaction ${number}`),
  kind: "compaction",
  title: "Compacted",
  text: `Summary ${number}`,
});

const someTurns = (): Frame[] =>
  Array.from({ length: 12 }, (_, number) => [
    ...turn(number),
    ...(number % 4 === 3 ? [compaction(number)] : []),
  ]).flat();

it("shows the input of any model call of a session whose beginning is not in memory", async () => {
  const sessions = createMemorySessions();
  sessions.add(SESSION, someTurns());
  const { parts } = sessions.transcript(SESSION);
  const whole = viewer(sessions);
  const huge = viewer(partlyLoaded(sessions, parts.length - 20));
  const places = [
    ...Array.from({ length: 37 }, (_, at) => `context?call=${at + 1}`),
    ...[...parts].map((part) => `context?part=${part?.id}`),
    ...["context?call=20&find=output 2 1", "context?call=0", "context/9/items/2", "context/9/items/200"],
  ];
  for (const path of places) expect(await huge(path), path).toEqual(await whole(path));
  // The compaction after turn 3, the last with this output in its input, is after twelve calls.
  expect(await huge("context?call=20&find=output 2 1")).toMatchObject({
    body: { call: 20, calls: 36, found_earlier: [{ last_call: 12, is_found: true }] },
  });
});

it("says that the input of a model call may have more than what was read", async () => {
  const sessions = createMemorySessions();
  sessions.add(SESSION, Array.from({ length: 6 }, (_, number) => turn(number, 1_000)).flat());
  const { parts } = sessions.transcript(SESSION);
  const huge = viewer(partlyLoaded(sessions, parts.length - 20, { chunk: 2_000 }));
  expect(await huge("context?call=6000")).toMatchObject({
    body: { call: 6_000, calls: 6_000, is_cut: true },
  });
  const early = await huge("context?call=1000");
  expect(early).toEqual(await viewer(sessions)("context?call=1000"));
});

it("outlines a turn of which not all parts fit in memory", async () => {
  const sessions = createMemorySessions();
  sessions.add(SESSION, someTurns());
  const huge = viewer(partlyLoaded(sessions, 60));
  expect(await huge("outline?turn=3")).toEqual(await viewer(sessions)("outline?turn=3"));
});

it("reads the beginning once for all views, and again only in a new epoch", async () => {
  const sessions = createMemorySessions();
  sessions.add(SESSION, someTurns());
  const loads: number[] = [];
  const huge = viewer(partlyLoaded(sessions, 60, { chunk: 10, onLoad: (from) => loads.push(from) }));
  const replies = await Promise.all([huge("map"), huge("errors"), huge("figures")]);
  const { length } = loads;
  expect(length).toBeGreaterThan(4);
  expect(loads).toEqual([...new Set(loads)].toSorted((one, other) => one - other));
  sessions.push(SESSION, turn(20));
  const whole = viewer(sessions);
  for (const path of ["map", "errors", "figures", "lanes"])
    expect(await huge(path)).toEqual(await whole(path));
  expect(loads).toHaveLength(length);
  sessions.rewrite(SESSION, someTurns());
  expect(await huge("map")).toEqual(replies[0]);
  expect(loads).toHaveLength(2 * length);
});

it("does not read a beginning again that is the same in a new epoch", async () => {
  const sessions = createMemorySessions();
  sessions.add(SESSION, someTurns());
  const loads: number[] = [];
  const onLoad = (from: number): void => void loads.push(from);
  const huge = viewer(partlyLoaded(sessions, 60, { onLoad, unloaded_id: "the same file" }));
  await huge("map");
  const { length } = loads;
  sessions.rewrite(SESSION, [...someTurns(), ...turn(20)]);
  expect(await huge("map")).toEqual(await viewer(sessions)("map"));
  expect(loads).toHaveLength(length);
});

it("stops to read when the request is aborted, and continues there for the next one", async () => {
  const sessions = createMemorySessions();
  sessions.add(SESSION, someTurns());
  const loads: number[] = [];
  const abort = new AbortController();
  const onLoad = (from: number): void => {
    loads.push(from);
    if (from === 20) abort.abort();
  };
  const huge = viewer(partlyLoaded(sessions, 60, { chunk: 10, onLoad }));
  // A request that is waiting meanwhile is not affected.
  const [aborted, other] = await Promise.allSettled([huge("map", abort.signal), huge("errors")]);
  expect(aborted).toMatchObject({ value: { status: 400 } });
  const whole = viewer(sessions);
  expect(other).toMatchObject({ value: await whole("errors") });
  expect(loads.slice(0, 4)).toEqual([0, 10, 20, 20]);
  expect(new Set(loads).size).toBe(loads.length - 1);
});
