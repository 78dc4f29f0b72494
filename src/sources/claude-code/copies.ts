import { asObject, asText } from "../../model/narrow.ts";
import { Recent } from "../recent.ts";
import { blocksOf } from "./content.ts";
import { MAX_NAMES } from "./memory.ts";
import type { Line } from "./session-types.ts";

/**
 * Recognizes lines at the start of a file that were copied from another session's file. A copy names its original session
 * (`forkedFrom`, `requestSessionId`), or is older than the first prompt of this file's own process.
 */
export class Copies {
  /** Time of this process's first prompt, if it is recorded before the conversation. */
  private firstAsked: number | undefined;
  /** A fork starts with its parent's call, which the fork's first own prompt answers. */
  private isFork = false;
  /** The newest calls in copied lines. */
  private readonly calls = new Recent<string, true>(MAX_NAMES);
  private hasAnyCalls = false;
  private state: "before" | "inside" | "behind" = "before";

  /** A run declares that it starts with its parent's history. */
  begins(): void {
    this.isFork = true;
  }

  /** A prompt was queued at this time. `isLate`: the conversation of this file had already started. */
  asked(at: number, isLate: boolean): void {
    if (!isLate) this.firstAsked ??= at;
  }

  /** Whether a line of the conversation is a copy. `isOwn`: whether a session's name is this file's. */
  has(line: Line, isOwn: (name: string) => boolean): boolean {
    if (this.state === "behind") return false;
    const { value } = line;
    const fork = value.forkedFrom;
    const from = asText(asObject(fork)?.sessionId) ?? asText(fork);
    const answered = asText(value.requestSessionId);
    const isMarkedCopy = from !== undefined || (answered !== undefined && !isOwn(answered));
    const hasTime = value.timestamp !== undefined;
    const isOlder =
      this.firstAsked !== undefined && hasTime && line.at < this.firstAsked && value.type !== "attachment";
    const isParents = this.isFork && value.type === "assistant";
    const isAttached =
      this.state === "inside" && (value.type === "attachment" || value.type === "system") && !this.isFork;
    if (
      isMarkedCopy ||
      isParents ||
      (isOlder && mayBeOlder(line)) ||
      (isAttached && hasTime && this.isBefore(line))
    ) {
      this.state = "inside";
      for (const block of blocksOf(asObject(value.message)?.content)) {
        const id = block.type === "tool_use" ? asText(block.id) : undefined;
        if (id === undefined) continue;
        this.calls.set(id, true);
        this.hasAnyCalls = true;
      }
      return true;
    }
    if (value.type === "user" || value.type === "assistant") this.isFork = false;
    return false;
  }

  /** Whether copied lines contain calls. */
  hasCalls(): boolean {
    return this.hasAnyCalls;
  }

  /** Whether copied lines contain a call with this id. */
  isCall(id: string): boolean {
    return this.calls.has(id);
  }

  /** Returns true once, at the first line that is not a copy. */
  end(): boolean {
    if (this.state !== "inside") return false;
    this.state = "behind";
    return true;
  }

  private isBefore(line: Line): boolean {
    return this.firstAsked === undefined || line.at < this.firstAsked;
  }
}

/**
 * Whether a line that is older than the first prompt is a copy. Hooks may run before the prompt is written; answers and stored
 * prompts cannot be older.
 */
function mayBeOlder(line: Line): boolean {
  return line.value.type === "assistant" || line.value.type === "user";
}
