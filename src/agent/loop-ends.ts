import { randomUUID } from "node:crypto";
import type { AssistantMessage } from "../model/messages/message.ts";
import { agentTitle } from "../model/text/agent-titles.ts";
import { type DisplayText, displayText, textFields } from "../model/text/display-text.ts";
import { titleFields } from "../model/text/titles.ts";
import { ERROR } from "../model/transcript/fold/fold.ts";
import { partId } from "../model/uuid.ts";
import type { Failure, ModelReply } from "../providers/provider.ts";
import type { TurnOutcome } from "./agent.ts";
import type { Loop } from "./loop-state.ts";
import { unknownFailure } from "./retry.ts";

/** Retracts the output of a failed attempt. Its calls did not run, and the next attempt starts from scratch. */
export function withdraw(loop: Loop, { message }: ModelReply, failure: Failure): void {
  endOpenCalls(loop, {
    status: "error",
    output_text: "Not run: the model's answer failed before it was complete.",
  });
  if (message === undefined) return;
  const reason = textFields("reason", messageTextOf(failure));
  loop.emitter.say({ type: "message.retract", message_id: message.id, ...reason });
}

const messageTextOf = ({ message, title_code }: Failure): DisplayText => displayText(message, title_code);

/** Emits a marker that a model call is retried. */
export function retryMarker(loop: Loop, title: DisplayText, failure?: Failure): void {
  const notified =
    failure === undefined ? {} : { ...textFields("text", messageTextOf(failure)), data: detailsOf(failure) };
  loop.emitter.say({
    type: "marker",
    part_id: randomUUID(),
    kind: "retry",
    ...titleFields(title),
    ...notified,
  });
}

/** Ends a failed turn. Its last message keeps its parts, and the user is told what to do. */
export function fail(loop: Loop, failure: Failure | undefined, message?: AssistantMessage): TurnOutcome {
  endOpenCalls(loop, { status: "error", output_text: "Not run: the turn failed." });
  const notified = failure ?? unknownFailure(agentTitle("agent_turn_failed"));
  loop.emitter.say({
    type: "error",
    // If the end of the message has already reported the error, use the same part id, so that there is only one marker.
    part_id: message === undefined ? randomUUID() : partId(message.id, ERROR),
    message: notified.message,
    ...(notified.title_code === undefined ? {} : { title_code: notified.title_code }),
    can_retry: notified.can_retry,
    data: detailsOf(notified),
  });
  return "failed";
}

/** Ends a turn that the user stopped. */
export function interrupt(loop: Loop, signal: AbortSignal): TurnOutcome {
  const { emitter } = loop;
  const reason = typeof signal.reason === "string" ? { reason: signal.reason } : {};
  emitter.say({ type: "interrupt", part_id: randomUUID(), ...reason });
  for (const call of emitter.openCalls()) {
    const { status: _, ...output } = loop.runner.stopped(call.call_id) ?? { output_text: "Not run" };
    const output_text = `${output.output_text}\nInterrupted`.trimStart();
    emitter.endCall(call, { ...output, status: "aborted", output_text });
  }
  return "interrupted";
}

function endOpenCalls(loop: Loop, end: { status: "error" | "aborted"; output_text: string }): void {
  const { emitter } = loop;
  for (const call of emitter.openCalls()) emitter.endCall(call, end);
}

/** The details of a failure, which are shown on demand. */
function detailsOf({
  class: kind,
  remedy,
  remedy_code,
  status,
  request_id,
}: Failure): Record<string, unknown> {
  return {
    class: kind,
    ...(remedy === undefined ? {} : { remedy }),
    ...(remedy_code === undefined ? {} : { remedy_code }),
    ...(status === undefined ? {} : { status }),
    ...(request_id === undefined ? {} : { request_id }),
  };
}
