import { asObject, asText } from "../../model/narrow.ts";
import { blocksOf } from "./content.ts";
import type { Line } from "./session-types.ts";

/** Tells the lines that a file begins with because they were copied from another session's. */
export interface Copies {
  /** A run says that it begins with what its parent had read. */
  begins(parent: string | undefined): void;
  /** A prompt was queued at this time. `isLate`: the file's conversation had begun. */
  asked(at: number, isLate: boolean): void;
  /** What shows that a line of the conversation is a copy. */
  of(line: Line): "copy" | undefined;
  /** Whether copied lines ask for a call, and for one of this name. */
  hasCalls(): boolean;
  isCall(id: string): boolean;
  /** Whether the copied lines end with a line that is none; once. */
  end(): boolean;
}

/**
 * A copy names the session that it comes from (`forkedFrom`, `requestSessionId`), or is older than the first prompt that this
 * file's own program was given. `isOwn`: whether a session's name is this file's.
 */
export function createCopies(isOwn: (name: string) => boolean): Copies {
  /** When this file's program was given its first prompt, as far as that is told before the conversation. */
  let firstAsked: number | undefined;
  /** A run begins with its parent's call, which its first own prompt answers. */
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

  /** Hooks run before the prompt reaches the file; an answer, and a prompt that was stored, do not. */
  function mayBeOlder(line: Line): boolean {
    return line.value.type === "assistant" || line.value.type === "user";
  }
}
