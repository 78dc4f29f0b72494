import { isPreamble } from "../../model/transcript/fold/fold.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { complete, pushUnplaced } from "./session-parts.ts";
import { showHeld } from "./session-queue.ts";
import type { Line, Session, SessionFunctions } from "./session-types.ts";

/** Ends the open turn before another one starts, at its last activity and with the status that its content implies. */
export function endBefore(session: Session, line: Line): void {
  const { own } = session;
  const over = { ...line, at: own.lastActivityAt };
  session.endStep(over);
  // A command may end without the model.
  const hasYielded = session.lastStep === undefined ? own.byCommand : session.hasYielded();
  const status = own.calls.open > 0 || !hasYielded ? "interrupted" : "completed";
  session.endTurn(over, session.turnFailed ? "failed" : status);
}

/** Starts a turn with a line. */
export function startTurn(session: Session, line: Line): void {
  const { own } = session;
  const turn_id = uuidFrom(session.session_id, "turn:", line.key);
  const prompt = own.branches.promptOf(line.print);
  own.turn = { turn_id, prompt, at: line.at };
  own.turns += 1;
  own.branches.open(own.turn);
  own.calls.beginTurn();
  own.stopped = false;
  own.lastActivityAt = line.at;
  session.turnOpen = true;
  session.turnFailed = false;
  session.lastStep = undefined;
  pushUnplaced(session, line, { type: "turn.start", turn_id });
}

/** The turns of a session. A frame may open the first one. `file`: the path in the frames' sources. */
export function turnFunctions(
  session: Session,
  file: string,
): Pick<
  SessionFunctions,
  "push" | "endTurn" | "hasPrompt" | "provisionalEnd" | "interrupt" | "hasYielded" | "isAnswered"
> {
  const { own } = session;
  return {
    push(line, frame, place = line.place) {
      if (!isPreamble(frame)) {
        own.preamble = "over";
        own.lastActivityAt = Math.max(own.lastActivityAt, line.at);
      } else if (own.preamble === "ahead" && own.turns === 0) {
        own.preamble = "open";
        startTurn(session, line);
      }
      const whole = complete(session, line, frame);
      if (line.unplaced === true) return;
      whole.source = { file, line: place.line, byte: place.byte, length: place.length };
    },

    endTurn(line, status, inferred = false) {
      session.endStep(line);
      showHeld(session, line);
      if (!session.turnOpen) return;
      session.turnOpen = false;
      pushUnplaced(session, line, { type: "turn.end", status, ...(inferred && { inferred }) });
    },

    hasPrompt: () => own.preamble !== "open",

    provisionalEnd(line, status) {
      if (!session.turnOpen || own.provisionally_ended === line.key) return;
      own.provisionally_ended = line.key;
      pushUnplaced(session, line, { type: "turn.end", status });
    },

    interrupt(line, reason) {
      if (own.stopped) return false;
      const step = session.openStep;
      // A model call that was cut off has no end. One whose tools were stopped has already ended.
      if (step !== undefined && step.calls === 0 && (step.stop === undefined || step.synthetic)) {
        step.ended = true;
        step.cutOff = true;
        session.openStep = undefined;
      }
      session.endStep(line);
      session.push(line, { type: "interrupt", part_id: session.recordPart(line).part_id, reason });
      session.endTurn(line, "interrupted");
      own.stopped = true;
      return true;
    },

    hasYielded() {
      const step = session.lastStep;
      if (step === undefined || session.damaged) return false;
      if (step === session.finalStep) return own.calls.open === 0;
      if (step.calls > 0 || step.parts === 0 || step.isUnfinished) return false;
      return !(step.lastIsBlock && step.blocks.last?.kind === "thinking");
    },

    isAnswered: () =>
      own.byCommand && !own.startedDuringTurn && session.hasOutput && session.lastStep === undefined,
  };
}
