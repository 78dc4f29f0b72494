import { asString, asText } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { fingerprint } from "../fingerprint.ts";
import { Blocks } from "./blocks.ts";
import { pushUnplaced } from "./session-parts.ts";
import { showHeld } from "./session-queue.ts";
import { startTurn } from "./session-turns.ts";
import type { Line, Session, SessionFunctions, Step } from "./session-types.ts";
import { givenTokens, isWhole, stopReason } from "./steps.ts";

/** The model calls of a session. */
export function stepFunctions(
  session: Session,
): Pick<SessionFunctions, "stepNamed" | "openStepOf" | "endStep" | "emitEndIfDone"> {
  return {
    stepNamed(line, id, input) {
      const step = session.steps.get(id);
      return step === undefined || isOfOtherStep(session, line, step, input) ? undefined : step;
    },

    openStepOf: (line, id, model, input) => openStepOf(session, line, id, model, input),

    endStep(line) {
      const step = session.openStep;
      if (step === undefined) return;
      session.openStep = undefined;
      step.ended = true;
      emitEnd(session, line, step);
    },

    emitEndIfDone(line, step) {
      const hasEnded = step.ended || (step.usage !== undefined && isWhole(step));
      if (!step.cutOff && hasEnded) emitEnd(session, line, step);
    },
  };
}

/** Returns the step of an answer, and opens it if the answer is new. */
function openStepOf(
  session: Session,
  line: Line,
  id: string,
  model: string | undefined,
  input: number,
): Step {
  const { own } = session;
  const known = session.stepNamed(line, id, input);
  if (known !== undefined) return known;
  own.compaction = undefined;
  session.endStep(line);
  showHeld(session, line);
  session.damaged = false;
  session.blockedStop = undefined;
  // Activity without a new prompt continues the previous turn.
  if (own.turns === 0) startTurn(session, line);
  session.turnOpen = true;
  markConcurrentTurn(session, line);
  const synthetic = model === "<synthetic>";
  const named = synthetic ? undefined : model;
  if (named !== undefined) {
    if (own.lastModel !== undefined && own.lastModel !== named) {
      const title = sourceTitle("model_changed", { before: own.lastModel, now: named });
      session.marker(line, "model_switch", title);
    }
    own.lastModel = named;
    session.update(line, { model: named });
  }
  const id_print = fingerprint(id);
  const isKnown = own.stepIds.has(id_print);
  const effort = asText(line.value.effort);
  const name = isKnown ? `${id}@${line.place.byte}` : id;
  const step: Step = {
    message_id: uuidFrom(session.session_id, "message:", name),
    turn: own.turns,
    isShared: isKnown || id === "",
    request: asString(line.value.requestId),
    ended: false,
    cutOff: false,
    isUnfinished: false,
    blocks: new Blocks(),
    parts: 0,
    calls: 0,
    lastIsBlock: false,
    lastRecordedIn: undefined,
    usage: undefined,
    stop: undefined,
    synthetic,
    inherited: line.inherited,
  };
  own.newest?.blocks.forgetTexts();
  own.newest = step;
  session.steps.set(id, step);
  own.stepIds.set(id_print, 1);
  // If the agent continues, it has recovered from its error.
  session.turnFailed = false;
  session.openStep = step;
  session.lastStep = step;
  session.push(line, {
    type: "message.start",
    message_id: step.message_id,
    response_id: id,
    ...(named !== undefined && { model: named }),
    ...(effort !== undefined && { effort }),
    ...(step.inherited && { inherited: true }),
  });
  return step;
}

function emitEnd(session: Session, line: Line, step: Step): void {
  const stop_reason = stopReason(step);
  const end = JSON.stringify([step.stop, stop_reason, step.usage]);
  const usage = step.synthetic || step.inherited ? undefined : step.usage;
  // An ended step is emitted again only for its tokens.
  if (step.emitted_end === end || (step.emitted_end !== undefined && usage === undefined)) return;
  step.emitted_end = end;
  pushUnplaced(session, line, {
    type: "message.end",
    message_id: step.message_id,
    ...(stop_reason !== undefined && { stop_reason }),
    ...(step.stop !== undefined && { stop_reason_raw: step.stop }),
    ...(usage !== undefined && { usage }),
  });
}

/** Whether a line belongs to a different answer than the step with its id, as with providers that reuse one id. */
function isOfOtherStep(session: Session, line: Line, step: Step, input: number): boolean {
  const { own } = session;
  const { turn, compaction } = own;
  const isCopy = line.uuid !== undefined && line.key !== line.uuid;
  if (isCopy || turn === undefined || line.at < turn.at) return false;
  const request = asString(line.value.requestId);
  if (request && step.request) return request !== step.request;
  const before = givenTokens(step.usage);
  const isCounted = input > 0 && before > 0;
  const isNewPrompt = isCounted && input !== before;
  if (compaction !== undefined) {
    // A copy may also have the time of the copying, so lines may be copies until the next prompt.
    const isOver = step.isShared || own.turns > compaction.turns;
    if (session.mayBeReplay(line) || !(isNewPrompt || isOver)) return false;
  }
  if (step.turn === own.turns) {
    const isAsked = isCounted ? isNewPrompt : compaction !== undefined;
    return isAsked && step.calls > 0 && own.calls.open === 0;
  }
  // A person's command or a task notification may open a turn between the lines of an answer.
  const isAwaited =
    step.stop === undefined && (step.calls === 0 || own.calls.unansweredOf(step.message_id) !== 0);
  return !(isAwaited && input > 0 && input === before);
}

/**
 * Emits the turn of a line. Two processes that resumed the same session write to it concurrently: an answer may follow the
 * other process's prompt, even if both prompts have the same parent, as in a rewind.
 */
function markConcurrentTurn(session: Session, line: Line): void {
  const { own } = session;
  const prompt = own.branches.promptOf(line.print);
  const beginning = prompt === undefined ? undefined : own.beginnings.get(prompt);
  if (beginning === undefined || prompt === own.lastPrompt) return;
  own.lastPrompt = prompt;
  session.marker(line, "note", claudeCodeTitle("concurrent_turn", { beginning }));
}
