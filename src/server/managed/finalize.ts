import type { Frame } from "../../model/frames/frame.ts";
import { unpairedOf } from "../../model/transcript/accumulate.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";

interface FinalizeOptions {
  /** The time of the end. */
  at: number;
  /** The current time, if later than `at`; used to expire requests. */
  now?: number;
  outcome: "completed" | "failed" | "interrupted";
  /** Reason for an interrupt that has not been recorded yet. */
  reason?: string;
  /** A note to add to a call's output so far. */
  noteOf?(call: TranscriptPartOf<"tool_call">): string | undefined;
  /** Calls and requests that stay open. The turn then stays open too. */
  keep?: { readonly calls: ReadonlySet<string>; readonly requests: ReadonlySet<string> };
}

/**
 * Frames that end the parts that an agent left open: an incomplete message, calls without a result, requests without an answer.
 * Calls are `aborted` if the user stopped the turn or the daemon ended, and errors if the turn failed.
 */
export function finalizingFrames(transcript: Transcript, options: FinalizeOptions): Frame[] {
  const { session_id, open } = transcript;
  const { at, outcome, keep } = options;
  const frames: Frame[] = [];
  const interrupted = outcome === "interrupted";
  const growing = open.message_id;
  const has_interrupt = keep !== undefined || open.outcome === "interrupted";
  if (interrupted && (!has_interrupt || growing !== undefined)) {
    const { reason } = options;
    frames.push({ type: "interrupt", session_id, at, ...(reason === undefined ? {} : { reason }) });
  } else if (growing !== undefined) {
    frames.push({ type: "message.end", session_id, at, message_id: growing, stop_reason: "error" });
  }
  for (const call of openCalls(transcript)) {
    if (keep?.calls.has(call.tool_call_id)) continue;
    const output = call.progress ?? (interrupted ? "" : "The turn ended before this call had a result.");
    const note = options.noteOf?.(call);
    frames.push({
      type: "message.tool_result",
      session_id,
      at,
      tool_call_id: call.tool_call_id,
      tool_name: call.tool_name,
      is_error: !interrupted,
      status: interrupted ? "aborted" : "error",
      output_text: note === undefined ? output : joinLines(output, `[${note}]`),
      parts: [],
    });
  }
  for (const { request } of openRequests(transcript)) {
    if (keep?.requests.has(request.request_id)) continue;
    const { request_id, expires_at } = request;
    if (expires_at === undefined || expires_at > (options.now ?? at))
      frames.push({ type: "request.close", session_id, at, request_id, outcome: "cancelled" });
    else {
      const expired_at = Math.max(at, expires_at);
      frames.push({ type: "request.close", session_id, at: expired_at, request_id, outcome: "expired" });
    }
  }
  return frames;
}

function joinLines(text: string, line: string): string {
  return text === "" || text.endsWith("\n") ? `${text}${line}` : `${text}\n${line}`;
}

/** Calls without a result, in order. */
function openCalls(transcript: Transcript): TranscriptPartOf<"tool_call">[] {
  return unpairedOf(transcript)
    .open_calls.toSorted(([, one], [, other]) => one - other)
    .flatMap(([, index]) => {
      const part = transcript.parts.at(index);
      return part?.type === "tool_call" ? [part] : [];
    });
}

/** Unanswered requests of the last turn. Older ones are no longer pending. */
export function openRequests(transcript: Transcript): TranscriptPartOf<"request">[] {
  const first = transcript.turns.at(transcript.turns.length - 1)?.first_part ?? 0;
  const found: TranscriptPartOf<"request">[] = [];
  for (let index = first; index < transcript.parts.length; index += 1) {
    const part = transcript.parts.at(index);
    if (part?.type === "request" && part.outcome === undefined) found.push(part);
  }
  return found;
}
