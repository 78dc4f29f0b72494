import { asString, type JsonObject } from "../../model/narrow.ts";
import type { RecordPlace } from "../contract.ts";
import { fingerprint } from "../fingerprint.ts";
import { IN_MEMORY_LIST } from "../recent.ts";
import { blocksOf } from "./content.ts";
import { MAX_QUEUED } from "./memory.ts";

/** A prompt that a person typed while the agent worked, the position of its record, and its time in milliseconds. */
export interface QueuedPrompt {
  text: string;
  place: RecordPlace;
  at: number;
  /** Fingerprint of the text without white space, for comparison. */
  print: number;
}

/** Number of the oldest prompts that are searched: at most this many may be sent together. */
const MAX_TOGETHER = 256;

const NOTIFICATION = /^\s*(?:\[SYSTEM NOTIFICATION - NOT USER INPUT\][^<]*)?<(?:task|agent)-notification>/;

/**
 * Queued prompts that have not reached the model. `queue-operation` lines record queueing. Removal from the queue does not mean
 * that a prompt was sent; only the prompt's own record does.
 */
export class PromptQueue {
  /** The agent's own queue, the newest prompts. */
  private queued: QueuedPrompt[] = [];
  /** Prompts that are not in the conversation yet. A person's next prompt empties it. */
  private waiting: QueuedPrompt[] = [];

  /**
   * Reads a `queue-operation` line. Returns the prompt that it removes from the queue, for example to add it to the running
   * turn.
   */
  read({ operation, content, reason }: JsonObject, { place, at }: QueuedAt): QueuedPrompt | undefined {
    const [first] = this.queued;
    switch (operation) {
      case "enqueue": {
        const text = textOf(content);
        const prompt = { text, place, at, print: printOf(text) };
        this.queued.push(prompt);
        if (this.queued.length > MAX_QUEUED * IN_MEMORY_LIST) this.queued.shift();
        // Agents queue notifications too, which no person typed.
        if (prompt.text.trim() !== "" && !NOTIFICATION.test(prompt.text)) this.waiting.push(prompt);
        return undefined;
      }
      case "remove": {
        // Newer lines name the prompt.
        const typed = textOf(content);
        const print = printOf(typed);
        const named = typed.trim() === "" ? -1 : this.queued.findIndex((prompt) => prompt.print === print);
        const [removed] = this.queued.splice(Math.max(named, 0), 1);
        const isMerged = reason === undefined || reason === "absorbed_mid_turn";
        return isMerged && removed !== undefined && this.isWaiting(removed) ? removed : undefined;
      }
      case "dequeue":
        this.queued.shift();
        // A command that runs without the model may be recorded under another name, or not at all.
        if (first?.text.startsWith("/")) this.waiting = this.waiting.filter((prompt) => prompt !== first);
        return undefined;
      case "popAll":
        this.queued = [];
        return undefined;
      default:
        return undefined;
    }
  }

  /** More prompts wait to be sent than are remembered. */
  get isFull(): boolean {
    return this.waiting.length > MAX_QUEUED * IN_MEMORY_LIST;
  }

  /** Whether this prompt has not reached the model yet. */
  isWaiting(prompt: QueuedPrompt): boolean {
    return this.waiting.includes(prompt);
  }

  /** Whether this text was queued until `at` and has not reached the model. */
  waits(text: string, at: number): boolean {
    if (this.waiting.length === 0) return false;
    const print = printOf(text);
    return this.waiting.slice(0, MAX_TOGETHER).some((prompt) => prompt.at <= at && prompt.print === print);
  }

  /** A prompt reached the model, or a command was run. Returns whether it had been queued. */
  deliver(text: string): boolean {
    if (this.waiting.length === 0) return false;
    const bareText = bare(text);
    const oldest = this.waiting.slice(0, MAX_TOGETHER);
    const print = printOf(text);
    const same = oldest.find((prompt) => prompt.print === print);
    // Waiting prompts may be sent as one message, with other text around them.
    const sent = new Set(
      same === undefined ? oldest.filter((prompt) => bareText.includes(bare(prompt.text))) : [same],
    );
    this.waiting = this.waiting.filter((prompt) => !sent.has(prompt));
    return sent.size > 0;
  }

  /** Removes and returns the prompts typed until `at`, because they will not be sent any more. */
  takeUntil(at: number): QueuedPrompt[] {
    const lost = this.waiting.filter((prompt) => prompt.at <= at);
    this.waiting = this.waiting.filter((prompt) => prompt.at > at);
    return lost;
  }
}

type QueuedAt = Pick<QueuedPrompt, "place" | "at">;

function textOf(content: unknown): string {
  if (content === undefined || content === null) return "";
  return blocksOf(content)
    .flatMap((block) => asString(block.text) ?? [])
    .join("\n");
}

/** Fingerprint of a text without white space. */
export function printOf(text: string): number {
  return fingerprint(bare(text));
}

/** Removes white space, which the agent may change. */
function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
