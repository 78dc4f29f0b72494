import type { Part } from "../../model/messages/part.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { textFields } from "../../model/text/display-text.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { fingerprint } from "../fingerprint.ts";
import { firstLine } from "../lines/first-line.ts";
import { pushUnplaced } from "./session-parts.ts";
import { showHeld } from "./session-queue.ts";
import { secondOf, withTime } from "./session-replays.ts";
import { endBefore, startTurn } from "./session-turns.ts";
import {
  type Line,
  type PromptOptions,
  resumedLine,
  type Session,
  type SessionFunctions,
} from "./session-types.ts";

/** The start of the prompt that is written when a person accepts a plan and the conversation restarts with it. */
const PLAN = "Implement the following plan:";

/** The prompts of a session. */
export function promptFunctions(session: Session): Pick<SessionFunctions, "prompt" | "addTimerNote"> {
  return {
    prompt: (line, given, options) => showPrompt(session, line, given, options),

    addTimerNote(line) {
      const { fired } = session;
      if (fired === undefined) return;
      session.fired = undefined;
      const { text } = fired;
      const title = claudeCodeTitle("timer_fired", { prompt: text === "" ? undefined : firstLine(text) });
      session.marker(resumedLine(fired.line, line.frames), "note", title, text);
    },
  };
}

/** Shows a prompt. It opens a turn, or belongs to the running one. */
function showPrompt(session: Session, line: Line, given: Part[], options: PromptOptions): void {
  const { own } = session;
  const isTask = session.facts.run !== undefined && !own.hasPrompts;
  const parts =
    options.from === undefined || isTask
      ? given
      : given.map((part) =>
          part.type === "text" ? { ...part, text: `From ${options.from}: ${part.text}` } : part,
        );
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  own.hasPrompts = true;
  const print = fingerprint(text);
  own.prompts.set(print, withTime(own.prompts.get(print), line.at));
  const isFirst = own.preamble === "open";
  const isIdle = !session.turnOpen || (session.hasYielded() && options.inTurn !== true);
  const opens = options.opensTurn || isFirst || isIdle;
  const interruptsModel = !isFirst && !isIdle && !session.isAnswered();
  const wasQueued = session.queue.deliver(text);
  if (opens) showHeld(session, line);
  // The agent empties its queue before a person can type a prompt.
  if (!wasQueued && opens && options.typed) session.dropQueued(line, false);
  if (opens && options.typed) rewind(session, line, text);
  const only = own.turn;
  if (isFirst && only !== undefined) {
    // Records below the prompt are abandoned with it, but not those below earlier records.
    only.prompt = own.branches.promptOf(line.print);
    if (own.provisionally_ended !== undefined)
      pushUnplaced(session, line, { type: "turn.start", turn_id: only.turn_id });
  } else if (opens) {
    endBefore(session, line);
    startTurn(session, line);
  }
  if (opens) {
    own.byCommand = options.origin === "command";
    own.startedDuringTurn = interruptsModel;
    session.hasOutput = false;
  }
  const { message_id, part_id } = session.recordPart(line);
  session.push(line, {
    type: "user.message",
    message_id,
    part_id,
    parts,
    ...(!opens && { queued: true }),
    ...(options.origin !== undefined && { origin: options.origin }),
  });
  session.damaged = false;
  session.blockedStop = undefined;
  session.addTimerNote(line);
}

/** Handles a rewind: a prompt with the same parent was edited, and its turns and all turns below them are abandoned. */
function rewind(session: Session, line: Line, text: string): void {
  const { own } = session;
  const parent = line.value.parentUuid;
  if ((typeof parent !== "string" && parent !== null) || line.uuid === undefined) return;
  // An accepted plan starts without the preceding conversation.
  if (parent === null && text.startsWith(PLAN)) own.branches.reset();
  const abandoned = own.branches.type(line.print, uuidPrint(parent), secondOf(line.at));
  own.lastPrompt = line.print;
  own.beginnings.set(own.lastPrompt, firstLine(text));
  if (abandoned.length === 0) return;
  endBefore(session, line);
  for (const turn of abandoned) {
    pushUnplaced(session, line, {
      type: "turn.retract",
      turn_id: turn.turn_id,
      ...textFields("reason", retractionReason("retracted_by_rewind_to_prompt")),
    });
  }
  session.marker(line, "rewind", claudeCodeTitle("claude_rewound_turns", { turns: abandoned.length }));
}

const uuidPrint = (uuid: string | null): number | null => (uuid === null ? null : fingerprint(uuid));
