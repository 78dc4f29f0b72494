import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Frame } from "../../../src/model/frames/frame.ts";
import { filterParts, isShownBy } from "../../../src/model/parts/part-filter.ts";
import { isError } from "../../../src/model/parts/part-kinds.ts";
import { accumulate, fillParts, restoreTranscript } from "../../../src/model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../../src/model/transcript/transcript-state.ts";
import { tableOfTurns } from "../../../src/model/transcript/turn-table.ts";
import {
  createLayout,
  type Layout,
  type LayoutSettings,
  type RowFilter,
  TURN_GAP,
} from "../../../src/web/screens/session/layout.ts";
import { anyFrames } from "../../model/generate.ts";

const SESSION = "7c1d8a52-2222-4333-8444-555566667777";
let made = 0;
const id = (): string => {
  made += 1;
  return `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`;
};
const common = { session_id: SESSION, at: 0 };

/** The frames of one event in a session. */
function framesOf(
  kind: "prompt" | "text" | "call" | "result" | "step" | "queued" | "hook" | "retry",
  open: string[],
): Frame[] {
  switch (kind) {
    case "prompt":
    case "queued":
      return [
        {
          ...common,
          type: "user.message",
          message_id: id(),
          parts: [{ type: "text", text: "Do it." }],
          ...(kind === "queued" ? { queued: true } : {}),
        },
      ];
    case "hook":
    case "retry":
      return [{ ...common, type: "marker", part_id: id(), kind, title: kind }];
    case "step":
      return [{ ...common, type: "message.start", message_id: id() }];
    case "text": {
      const part_id = id();
      return [
        { ...common, type: "message.part_start", part_id, kind: "text" },
        { ...common, type: "message.part_end", part_id, text: "Done. ".repeat(made % 40) },
      ];
    }
    case "call": {
      const tool_call_id = id();
      open.push(tool_call_id);
      return [
        { ...common, type: "message.tool_call", tool_call_id, tool_name: "Bash", arguments_json: "{}" },
      ];
    }
    case "result": {
      const tool_call_id = open.shift() ?? id();
      return [
        {
          ...common,
          type: "message.tool_result",
          tool_call_id,
          is_error: made % 3 === 0,
          status: made % 3 === 0 ? "error" : "success",
          output_text: "",
          parts: [],
        },
      ];
    }
  }
  return kind satisfies never;
}

/** Compares a layout with one computed only from its rows, one after the other. */
function expectConsistent(layout: Layout, transcript: Transcript): void {
  const all = layout.visible(0, Number.POSITIVE_INFINITY);
  expect(all.map(({ turn }) => turn.index)).toEqual(
    Array.from({ length: transcript.turns.length }, (_, turn) => turn),
  );
  let bottom = 0;
  for (const { turn, top, height, rows } of all) {
    expect(top).toBeCloseTo(turn.index === 0 ? 0 : bottom + TURN_GAP);
    expect(layout.turnTop(turn.index)).toBeCloseTo(top);
    let next = layout.headingHeight(turn.index);
    for (const row of rows) {
      expect(row.top).toBeCloseTo(next);
      expect(layout.topOf(row.index)).toBeCloseTo(top + row.top);
      expect(layout.turnOf(row.index)).toBe(turn.index);
      expect(layout.isShown(row.index)).toBe(true);
      const following = rows[rows.indexOf(row) + 1];
      next = following === undefined ? height : following.top;
    }
    bottom = top + height;
  }
  if (all.length > 0) expect(layout.height).toBeCloseTo(bottom + TURN_GAP);
  const shown = all.flatMap(({ rows }) => rows.map(({ index }) => index));
  expect(shown).toEqual([...shown].sort((a, b) => a - b));
  for (let index = 0; index < layout.parts; index += 1)
    expect(layout.isShown(index)).toBe(shown.includes(index));
}

const kinds = fc.constantFrom("prompt", "text", "call", "result", "step", "queued", "hook", "retry");

test("a retracted failure is not an error to navigate to", () => {
  const message_id = id();
  const frames: Frame[] = [
    { ...common, type: "message.start", message_id },
    { ...common, type: "message.end", message_id, stop_reason: "error", error: "It broke" },
  ];
  const broken = frames.reduce(accumulate, emptyTranscript(SESSION));
  const withdrawn = accumulate(broken, {
    ...common,
    type: "message.retract",
    message_id,
    reason: "It broke",
  });
  const failures = ({ parts }: Transcript) =>
    parts.slice().filter((part) => part !== undefined && isError(part)).length;
  expect([broken, withdrawn].map(failures)).toEqual([1, 0]);
});

test("rows appended one by one have the positions of a complete layout", () => {
  fc.assert(
    fc.property(fc.array(kinds, { maxLength: 60 }), fc.boolean(), fc.integer(), (steps, showSteps, seed) => {
      let transcript = emptyTranscript(SESSION);
      const layout = createLayout();
      layout.reset(transcript, { showSteps });
      const open: string[] = [];
      const heights = new Map<string, number>();
      for (const kind of steps) {
        const before = transcript.parts;
        for (const frame of framesOf(kind, open)) transcript = accumulate(transcript, frame);
        const touched = Array.from({ length: before.length }, (_, index) => index).filter(
          (index) => before.at(index) !== transcript.parts.at(index),
        );
        layout.update(transcript, touched);
        // Some rows in view are measured, as in a browser.
        const index = Math.abs(seed * 31 + transcript.parts.length) % Math.max(1, transcript.parts.length);
        const height = 20 + (Math.abs(seed + index) % 90);
        layout.measureRow(index, height);
        if (layout.isShown(index)) heights.set(`row ${index}`, height);
        const turn = transcript.turns.length - 1;
        if (turn >= 0) layout.measureHeading(turn, 30 + (turn % 5));
        expectConsistent(layout, transcript);
      }
      const atOnce = createLayout();
      atOnce.reset(transcript, { showSteps });
      for (let turn = 0; turn < transcript.turns.length; turn += 1)
        atOnce.measureHeading(turn, layout.headingHeight(turn));
      for (const [key, height] of heights) atOnce.measureRow(Number(key.split(" ")[1]), height);
      expectConsistent(atOnce, transcript);
      expect(
        atOnce.visible(0, Number.POSITIVE_INFINITY).map(({ rows }) => rows.map(({ index }) => index)),
      ).toEqual(
        layout.visible(0, Number.POSITIVE_INFINITY).map(({ rows }) => rows.map(({ index }) => index)),
      );
    }),
    { numRuns: 200 },
  );
});

describe("a session of 400 calls with only its tail loaded", () => {
  let whole = emptyTranscript(SESSION);
  const open: string[] = [];
  for (let turn = 0; turn < 20; turn += 1)
    for (const kind of ["prompt", ...Array(10).fill("call"), ...Array(10).fill("result")] as const)
      for (const frame of framesOf(kind, open)) whole = accumulate(whole, frame);
  const placed = (from: number, to: number) =>
    whole.parts
      .slice(from, to)
      .flatMap((part, at) => (part === undefined ? [] : [{ index: from + at, part }]));
  const page = {
    session_id: SESSION,
    turns: tableOfTurns(whole.turns),
    part_count: whole.parts.length,
    parts: placed(300, whole.parts.length),
    open_calls: [],
    open: whole.open,
  };

  test("requests only visible parts, and every position has a row", () => {
    const layout = createLayout();
    layout.reset(restoreTranscript(page), { showSteps: false });
    const view = layout.visible(layout.height - 600, layout.height);
    const rows = view.flatMap((turn) => turn.rows);
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.length).toBeLessThan(40);
    expect(layout.topOf(0)).toBeLessThan(layout.topOf(200));
  });

  test("filling a page above leaves the tops of measured rows below in step with the total", () => {
    const layout = createLayout();
    const restored = restoreTranscript(page);
    layout.reset(restored, { showSteps: false });
    const fromEnd = layout.height - layout.topOf(400);
    const parts = placed(0, 200);
    const filled = fillParts(restored, parts);
    layout.update(
      filled,
      parts.map(({ index }) => index),
    );
    expect(layout.height - layout.topOf(400)).toBeCloseTo(fromEnd);
    // Paired results and headings have no row of their own.
    expect(layout.isShown(0)).toBe(false);
    expect(layout.isShown(1)).toBe(true);
    expect(layout.isShown(11)).toBe(false);
  });

  test("grouped markers share the row of the first one, in any loading order", () => {
    let transcript = emptyTranscript(SESSION);
    for (const kind of [
      "prompt",
      "hook",
      "hook",
      "call",
      "retry",
      "result",
      "retry",
      "hook",
      "call",
    ] as const)
      for (const frame of framesOf(kind, [])) transcript = accumulate(transcript, frame);
    // An open call has no result here: the result above has no call and separates the retries.
    const shownOf = (of: Layout) =>
      Array.from({ length: of.parts }, (_, index) => index).filter((index) => of.isShown(index));
    const atOnce = createLayout();
    atOnce.reset(transcript, { showSteps: false });
    expect(shownOf(atOnce)).toEqual([1, 3, 4, 5, 6, 7, 8]);
    expect(atOnce.rowOf(2)).toBe(1);
    expect(atOnce.rowOf(6)).toBe(6);
    const parts = transcript.parts
      .slice(0, transcript.parts.length)
      .flatMap((part, index) => (part === undefined ? [] : [{ index, part }]));
    let partly = restoreTranscript({
      session_id: SESSION,
      turns: tableOfTurns(transcript.turns),
      part_count: parts.length,
      parts: [],
      open_calls: [],
      open: transcript.open,
    });
    const layout = createLayout();
    layout.reset(partly, { showSteps: false });
    for (const one of parts.toReversed()) {
      partly = fillParts(partly, [one]);
      layout.update(partly, [one.index]);
    }
    expect(shownOf(layout)).toEqual(shownOf(atOnce));
    expectConsistent(layout, transcript);
  });

  test("a call that fails after its card appeared is news", () => {
    const layout = createLayout();
    let transcript = whole;
    layout.reset(transcript, { showSteps: false });
    const [call] = framesOf("call", open);
    if (call?.type !== "message.tool_call") throw new Error("A call is one frame.");
    transcript = accumulate(transcript, call);
    expect(layout.update(transcript, [])).toEqual({ rows: 1, errors: 0 });
    const at = transcript.parts.length - 1;
    transcript = accumulate(transcript, {
      ...common,
      type: "message.tool_result",
      tool_call_id: call.tool_call_id,
      is_error: true,
      status: "error",
      output_text: "no",
      parts: [],
    });
    expect(layout.update(transcript, [at])).toEqual({ rows: 0, errors: 1 });
  });

  test("a call that arrives with its failure is one error", () => {
    const layout = createLayout();
    let transcript = whole;
    layout.reset(transcript, { showSteps: false });
    const [call] = framesOf("call", []);
    if (call?.type !== "message.tool_call") throw new Error("A call is one frame.");
    const failure = (tool_call_id: string): Frame => ({
      ...common,
      type: "message.tool_result",
      tool_call_id,
      is_error: true,
      status: "error",
      output_text: "no",
      parts: [],
    });
    transcript = accumulate(accumulate(transcript, call), failure(call.tool_call_id));
    expect(layout.update(transcript, [])).toEqual({ rows: 1, errors: 1 });
    // A failed result without its call is a separate error.
    transcript = accumulate(transcript, failure(id()));
    expect(layout.update(transcript, [])).toEqual({ rows: 1, errors: 1 });
  });
});

test("a filter hides rows without moving others, and counts add up", () => {
  const filters = fc.record(
    {
      kinds: fc.subarray(["text", "thought", "call", "output", "marker", "step"] as const),
      statuses: fc.subarray(["ok", "failed", "running"] as const),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(anyFrames(SESSION), filters, fc.boolean(), (frames, filter, showSteps) => {
      const transcript = frames.reduce(accumulate, emptyTranscript(SESSION));
      const rowsOf = (settings: LayoutSettings, from = transcript): number[] => {
        const layout = createLayout();
        layout.reset(from, settings);
        return layout
          .visible(0, Number.POSITIVE_INFINITY)
          .flatMap(({ rows }) => rows.map(({ index }) => index));
      };
      const { total, shown, hidden, counts } = filterParts(transcript, filter, { showSteps });
      const positions = new Set(
        hidden.flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at)),
      );
      const rowFilter: RowFilter = {
        hides: (index, part) => (part === undefined ? positions.has(index) : !isShownBy(filter, part)),
        hidden: positions,
      };
      const kept = rowsOf({ showSteps, filter: rowFilter });
      expect(kept).toHaveLength(shown);
      expect(kept).toEqual([...kept].sort((a, b) => a - b));
      // If every record has its own row there are no groups: these are all rows.
      const all = rowsOf({ showSteps, filter: { hides: () => false, hidden: [] } });
      expect(all).toHaveLength(total);
      expect(all.filter((index) => !positions.has(index))).toEqual(kept);
      expect(Object.values(counts.kinds).reduce((sum, count) => sum + count, 0)).toBe(total);
    }),
  );
});

describe("live text", () => {
  const frames: Frame[] = [
    { ...common, type: "turn.start", turn_id: id() },
    { ...common, type: "message.start", message_id: id() },
    { ...common, type: "message.part_start", part_id: "00000000-0000-4000-9000-000000000001", kind: "text" },
    { ...common, type: "message.part_end", part_id: "00000000-0000-4000-9000-000000000001", text: "" },
    { ...common, type: "message.tool_call", tool_call_id: "call", tool_name: "Bash", arguments_json: "{}" },
  ];
  const transcript = frames.reduce(accumulate, emptyTranscript(SESSION));
  const written = new Set(["00000000-0000-4000-9000-000000000001"]);

  test("has room below the last part, inside a turn that runs", () => {
    const layout = createLayout();
    layout.reset(transcript, { showSteps: false });
    const { height, tailTop } = layout;
    const [before] = layout.visible(0, 10_000);
    expect(layout.measureTail(120)).toBe(true);
    expect(layout.measureTail(120)).toBe(false);
    expect(layout.height).toBe(height + 120);
    expect(layout.tailTop).toBe(tailTop);
    expect(layout.visible(0, 10_000)[0]?.height).toBe((before?.height ?? 0) + 120);
    expect(layout.measureTail(0)).toBe(true);
    expect(layout.height).toBe(height);
  });

  test("shows an empty part as long as it is being written", () => {
    const layout = createLayout();
    layout.reset(transcript, { showSteps: false });
    const index = [...transcript.parts].findIndex((part) => part?.type === "text");
    expect(layout.isShown(index)).toBe(false);
    layout.update(transcript, layout.setLive(written, transcript));
    expect(layout.isShown(index)).toBe(true);
    layout.measureRow(index, 50);
    expect(layout.setLive(written, transcript)).toEqual([]);
    layout.update(transcript, layout.setLive(new Set(), transcript));
    expect(layout.isShown(index)).toBe(false);
  });
});
