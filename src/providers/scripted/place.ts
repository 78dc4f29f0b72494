import type { Message } from "../../model/messages/message.ts";

/** Where in its script a session stands. */
export interface ScriptPlace {
  /** The script's name, or `file:` and the absolute path of one. */
  name: string;
  /** How many prompts came before the present one under this script. */
  turn: number;
  /** How many model calls of the present turn are done. */
  step: number;
  /** How many calls of the present step were begun and failed, as far as history shows it. */
  failed: number;
}

/** In a prompt, such as a parent gives its sub-agent: which script is to be played from here on. */
const SELECTION = /\[\[script:([^\]\s]+)\]\]/;

/**
 * Derived from the history alone, so that a session which is opened again, or forked, goes on where it stood. The session's
 * model is the script's name where no prompt names one.
 */
export function placeInScript(messages: readonly Message[], model: string): ScriptPlace {
  const place: ScriptPlace = { name: model, turn: -1, step: 0, failed: 0 };
  for (const message of messages) {
    // What is typed while a turn runs is inside that turn.
    if (message.role === "user" && message.queued !== true) {
      const selected = selectionIn(message);
      if (selected !== undefined) {
        place.name = selected;
        place.turn = -1;
      }
      place.turn += 1;
      place.step = 0;
      place.failed = 0;
    } else if (message.role === "assistant" && isModelCall(message)) {
      if (message.stop_reason === "error") place.failed += 1;
      else {
        place.step += 1;
        place.failed = 0;
      }
    }
  }
  return { ...place, turn: Math.max(0, place.turn) };
}

function selectionIn(message: Message): string | undefined {
  for (const part of message.parts) {
    const name = part.type === "text" ? SELECTION.exec(part.text)?.[1] : undefined;
    if (name !== undefined) return name;
  }
  return undefined;
}

/** An interrupt between two calls is stored as an assistant message too. */
function isModelCall(message: Extract<Message, { role: "assistant" }>): boolean {
  return message.interrupt?.alone !== true;
}
