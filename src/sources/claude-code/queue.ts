import { asString, type JsonObject } from "../../model/narrow.ts";
import type { RecordPlace } from "../contract.ts";
import { blocksOf } from "./content.ts";

/** A prompt that a person typed while the agent worked, the position of its record, and its time in milliseconds. */
export interface QueuedPrompt {
  text: string;
  place: RecordPlace;
  at: number;
  /** The text in its normalized form for comparison. */
  bare: string;
}

/**
 * Queued prompts that have not reached the model. `queue-operation` lines record queueing. Removal from the queue does not mean
 * that a prompt was sent; only the prompt's own record does.
 */
export interface PromptQueue {
  /**
   * Reads a `queue-operation` line. Returns the prompt that it removes from the queue, for example to add it to the running
   * turn.
   */
  read(value: JsonObject, line: { place: RecordPlace; at: number }): QueuedPrompt | undefined;
  /** Whether this prompt has not reached the model yet. */
  isWaiting(prompt: QueuedPrompt): boolean;
  /** Whether this text was queued until `at` and has not reached the model. */
  waits(text: string, at: number): boolean;
  /** A prompt reached the model, or a command was run. Returns whether it had been queued. */
  deliver(text: string): boolean;
  /** Removes and returns the prompts typed until `at`, because they will not be sent any more. */
  takeUntil(at: number): QueuedPrompt[];
}

/** Number of the oldest prompts that are searched: at most this many may be sent together. */
const MAX_TOGETHER = 256;

const NOTIFICATION = /^\s*(?:\[SYSTEM NOTIFICATION - NOT USER INPUT\][^<]*)?<(?:task|agent)-notification>/;

export function createPromptQueue(): PromptQueue {
  /** The agent's own queue. */
  let queued: QueuedPrompt[] = [];
  /** Prompts that are not in the conversation yet. */
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
          // Newer lines name the prompt.
          const words = bare(textOf(content));
          const named =
            words === "" ? -1 : queued.slice(0, MAX_TOGETHER).findIndex((prompt) => prompt.bare === words);
          const [removed] = queued.splice(Math.max(named, 0), 1);
          const isAbsorbed = reason === undefined || reason === "absorbed_mid_turn";
          return isAbsorbed && removed !== undefined && waiting.includes(removed) ? removed : undefined;
        }
        case "dequeue":
          queued.shift();
          // A command that runs without the model may be recorded under another name, or not at all.
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
      // Waiting prompts may be sent as one message, with other text around them.
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

/** Removes white space, which the agent may change. */
export function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
