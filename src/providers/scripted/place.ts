import type { Message } from "../../model/messages/message.ts";

/** The position of a session in its script. */
export interface ScriptPlace {
  /** The script's name, or `file:` and an absolute path. */
  name: string;
  /** Number of earlier prompts with this script. */
  turn: number;
  /** Number of completed model calls in this turn. */
  step: number;
  /** Number of failed attempts of this step, as far as they are in the history. */
  failed: number;
}

/** In a prompt, for example for a sub-agent: selects the script from here on. */
const SELECTION = /\[\[script:([^\]\s]+)\]\]/;

/**
 * Derived from the history only, so that a reopened or forked session continues at its position. The session's model is the
 * script's name, unless a prompt selects one.
 */
export function placeInScript(messages: readonly Message[], model: string): ScriptPlace {
  const place: ScriptPlace = { name: model, turn: -1, step: 0, failed: 0 };
  for (const message of messages) {
    // A prompt typed during a turn belongs to that turn.
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
