import fc from "fast-check";
import { type Frame, frame as frameSchema } from "../../src/model/frames/frame.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { anyCharacter } from "../any-character.ts";

/** A UUID that encodes a space (session, message, part, turn) and a number. */
export function id(space: number, number: number): string {
  return `${space.toString(16).padStart(8, "0")}-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

type Extended<Shape> = Shape extends unknown ? Omit<Shape, "session_id" | "at"> : never;
/** A frame without the fields that all frames have. */
export type Bare = Extended<Frame>;

/** Frames of one session, a millisecond apart. */
export function session(bare: readonly Bare[], session_id = id(1, 1)): Frame[] {
  // Only the two common fields were removed.
  return bare.map((frame, index) => ({ ...frame, session_id, at: 1_000 + index }) as Frame);
}

export function defined(parts: Iterable<TranscriptPart | undefined>): TranscriptPart[] {
  return [...parts].filter((part) => part !== undefined);
}

export function kinds(transcript: Transcript): string[] {
  return defined(transcript.parts).map((part) => part.type);
}

/** Possible next actions of an agent; the numbers choose among existing items. */
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("prompt" as const), text: fc.string(), pick: fc.nat(9) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("message" as const), pick: fc.nat(9) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      kind: fc.constantFrom("text" as const, "thinking" as const),
      text: fc.string({ minLength: 1, unit: anyCharacter }),
      way: fc.constantFrom("bare", "bounded", "whole", "signed", "torn", "other_message"),
      pick: fc.nat(9),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      way: fc.constantFrom("started", "plain", "only_started", "other_message"),
      args: fc.oneof(fc.json({ maxDepth: 1 }), fc.string()),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant("result" as const),
      pick: fc.nat(30),
      status: fc.constantFrom("success" as const, "error" as const, "aborted" as const),
      output: fc.string(),
      outcome: fc.constantFrom(
        undefined,
        { kind: "refused" as const, by: "hook" as const, name: "PreToolUse" },
        { kind: "unknown" as const },
      ),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("end" as const), pick: fc.nat(30) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("orphan" as const, "late_call" as const, "revise" as const, "recall" as const),
      pick: fc.nat(30),
      text: fc.string(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "image" as const,
        "file" as const,
        "marker" as const,
        "unknown" as const,
        "developer" as const,
        "legacy" as const,
        "error" as const,
        "progress" as const,
        "run" as const,
        "metadata" as const,
        "todos" as const,
        "context" as const,
        "ask" as const,
        "answer" as const,
      ),
      pick: fc.nat(30),
      text: fc.string({ minLength: 1 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "interrupt" as const,
        "abort" as const,
        "turn_start" as const,
        "turn_end" as const,
        "retract" as const,
        "retract_turn" as const,
        "reopen" as const,
        "end_again" as const,
      ),
      pick: fc.nat(30),
      text: fc.string(),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Making {
  frames: Bare[];
  message: string | undefined;
  messages: string[];
  parts: string[];
  calls: { id: string; message_id: string | undefined }[];
  turns: string[];
  orphans: string[];
  next: number;
}

function choose<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items.length === 0 ? undefined : items[pick % items.length];
}

function make(making: Making, does: Step): void {
  const { frames } = making;
  const fresh = (space: number): string => {
    making.next += 1;
    return id(space, making.next);
  };
  switch (does.do) {
    case "prompt": {
      const queued = does.pick < 3 ? { queued: true } : {};
      if (does.pick >= 3) making.message = undefined;
      const message_id = fresh(2);
      frames.push({
        type: "user.message",
        message_id,
        parts: [{ type: "text", text: does.text }],
        ...queued,
      });
      return;
    }
    case "message":
      making.message = fresh(3);
      making.messages.push(making.message);
      frames.push({
        type: "message.start",
        message_id: making.message,
        ...(does.pick < 5 ? { model: "m" } : {}),
      });
      return;
    case "say": {
      const { kind, text, way } = does;
      if (way === "bare") {
        frames.push({ type: "message.delta", kind, text });
        return;
      }
      const part_id = fresh(4);
      making.parts.push(part_id);
      const other = way === "other_message" ? choose(making.messages, does.pick) : undefined;
      frames.push({
        type: "message.part_start",
        kind,
        part_id,
        ...(other === undefined ? {} : { message_id: other }),
      });
      if (way !== "whole") frames.push({ type: "message.delta", kind, text, part_id });
      if (way === "torn") return;
      const signature =
        way === "signed" && kind === "thinking" ? { signature: "proof", format: "anthropic" } : {};
      frames.push({
        type: "message.part_end",
        part_id,
        ...(way === "bounded" ? {} : { text }),
        ...signature,
      });
      return;
    }
    case "call": {
      const call = {
        tool_call_id: `call-${making.calls.length}`,
        tool_name: "Bash",
        ...(does.way === "other_message" && making.messages[0] !== undefined
          ? { message_id: making.messages[0] }
          : {}),
      };
      making.calls.push({ id: call.tool_call_id, message_id: call.message_id ?? making.message });
      if (does.way === "started" || does.way === "only_started") {
        frames.push({ type: "message.tool_call_start", ...call });
      }
      if (does.way !== "only_started")
        frames.push({ type: "message.tool_call", ...call, arguments_json: does.args });
      return;
    }
    case "result": {
      const call = choose(making.calls, does.pick);
      if (call === undefined) return;
      frames.push({
        type: "message.tool_result",
        tool_call_id: call.id,
        is_error: does.status === "error",
        status: does.status,
        output_text: does.output,
        parts: [],
        ...(does.status === "aborted" && does.outcome !== undefined && { outcome: does.outcome }),
        ...(does.status !== "aborted" && does.pick % 3 === 0 && { permission: { by: "person" as const } }),
      });
      return;
    }
    case "end": {
      if (making.message === undefined) return;
      const reasons = ["stop", "tool_use", "length", "error", undefined] as const;
      const stop_reason = choose(reasons, does.pick);
      frames.push({
        type: "message.end",
        message_id: making.message,
        ...(stop_reason === undefined ? {} : { stop_reason }),
        ...(does.pick % 3 === 0 ? {} : { usage: { input: does.pick, output: 1, cache_read: 2 } }),
        ...(stop_reason === "error" ? { error: "It broke", stop_reason_raw: "overloaded" } : {}),
      });
      making.message = undefined;
      return;
    }
    case "orphan": {
      const tool_call_id = `orphan-${making.orphans.length}`;
      making.orphans.push(tool_call_id);
      frames.push({
        type: "message.tool_result",
        tool_call_id,
        is_error: false,
        status: "success",
        output_text: does.text,
        parts: [],
      });
      return;
    }
    case "late_call": {
      const tool_call_id = choose(making.orphans, does.pick);
      if (tool_call_id === undefined) return;
      frames.push({ type: "message.tool_call", tool_call_id, tool_name: "Late", arguments_json: "{}" });
      return;
    }
    case "revise": {
      const part_id = choose(making.parts, does.pick);
      if (part_id !== undefined) frames.push({ type: "message.part_end", part_id, text: does.text });
      return;
    }
    case "recall": {
      const call = choose(making.calls, does.pick);
      if (call === undefined) return;
      frames.push({
        type: "message.tool_call",
        tool_call_id: call.id,
        tool_name: "Bash",
        arguments_json: JSON.stringify(does.text),
        ...(call.message_id === undefined ? {} : { message_id: call.message_id }),
      });
      return;
    }
    case "image":
      frames.push({
        type: "message.image",
        part_id: fresh(4),
        file_path: `/${does.text}`,
        mime_type: "image/png",
      });
      return;
    case "file":
      frames.push({ type: "message.file", part_id: fresh(4), mime: "text/plain", url: does.text });
      return;
    case "marker":
      frames.push({
        type: "marker",
        part_id: fresh(4),
        kind: "compaction",
        title: "Compacted",
        text: does.text,
      });
      return;
    case "ask":
      frames.push({
        type: "request.open",
        request: {
          request_id: fresh(7),
          kind: does.pick % 2 === 0 ? "approval" : "question",
          title: does.text,
          subject: does.text,
          options: [{ id: "yes", label: "Yes" }],
        },
      });
      return;
    case "answer": {
      const asked = frames.flatMap((frame) =>
        frame.type === "request.open" ? [frame.request.request_id] : [],
      );
      const request_id = asked[does.pick % Math.max(1, asked.length)];
      if (request_id === undefined) return;
      frames.push({
        type: "request.close",
        request_id,
        outcome: does.pick % 3 === 0 ? "expired" : "answered",
        ...(does.pick % 3 === 0 ? {} : { answer: { option_ids: ["yes"], text: does.text } }),
      });
      return;
    }
    case "unknown":
      frames.push({ type: "unknown", part_id: fresh(4), raw: { it: does.text } });
      return;
    case "developer":
      frames.push({
        type: "developer.message",
        message_id: fresh(2),
        parts: [{ type: "text", text: does.text }],
      });
      return;
    case "legacy": {
      const role = does.pick % 2 === 0 ? ("user" as const) : ("assistant" as const);
      if (role === "user") making.message = undefined;
      const message = { role, id: fresh(2), created_at: "2026-01-01T00:00:00.000Z", content: does.text };
      frames.push({ type: "message.legacy", message });
      return;
    }
    case "error":
      frames.push({ type: "error", message: does.text, can_retry: does.pick % 2 === 0 });
      return;
    case "progress": {
      const call = choose(making.calls, does.pick);
      if (call !== undefined) {
        frames.push({ type: "message.tool_progress", tool_call_id: call.id, text: does.text, offset: 0 });
      }
      return;
    }
    case "run": {
      const call = choose(making.calls, does.pick);
      if (call !== undefined) {
        frames.push({
          type: "task.start",
          tool_call_id: call.id,
          sub_agent: { session_id: fresh(6), name: does.text },
        });
      }
      return;
    }
    case "metadata": {
      const call = choose(making.calls, does.pick);
      if (call !== undefined) {
        frames.push({ type: "task.metadata", tool_call_id: call.id, metadata: { note: does.text } });
      }
      return;
    }
    case "todos":
      frames.push({ type: "todo.change", todos: [{ text: does.text, status: "pending" }] });
      return;
    case "context":
      frames.push({ type: "context.usage", tokens: does.pick });
      return;
    case "interrupt":
      making.message = undefined;
      frames.push({ type: "interrupt", ...(does.pick % 2 === 0 ? { reason: does.text } : {}) });
      return;
    case "abort":
      if (making.message === undefined) return;
      frames.push({ type: "message.end", message_id: making.message, stop_reason: "aborted" });
      making.message = undefined;
      return;
    case "turn_start": {
      const turn_id = fresh(5);
      making.turns.push(turn_id);
      making.message = undefined;
      frames.push({ type: "turn.start", turn_id });
      return;
    }
    case "turn_end":
      making.message = undefined;
      frames.push({ type: "turn.end", ...(does.pick % 4 === 0 ? { status: "failed" as const } : {}) });
      return;
    case "retract": {
      const message_id = choose(making.messages, does.pick);
      if (message_id !== undefined) frames.push({ type: "message.retract", message_id, reason: does.text });
      return;
    }
    case "retract_turn": {
      const turn_id = choose(making.turns, does.pick);
      if (turn_id !== undefined) frames.push({ type: "turn.retract", turn_id, reason: does.text });
      return;
    }
    case "reopen": {
      const message_id = choose(making.messages, does.pick);
      if (message_id === undefined) return;
      making.message = message_id;
      frames.push({ type: "message.start", message_id });
      return;
    }
    case "end_again": {
      const message_id = choose(making.messages, does.pick);
      if (message_id === undefined) return;
      frames.push({ type: "message.end", message_id, usage: { input: does.pick + 1, output: 3 } });
      return;
    }
    default:
      does satisfies never;
  }
}

/** Frames that a source may send, common and unusual: every kind, in every possible order. */
export function anyFrames(session_id = id(1, 1)): fc.Arbitrary<Frame[]> {
  return fc.array(step, { maxLength: 40, size: "max" }).map((steps) => {
    const making: Making = {
      frames: [],
      message: undefined,
      messages: [],
      parts: [],
      calls: [],
      turns: [],
      orphans: [],
      next: 0,
    };
    for (const does of steps) make(making, does);
    return session(making.frames, session_id);
  });
}

/** The same frames with their deltas split at the places that `cuts` chooses. */
export function splitDeltas(frames: readonly Frame[], cuts: readonly number[]): Frame[] {
  let next = 0;
  return frames.flatMap((frame) => {
    if (frame.type !== "message.delta") return [frame];
    const pieces: Frame[] = [];
    let from = 0;
    while (from < frame.text.length) {
      const length = 1 + ((cuts[next % Math.max(1, cuts.length)] ?? 0) % frame.text.length);
      next += 1;
      pieces.push({ ...frame, text: frame.text.slice(from, from + length) });
      from += length;
    }
    return pieces.length === 0 ? [frame] : pieces;
  });
}

/** The parts as a stored history has them: without times and without content that is only shown live. */
export function lasting(transcript: Transcript): unknown[] {
  return defined(transcript.parts).map((part) => {
    const { at: _, source: __, ...rest } = part;
    if (rest.type === "text" || rest.type === "thinking") {
      const { open: ___, ended_at: ____, ...kept } = rest;
      return kept;
    }
    if (rest.type === "tool_call") {
      const { progress: ___, ...kept } = rest;
      if (kept.state.status === "pending") return kept;
      const { time: ____, ...state } = kept.state;
      return { ...kept, state };
    }
    return rest;
  });
}

/** Frames of every kind with random fields and ids from a small pool, which no source sends but anyone could. */
export function wildFrames(): fc.Arbitrary<Frame[]> {
  const uuids = fc.constantFrom(id(4, 1), id(4, 2), id(4, 3), id(3, 1), id(3, 2));
  const text = fc.string({ maxLength: 4, unit: anyCharacter });
  const position = fc.integer({ min: -2, max: 12 });
  const fields = {
    message_id: uuids,
    part_id: uuids,
    turn_id: uuids,
    tool_call_id: fc.constantFrom("a", "b", "constructor"),
    tool_name: text,
    arguments_json: fc.oneof(text, fc.json({ maxDepth: 1 })),
    kind: fc.constantFrom("text", "thinking", "interrupt", "error", "note"),
    request_id: uuids,
    request: uuids.map((request_id) => ({ request_id, kind: "question", title: "Which?", options: [] })),
    outcome: fc.constantFrom("answered", "expired"),
    text,
    title: text,
    reason: text,
    message: text,
    model: text,
    offset: position,
    signature: text,
    hidden: fc.constantFrom("encrypted", "empty"),
    is_error: fc.boolean(),
    status: fc.constantFrom("success", "error", "aborted", "running", "failed"),
    stop_reason: fc.constantFrom("stop", "aborted", "error"),
    output_text: text,
    output_end: text,
    parts: fc.constantFrom([], [{ type: "image_url", url: "data:," }]),
    queued: fc.boolean(),
    url: text,
    mime: text,
    raw: fc.jsonValue({ maxDepth: 1 }),
    reason_raw: text,
    error: text,
    metadata: fc.constantFrom(null, { a: 1 }, "text"),
    sub_agent: fc.constant({ session_id: id(6, 1) }),
    todos: fc.constant([]),
    tokens: fc.nat(9),
    usage: fc.record({ input: fc.nat(9), output: fc.nat(9) }),
    patch: fc.constant({ title: "t" }),
    part_index: position,
    step: fc.nat(3),
    bare: fc.boolean(),
    truncated: fc.dictionary(fc.constantFrom("text", "output_text", "progress"), fc.nat(9), { maxKeys: 1 }),
  };
  const legacy = { role: "user", id: id(2, 1), created_at: "never", content: "c" };
  const record = { role: "assistant", id: id(3, 1), created_at: "never", provider: "p", parts: [] };
  const candidate = fc.tuple(
    fc.constantFrom(...frameSchema.options.map((option) => option.shape.type.value)),
    fc.record(fields),
    fc.subarray(Object.keys(fields)),
  );
  const one = candidate.map(([type, all, absent]) => {
    const whole = {
      ...all,
      type,
      session_id: id(1, 1),
      at: 1,
      ...(type === "message.legacy" ? { message: legacy } : {}),
      ...(type === "message.record" ? { message: record } : {}),
    };
    const cut = Object.fromEntries(Object.entries(whole).filter(([key]) => !absent.includes(key)));
    const parsed = frameSchema.safeParse(cut);
    // If a required field is missing, the complete frame is used.
    return parsed.success ? parsed.data : frameSchema.safeParse(whole).data;
  });
  return fc
    .array(one, { maxLength: 30, size: "max" })
    .map((frames) => frames.filter((frame) => frame !== undefined));
}
