import * as z from "zod";
import { callOutcome, permission } from "../parts/outcome.ts";
import { uiExtra } from "../parts/ui-extra.ts";
import { milliseconds, optional, record, uuid } from "../record.ts";
import { textCode } from "../text/coded-text.ts";
import { mediaPart, part, textPart } from "./part.ts";

/**
 * Tokens of a model call. `input` excludes `cache_read` and `cache_write` (readers subtract them for agents such as Codex and
 * Gemini that include them); `output` includes `reasoning`.
 */
export const usage = record({
  input: z.number(),
  output: z.number(),
  cache_read: optional(z.number()),
  cache_write: optional(z.number()),
  /** The part of `cache_write` that the provider keeps for an hour (Anthropic). Absent: none, or not recorded. */
  cache_write_1h: optional(z.number()),
  reasoning: optional(z.number()),
  /** US dollars, only if the source states it. */
  cost: optional(z.number()),
});
export type Usage = z.infer<typeof usage>;

/** `aborted`: a person or a cancelled task stopped it. Failures and timeouts are `error`. */
export const stopReason = z.enum(["stop", "length", "tool_use", "error", "aborted"]);
export type StopReason = z.infer<typeof stopReason>;

/** How a call ended. `error`: a failure or a timeout; `aborted`: see its `CallOutcome` (refused, stopped, or unknown). */
export const toolStatus = z.enum(["success", "error", "aborted"]);
export type ToolStatus = z.infer<typeof toolStatus>;

const common = {
  id: uuid,
  /** ISO 8601, UTC. */
  created_at: z.string(),
  response_id: optional(z.string()),
  /**
   * The id of the transcript part that this message follows, if an assistant message was still being written (a result between
   * two calls of one message, a prompt typed meanwhile). Absent: it follows the previous message.
   */
  after_part_id: optional(z.string()),
  /** The id of the transcript part that shows a message of one part (a prompt, a result). Absent: derived from `id`. */
  part_id: optional(uuid),
};

export const systemMessage = record({ ...common, role: z.literal("system"), parts: z.array(textPart) });
export const developerMessage = record({
  ...common,
  role: z.literal("developer"),
  parts: z.array(part),
  /** A title for this context, for display only. Never sent to a provider. */
  title: optional(z.string()),
  title_code: optional(textCode),
});
/** The author of a prompt that was not typed by a person. `schedule`: a timer of the agent; `program`: the agent's program. */
export const promptOrigin = z.enum(["agent", "notification", "command", "schedule", "program"]);
export type PromptOrigin = z.infer<typeof promptOrigin>;
export const userMessage = record({
  ...common,
  role: z.literal("user"),
  parts: z.array(part),
  /** Typed while a turn was running, and part of that turn. */
  queued: optional(z.boolean()),
  origin: optional(promptOrigin),
});
/** The complete output of one model call, including what its provider needs back. */
export const assistantMessage = record({
  ...common,
  role: z.literal("assistant"),
  parts: z.array(part),
  usage: optional(usage),
  stop_reason: optional(stopReason),
  model: optional(z.string()),
  provider: optional(z.string()),
  api: optional(z.string()),
  /** The requested model id; `model` is the one that the provider reported. */
  model_id: optional(z.string()),
  effort: optional(z.string()),
  /** Copied from the session that this one continues, where it is counted. */
  inherited: optional(z.boolean()),
  raw_blocks: optional(z.unknown()),
  stop_reason_raw: optional(z.string()),
  stop_details: optional(z.unknown()),
  error: optional(z.string()),
  error_code: optional(textCode),
  /** When it ended. Absent: at `created_at`. */
  ended_at: optional(milliseconds),
  /** The stream broke off: the message was ended neither by the model nor by a person. */
  unfinished: optional(z.boolean()),
  /** Created for a stream without messages, to hold its parts. It is not a step. */
  implicit: optional(z.boolean()),
  /**
   * How the interrupt behind `aborted` was recorded. With `part_id` it was a frame of its own instead of the message's end.
   * `alone`: it came between two model calls, so the aborted call never began.
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
  /** Never contains text. */
  parts: z.array(mediaPart),
  ui_extra: optional(uiExtra),
  outcome: optional(callOutcome),
  permission: optional(permission),
  /** Its call continues in the background: another result reports its end. */
  background: optional(z.boolean()),
  side_effects: optional(z.array(z.unknown())),
  task_metadata: optional(z.unknown()),
});

/** A message from before parts existed, shown in the old layout: `thinking` above `content`. */
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

/** A stored message with parts; excludes `legacyMessage`. */
export const message = z.discriminatedUnion("role", [
  systemMessage,
  developerMessage,
  userMessage,
  assistantMessage,
  toolMessage,
]);
export type Message = z.infer<typeof message>;
