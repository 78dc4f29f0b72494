import type { Frame } from "./frame.ts";

/** A frame that breaks the order of frames. It is folded all the same: nothing is dropped for it. */
export interface Violation {
  readonly rule: Rule;
  readonly session_id: string;
  /** What is wrong, and what should have come instead. */
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
  /** The message being written, and those that ended, with how. */
  message_id: string | undefined;
  readonly messages: Map<string, "open" | "ended" | "interrupted">;
  /** The part between its start and its end. */
  open_part: { id: string; kind: "text" | "thinking" } | undefined;
  /** Every part that was started, with the length delivered. */
  readonly parts: Map<string, { length: number; ended: boolean }>;
  readonly calls: Set<string>;
  over: boolean;
}

/**
 * Checks frames as they come against the order that a source owes: a start before the first delta and one end after the
 * last where boundaries are sent, no nesting, open text ends before a tool call starts, results only for known calls,
 * one end for each completed message and none after an interrupt. A bare stream without boundaries is legal. Sessions
 * may interleave: each has a state of its own, which begins anew after its `end`.
 */
export function createOrderChecker(): {
  check(frame: Frame): Violation[];
  /** What of a session waits for its end. */
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

function checkFrame(order: SessionOrder, frame: Frame, report: (rule: Rule, message: string) => void): void {
  const leaveNothingOpen = (before: string): void => {
    if (order.open_part === undefined) return;
    const { id, kind } = order.open_part;
    report("part_left_open", `The ${kind} part ${id} has no message.part_end before ${before}`);
    order.open_part = undefined;
  };
  if (order.over) {
    report("after_end", `${frame.type} comes after the channel's end`);
    order.over = false;
  }
  switch (frame.type) {
    case "message.start":
      leaveNothingOpen("the next message.start");
      if (order.message_id !== undefined && order.message_id !== frame.message_id) {
        report(
          "nested_message",
          `Message ${order.message_id} has no message.end before ${frame.message_id} starts`,
        );
      }
      order.message_id = frame.message_id;
      if (!order.messages.has(frame.message_id)) order.messages.set(frame.message_id, "open");
      return;
    case "message.part_start":
      if (order.open_part !== undefined) {
        report(
          "nested_part",
          `The part ${frame.part_id} starts inside ${order.open_part.id}, which is still open`,
        );
      }
      order.open_part = { id: frame.part_id, kind: frame.kind };
      order.parts.set(frame.part_id, { length: 0, ended: false });
      return;
    case "message.delta": {
      if (frame.part_id === undefined) return;
      const part = order.parts.get(frame.part_id);
      if (part === undefined) {
        report("delta_before_start", `The part ${frame.part_id} gets text before its message.part_start`);
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
        report("delta_after_end", `The part ${frame.part_id} gets text after its message.part_end`);
      }
      part.length = Math.max(part.length, offset + frame.text.length);
      return;
    }
    case "message.part_end": {
      const part = order.parts.get(frame.part_id);
      if (part === undefined) {
        report("end_without_start", `The part ${frame.part_id} ends without a message.part_start`);
        order.parts.set(frame.part_id, { length: frame.text?.length ?? 0, ended: true });
        return;
      }
      // With the whole value it is a revision, which may come at any time.
      if (part.ended && frame.text === undefined && frame.signature === undefined) {
        report(
          "ended_twice",
          `The part ${frame.part_id} has ended before; a revision carries the whole text`,
        );
      }
      part.ended = true;
      part.length = frame.text?.length ?? part.length;
      if (order.open_part?.id === frame.part_id) order.open_part = undefined;
      return;
    }
    case "message.tool_call_start":
    case "message.tool_call":
      if (order.open_part !== undefined && !order.calls.has(frame.tool_call_id)) {
        const { id, kind } = order.open_part;
        report(
          "tool_call_in_open_part",
          `The ${kind} part ${id} must end before the call ${frame.tool_call_id} starts`,
        );
      }
      order.calls.add(frame.tool_call_id);
      return;
    case "message.tool_result":
      if (!order.calls.has(frame.tool_call_id)) {
        report(
          "orphan_result",
          `The result of ${frame.tool_call_id} comes without its call; it is shown alone`,
        );
      }
      return;
    case "message.end": {
      leaveNothingOpen("message.end");
      const message = order.messages.get(frame.message_id);
      if (message === undefined) {
        report("end_without_start", `Message ${frame.message_id} ends without a message.start`);
      } else if (message === "interrupted") {
        report("end_after_interrupt", `Message ${frame.message_id} was interrupted: it has no message.end`);
      } else if (message === "ended" && frame.usage === undefined) {
        report("ended_twice", `Message ${frame.message_id} has ended before; only new usage is sent again`);
      }
      order.messages.set(frame.message_id, "ended");
      if (order.message_id === frame.message_id) order.message_id = undefined;
      return;
    }
    case "interrupt":
      // A person stops an agent in the middle of anything: what is open ends here.
      if (order.message_id !== undefined) order.messages.set(order.message_id, "interrupted");
      order.message_id = undefined;
      order.open_part = undefined;
      return;
    case "turn.start":
    case "turn.end":
      leaveNothingOpen(frame.type);
      order.message_id = undefined;
      return;
    case "user.message":
      if (frame.queued === true) return;
      leaveNothingOpen("the next prompt");
      order.message_id = undefined;
      return;
    case "end":
      leaveNothingOpen("the end");
      order.message_id = undefined;
      order.messages.clear();
      order.parts.clear();
      order.calls.clear();
      order.over = true;
      return;
    // These may come at any time.
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
