import type { Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject } from "../../model/narrow.ts";
import type { Conversation, ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** State of a Kimi Code session between records. */
export interface KimiState extends StartedRuns {
  conversation: ConversationState;
  /** The parent session of this sub-agent, and the agent's name in it (`agent-0`). */
  parent?: { session_id: string; agent: string };
  begun: boolean;
  /** The model of the next step, from the last request or the settings. */
  model?: string;
  /** The start of an emitted prompt that the context will repeat. */
  asked?: string;
  /** Turns that `context.undo` may retract, oldest first. */
  turns: string[];
  /** Who allowed the following calls, by call; `refused`: a person did not. */
  allowed: Record<string, string>;
}

const MAX_TURNS = 200;
/** Value of `allowed` for a refused call. */
export const REFUSED = "refused";

/** Emits a prompt according to the kind of its origin. */
export function emitPrompt(
  state: KimiState,
  conversation: Conversation,
  parts: Part[],
  kind: string,
  queued: boolean,
): void {
  const origin =
    kind === "user"
      ? undefined
      : kind === "skill_activation" || kind === "plugin_command" || kind === "shell_command"
        ? "command"
        : kind === "system_trigger"
          ? "agent"
          : "notification";
  const before = conversation.turn_id;
  conversation.prompt(parts, { queued, ...(origin !== undefined && { origin }) });
  const turn = conversation.turn_id;
  if (turn !== undefined && turn !== before) {
    state.turns.push(turn);
    if (state.turns.length > MAX_TURNS) state.turns.shift();
  }
}

/** Converts Kimi's token counts. `inputOther` is the uncached input. */
export function usageOf(value: unknown): Usage | undefined {
  const usage = asObject(value);
  const input = asNumber(usage?.inputOther);
  const output = asNumber(usage?.output);
  if (input === undefined && output === undefined) return undefined;
  return {
    input: input ?? 0,
    output: output ?? 0,
    cache_read: asNumber(usage?.inputCacheRead) ?? 0,
    cache_write: asNumber(usage?.inputCacheCreation) ?? 0,
  };
}
