import * as z from "zod";
import { usage } from "../model/messages/message.ts";
import { todoItem } from "../model/parts/ui-extra.ts";
import { optional, record, uuid } from "../model/record.ts";
import { sessionSummary } from "../model/session.ts";
import { source, transcriptPart } from "../model/transcript/transcript.ts";
import { openState } from "../model/transcript/transcript-start.ts";
import { turnTable } from "../model/transcript/turn-table-schema.ts";

/** Maximum number of parts in a page of `/api/sessions/:id/parts`, and in the end of a session that a snapshot contains. */
export const PAGE_SIZE = 200;

/** `GET /api/sessions`: all rows, newest first, and the position of the `sessions` channel that they reflect. */
export const sessionsReply = record({
  epoch: z.string(),
  seq: z.number(),
  sessions: z.array(sessionSummary),
});

/** A part with its position in the session. */
export const placedPart = record({ index: z.number(), part: transcriptPart });
export type PlacedPart = z.infer<typeof placedPart>;

/**
 * The folded state of a session: all turns, the number of parts, and some of the parts with the results of their calls. Parts are
 * truncated to `TEXT_LIMIT` and `OUTPUT_LIMIT`: `truncated` is the full length, `output_end` the last lines of an output. Data URLs are
 * replaced by `attachment:<part id>:<n>`.
 */
export const sessionPage = record({
  session: sessionSummary,
  turns: turnTable,
  part_count: z.number(),
  parts: z.array(placedPart),
  /** Calls that have no result yet: their ids and positions. */
  open_calls: z.array(z.tuple([z.string(), z.number()])),
  /** Results without a call: the ids of their calls, and the positions. */
  orphan_results: optional(z.array(z.tuple([z.string(), z.number()]))),
  /** What is open at the end of the session. */
  open: openState,
  usage: optional(usage),
  todos: optional(z.array(todoItem)),
  context: optional(record({ tokens: z.number(), limit: optional(z.number()) })),
});
export type SessionPage = z.infer<typeof sessionPage>;

/** `GET /api/sessions/:id`: the end of the session, and the position of its channel to subscribe from. */
export const sessionReply = record({ epoch: z.string(), seq: z.number(), page: sessionPage });

/** `GET /api/sessions/:id/parts?from=&to=`: at most `PAGE_SIZE` positions. */
export const partsReply = record({
  epoch: z.string(),
  seq: z.number(),
  part_count: z.number(),
  parts: z.array(placedPart),
});
export type PartsReply = z.infer<typeof partsReply>;

/**
 * `GET /api/sessions/:id/locate?part=`, `?turn=` or `?call=`: the position of a part. `?error=` with a position and `&by=1` or `-1`: the
 * nearest error after or before it.
 */
export const locateReply = record({ index: z.number(), part_id: uuid });
export type LocateReply = z.infer<typeof locateReply>;

/** `GET /api/sessions/:id/parts/:part/whole`: the part without truncation. Attachments are still references. */
export const wholePartReply = record({ part: transcriptPart });

/**
 * `GET /api/sessions/:id/parts/:part/raw`: the record in the agent's file.
 *
 * `GET /api/sessions/:id/parts/:part/output?from=` returns the complete output of a call that the agent stored in a file, as plain text:
 * at most `OUTPUT_PIECE` bytes, fewer at its end. `GET /api/sessions/:id/attachments/:part/:n` returns the bytes of
 * `attachment:<part id>:<n>` as a download. Only plain images keep their type.
 */
export const rawReply = record({
  file: z.string(),
  /** One-based. 0: unknown. */
  line: z.number(),
  byte: z.number(),
  length: z.number(),
  /** The record's text, truncated to 1 MB. `truncated` is then its full length. */
  text: z.string(),
  truncated: optional(z.number()),
  archived: z.boolean(),
  /** The record's place in the agent's store, if `file` is Verbatim's record log. */
  place: optional(source),
});
export type RawReply = z.infer<typeof rawReply>;
