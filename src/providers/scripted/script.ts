import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import { CodedError } from "../../model/text/coded-error.ts";
import type { FailureClass } from "../provider.ts";

/**
 * A script defines the output of a model, to run sessions without one. It is JSON with a strict schema: unknown fields are
 * errors, so that typos are detected.
 */

const FAILURE_CLASSES = [
  "overloaded",
  "rate_limit",
  "quota",
  "context_overflow",
  "auth",
  "invalid_request",
  "not_found",
  "model_output_invalid",
  "content_blocked",
  "server",
  "network",
  "timeout",
  "truncated",
  "unknown",
] as const satisfies readonly FailureClass[];

const scriptedCall = z
  .strictObject({
    name: z.string().min(1),
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** The raw text of the arguments, instead of `arguments`, for invalid JSON. */
    arguments_json: z.string().optional(),
    /** Whether the arguments are incomplete, so that the call is not closed and never runs. */
    unfinished: z.boolean().optional(),
  })
  .refine((call) => call.arguments === undefined || call.arguments_json === undefined, {
    message: "has both arguments and arguments_json",
  });

const fault = z.strictObject({
  class: z.enum(FAILURE_CLASSES),
  /** The provider's error message. */
  message: z.string().min(1),
  /** HTTP status of the provider's error. */
  status: z.number().int().optional(),
  /** Delay requested by the provider, in milliseconds. */
  retry_after_ms: z.number().min(0).optional(),
  /** Delay before the failure, in milliseconds. */
  after_ms: z.number().min(0).optional(),
  /** Number of attempts of this step that fail here before one succeeds. Absent: 1. */
  times: z.number().int().min(1).optional(),
});

const KINDS = ["thinking", "text", "tool_call", "pause_ms", "fail"] as const;

const scriptPart = z
  .strictObject({
    thinking: z.string().optional(),
    text: z.string().optional(),
    /** Repeats the thinking or text within one part: a number of times, or until it is stopped. */
    repeat: z.union([z.number().int().min(1), z.literal("endless")]).optional(),
    tool_call: scriptedCall.optional(),
    /** Pauses the output for a time in milliseconds. */
    pause_ms: z.number().min(0).optional(),
    /** Makes the model call fail here: before any output if this is the first part, otherwise in the middle of the stream. */
    fail: fault.optional(),
  })
  .superRefine((part, context) => {
    const given = KINDS.filter((kind) => part[kind] !== undefined);
    if (given.length !== 1) {
      const found = given.length === 0 ? "none" : given.join(" and ");
      context.addIssue({ code: "custom", message: `is one of ${KINDS.join(", ")}; found ${found}` });
    }
    if (part.repeat !== undefined && part.text === undefined && part.thinking === undefined) {
      context.addIssue({
        code: "custom",
        path: ["repeat"],
        message: "can only be used with text or thinking",
      });
    }
  });
/** One action of the model. Has exactly one field, and `repeat` only with text or thinking. */
export type ScriptPart = z.infer<typeof scriptPart>;

const step = z.strictObject({
  parts: z.array(scriptPart),
  /** The usage as the model would report it, with the field names of `Usage`. Absent: computed from the input and output. */
  usage: z
    .strictObject({
      input: z.number(),
      output: z.number(),
      cache_read: z.number().optional(),
      cache_write: z.number().optional(),
      reasoning: z.number().optional(),
      cost: z.number().optional(),
    })
    .optional(),
  /** Absent: `tool_use` if there is a call, otherwise `stop`. */
  stop_reason: z.enum(["stop", "length", "tool_use", "error"]).optional(),
});
/** One model call. */
export type ScriptStep = z.infer<typeof step>;

const script = z
  .strictObject({
    title: z.string().min(1),
    description: z.string().optional(),
    /** Speed of the output. 0: as fast as possible. Absent: 60. */
    tokens_per_second: z.number().min(0).optional(),
    /** Files for the working folder, content by path. The caller has to write them: the provider does not access files. */
    files: z.record(z.string(), z.string()).optional(),
    /** The steps of one turn, which is played for every prompt. */
    steps: z.array(step).min(1).optional(),
    /** The steps of several turns, one per prompt. Further prompts repeat the last one. */
    turns: z
      .array(z.strictObject({ steps: z.array(step).min(1) }))
      .min(1)
      .optional(),
  })
  .refine((given) => (given.steps === undefined) !== (given.turns === undefined), {
    message: "must have either steps or turns",
  });
export type Script = z.infer<typeof script>;

/** An invalid script. The message names its file (or name) and each invalid field. */
export class ScriptError extends CodedError {
  override readonly name = "ScriptError";
}

/** Validates a script. Throws `ScriptError` if it is invalid. `name`: name of the script or file, for error messages. */
export function validateScript(name: string, value: unknown): Script {
  const parsed = script.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${fieldAt(path)}: ${message}`);
  throw new ScriptError(`${name} is not a valid script. ${problems.join("; ")}`);
}

/** Parses JSON text as a script. Throws `ScriptError` if it is invalid. */
export function parseScript(name: string, json: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new ScriptError(`${name} is not JSON: ${messageOf(error)}`);
  }
  return validateScript(name, value);
}

function fieldAt(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the script";
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`))
    .join("");
}
