import * as z from "zod";
import { filePart, imageFilePart, imageUrlPart } from "./part.ts";
import { milliseconds, optional, record } from "./record.ts";

const metadata = z.record(z.string(), z.unknown());
const finishedTime = record({ start: milliseconds, end: milliseconds });

/**
 * The life of one tool call: `pending` → `running` → `completed`, `error` or, when a person stopped it, `aborted`.
 * `input` is the parsed arguments, or the raw text where they are no JSON.
 */
export const toolState = z.discriminatedUnion("status", [
  record({ status: z.literal("pending"), input: z.unknown(), raw: z.string() }),
  record({
    status: z.literal("running"),
    input: z.unknown(),
    title: optional(z.string()),
    metadata: optional(metadata),
    time: record({ start: milliseconds }),
  }),
  record({
    status: z.literal("completed"),
    input: z.unknown(),
    output: z.string(),
    title: z.string(),
    metadata,
    time: finishedTime,
    attachments: optional(z.array(z.discriminatedUnion("type", [imageUrlPart, imageFilePart, filePart]))),
  }),
  record({
    status: z.literal("error"),
    input: z.unknown(),
    error: z.string(),
    metadata: optional(metadata),
    time: finishedTime,
  }),
  record({
    status: z.literal("aborted"),
    input: z.unknown(),
    /** Why, where it is known: an interrupt, a denied permission, a crash. */
    reason: optional(z.string()),
    metadata: optional(metadata),
    time: finishedTime,
  }),
]);
export type ToolState = z.infer<typeof toolState>;
