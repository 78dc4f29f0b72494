import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type Frame, frame as frameSchema } from "../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { decodeEvent, encodeEvent, type HistoryEvent } from "../../src/model/messages/history.ts";
import { createHistory, type HistoryCollector } from "../../src/model/messages/history-collector.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import {
  accumulate,
  accumulateAndAddress,
  fillParts,
  finalizeTranscript,
  restoreTranscript,
  type TranscriptPage,
  unpairedOf,
} from "../../src/model/transcript/accumulate.ts";
import { emptySummary, summarize } from "../../src/model/transcript/summarize.ts";
import {
  startAfter,
  transcriptFrom,
  transcriptStart,
  withoutParts,
} from "../../src/model/transcript/transcript-start.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { tableOfTurns } from "../../src/model/transcript/turn-table.ts";
import { anyCharacter } from "../any-character.ts";
import { times } from "../long.ts";
import { anyFrames, defined, id, lasting, splitDeltas, wildFrames } from "./generate.ts";

// Hundreds of sessions take a second or two, but much longer on a busy machine.
vi.setConfig({ testTimeout: times(120_000, 600_000) });

const RUNS = { numRuns: times(300, 3_000) };
const SESSION = id(1, 1);

function fold(frames: readonly Frame[], from: Transcript = emptyTranscript(SESSION)): Transcript {
  return frames.reduce(accumulate, from);
}

/** A transcript as plain values, for comparison. */
function plain(transcript: Transcript) {
  const { parts, turns, unloaded: _, unpaired: __, ...rest } = transcript;
  return { ...rest, parts: [...parts], turns: [...turns] };
}

function historyOf(frames: readonly Frame[]): HistoryEvent[] {
  const history = createHistory(SESSION);
  return [...frames.flatMap((frame) => history.push(frame)), ...history.flush()];
}

/** The page that a daemon sends: every turn, and the parts of `[from, to)`. */
function pageOf(transcript: Transcript, from: number, to = transcript.parts.length): TranscriptPage {
  const parts = transcript.parts.slice(from, to).flatMap((part, offset) => {
    return part === undefined ? [] : [{ index: from + offset, part }];
  });
  return {
    session_id: transcript.session_id,
    turns: tableOfTurns(transcript.turns),
    part_count: transcript.parts.length,
    parts,
    ...unpairedOf(transcript),
    open: transcript.open,
    ...(transcript.usage === undefined ? {} : { usage: transcript.usage }),
    ...(transcript.todos === undefined ? {} : { todos: transcript.todos }),
    ...(transcript.context === undefined ? {} : { context: transcript.context }),
  };
}

describe("the fold", () => {
  it("gives the same parts live as from the history written meanwhile, for every prefix", () => {
    fc.assert(
      fc.property(anyFrames(), fc.nat(), (frames, cut) => {
        const prefix = frames.slice(0, cut % (frames.length + 1));
        expect(lasting(fold(framesOf(historyOf(prefix), SESSION)))).toEqual(lasting(fold(prefix)));
      }),
      RUNS,
    );
  });

  it("gives the same parts if a stored history continues without its original frames", () => {
    let tried = 0;
    let count = 0;
    fc.assert(
      fc.property(anyFrames(), fc.nat(), (frames, cut) => {
        tried += 1;
        const first = createHistory(SESSION);
        const at = cut % (frames.length + 1);
        const events = frames.slice(0, at).flatMap((frame) => first.push(frame));
        if (!first.isWhole) return;
        count += 1;
        const rest = frames.slice(at);
        const goOn = (history: HistoryCollector) => [
          ...rest.flatMap((frame) => history.push(frame)),
          ...history.flush(),
        ];
        const stored = framesOf(events, SESSION);
        const transcript = fold(stored);
        const more = goOn(createHistory(SESSION, { events, transcript }));
        expect(lasting(fold(framesOf([...events, ...more], SESSION)))).toEqual(
          lasting(fold(rest, transcript)),
        );
        const replayed = createHistory(SESSION);
        for (const frame of stored) replayed.push(frame);
        replayed.flush();
        expect(more).toEqual(goOn(replayed));
      }),
      RUNS,
    );
    expect(count).toBeGreaterThan(tried / 10);
  });

  it("gives the same transcript however the deltas are split", () => {
    fc.assert(
      fc.property(anyFrames(), fc.array(fc.nat(12)), (frames, cuts) => {
        expect(plain(fold(splitDeltas(frames, cuts)))).toEqual(plain(fold(frames)));
      }),
      RUNS,
    );
  });

  it("gives the same history however the deltas are split, without deltas or interrupts", () => {
    fc.assert(
      fc.property(anyFrames(), fc.array(fc.nat(12)), (frames, cuts) => {
        const history = historyOf(frames);
        expect(historyOf(splitDeltas(frames, cuts))).toEqual(history);
        const assistants = history.filter(
          (event) => "role" in event && event.role === "assistant" && event.parts,
        );
        const ids = assistants.map((event) => ("id" in event ? event.id : ""));
        expect(new Set(ids).size).toBe(ids.length);
        const text = history.map((event) => JSON.stringify("type" in event ? event.type : event.role)).join();
        expect(text).not.toMatch(/delta|interrupt|tool_call_start/);
      }),
      RUNS,
    );
  });

  it("gives the same for any prefix followed by the rest, and for an older version", () => {
    fc.assert(
      fc.property(anyFrames(), fc.nat(), fc.nat(), (frames, cut, back) => {
        const at = cut % (frames.length + 1);
        const prefix = fold(frames.slice(0, at));
        // A discarded branch must not affect the version that it branched from.
        fold(frames.slice(back % (frames.length + 1)), prefix);
        expect(plain(fold(frames.slice(at), prefix))).toEqual(plain(fold(frames)));
      }),
      RUNS,
    );
  });

  it("continues from a stored start at the end of any turn, with the same turns and later parts", () => {
    fc.assert(
      fc.property(anyFrames(), fc.nat(), (frames, cut) => {
        const ends = frames.flatMap((frame, at) => (frame.type === "turn.end" ? [at + 1] : []));
        const at = ends[cut % Math.max(1, ends.length)] ?? 0;
        const prefix = fold(frames.slice(0, at));
        const start = startAfter(prefix);
        const waiting = new Set(start.open_calls.map(([tool_call_id]) => tool_call_id));
        const idsOf = (frame: Frame) =>
          ["part_id", "message_id", "tool_call_id", "request_id", "target"].flatMap((field) => {
            const value: unknown = Object.entries(frame).find(([name]) => name === field)?.[1];
            return typeof value === "string" ? [value] : [];
          });
        const before = new Set(frames.slice(0, at).flatMap(idsOf));
        // Only a result may refer to an earlier part: other changes of parts that are not loaded are lost.
        const rest = frames
          .slice(at)
          .filter((frame) =>
            idsOf(frame).every(
              (each) => !before.has(each) || (frame.type === "message.tool_result" && waiting.has(each)),
            ),
          );
        const whole = plain(fold(rest, prefix));
        const from = prefix.parts.length;
        const stored = transcriptStart.parse(JSON.parse(JSON.stringify(start)));
        for (const continued of [transcriptFrom(stored), withoutParts(prefix)]) {
          const { gap: _, parts, ...others } = plain(fold(rest, continued));
          expect({ ...others, parts: parts.slice(from) }).toEqual({
            ...whole,
            parts: whole.parts.slice(from),
          });
        }
      }),
      RUNS,
    );
  });

  it("resumes at any position with any window, and equals the complete one once all is loaded", () => {
    let resyncs = 0;
    fc.assert(
      fc.property(anyFrames(), fc.nat(), fc.nat(), fc.nat(), (frames, cut, window, wide) => {
        const at = cut % (frames.length + 1);
        let server = fold(frames.slice(0, at));
        const first = window % (server.parts.length + 1);
        const last = first + (wide % (server.parts.length - first + 1));
        let client = restoreTranscript(pageOf(server, first, last));
        for (const frame of frames.slice(at)) {
          const step = accumulateAndAddress(server, frame);
          server = step.transcript;
          client = accumulate(client, step.frame);
          if (client.gap !== undefined) {
            resyncs += 1;
            client = restoreTranscript(pageOf(server, Math.max(0, server.parts.length - 3)));
          }
          expect(client.parts.length).toBe(server.parts.length);
        }
        client = fillParts(client, pageOf(server, 0).parts);
        expect(plain(client)).toEqual(plain(server));
        expect(plain(server)).toEqual(plain(fold(frames)));
      }),
      RUNS,
    );
    // A resync is exceptional: only for changes of unloaded parts that affect counts.
    expect(resyncs).toBeLessThan(RUNS.numRuns);
  });

  it("ignores repeated deltas, and reports a gap without changing the part", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 8 }),
        (texts, repeats) => {
          const whole = texts.join("");
          const part_id = id(4, 1);
          const common = {
            session_id: SESSION,
            at: 0,
            type: "message.delta",
            kind: "text",
            part_id,
          } as const;
          let offset = 0;
          let transcript = emptyTranscript(SESSION);
          for (const [index, text] of texts.entries()) {
            transcript = accumulate(transcript, { ...common, text, offset });
            offset += text.length;
            const [from, length] = repeats[index] ?? [0, 0];
            const begin = from % (offset + 1);
            const before = transcript;
            transcript = accumulate(transcript, {
              ...common,
              text: whole.slice(begin, Math.min(offset, begin + length)),
              offset: begin,
            });
            expect(transcript).toBe(before);
            // Overlaps the following frames: only new content is added.
            transcript = accumulate(transcript, {
              ...common,
              text: whole.slice(begin, offset + 1),
              offset: begin,
            });
            transcript = accumulate(transcript, {
              ...common,
              text: whole.slice(offset - 1, offset),
              offset: offset - 1,
            });
          }
          expect(transcript.parts.at(0)).toMatchObject({ type: "text", text: whole });
          const torn = accumulate(transcript, { ...common, text: "x", offset: whole.length + 1 });
          expect(torn.parts).toBe(transcript.parts);
          expect(torn.gap).toEqual({ part_id, expected: whole.length, got: whole.length + 1 });
        },
      ),
      RUNS,
    );
  });

  it("keeps interleaved sessions apart", () => {
    fc.assert(
      fc.property(
        anyFrames(SESSION),
        anyFrames(id(1, 2)),
        fc.array(fc.boolean(), { maxLength: 200 }),
        (left, right, turns) => {
          const bus: Frame[] = [];
          const [ones, twos] = [[...left], [...right]];
          for (const isLeft of turns) bus.push(...(isLeft ? ones : twos).splice(0, 1));
          bus.push(...ones, ...twos);
          expect(plain(fold(bus))).toEqual(plain(fold(left)));
          expect(plain(fold(bus, emptyTranscript(id(1, 2))))).toEqual(
            plain(fold(right, emptyTranscript(id(1, 2)))),
          );
        },
      ),
      RUNS,
    );
  });

  it("counts and places every part once, for any frames", () => {
    fc.assert(
      fc.property(anyFrames(), (frames) => {
        let transcript = emptyTranscript(SESSION);
        for (const frame of frames) {
          const before = transcript;
          transcript = accumulate(transcript, frame);
          // Positions are only ever added.
          expect(transcript.parts.length).toBeGreaterThanOrEqual(before.parts.length);
          for (let index = 0; index < before.parts.length; index += 1) {
            expect(transcript.parts.at(index)?.id).toBe(before.parts.at(index)?.id);
          }
        }
        let next = 0;
        for (const turn of transcript.turns) {
          expect(turn?.first_part).toBe(next);
          next += turn?.part_count ?? 0;
        }
        expect(next).toBe(transcript.parts.length);
        const parts = defined(transcript.parts);
        expect(new Set(parts.map((part) => `${part.message_id} ${part.id}`)).size).toBe(parts.length);
        const turns = transcript.turns.slice().filter((turn) => turn !== undefined);
        const sum = (of: (turn: (typeof turns)[number]) => number) =>
          turns.reduce((total, turn) => total + of(turn), 0);
        expect(sum((turn) => turn.tool_calls)).toBe(parts.filter((part) => part.type === "tool_call").length);
        expect(sum((turn) => turn.errors)).toBe(
          parts.filter(
            (part) =>
              part.retracted === undefined &&
              ((part.type === "tool_result" && part.is_error) ||
                (part.type === "marker" && part.kind === "error")),
          ).length,
        );
        const tokens = parts.map((part) => (part.type === "step_finish" ? (part.tokens?.input ?? 0) : 0));
        const input = tokens.reduce((total, count) => total + count, 0);
        expect(transcript.usage?.input ?? 0).toBe(input);
        expect(sum((turn) => turn.usage?.input ?? 0)).toBe(input);
        for (const [index, part] of parts.entries()) {
          if (part.type === "tool_call" && part.result_index !== undefined) {
            expect(parts[part.result_index]).toMatchObject({ type: "tool_result", call_index: index });
          }
          if (part.type === "tool_result" && part.call_index !== undefined) {
            expect(parts[part.call_index]).toMatchObject({ type: "tool_call", result_index: index });
          }
        }
      }),
      RUNS,
    );
  });
});

describe("for any frames", () => {
  it("nothing throws, nothing is lost, and parts keep their positions", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(wildFrames(), fc.nat(20), (frames, holes) => {
        const checker = createOrderChecker();
        let transcript = restoreTranscript({ ...pageOf(emptyTranscript(SESSION), 0), part_count: holes });
        let whole = emptyTranscript(SESSION);
        let summary = emptySummary(SESSION, "any", 0);
        for (const frame of frames) {
          kinds.add(frame.type);
          transcript = accumulate(transcript, frame);
          const { part_index: _, ...unplaced } = frame;
          const wasOpen = whole.open.turn_open;
          const next = accumulateAndAddress(whole, unplaced);
          expect(next.transcript.parts.length).toBeGreaterThanOrEqual(whole.parts.length);
          whole = next.transcript;
          // If no turn is open, nothing grows; if one ends, nothing runs.
          const shown = defined(whole.parts);
          if (!whole.open.turn_open) {
            expect(shown.some((part) => "open" in part)).toBe(false);
            const runs = shown.some((part) => part.type === "tool_call" && part.state.status === "running");
            expect(runs && wasOpen).toBe(false);
          }
          summary = summarize(summary, frame);
          checker.check(frame);
        }
        expect(transcript.parts.length).toBeGreaterThanOrEqual(holes);
        expect(defined(whole.parts)).toHaveLength(whole.parts.length);
        const settled = finalizeTranscript(whole, 5);
        expect(unpairedOf(settled).open_calls.map(([, index]) => settled.parts.at(index))).toEqual(
          unpairedOf(settled).open_calls.map(() =>
            expect.objectContaining({ state: expect.objectContaining({ status: "aborted" }) }),
          ),
        );
        const replayed = fold(framesOf(historyOf(frames), SESSION));
        expect(defined(replayed.parts)).toHaveLength(replayed.parts.length);
      }),
      RUNS,
    );
    expect(kinds).toEqual(new Set(frameSchema.options.map((option) => option.shape.type.value)));
  });
});

describe("the codec", () => {
  it("returns every event unchanged", () => {
    fc.assert(
      fc.property(anyFrames(), (frames) => {
        for (const event of historyOf(frames)) {
          const line = encodeEvent(event);
          expect(line).not.toContain("\n");
          const decoded = decodeEvent(line);
          expect(decoded).toEqual(JSON.parse(line));
          expect(decoded).not.toHaveProperty("line");
          expect(encodeEvent(decoded)).toBe(line);
        }
      }),
      RUNS,
    );
  });

  it("keeps an unreadable line, and writes it back unchanged", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.json()), (line) => {
        expect(encodeEvent(decodeEvent(line))).toBe(line);
      }),
      RUNS,
    );
  });
});
