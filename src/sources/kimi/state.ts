import type { Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, isBlank } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Conversation, ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";
import { unwrap } from "../conversation/wrappers.ts";

/** State of a Kimi Code session between records. */
export interface KimiState extends StartedRuns {
  conversation: ConversationState;
  /** The parent session of this sub-agent, and the agent's name in it (`agent-0`). */
  parent?: { session_id: string; agent: string };
  begun: boolean;
  /** The model of the next step, from the last request or the settings. */
  model?: string;
  /** `model` is from the settings, which name it by an alias. In newer versions a request names the model itself. */
  is_alias?: boolean | undefined;
  /** Fingerprint of the last system prompt. */
  system_prompt?: number;
  /** The start of an emitted prompt that the context will repeat. */
  asked?: string | undefined;
  /** The last emitted prompt of the context, which `turn.steer` will repeat. */
  placed?: { key: string; id?: string } | undefined;
  /** Turns that `context.undo` may retract, oldest first. It counts the typed ones. */
  turns: { id: string; typed: boolean }[];
  /** The turn that a command of the user opened. */
  command_turn?: string | undefined;
  /** The person cancelled the turn, and the record that ends it follows. */
  cancelled?: boolean | undefined;
  /** The next request is a retry that is already shown. */
  retried?: boolean | undefined;
  /** Who allowed the following calls, by call; `refused`: a person did not. */
  allowed: Record<string, string>;
}

/** Title of context that Kimi added by itself. */
export const CONTEXT_TITLE = sourceTitle("context_from", { agent: "Kimi" });

const MAX_TURNS = 200;
/** Value of `allowed` for a refused call. */
export const REFUSED = "refused";

/** Elements that Kimi puts before the task of a sub-agent. */
const INJECTED = ["git-context"] as const;
/** The same outside of a repository: `<git-context status="unavailable" reason="not-a-repo"/>`. */
const EMPTY_CONTEXT = /^\s*<git-context [^<>]{0,200}\/>\s*/;

/** Emits a prompt according to the kind of its origin, and before it the context that Kimi added to its text. */
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
  const injected: Part[] = [];
  const asked = parts.flatMap((part): Part[] => {
    if (part.type !== "text") return [part];
    const empty = EMPTY_CONTEXT.exec(part.text)?.[0];
    const { own, injected: added } = unwrap(part.text.slice(empty?.length ?? 0), INJECTED);
    if (empty !== undefined) added.unshift(empty.trim());
    injected.push(...added.map((text) => ({ type: "text" as const, text })));
    return isBlank(own) ? [] : [{ ...part, text: own }];
  });
  if (injected.length > 0) {
    if (!queued) conversation.beginTurn();
    conversation.context(CONTEXT_TITLE, injected);
  }
  if (asked.length > 0) conversation.prompt(asked, { queued, ...(origin !== undefined && { origin }) });
  const turn = conversation.turn_id;
  if (turn !== undefined && turn !== before) {
    const typed = kind === "user" || kind === "skill_activation" || kind === "plugin_command";
    state.turns.push({ id: turn, typed });
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
