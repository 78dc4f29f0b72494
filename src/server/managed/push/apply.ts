import type { Frame } from "../../../model/frames/frame.ts";
import type { Rule } from "../../../model/frames/order.ts";
import { messageFields } from "../../../model/text/titles.ts";
import { CUT } from "../../../sources/push/endings.ts";
import type { OpenStream, SessionState } from "../../../store/history/session-config.ts";
import type { Recorder } from "../record/recorder.ts";
import { type Push, refuse } from "./push.ts";

/** Rules whose violations are accepted: a result without its call is shown on its own. */
const KEPT: ReadonlySet<Rule> = new Set<Rule>(["orphan_result"]);

/** Adds a pushed frame to its session. `number`: its position, if its sender numbers its frames. */
export function apply(push: Push, frame: Frame, number?: { epoch: string; seq: number }): void {
  const { pushed, stream_id } = push;
  if (!push.isCurrent()) {
    refuse(push, "replaced", "another sender has started to push this session.", 409);
  }
  if (number && !isNext(push, number.epoch, number.seq)) return;
  const into = push.record();
  if (!continuesPush(push, into.state, number?.epoch)) endLeftOpen(push, into);
  const broken = push
    .checkerOf(into)
    .check(asKept(frame))
    .find(({ rule }) => !KEPT.has(rule));
  if (broken) {
    // The checker has seen a rejected frame: create a new one from the accepted frames.
    push.dropChecker(into);
    refuse(push, broken.rule, `${broken.message}.`);
  }
  into.emit(frame);
  pushed.applied += 1;
  const before = into.state.pushed;
  if (number || before?.stream?.id !== stream_id) {
    const stream = stream_id === undefined ? {} : { stream: { id: stream_id } };
    into.setState({ pushed: { ...before, ...number, ...stream } });
  }
  if (number) pushed.seq = number.seq;
}

/** Stores the foreign stream that is open. Absent: none is, or it can no longer be continued. */
export function setStream(into: Recorder, stream?: OpenStream): void {
  const { stream: _, ...counted } = into.state.pushed ?? {};
  into.setState({ pushed: { ...counted, ...(stream && { stream }) } });
}

/** Whether a frame continues the previous push: for a foreign stream, the same stream; for frames, the same epoch. */
function continuesPush(
  { stream_id }: Push,
  { pushed: before }: SessionState,
  epoch: string | undefined,
): boolean {
  if (stream_id !== undefined || before?.stream) return before?.stream?.id === stream_id;
  return before?.epoch === undefined || epoch === undefined || before.epoch === epoch;
}

/** Ends an unfinished push when something else begins. */
function endLeftOpen(push: Push, into: Recorder): void {
  const ending = endingOf(push, into);
  for (const frame of ending) push.checkerOf(into).check(frame);
  into.emit(...ending);
  setStream(into);
}

function endingOf({ session_id, checkerOf, now }: Push, into: Recorder): Frame[] {
  const { stream } = into.state.pushed ?? {};
  if (stream?.ending?.length) return stream.ending;
  const { message_id, part_id } = checkerOf(into).open(session_id);
  const isTurnLeft = stream !== undefined && into.buffer.transcript.open.turn_open;
  if (!isTurnLeft && message_id === undefined && part_id === undefined) return [];
  const common = { session_id, at: now() };
  const ending: Frame[] = [];
  if (part_id !== undefined) ending.push({ type: "message.part_end", ...common, part_id });
  if (message_id !== undefined) {
    ending.push({ type: "message.end", ...common, message_id, stop_reason: "error" });
  }
  ending.push(
    { type: "error", ...common, ...messageFields(CUT), can_retry: true },
    { type: "turn.end", ...common },
  );
  return ending;
}

/** Whether this is the next number. `false` for a repeat. */
function isNext(push: Push, epoch: string, seq: number): boolean {
  const { pushed } = push;
  const before = push.record().state.pushed;
  const last = before?.epoch === epoch ? (before.seq ?? 0) : 0;
  pushed.epoch = epoch;
  pushed.seq = last;
  if (seq <= last) {
    pushed.repeated += 1;
    return false;
  }
  if (seq > last + 1)
    refuse(push, "gap", `expected seq ${last + 1} of epoch ${epoch} but got ${seq}.`, 409, last + 1);
  return true;
}

/** In history, the end of a channel is the end of the turn. Frames are checked as they will be read from history. */
function asKept(frame: Frame): Frame {
  return frame.type === "end" ? { ...frame, type: "turn.end" } : frame;
}
