import { asObject, asText } from "../../model/narrow.ts";
import { blocksOf } from "./content.ts";
import type { Line } from "./session-types.ts";

/** Recognizes lines at the start of a file that were copied from another session's file. */
export interface Copies {
  /** A run declares that it starts with its parent's history. */
  begins(parent: string | undefined): void;
  /** A prompt was queued at this time. `isLate`: the conversation of this file had already started. */
  asked(at: number, isLate: boolean): void;
  /** Returns "copy" if a line of the conversation is a copy. */
  of(line: Line): "copy" | undefined;
  /** Whether copied lines contain calls, and whether they contain a call of this name. */
  hasCalls(): boolean;
  isCall(id: string): boolean;
  /** Returns true once: when the first line follows that is no copy. */
  end(): boolean;
}

/**
 * A copy names its original session (`forkedFrom`, `requestSessionId`), or is older than the first prompt of this file's own
 * process. `isOwn`: whether a session's name is this file's.
 */
export function createCopies(isOwn: (name: string) => boolean): Copies {
  /** Time of this process's first prompt, if it is recorded before the conversation. */
  let firstAsked: number | undefined;
  /** A fork starts with its parent's call, which the fork's first own prompt answers. */
  let isFork = false;
  const calls = new Set<string>();
  let state: "before" | "inside" | "behind" = "before";
  return {
    begins() {
      isFork = true;
    },
    asked(at, isLate) {
      if (!isLate) firstAsked ??= at;
    },
    of(line) {
      if (state === "behind") return undefined;
      const { value } = line;
      const fork = value.forkedFrom;
      const from = asText(asObject(fork)?.sessionId) ?? asText(fork);
      const answered = asText(value.requestSessionId);
      const isTold = from !== undefined || (answered !== undefined && !isOwn(answered));
      const hasTime = value.timestamp !== undefined;
      const isOlder =
        firstAsked !== undefined && hasTime && line.at < firstAsked && value.type !== "attachment";
      const isParents = isFork && value.type === "assistant";
      const isAttached =
        state === "inside" && (value.type === "attachment" || value.type === "system") && !isFork;
      if (isTold || isParents || (isOlder && mayBeOlder(line)) || (isAttached && hasTime && isBefore(line))) {
        state = "inside";
        for (const block of blocksOf(asObject(value.message)?.content)) {
          const id = block.type === "tool_use" ? asText(block.id) : undefined;
          if (id !== undefined) calls.add(id);
        }
        return "copy";
      }
      if (value.type === "user" || value.type === "assistant") isFork = false;
      return undefined;
    },
    hasCalls: () => calls.size > 0,
    isCall: (id) => calls.has(id),
    end() {
      if (state !== "inside") return false;
      state = "behind";
      return true;
    },
  };

  function isBefore(line: Line): boolean {
    return firstAsked === undefined || line.at < firstAsked;
  }

  /**
   * Whether a line that is older than the first prompt is a copy. Hooks may run before the prompt is written; answers and
   * stored prompts cannot be older.
   */
  function mayBeOlder(line: Line): boolean {
    return line.value.type === "assistant" || line.value.type === "user";
  }
}
