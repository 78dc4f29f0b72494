import { asString, type JsonObject } from "../../model/narrow.ts";
import type { RecordPlace } from "../contract.ts";
import { blocksOf } from "./content.ts";

/** What a person typed while the agent worked, where the record of that stands, and when it was, in milliseconds. */
export interface QueuedPrompt {
  text: string;
  place: RecordPlace;
  at: number;
  /** The text as it is compared. */
  bare: string;
}

/**
 * The prompts that were queued and have not reached the model. `queue-operation` lines tell that one was queued; that it
 * left the queue does not tell whether it was sent: the prompt itself does, which comes as a record of its own.
 */
export interface PromptQueue {
  /** Reads a `queue-operation` line. Returns the prompt that it takes out of the queue, as it does to put it into the running turn. */
  read(value: JsonObject, line: { place: RecordPlace; at: number }): QueuedPrompt | undefined;
  /** Whether this prompt has not reached the model yet. */
  isWaiting(prompt: QueuedPrompt): boolean;
  /** Whether these words were queued until `at` and have not reached the model. */
  waits(text: string, at: number): boolean;
  /** A prompt reached the model, or a command was run. Whether it had been queued. */
  deliver(text: string): boolean;
  /** Empties the queue of what was typed until `at`, because nothing of that will be sent any more. */
  takeUntil(at: number): QueuedPrompt[];
}

/** Of the prompts that wait, so many may be sent together: the oldest. */
const MAX_TOGETHER = 256;

const NOTIFICATION = /^\s*(?:\[SYSTEM NOTIFICATION - NOT USER INPUT\][^<]*)?<(?:task|agent)-notification>/;

export function createPromptQueue(): PromptQueue {
  /** As the agent's own queue stands. */
  let queued: QueuedPrompt[] = [];
  /** Not seen in the conversation so far. */
  let waiting: QueuedPrompt[] = [];
  return {
    read({ operation, content, reason }, { place, at }) {
      const [first] = queued;
      switch (operation) {
        case "enqueue": {
          const text = textOf(content);
          const prompt = { text, place, at, bare: bare(text) };
          queued.push(prompt);
          // Agents queue notifications too, which no person typed.
          if (prompt.text.trim() !== "" && !NOTIFICATION.test(prompt.text)) waiting.push(prompt);
          return undefined;
        }
        case "remove": {
          // Newer lines say which one.
          const words = bare(textOf(content));
          const named =
            words === "" ? -1 : queued.slice(0, MAX_TOGETHER).findIndex((prompt) => prompt.bare === words);
          const [removed] = queued.splice(Math.max(named, 0), 1);
          const isAbsorbed = reason === undefined || reason === "absorbed_mid_turn";
          return isAbsorbed && removed !== undefined && waiting.includes(removed) ? removed : undefined;
        }
        case "dequeue":
          queued.shift();
          // A command that runs without the model may be stored under another name, or not at all.
          if (first?.text.startsWith("/")) waiting = waiting.filter((prompt) => prompt !== first);
          return undefined;
        case "popAll":
          queued = [];
          return undefined;
        default:
          return undefined;
      }
    },
    isWaiting: (prompt) => waiting.includes(prompt),
    waits(text, at) {
      if (waiting.length === 0) return false;
      const words = bare(text);
      return waiting.slice(0, MAX_TOGETHER).some((prompt) => prompt.at <= at && prompt.bare === words);
    },
    deliver(text) {
      if (waiting.length === 0) return false;
      const words = bare(text);
      const oldest = waiting.slice(0, MAX_TOGETHER);
      const same = oldest.find((prompt) => prompt.bare === words);
      // Prompts that wait together may be sent as one, and what was typed may be sent with more around it.
      const sent = new Set(
        same === undefined ? oldest.filter((prompt) => words.includes(prompt.bare)) : [same],
      );
      waiting = waiting.filter((prompt) => !sent.has(prompt));
      return sent.size > 0;
    },
    takeUntil(at) {
      const lost = waiting.filter((prompt) => prompt.at <= at);
      waiting = waiting.filter((prompt) => prompt.at > at);
      return lost;
    },
  };
}

function textOf(content: unknown): string {
  if (content === undefined || content === null) return "";
  return blocksOf(content)
    .flatMap((block) => asString(block.text) ?? [])
    .join("\n");
}

/** A text without white space, which the agent may set otherwise. */
export function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
