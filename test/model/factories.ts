import type * as z from "zod";
import { type Message, message } from "../../src/model/messages/message.ts";
import { type Part, part } from "../../src/model/messages/part.ts";
import { createPending, type ToolState } from "../../src/model/transcript/tool-state.ts";
import {
  type TranscriptPart,
  type TranscriptPartOf,
  transcriptPart,
} from "../../src/model/transcript/transcript.ts";
import { partId } from "../../src/model/uuid.ts";

/** A part of a stored message: `createPart("text", { text: "Hello" })`. */
export function createPart<Type extends Part["type"]>(
  type: Type,
  fields: Omit<Extract<Part, { type: Type }>, "type">,
): Extract<Part, { type: Type }> {
  // The compiler does not see that a member of the union without its `type`, plus that type, is the member.
  return { ...fields, type } as Extract<Part, { type: Type }>;
}

/** The place of a transcript part: its id is derived from the message's id and its index in the message. */
export interface PartPlace {
  session_id: string;
  message_id: string;
  index: number;
}

/** A part of a transcript: `createEntry("text", place, { text: "Hello" })`. */
export function createEntry<Type extends TranscriptPart["type"]>(
  type: Type,
  { session_id, message_id, index }: PartPlace,
  fields: Omit<TranscriptPartOf<Type>, "type" | "id" | "session_id" | "message_id">,
): TranscriptPartOf<Type> {
  const common = { id: partId(message_id, index), session_id, message_id };
  // As above.
  return { ...common, ...fields, type } as unknown as TranscriptPartOf<Type>;
}

/** A call that has just started, `pending` until it runs. */
export function createToolCall(
  place: PartPlace,
  call: { tool_call_id: string; tool_name: string; arguments_json: string; state?: ToolState },
): TranscriptPartOf<"tool_call"> {
  return createEntry("tool_call", place, { state: createPending(call.arguments_json), ...call });
}

/** The problems of a value that should be a part or a message; each one names the field. */
export class PartValidationError extends Error {
  override readonly name = "PartValidationError";
  readonly problems: readonly { readonly path: string; readonly message: string }[];

  constructor(what: string, problems: readonly { readonly path: string; readonly message: string }[]) {
    super(`This is no ${what}: ${problems.map(({ path, message: text }) => `${path}: ${text}`).join("; ")}`);
    this.problems = problems;
  }
}

function validate<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new PartValidationError(
    what,
    parsed.error.issues.map((issue) => ({
      path: issue.path.join(".") || "(itself)",
      message: issue.message,
    })),
  );
}

/** The value as a part of a stored message; throws a `PartValidationError`. */
export function validatePart(value: unknown): Part {
  return validate("part of a message", part, value);
}

/** The value as a part of a transcript; throws a `PartValidationError`. */
export function validateEntry(value: unknown): TranscriptPart {
  return validate("part of a transcript", transcriptPart, value);
}

/** The value as a message whose parts have different ids; throws a `PartValidationError`. */
export function validateMessage(value: unknown): Message {
  const valid = validate("message", message, value);
  const ids = new Set<string>();
  for (const [index, { part_id }] of valid.parts.entries()) {
    if (part_id !== undefined && ids.has(part_id)) {
      const problem = { path: `parts.${index}.part_id`, message: `${part_id} is another part's id already` };
      throw new PartValidationError("message", [problem]);
    }
    if (part_id !== undefined) ids.add(part_id);
  }
  return valid;
}

/** Narrows: `isPart("text", part)`. */
export function isPart<Type extends TranscriptPart["type"]>(
  type: Type,
  value: TranscriptPart | undefined,
): value is TranscriptPartOf<Type> {
  return value?.type === type;
}
