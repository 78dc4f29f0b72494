import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { firstLine } from "../lines/first-line.ts";
import { printOf } from "./queue.ts";
import { pushUnplaced } from "./session-parts.ts";
import { keptLine, type Line, resumedLine, type Session, type SessionFunctions } from "./session-types.ts";

/** Shows prompts that were moved into the running turn and have no record of their own. */
export function showHeld(session: Session, line: Line): void {
  const { own } = session;
  if (own.held.length === 0) return;
  const prompts_held = own.held;
  own.held = [];
  for (const { line: from, prompt } of prompts_held) {
    if (!session.queue.isWaiting(prompt)) continue;
    const { print } = prompt;
    own.shownQueued.set(print, (own.shownQueued.get(print) ?? 0) + 1);
    own.hasShownQueued = true;
    const taken = resumedLine(from, line.frames);
    session.prompt(taken, [{ type: "text", text: prompt.text }], {
      opensTurn: false,
      typed: false,
      inTurn: true,
    });
  }
}

/** Prompts that waited in the agent's queue. */
export function queueFunctions(
  session: Session,
): Pick<SessionFunctions, "holdQueued" | "wasShown" | "dropQueued"> {
  const { own } = session;
  return {
    holdQueued(line, prompt) {
      own.held.push({ line: keptLine(line), prompt });
    },

    wasShown(text) {
      if (!own.hasShownQueued) return false;
      const print = printOf(text);
      const times = own.shownQueued.get(print) ?? 0;
      if (times > 1) own.shownQueued.set(print, times - 1);
      else own.shownQueued.delete(print);
      return times > 0;
    },

    dropQueued(line, atEnd) {
      showHeld(session, line);
      // A copied prompt may be older than the waiting prompts.
      for (const { text, place } of session.queue.takeUntil(atEnd ? Number.POSITIVE_INFINITY : line.at)) {
        const title = claudeCodeTitle("queued_not_sent", { prompt: firstLine(text) });
        const data = { line: place.line, byte: place.byte };
        if (!atEnd) session.marker(line, "note", title, text, data);
        else {
          // Derived from the position of queueing: the file's last record has parts of its own.
          const message_id = uuidFrom(session.session_id, `queued:${place.byte}`);
          const part_id = partId(message_id, 0);
          pushUnplaced(session, line, {
            type: "marker",
            kind: "note",
            message_id,
            part_id,
            ...titleFields(title),
            text,
            data,
          });
        }
      }
    },
  };
}
