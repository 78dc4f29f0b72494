import { randomUUID } from "node:crypto";
import type { Frame } from "../model/frames/frame.ts";
import type { FrameBody } from "../model/frames/frame-writer.ts";
import type { ToolStatus } from "../model/messages/message.ts";
import type { MediaPart } from "../model/messages/part.ts";
import type { UiExtra } from "../model/parts/ui-extra.ts";
import type { AgentHost } from "./agent.ts";

/** How a call ended. */
export interface CallEnd {
  status: ToolStatus;
  output_text: string;
  parts?: MediaPart[];
  ui_extra?: UiExtra;
}

interface OpenCall {
  readonly call_id: string;
  readonly tool_name: string;
}

/** Emits all frames of a turn and tracks its open calls, so that every call gets a result. */
export interface TurnEmitter {
  /** Emits a frame of a provider unchanged. */
  emit(frame: Frame): void;
  say(frame: FrameBody): void;
  /** Emits the result of a call, unless it has one already. */
  endCall(call: OpenCall, end: CallEnd): void;
  /** Adds a call that an earlier daemon process left open. */
  adopt(call: OpenCall): void;
  /** Calls without a result, in the model's order. */
  openCalls(): OpenCall[];
}

export function createTurnEmitter(host: AgentHost): TurnEmitter {
  const open = new Map<string, string>();
  const emit = (frame: Frame): void => {
    if (frame.type === "message.tool_call_start" || frame.type === "message.tool_call") {
      open.set(frame.tool_call_id, frame.tool_name);
    } else if (frame.type === "message.tool_result") {
      open.delete(frame.tool_call_id);
    }
    host.emit(frame);
  };
  const say = (frame: FrameBody): void => {
    // The cast is safe, because a `FrameBody` is a frame without the two added fields.
    emit({ ...frame, session_id: host.session_id, at: host.now() } as Frame);
  };
  return {
    emit,
    say,
    endCall({ call_id, tool_name }, { status, output_text, parts, ui_extra }) {
      if (!open.has(call_id)) return;
      say({
        type: "message.tool_result",
        message_id: randomUUID(),
        tool_call_id: call_id,
        tool_name,
        is_error: status === "error",
        status,
        output_text,
        parts: parts ?? [],
        ...(ui_extra === undefined ? {} : { ui_extra }),
      });
    },
    adopt({ call_id, tool_name }) {
      open.set(call_id, tool_name);
    },
    openCalls: () => [...open].map(([call_id, tool_name]) => ({ call_id, tool_name })),
  };
}
