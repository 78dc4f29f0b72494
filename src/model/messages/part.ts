import * as z from "zod";
import { milliseconds, optional, record, uuid } from "../record.ts";

/**
 * The parts of a stored message, by `type`. Field names are the providers' own, in snake case, the same in storage and in
 * replies. `phase`, `reasoning_field`, `detail`, `item_id`, `namespace` and `provider_call_id` exist because some provider cannot
 * be replayed correctly without them.
 */

/** Fields of a stored part from which the same frames can be made again. */
const stored = {
  /** The id of the transcript part that shows it. Absent: derived from the message's id and the part's index. */
  part_id: optional(uuid),
  at: optional(milliseconds),
  /** When it was complete: the last word of a text, the last argument of a call. Absent: at `at`. */
  ended_at: optional(milliseconds),
};

export const textPart = record({
  ...stored,
  type: z.literal("text"),
  text: z.string(),
  id: optional(z.string()),
  phase: optional(z.string()),
  /** The model refused. */
  refusal: optional(z.boolean()),
});
export type TextPart = z.infer<typeof textPart>;

export const imageUrlPart = record({
  ...stored,
  type: z.literal("image_url"),
  /** A URL, possibly a data URL. */
  url: z.string(),
  id: optional(z.string()),
});
export type ImageUrlPart = z.infer<typeof imageUrlPart>;

/** An image in a file. The path is as its writer gave it: check that it is in the session's own folders before opening it. */
export const imageFilePart = record({
  ...stored,
  type: z.literal("image_file"),
  file_path: z.string(),
  mime_type: optional(z.string()),
  byte_size: optional(z.number()),
  sha256: optional(z.string()),
});
export type ImageFilePart = z.infer<typeof imageFilePart>;

/** A file by its URL, possibly a data URL. */
export const filePart = record({
  ...stored,
  type: z.literal("file"),
  mime: z.string(),
  filename: optional(z.string()),
  url: z.string(),
  source: optional(z.unknown()),
});
export type FilePart = z.infer<typeof filePart>;

export const thinkingTextPart = record({
  ...stored,
  type: z.literal("thinking_text"),
  text: z.string(),
  id: optional(z.string()),
  model_id: optional(z.string()),
  reasoning_field: optional(z.string()),
  detail: optional(z.unknown()),
  /** Why `text` does not contain the thought. */
  hidden: optional(z.enum(["encrypted", "redacted", "empty"])),
});
export type ThinkingTextPart = z.infer<typeof thinkingTextPart>;

/**
 * The signature or encrypted content of a thought. It belongs to the nearest preceding `thinking_text` of its message without
 * one; with `format: "google"` to the part directly before it, whatever its kind. Without such a part it is kept but not shown.
 */
export const thinkingSignaturePart = record({
  ...stored,
  type: z.literal("thinking_signature"),
  signature: z.string(),
  id: optional(z.string()),
  model_id: optional(z.string()),
  format: optional(z.string()),
  detail: optional(z.unknown()),
});
export type ThinkingSignaturePart = z.infer<typeof thinkingSignaturePart>;

export const toolCallPart = record({
  ...stored,
  type: z.literal("tool_call"),
  call_id: z.string(),
  tool_name: z.string(),
  /** The raw JSON text, byte for byte, even if it is not valid JSON. */
  arguments_json: z.string(),
  item_id: optional(z.string()),
  namespace: optional(z.string()),
  provider_call_id: optional(z.string()),
  /** The model was stopped before it had written all arguments. */
  unfinished: optional(z.boolean()),
});
export type ToolCallPart = z.infer<typeof toolCallPart>;

export const unknownPart = record({ ...stored, type: z.literal("unknown"), raw: z.unknown() });
export type UnknownPart = z.infer<typeof unknownPart>;

export const part = z.discriminatedUnion("type", [
  textPart,
  imageUrlPart,
  imageFilePart,
  filePart,
  thinkingTextPart,
  thinkingSignaturePart,
  toolCallPart,
  unknownPart,
]);
export type Part = z.infer<typeof part>;

/** The non-text content of a tool result, and media in a transcript. */
export const mediaPart = z.discriminatedUnion("type", [imageUrlPart, imageFilePart, filePart, unknownPart]);
export type MediaPart = z.infer<typeof mediaPart>;
