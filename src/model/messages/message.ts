import * as z from "zod";
import { callOutcome, permission } from "../parts/outcome.ts";
import { uiExtra } from "../parts/ui-extra.ts";
import { milliseconds, optional, record, uuid } from "../record.ts";
import { mediaPart, part, textPart } from "./part.ts";

/**
 * Tokens of one model call. `input` does not contain `cache_read` and `cache_write` (readers subtract where an agent's
 * own figure does, as Codex and Gemini do); `output` contains `reasoning`.
 */
export const usage = record({
  input: z.number(),
  output: z.number(),
  cache_read: optional(z.number()),
  cache_write: optional(z.number()),
  reasoning: optional(z.number()),
  /** US dollars, only where the source states it. */
  cost: optional(z.number()),
});
export type Usage = z.infer<typeof usage>;

/** `aborted` means that a person or a cancelled task stopped it; a failure or a time-out is `error`. */
export const stopReason = z.enum(["stop", "length", "tool_use", "error", "aborted"]);
export type StopReason = z.infer<typeof stopReason>;

/** How a call ended: well, by a failure or a time-out, or (`aborted`) as its `CallOutcome` says: refused, stopped, not known. */
export const toolStatus = z.enum(["success", "error", "aborted"]);
export type ToolStatus = z.infer<typeof toolStatus>;

const common = {
  id: uuid,
  /** ISO 8601, UTC. */
  created_at: z.string(),
  response_id: optional(z.string()),
  /**
   * The id of the transcript part after which this message stood while an assistant message was still being written
   * (a result between two calls of one message, a prompt typed meanwhile). Absent: after the message before it.
   */
  after_part_id: optional(z.string()),
  /** The id of the transcript part that shows a message of one part (a prompt, a result); absent: made from `id`. */
  part_id: optional(uuid),
};

export const systemMessage = record({ ...common, role: z.literal("system"), parts: z.array(textPart) });
export const developerMessage = record({
  ...common,
  role: z.literal("developer"),
  parts: z.array(part),
  /** For the screen only, never sent to a provider: what the person would call this context. */
  title: optional(z.string()),
});
/** Who wrote a prompt, where that was not a person at the prompt. `schedule`: a timer of the agent's; `program`: the agent's program. */
export const promptOrigin = z.enum(["agent", "notification", "command", "schedule", "program"]);
export type PromptOrigin = z.infer<typeof promptOrigin>;
export const userMessage = record({
  ...common,
  role: z.literal("user"),
  parts: z.array(part),
  /** Typed while a turn ran: it stands inside that turn. */
  queued: optional(z.boolean()),
  origin: optional(promptOrigin),
});
/** All that one model call said, in one message, with what its provider must get back of it. */
export const assistantMessage = record({
  ...common,
  role: z.literal("assistant"),
  parts: z.array(part),
  usage: optional(usage),
  stop_reason: optional(stopReason),
  model: optional(z.string()),
  provider: optional(z.string()),
  api: optional(z.string()),
  /** The model id that was requested; `model` is the one that the provider reported. */
  model_id: optional(z.string()),
  effort: optional(z.string()),
  /** Copied from the session that this one goes on from, where it is counted. */
  inherited: optional(z.boolean()),
  raw_blocks: optional(z.unknown()),
  stop_reason_raw: optional(z.string()),
  stop_details: optional(z.unknown()),
  error: optional(z.string()),
  /** When it ended. Absent: at `created_at`. */
  ended_at: optional(milliseconds),
  /** The stream broke off: neither the model nor a person ended this message. */
  unfinished: optional(z.boolean()),
  /** The agent's stream names no messages: this one was made up to hold its parts, and is no step. */
  implicit: optional(z.boolean()),
  /**
   * How the interrupt was told that `aborted` stands for. With `part_id` it came by itself, instead of the message's end;
   * `alone`: between two model calls, so that the aborted call is the one that never began.
   */
  interrupt: optional(
    record({
      part_id: optional(uuid),
      reason: optional(z.string()),
      at: optional(milliseconds),
      alone: optional(z.boolean()),
    }),
  ),
});
export const toolMessage = record({
  ...common,
  role: z.literal("tool"),
  call_id: z.string(),
  tool_name: z.string(),
  status: toolStatus,
  /** All text of the result. */
  output_text: z.string(),
  /** Never text. */
  parts: z.array(mediaPart),
  ui_extra: optional(uiExtra),
  outcome: optional(callOutcome),
  permission: optional(permission),
  /** Its call goes on in the background: another result reports its end. */
  background: optional(z.boolean()),
  side_effects: optional(z.array(z.unknown())),
  task_metadata: optional(z.unknown()),
});

/** A message written before parts existed: it renders the old look, `thinking` above `content`. */
export const legacyMessage = record({
  ...common,
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  thinking: optional(z.string()),
  parts: optional(z.undefined()),
});

export type SystemMessage = z.infer<typeof systemMessage>;
export type DeveloperMessage = z.infer<typeof developerMessage>;
export type UserMessage = z.infer<typeof userMessage>;
export type AssistantMessage = z.infer<typeof assistantMessage>;
export type ToolMessage = z.infer<typeof toolMessage>;
export type LegacyMessage = z.infer<typeof legacyMessage>;

/** A stored message that has parts; `legacyMessage` is none of these. */
export const message = z.discriminatedUnion("role", [
  systemMessage,
  developerMessage,
  userMessage,
  assistantMessage,
  toolMessage,
]);
export type Message = z.infer<typeof message>;
