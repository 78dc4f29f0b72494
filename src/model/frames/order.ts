import type { Frame, FrameOf } from "./frame.ts";

/** A frame that violates the order of frames. It is folded anyway; nothing is dropped. */
export interface Violation {
  readonly rule: Rule;
  readonly session_id: string;
  /** What is wrong, and what was expected. */
  readonly message: string;
}

export type Rule =
  | "delta_before_start"
  | "delta_after_end"
  | "offset_gap"
  | "end_without_start"
  | "ended_twice"
  | "nested_part"
  | "nested_message"
  | "tool_call_in_open_part"
  | "part_left_open"
  | "orphan_result"
  | "end_after_interrupt"
  | "after_end";

interface SessionOrder {
  /** The open message, and ended messages with how they ended. */
  message_id: string | undefined;
  readonly messages: Map<string, "open" | "ended" | "interrupted">;
  /** The part between its start and its end. */
  open_part: { id: string; kind: "text" | "thinking" } | undefined;
  /** All started parts, with the length of their text. */
  readonly parts: Map<string, { length: number; ended: boolean }>;
  readonly calls: Set<string>;
  over: boolean;
}

/**
 * Checks frames against the order that sources must follow: with part boundaries, a start before the first delta and one end
 * after the last; no nesting; open text ends before a tool call starts; results only for known calls; one end for each completed
 * message and none after an interrupt. A stream without boundaries is valid. Sessions may interleave: each has its own state,
 * which is reset by its `end`.
 */
export function createOrderChecker(): {
  check(frame: Frame): Violation[];
  /** The open message and part of a session. */
  open(session_id: string): { message_id: string | undefined; part_id: string | undefined };
} {
  const sessions = new Map<string, SessionOrder>();
  return {
    check(frame) {
      let order = sessions.get(frame.session_id);
      if (order === undefined) {
        order = {
          message_id: undefined,
          messages: new Map(),
          open_part: undefined,
          parts: new Map(),
          calls: new Set(),
          over: false,
        };
        sessions.set(frame.session_id, order);
      }
      const violations: Violation[] = [];
      checkFrame(order, frame, (rule, message) => {
        violations.push({ rule, session_id: frame.session_id, message });
      });
      return violations;
    },
    open(session_id) {
      const order = sessions.get(session_id);
      return { message_id: order?.message_id, part_id: order?.open_part?.id };
    },
  };
}

type Report = (rule: Rule, message: string) => void;

function checkFrame(order: SessionOrder, frame: Frame, report: Report): void {
  if (order.over) {
    report("after_end", `${frame.type} was sent after the end of the channel`);
    order.over = false;
  }
  switch (frame.type) {
    case "message.start":
      startMessage(order, frame, report);
      return;
    case "message.part_start":
      startPart(order, frame, report);
      return;
    case "message.delta":
      checkDelta(order, frame, report);
      return;
    case "message.part_end":
      endPart(order, frame, report);
      return;
    case "message.tool_call_start":
    case "message.tool_call":
      checkCall(order, frame, report);
      return;
    case "message.tool_result":
      if (!order.calls.has(frame.tool_call_id)) {
        report("orphan_result", `The result of ${frame.tool_call_id} has no call; it is shown on its own`);
      }
      return;
    case "message.end":
      endMessage(order, frame, report);
      return;
    case "interrupt":
      // A person can stop an agent at any time: open messages and parts end here.
      if (order.message_id !== undefined) order.messages.set(order.message_id, "interrupted");
      order.message_id = undefined;
      order.open_part = undefined;
      return;
    case "turn.start":
    case "turn.end":
      reportOpenPart(order, frame.type, report);
      order.message_id = undefined;
      return;
    case "user.message":
      if (frame.queued === true) return;
      reportOpenPart(order, "the next prompt", report);
      order.message_id = undefined;
      return;
    case "end":
      reportOpenPart(order, "the end", report);
      order.message_id = undefined;
      order.messages.clear();
      order.parts.clear();
      order.calls.clear();
      order.over = true;
      return;
    // Valid at any time.
    case "message.tool_progress":
    case "message.image":
    case "message.file":
    case "message.retract":
    case "message.legacy":
    case "message.record":
    case "developer.message":
    case "request.open":
    case "request.close":
    case "todo.change":
    case "turn.retract":
    case "task.start":
    case "task.finish":
    case "task.metadata":
    case "error":
    case "marker":
    case "unknown":
    case "context.usage":
    case "session.update":
      return;
    default:
      frame satisfies never;
  }
}

function startMessage(order: SessionOrder, frame: FrameOf<"message.start">, report: Report): void {
  reportOpenPart(order, "the next message.start", report);
  if (order.message_id !== undefined && order.message_id !== frame.message_id) {
    report(
      "nested_message",
      `Message ${order.message_id} has no message.end before ${frame.message_id} starts`,
    );
  }
  order.message_id = frame.message_id;
  if (!order.messages.has(frame.message_id)) order.messages.set(frame.message_id, "open");
}

function startPart(order: SessionOrder, frame: FrameOf<"message.part_start">, report: Report): void {
  if (order.open_part !== undefined) {
    report(
      "nested_part",
      `The part ${frame.part_id} starts within ${order.open_part.id}, which is still open`,
    );
  }
  order.open_part = { id: frame.part_id, kind: frame.kind };
  order.parts.set(frame.part_id, { length: 0, ended: false });
}

function checkDelta(order: SessionOrder, frame: FrameOf<"message.delta">, report: Report): void {
  if (frame.part_id === undefined) return;
  const part = order.parts.get(frame.part_id);
  if (part === undefined) {
    report("delta_before_start", `The part ${frame.part_id} has text before its message.part_start`);
    order.parts.set(frame.part_id, { length: (frame.offset ?? 0) + frame.text.length, ended: false });
    return;
  }
  const offset = frame.offset ?? part.length;
  if (offset > part.length) {
    report(
      "offset_gap",
      `The part ${frame.part_id} has ${part.length} characters, the delta begins at ${offset}`,
    );
  }
  const isRepeat = offset + frame.text.length <= part.length;
  if (part.ended && !isRepeat) {
    report("delta_after_end", `The part ${frame.part_id} has text after its message.part_end`);
  }
  part.length = Math.max(part.length, offset + frame.text.length);
}

function endPart(order: SessionOrder, frame: FrameOf<"message.part_end">, report: Report): void {
  const part = order.parts.get(frame.part_id);
  if (part === undefined) {
    report("end_without_start", `The part ${frame.part_id} ends without a message.part_start`);
    order.parts.set(frame.part_id, { length: frame.text?.length ?? 0, ended: true });
    return;
  }
  // A complete value is a revision, which is valid at any time.
  if (part.ended && frame.text === undefined && frame.signature === undefined) {
    report(
      "ended_twice",
      `The part ${frame.part_id} has already ended; a revision must contain the complete text`,
    );
  }
  part.ended = true;
  part.length = frame.text?.length ?? part.length;
  if (order.open_part?.id === frame.part_id) order.open_part = undefined;
}

function checkCall(
  order: SessionOrder,
  frame: FrameOf<"message.tool_call_start" | "message.tool_call">,
  report: Report,
): void {
  if (order.open_part !== undefined && !order.calls.has(frame.tool_call_id)) {
    const { id, kind } = order.open_part;
    report(
      "tool_call_in_open_part",
      `The ${kind} part ${id} must end before the call ${frame.tool_call_id} starts`,
    );
  }
  order.calls.add(frame.tool_call_id);
}

function endMessage(order: SessionOrder, frame: FrameOf<"message.end">, report: Report): void {
  reportOpenPart(order, "message.end", report);
  const message = order.messages.get(frame.message_id);
  if (message === undefined) {
    report("end_without_start", `Message ${frame.message_id} ends without a message.start`);
  } else if (message === "interrupted") {
    report(
      "end_after_interrupt",
      `Message ${frame.message_id} was interrupted and must not have a message.end`,
    );
  } else if (message === "ended" && frame.usage === undefined) {
    report("ended_twice", `Message ${frame.message_id} has already ended; only new usage can be sent again`);
  }
  order.messages.set(frame.message_id, "ended");
  if (order.message_id === frame.message_id) order.message_id = undefined;
}

function reportOpenPart(order: SessionOrder, before: string, report: Report): void {
  if (order.open_part === undefined) return;
  const { id, kind } = order.open_part;
  report("part_left_open", `The ${kind} part ${id} has no message.part_end before ${before}`);
  order.open_part = undefined;
}
