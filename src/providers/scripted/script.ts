import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import type { FailureClass } from "../provider.ts";

/**
 * A script: what a model says, written down, so that a session runs without a model. JSON; every field is checked, and one
 * that is not known is a mistake, so that a slip of the pen does not go unnoticed.
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
    /** The raw text in place of `arguments`, for what is not valid JSON. */
    arguments_json: z.string().optional(),
    /** The model never gets to the end of the arguments: the call is not closed, and never runs. */
    unfinished: z.boolean().optional(),
  })
  .refine((call) => call.arguments === undefined || call.arguments_json === undefined, {
    message: "has both arguments and arguments_json",
  });

const fault = z.strictObject({
  class: z.enum(FAILURE_CLASSES),
  /** What the provider would say. */
  message: z.string().min(1),
  /** HTTP status, as a provider that refuses a request would give. */
  status: z.number().int().optional(),
  /** How long the provider asks to wait. */
  retry_after_ms: z.number().min(0).optional(),
  /** Silence before it fails. */
  after_ms: z.number().min(0).optional(),
  /** How many calls of this step fail here; the next one gets past. Absent: 1. */
  times: z.number().int().min(1).optional(),
});

const KINDS = ["thinking", "text", "tool_call", "pause_ms", "fail"] as const;

const scriptPart = z
  .strictObject({
    thinking: z.string().optional(),
    text: z.string().optional(),
    /** The same thinking or text over and over, as one part: so many times, or until it is stopped. */
    repeat: z.union([z.number().int().min(1), z.literal("endless")]).optional(),
    tool_call: scriptedCall.optional(),
    /** Nothing comes for this long. */
    pause_ms: z.number().min(0).optional(),
    /** The call fails here: as the first part before anything came, later in mid-stream. */
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
        message: "repeats a text or thinking, nothing else",
      });
    }
  });
/** One thing that the model does; exactly one of its fields is there (and `repeat` beside a text or thinking). */
export type ScriptPart = z.infer<typeof scriptPart>;

const step = z.strictObject({
  parts: z.array(scriptPart),
  /** As the model would report it, in the record's own words; absent: counted from what was sent and said. */
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
  /** Absent: `tool_use` where there is a call, else `stop`. */
  stop_reason: z.enum(["stop", "length", "tool_use", "error"]).optional(),
});
/** One model call. */
export type ScriptStep = z.infer<typeof step>;

const script = z
  .strictObject({
    title: z.string().min(1),
    description: z.string().optional(),
    /** How fast it speaks; 0: as fast as possible. Absent: 60. */
    tokens_per_second: z.number().min(0).optional(),
    /** The folder that it is about, path to content: for whoever starts it to lay out. The provider itself touches no file. */
    files: z.record(z.string(), z.string()).optional(),
    /** The steps of one turn, which every prompt plays from its beginning. */
    steps: z.array(step).min(1).optional(),
    /** The steps of one turn after another, a prompt each; further prompts play the last one again. */
    turns: z
      .array(z.strictObject({ steps: z.array(step).min(1) }))
      .min(1)
      .optional(),
  })
  .refine((given) => (given.steps === undefined) !== (given.turns === undefined), {
    message: "has either steps or turns",
  });
export type Script = z.infer<typeof script>;

/** What is wrong with a script: names its file (or its name), and each field. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
}

/** The value as a script; throws a `ScriptError`. `name` says which script it is. */
export function validateScript(name: string, value: unknown): Script {
  const parsed = script.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${fieldAt(path)}: ${message}`);
  throw new ScriptError(`${name} is no script. ${problems.join("; ")}`);
}

/** The text of a file as a script; throws a `ScriptError`. */
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
