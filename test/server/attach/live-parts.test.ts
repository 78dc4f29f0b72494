import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../properties.ts";
import type { Frame } from "../../../src/model/frames/frame.ts";
import { changeLive, type LivePart } from "../../../src/model/live-text.ts";
import { accumulate } from "../../../src/model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../../src/model/transcript/transcript-state.ts";
import { addLiveText } from "../../../src/server/attach/live-text/add-live-text.ts";
import type { LiveEvent } from "../../../src/server/attach/live-text/live-event.ts";
import { createLiveParts, MAX_LIVE_TEXT } from "../../../src/server/attach/live-text/live-parts.ts";
import { createLiveTexts } from "../../../src/server/attach/live-text/live-texts.ts";
import type { OpenSession } from "../../../src/server/sessions/sessions.ts";
import { uuidOf } from "../../uuid-of.ts";
import { createMemorySessions } from "../memory-sessions.ts";

const SESSION = uuidOf("session");

type Event = LiveEvent extends infer Each
  ? Each extends LiveEvent
    ? Omit<Each, "session_id" | "at">
    : never
  : never;
// The fields complete any member of the union.
const live = (event: Event, at = 1_000): LiveEvent => ({ session_id: SESSION, at, ...event }) as LiveEvent;
const started = (id: string, kind: "text" | "thinking" = "text"): LiveEvent =>
  live({ type: "start", id, kind });
const delta = (id: string, text: string): LiveEvent => live({ type: "delta", id, text });
const ended = (id: string, text?: string): LiveEvent =>
  live({ type: "end", id, ...(text !== undefined && { text }) });

/** A recorded text or thought, as the transcript has it. */
const recorded = (name: string, text: string, kind: "text" | "thinking" = "text", at = 1_500) => {
  const common = { id: uuidOf(name), session_id: SESSION, message_id: uuidOf("message"), at };
  return kind === "text"
    ? ({ ...common, type: "text", text } as const)
    : ({ ...common, type: "thinking", thinking: text } as const);
};

/** Live parts, and a client that applies their changes. */
function follow() {
  const parts = createLiveParts();
  let client: readonly LivePart[] = [];
  const sync = () => {
    const change = parts.take();
    if (change !== undefined) client = changeLive(client, change);
    expect(client).toEqual(parts.parts);
  };
  return {
    report(...events: LiveEvent[]) {
      for (const event of events) {
        parts.report(event);
        sync();
      }
    },
    record(...all: Parameters<typeof parts.record>) {
      parts.record(...all);
      sync();
    },
    recordEnd(at: number) {
      parts.recordEnd(at);
      sync();
    },
    sweep(now: number) {
      parts.sweep(now);
      sync();
    },
    texts: () => client.map(({ text }) => text),
  };
}

describe("live parts", () => {
  it("grow with each reported delta, and are replaced by their record", () => {
    const one = follow();
    one.report(started("a"), delta("a", "I list "), delta("a", "the files."));
    expect(one.texts()).toEqual(["I list the files."]);
    one.report(ended("a"), started("b"), delta("b", "Next"));
    one.record(recorded("a", "I list the files."));
    expect(one.texts()).toEqual(["Next"]);
  });

  it("do not reappear when the agent reports more text after the record", () => {
    const one = follow();
    one.report(started("a"), delta("a", "I list "));
    one.record(recorded("a", "I list the files."));
    one.report(delta("a", "the files."), ended("a", "I list the files."));
    expect(one.texts()).toEqual([]);
  });

  it("are not shown if the record arrives first", () => {
    const one = follow();
    one.record(recorded("a", "I list the files.\n"));
    one.report(started("a"), delta("a", "I list the files."), ended("a"));
    expect(one.texts()).toEqual([]);
    one.report(started("b"), delta("b", "I list the files."));
    expect(one.texts()).toEqual(["I list the files."]);
  });

  it("are not replaced by an older record with the same text", () => {
    const one = follow();
    one.record(recorded("old", "Done.", "text", 1_000));
    one.report(live({ type: "start", id: "a", kind: "text" }, 60_000), delta("a", "Done."));
    expect(one.texts()).toEqual(["Done."]);
  });

  it("are replaced in order by records with different text", () => {
    const one = follow();
    one.report(started("a", "thinking"), delta("a", "Secret"), ended("a"), started("b"), delta("b", "Now"));
    one.record(recorded("a", "", "thinking"));
    expect(one.texts()).toEqual(["Now"]);
  });

  it("are sent incrementally, also after one was removed", () => {
    const parts = createLiveParts();
    for (const event of [started("a"), delta("a", "One "), ended("a"), started("b"), delta("b", "Two ")])
      parts.report(event);
    parts.take();
    parts.record(recorded("a", "One"));
    expect(parts.take()).toMatchObject({ reset: true, parts: [{ id: "b", offset: 0, text: "Two " }] });
    parts.report(delta("b", "three "));
    expect(parts.take()).toEqual({
      parts: [{ id: "b", kind: "text", at: 1_000, offset: 4, text: "three " }],
    });
    expect(parts.take()).toBeUndefined();
  });

  it("are not replaced twice by a revised record", () => {
    const one = follow();
    one.report(started("a"), delta("a", "One."), ended("a"), started("b"), delta("b", "One."), ended("b"));
    one.record(recorded("a", "One."));
    one.record(recorded("a", "One. "));
    expect(one.texts()).toEqual(["One."]);
    one.record(recorded("b", "One."));
    expect(one.texts()).toEqual([]);
  });

  it("without a record disappear when a later part is recorded", () => {
    const one = follow();
    one.report(started("a", "thinking"), delta("a", "Hm"), ended("a"), started("b"), delta("b", "Now."));
    one.record(recorded("b", "Now."));
    expect(one.texts()).toEqual([]);
  });

  it("show the rest of a message whose first block is recorded", () => {
    const one = follow();
    one.report(started("a"), delta("a", "First block.\nSecond "));
    one.record(recorded("a1", "First block."));
    expect(one.texts()).toEqual(["\nSecond "]);
    one.report(delta("a", "block."), ended("a"));
    expect(one.texts()).toEqual(["\nSecond block."]);
    one.record(recorded("a1", "First block.\nSecond block."));
    expect(one.texts()).toEqual([]);
  });

  it("with a record's id stay until that record contains all of their text", () => {
    const one = follow();
    one.report(
      live({ type: "start", id: "a", kind: "text", part_id: uuidOf("part") }),
      delta("a", "One two"),
    );
    one.record({ ...recorded("x", ""), id: uuidOf("part") });
    one.record({ ...recorded("x", "One"), id: uuidOf("part") });
    one.record(recorded("other", "One two"));
    expect(one.texts()).toEqual(["One two"]);
    one.record({ ...recorded("x", "One two"), id: uuidOf("part") });
    expect(one.texts()).toEqual([]);
  });

  it("without a start event are not shown", () => {
    const one = follow();
    one.report(delta("a", "the end of it"), ended("a"));
    expect(one.texts()).toEqual([]);
  });

  it("of a call show its output until its result is recorded", () => {
    const one = follow();
    one.report(started("a", "thinking"), delta("a", "Hm"), ended("a"));
    one.report(live({ type: "start", id: "call-1", kind: "output" }), delta("call-1", "line 1\n"));
    const call = {
      id: uuidOf("call"),
      session_id: SESSION,
      message_id: uuidOf("message"),
      tool_call_id: "call-1",
    };
    const state = { status: "running", input: {}, time: { start: 1 } } as const;
    one.record({ ...call, type: "tool_call", tool_name: "shell", arguments_json: "{}", state });
    expect(one.texts()).toEqual(["line 1\n"]);
    const result = { is_error: false, status: "success", output_text: "line 1\n" } as const;
    one.record({ ...call, ...result, type: "tool_result", parts: [] });
    one.report(delta("call-1", "line 2\n"), ended("call-1"));
    expect(one.texts()).toEqual([]);
  });

  it("are dropped when their turn ends, but those of the next turn are kept", () => {
    const one = follow();
    one.report(started("a"), delta("a", "Cut off"), live({ type: "start", id: "b", kind: "text" }, 3_000));
    one.report(live({ type: "delta", id: "b", text: "New" }, 3_000));
    one.recordEnd(2_000);
    expect(one.texts()).toEqual(["New"]);
  });

  it("are dropped some time after the agent reports the end of the turn", () => {
    const one = follow();
    one.report(started("a"), delta("a", "Cut off"), live({ type: "turn_end" }));
    one.sweep(5_000);
    expect(one.texts()).toEqual(["Cut off"]);
    one.sweep(60_000);
    expect(one.texts()).toEqual([]);
  });

  it("take the complete text that the agent sends at the end, up to a size limit", () => {
    const one = follow();
    one.report(started("a"), delta("a", "Half "), ended("a", "Half and half."));
    expect(one.texts()).toEqual(["Half and half."]);
    one.report(started("b"), delta("b", "wrong"), ended("b", "Other words."));
    expect(one.texts()).toEqual(["Half and half.", "Other words."]);
    one.report(started("c"), delta("c", "x".repeat(MAX_LIVE_TEXT + 1)), delta("c", "more"));
    expect(one.texts().at(-1)).toHaveLength(MAX_LIVE_TEXT);
    expect(one.texts().at(-1)?.endsWith("x…")).toBe(true);
  });
});

// The output of an agent in a turn: reported as deltas, and recorded complete.

interface Item {
  kind: "text" | "thinking" | "call";
  /** Unique for each item. */
  words: string;
  pieces: number;
  /** How the text is recorded. The record of an encrypted thought is empty. */
  record: "same" | "trimmed" | "empty";
}

const items = fc.array(
  fc.record<Item>({
    kind: fc.constantFrom("text", "text", "thinking", "call"),
    words: fc.string({ minLength: 1, maxLength: 12 }),
    pieces: fc.integer({ min: 1, max: 4 }),
    record: fc.constantFrom("same", "trimmed", "empty"),
  }),
  { minLength: 1, maxLength: 8 },
);

function eventsOf(all: readonly Item[]): LiveEvent[] {
  const events = all.flatMap((item, index): LiveEvent[] => {
    const id = `item-${index}`;
    const text = textOf(item, index);
    const size = Math.ceil(text.length / item.pieces);
    const deltas = Array.from({ length: item.pieces }, (_, at) =>
      delta(id, text.slice(at * size, (at + 1) * size)),
    );
    const start =
      item.kind === "call"
        ? live({ type: "start", id, kind: "output" })
        : live({ type: "start", id, kind: item.kind });
    return [start, ...deltas.filter((each) => each.type === "delta" && each.text !== ""), ended(id)];
  });
  return [...events, live({ type: "turn_end" })];
}

const textOf = ({ words }: Item, index: number): string => `${index}: ${words} `;
const isEmptyRecord = ({ kind, record }: Item): boolean => kind === "thinking" && record === "empty";

/** The frames of the file, in the groups in which they are read. */
function recordsOf(all: readonly Item[]): Frame[][] {
  const common = { session_id: SESSION, at: 2_000 };
  const groups = all.map((item, index): Frame[] => {
    const part_id = uuidOf(`part ${index}`);
    const text = textOf(item, index);
    if (item.kind === "call") {
      const call = { tool_call_id: `item-${index}`, tool_name: "shell" };
      const result = { is_error: false, status: "success", output_text: text } as const;
      return [
        { ...common, ...call, type: "message.tool_call", arguments_json: "{}", part_id },
        {
          ...common,
          ...call,
          ...result,
          type: "message.tool_result",
          parts: [],
          part_id: uuidOf(`result ${index}`),
        },
      ];
    }
    const { kind } = item;
    const isEmpty = isEmptyRecord(item);
    const written = isEmpty ? "" : item.record === "trimmed" ? text.trim() : text;
    return [
      { ...common, type: "message.part_start", part_id, kind },
      {
        ...common,
        type: "message.part_end",
        part_id,
        text: written,
        ...(isEmpty && { hidden: "encrypted" }),
      },
    ];
  });
  return [
    [
      { ...common, type: "turn.start", turn_id: uuidOf("turn") },
      { ...common, type: "message.start", message_id: uuidOf("message") },
    ],
    ...groups,
    [{ ...common, type: "turn.end", turn_id: uuidOf("turn") }],
  ];
}

/** Indexes of the items that are shown live, oldest first. */
const shownOf = (parts: readonly LivePart[]): number[] =>
  parts.map(({ id }) => Number(id.slice("item-".length)));

it("shows the file's transcript without duplicates or reordering for any interleaving of events and records", async () => {
  await fc.assert(
    fc.asyncProperty(
      items,
      fc.array(fc.boolean(), { maxLength: 80 }),
      fc.nat(20),
      async (all, order, opened) => {
        const sessions = createMemorySessions();
        sessions.add(SESSION);
        const texts = createLiveTexts({ now: () => 3_000 });
        const events = eventsOf(all);
        const groups = recordsOf(all);
        let alone: Transcript = emptyTranscript(SESSION);
        let client: readonly LivePart[] = [];
        let applied = 0;
        let open: OpenSession | undefined;
        let steps = 0;

        const subscribe = async () => {
          const session = await sessions.open(SESSION);
          if (session === undefined) throw new Error("it is not there");
          open = addLiveText(session, texts);
          open.subscribe((event) => {
            if (event.type === "frames" && event.live !== undefined) client = changeLive(client, event.live);
          });
          client = open.live ?? [];
        };
        const check = () => {
          if (open === undefined) return;
          expect(open.transcript).toEqual(alone);
          expect(open.live).toEqual(client);
          const shown = shownOf(client);
          expect(shown).toEqual([...shown].sort((a, b) => a - b));
          // `applied` counts the group that opens the turn as well.
          const recorded = all.slice(0, Math.max(0, applied - 1));
          const written = client.filter(({ kind }) => kind !== "output");
          for (const index of shownOf(written)) expect(index).toBeGreaterThanOrEqual(recorded.length);
          for (const { id, kind } of client)
            if (kind === "output")
              expect(Number(id.slice("item-".length))).toBeGreaterThanOrEqual(recorded.length);
        };

        const report = () => {
          const event = events.shift();
          if (event !== undefined) texts.report(event);
        };
        const record = () => {
          const frames = groups.shift();
          if (frames === undefined) return;
          applied += 1;
          for (const frame of frames) alone = accumulate(alone, frame);
          sessions.push(SESSION, frames);
        };
        for (const isLive of [...order, ...events.map(() => true), ...groups.map(() => false)]) {
          if (steps === opened) await subscribe();
          steps += 1;
          if (isLive) report();
          else record();
          check();
        }
        if (open === undefined) await subscribe();
        check();
        expect(client).toEqual([]);
        texts.close();
      },
    ),
    { numRuns: 300 },
  );
});
