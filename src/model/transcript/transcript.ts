import * as z from "zod";
import { promptOrigin, stopReason, toolStatus, usage } from "../messages/message.ts";
import { filePart, imageFilePart, imageUrlPart, mediaPart, part } from "../messages/part.ts";
import { callOutcome, permission } from "../parts/outcome.ts";
import { uiExtra } from "../parts/ui-extra.ts";
import { milliseconds, optional, record, uuid } from "../record.ts";
import { answer, request, requestOutcome } from "../request.ts";
import { textCode } from "../text/coded-text.ts";
import { toolState } from "./tool-state.ts";

/** The place of a line in a file. */
const linePlace = {
  /** One-based; 0: not counted. Two records on one line share it. */
  line: z.number(),
  /** Offset of the record's first byte in the file, and its length in bytes without the newline. */
  byte: z.number(),
  length: z.number(),
};
/** A line of a file that the agent appends to. It has no `kind`, for compatibility with older clients and stores. */
export const lineSource = record({
  kind: optional(z.undefined()),
  /** The file's path as given to the reader. */
  file: z.string(),
  ...linePlace,
});
export type LineSource = z.infer<typeof lineSource>;
/** The place of the record's JSON in the session's record log, if the agent overwrites the original. */
const logged = { logged: optional(record(linePlace)) };
/** A value in a JSON document that the agent rewrites. `pointer`: a JSON Pointer (RFC 6901); "" is the whole document. */
export const documentSource = record({
  kind: z.literal("document"),
  file: z.string(),
  pointer: z.string(),
  ...logged,
});
/** A row of a database. `key`: its primary key as text. */
export const rowSource = record({
  kind: z.literal("row"),
  file: z.string(),
  table: z.string(),
  key: z.string(),
  ...logged,
});
/** An entry of a log that Verbatim keeps itself. `sequence` is one-based. */
export const logSource = record({ kind: z.literal("log"), log: z.string(), sequence: z.number(), ...logged });

/** The place of a record that is not a line of its agent's file. */
export const storeSource = z.discriminatedUnion("kind", [documentSource, rowSource, logSource]);

/** The place of the record that a part was made from. */
export const source = z.union([lineSource, storeSource]);
export type Source = z.infer<typeof source>;

/** True lengths of truncated fields in UTF-16 code units. Absent fields are complete. */
export const truncated = z.record(z.string(), z.number());
export type Truncated = z.infer<typeof truncated>;

const common = {
  /** Unique within the message and stable: the link `#part-<id>` opens the part. */
  id: uuid,
  session_id: uuid,
  message_id: uuid,
  at: optional(milliseconds),
  source: optional(source),
  /** One-based step (model call) in its turn. Absent before the first one. */
  step: optional(z.number()),
  /** When its content was changed after its turn had ended. It differs from what was shown then. */
  revised_at: optional(milliseconds),
  /** Retracted by its writer: kept and shown collapsed, with the reason. */
  retracted: optional(z.string()),
  retracted_code: optional(textCode),
  truncated: optional(truncated),
};

/** A part is growing while `open` is true. */
export const thinkingEntry = record({
  ...common,
  type: z.literal("thinking"),
  /** Empty if the provider hides or encrypts the thought (`hidden`). */
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
  /** Live output so far, if the source sends it. */
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
  /** The last lines of a truncated `output_text`. */
  output_end: optional(z.string()),
  parts: z.array(mediaPart),
  ui_extra: optional(uiExtra),
  outcome: optional(callOutcome),
  permission: optional(permission),
  /** Its call continues in the background: another result reports its end. */
  background: optional(z.boolean()),
  /** Position of its call in the transcript's parts. Absent: it has no call and is shown on its own. */
  call_index: optional(z.number()),
});
export const imageEntry = record({
  ...common,
  type: z.literal("image"),
  media: z.discriminatedUnion("type", [imageUrlPart, imageFilePart]),
});
export const fileEntry = record({ ...common, type: z.literal("file"), media: filePart });
/** A prompt of a person, or of the author in `origin`: the first part of its turn, or (`queued`) within a running one. */
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
  /** Copied from the session that this one continues, where it is counted. */
  inherited: optional(z.boolean()),
});
export const stepFinishEntry = record({
  ...common,
  type: z.literal("step_finish"),
  reason: optional(stopReason),
  /** The provider's own value. */
  reason_raw: optional(z.string()),
  /** Why it failed. An error marker after it shows this. */
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
/** A marker of one line. `text` and `data` are shown on demand. */
export const markerEntry = record({
  ...common,
  type: z.literal("marker"),
  kind: markerKind,
  title: z.string(),
  title_code: optional(textCode),
  text: optional(z.string()),
  text_code: optional(textCode),
  data: optional(z.unknown()),
});
/** A request to the user and the answer. Without `outcome` it is open. */
export const requestEntry = record({
  ...common,
  type: z.literal("request"),
  request,
  outcome: optional(requestOutcome),
  answer: optional(answer),
  closed_at: optional(milliseconds),
});
/** A record that no reader understands, or (`error`: why) that could not be read. */
export const unknownEntry = record({
  ...common,
  type: z.literal("unknown"),
  raw: z.unknown(),
  title: optional(z.string()),
  title_code: optional(textCode),
  error: optional(z.string()),
});
/** A whole message without parts, shown in the old layout: `thinking` above `content`. */
export const legacyEntry = record({
  ...common,
  type: z.literal("legacy"),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  thinking: optional(z.string()),
});

/** A part of a turn as it is shown. For stored messages see `part` in `part.ts`. */
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
 * `running`: open; `completed`: the agent yielded; `failed`: it ended with an error or the end of its agent; `interrupted`: it
 * was stopped, or a prompt came before its end.
 */
export const turnStatus = z.enum(["running", "completed", "failed", "interrupted"]);
export type TurnStatus = z.infer<typeof turnStatus>;

/** A prompt and everything that the agent did for it. Its parts are `parts[first_part … next turn's first_part)`. */
export const turn = record({
  id: uuid,
  session_id: uuid,
  /** Zero-based index in the session. */
  index: z.number(),
  first_part: z.number(),
  part_count: z.number(),
  /**
   * Position of the prompt that heads the turn: `first_part`, or later if the agent added context before it. Absent if the turn
   * has no prompt.
   */
  prompt_index: optional(z.number()),
  status: turnStatus,
  /** `failed` only because the record stops: it has neither an end of the turn nor an error that explains one. */
  no_end: optional(z.literal(true)),
  /** The first line of the prompt, at most 200 characters. Absent if the session begins without one. */
  title: optional(z.string()),
  started_at: optional(milliseconds),
  ended_at: optional(milliseconds),
  steps: z.number(),
  tool_calls: z.number(),
  errors: z.number(),
  model: optional(z.string()),
  usage: optional(usage),
  retracted: optional(z.string()),
  retracted_code: optional(textCode),
});
export type Turn = z.infer<typeof turn>;
