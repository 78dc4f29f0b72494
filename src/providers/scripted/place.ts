import type { Message } from "../../model/messages/message.ts";

/** The position of a session in its script. */
export interface ScriptPlace {
  /** The script's name, or `file:` and an absolute path. */
  name: string;
  /** Number of earlier prompts with this script. */
  turn: number;
  /** Number of completed model calls in this turn. */
  step: number;
  /** Number of failed attempts of this step that are in the history. */
  failed: number;
}

/** A marker in a prompt, for example that of a sub-agent, that selects the script from there on. */
const SELECTION = /\[\[script:([^\]\s]+)\]\]/;

/**
 * The position of a session in its script. It is derived only from the history, so that a reopened or forked session continues
 * there. The session's model is the script's name, unless a prompt selects another script.
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

/** Whether an assistant message is from a model call. An interrupt between two calls is also stored as an assistant message. */
function isModelCall(message: Extract<Message, { role: "assistant" }>): boolean {
  return message.interrupt?.alone !== true;
}
