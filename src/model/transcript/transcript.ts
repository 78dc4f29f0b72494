import * as z from "zod";
import { promptOrigin, stopReason, toolStatus, usage } from "../messages/message.ts";
import { filePart, imageFilePart, imageUrlPart, mediaPart, part } from "../messages/part.ts";
import { callOutcome, permission } from "../parts/outcome.ts";
import { uiExtra } from "../parts/ui-extra.ts";
import { milliseconds, optional, record, uuid } from "../record.ts";
import { answer, request, requestOutcome } from "../request.ts";
import { toolState } from "./tool-state.ts";

/** Where a line stands in a file of lines. */
const linePlace = {
  /** From 1; 0: not counted. Two records joined on one line share it. */
  line: z.number(),
  /** Offset of the record's first byte in the file, and its length in bytes without the newline. */
  byte: z.number(),
  length: z.number(),
};
/** A line of a file that the agent appends to. Has no `kind`: it is the form that older clients and stores know. */
export const lineSource = record({
  kind: optional(z.undefined()),
  /** The file's path as the reader was given it. */
  file: z.string(),
  ...linePlace,
});
export type LineSource = z.infer<typeof lineSource>;
/** The record's JSON in the session's record log, where its own place is overwritten by the agent. */
const logged = { logged: optional(record(linePlace)) };
/** A value in a JSON document that the agent rewrites; `pointer` is a JSON Pointer (RFC 6901), "" the whole document. */
export const documentSource = record({
  kind: z.literal("document"),
  file: z.string(),
  pointer: z.string(),
  ...logged,
});
/** A row of a database; `key` is its primary key as text. */
export const rowSource = record({
  kind: z.literal("row"),
  file: z.string(),
  table: z.string(),
  key: z.string(),
  ...logged,
});
/** An entry of a log that Verbatim keeps itself; `sequence` counts from 1. */
export const logSource = record({ kind: z.literal("log"), log: z.string(), sequence: z.number(), ...logged });

/** Where the record stands that a part was made from. */
export const source = z.union([
  lineSource,
  z.discriminatedUnion("kind", [documentSource, rowSource, logSource]),
]);
export type Source = z.infer<typeof source>;

/** A field that was cut for the wire: its true length in UTF-16 code units. Absent fields are whole. */
export const truncated = z.record(z.string(), z.number());
export type Truncated = z.infer<typeof truncated>;

const common = {
  /** Unique within the message, and stable: the link `#part-<id>` opens the part. */
  id: uuid,
  session_id: uuid,
  message_id: uuid,
  at: optional(milliseconds),
  source: optional(source),
  /** The step (model call) of the turn that it belongs to, from 1; absent before the first. */
  step: optional(z.number()),
  /** When its writer changed what it says after its turn had ended: what stands here now is not what was shown then. */
  revised_at: optional(milliseconds),
  /** Withdrawn by its writer: kept, shown folded, with the reason. */
  retracted: optional(z.string()),
  truncated: optional(truncated),
};

/** A part is still growing while `open` is true. */
export const thinkingEntry = record({
  ...common,
  type: z.literal("thinking"),
  /** Empty where the provider hides or encrypts the thought (`hidden`). */
  thinking: z.string(),
  hidden: optional(z.enum(["encrypted", "redacted", "empty"])),
  signature: optional(z.string()),
  /** The signature's format, as in `thinking_signature`. */
  format: optional(z.string()),
  open: optional(z.boolean()),
  ended_at: optional(milliseconds),
});
export const textEntry = record({
  ...common,
  type: z.literal("text"),
  text: z.string(),
  phase: optional(z.string()),
  open: optional(z.boolean()),
  ended_at: optional(milliseconds),
});
/** The run that a call started, once it is known. */
export const runLink = record({
  session_id: uuid,
  name: optional(z.string()),
  task: optional(z.string()),
});

export const toolCallEntry = record({
  ...common,
  type: z.literal("tool_call"),
  tool_call_id: z.string(),
  tool_name: z.string(),
  arguments_json: z.string(),
  state: toolState,
  /** Live output so far, where the source sends it. */
  progress: optional(z.string()),
  /** Position of the paired result in the transcript's parts. */
  result_index: optional(z.number()),
  run: optional(runLink),
});
export const toolResultEntry = record({
  ...common,
  type: z.literal("tool_result"),
  tool_call_id: z.string(),
  tool_name: optional(z.string()),
  is_error: z.boolean(),
  status: toolStatus,
  output_text: z.string(),
  /** Its last lines, where `output_text` was cut for the wire and these are not in it. */
  output_end: optional(z.string()),
  parts: z.array(mediaPart),
  ui_extra: optional(uiExtra),
  outcome: optional(callOutcome),
  permission: optional(permission),
  /** Its call goes on in the background: another result reports its end. */
  background: optional(z.boolean()),
  /** Position of its call in the transcript's parts; absent: an orphan, which stands alone. */
  call_index: optional(z.number()),
});
export const imageEntry = record({
  ...common,
  type: z.literal("image"),
  media: z.discriminatedUnion("type", [imageUrlPart, imageFilePart]),
});
export const fileEntry = record({ ...common, type: z.literal("file"), media: filePart });
/** What a person (or who `origin` says) asked for: the first part of its turn, or, `queued`, inside a running one. */
export const promptEntry = record({
  ...common,
  type: z.literal("prompt"),
  parts: z.array(part),
  queued: optional(z.boolean()),
  origin: optional(promptOrigin),
});
export const stepStartEntry = record({
  ...common,
  type: z.literal("step_start"),
  model: optional(z.string()),
  effort: optional(z.string()),
  /** Copied from the session that this one goes on from, where it is counted. */
  inherited: optional(z.boolean()),
});
export const stepFinishEntry = record({
  ...common,
  type: z.literal("step_finish"),
  reason: optional(stopReason),
  /** The provider's own word for it. */
  reason_raw: optional(z.string()),
  /** Why it failed; an error marker behind it says so to the reader. */
  error: optional(z.string()),
  tokens: optional(usage),
  cost: optional(z.number()),
});
export const markerKind = z.enum([
  "compaction",
  "interrupt",
  "error",
  "retry",
  "model_switch",
  "rewind",
  "context",
  "hook",
  "notification",
  "note",
]);
export type MarkerKind = z.infer<typeof markerKind>;
/** One line in its place; `text` and `data` are one click away. */
export const markerEntry = record({
  ...common,
  type: z.literal("marker"),
  kind: markerKind,
  title: z.string(),
  text: optional(z.string()),
  data: optional(z.unknown()),
});
/** What a person was asked, and what they said. While `outcome` is absent it waits for an answer. */
export const requestEntry = record({
  ...common,
  type: z.literal("request"),
  request,
  outcome: optional(requestOutcome),
  answer: optional(answer),
  closed_at: optional(milliseconds),
});
/** A record that no reader understands, or (`error` says why) could not be read. */
export const unknownEntry = record({
  ...common,
  type: z.literal("unknown"),
  raw: z.unknown(),
  title: optional(z.string()),
  error: optional(z.string()),
});
/** A whole message that has no parts: the old look, `thinking` above `content`. */
export const legacyEntry = record({
  ...common,
  type: z.literal("legacy"),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  thinking: optional(z.string()),
});

/** A part as it is shown, in a turn; those of stored messages are `part` in `part.ts`. */
export const transcriptPart = z.discriminatedUnion("type", [
  thinkingEntry,
  textEntry,
  toolCallEntry,
  toolResultEntry,
  imageEntry,
  fileEntry,
  promptEntry,
  stepStartEntry,
  stepFinishEntry,
  markerEntry,
  requestEntry,
  unknownEntry,
  legacyEntry,
]);
export type TranscriptPart = z.infer<typeof transcriptPart>;
export type TranscriptPartOf<Type extends TranscriptPart["type"]> = Extract<TranscriptPart, { type: Type }>;

/**
 * `running`: open; `completed`: the agent yielded; `failed`: it ended in an error, or with its agent, before its end;
 * `interrupted`: it was stopped, or a prompt came before its end.
 */
export const turnStatus = z.enum(["running", "completed", "failed", "interrupted"]);
export type TurnStatus = z.infer<typeof turnStatus>;

/** One prompt and all that the agent did about it. Its parts are `parts[first_part … next turn's first_part)`. */
export const turn = record({
  id: uuid,
  session_id: uuid,
  /** From 0, in the session. */
  index: z.number(),
  first_part: z.number(),
  part_count: z.number(),
  /**
   * Position of the prompt that heads the turn: `first_part`, or later where the agent put context before it. Absent where
   * the turn has none.
   */
  prompt_index: optional(z.number()),
  status: turnStatus,
  /** The first line of the prompt, at most 200 characters; absent where the session begins without one. */
  title: optional(z.string()),
  started_at: optional(milliseconds),
  ended_at: optional(milliseconds),
  steps: z.number(),
  tool_calls: z.number(),
  errors: z.number(),
  model: optional(z.string()),
  usage: optional(usage),
  retracted: optional(z.string()),
});
export type Turn = z.infer<typeof turn>;
