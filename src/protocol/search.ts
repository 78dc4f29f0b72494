import * as z from "zod";
import { optional, record, uuid } from "../model/record.ts";
import { PART_STATUSES, SEARCH_KINDS } from "../model/search/query.ts";
import { sessionStatus } from "../model/session.ts";

/** `GET /api/sessions/:id/search?q=`: at most 1,000 parts that contain the text, in order. Ignores case, Unicode form and width. */
export const searchReply = record({
  total: z.number(),
  /** Number of outputs whose complete text is in a file. It is not searched. */
  in_files: z.number(),
  hits: z.array(record({ index: z.number(), part_id: uuid, excerpt: z.string() })),
});
export type SearchReply = z.infer<typeof searchReply>;

/**
 * `GET /api/search?q=&limit=&sort=&cursor=`: parts of all sessions that match a query. `limit`: 1 to 100, default 30. `sort`: `newest` or
 * `rank`. `cursor`: `next` of the previous page. Query language: docs/search.md.
 */
export const searchAllReply = record({
  hits: z.array(
    record({
      /** The session that has the part. */
      session: record({
        id: uuid,
        agent: z.string(),
        title: optional(z.string()),
        cwd: optional(z.string()),
        model: optional(z.string()),
        status: sessionStatus,
        last_activity_at: z.number(),
        is_run: z.boolean(),
      }),
      part: record({
        id: uuid,
        /** `note`: a note on the part `id`. If it is on the session, `id` is the note's id. */
        kind: z.enum(SEARCH_KINDS),
        /** The author. `agent`: the agent's program, or a parent agent. */
        by: z.enum(["person", "model", "tool", "agent"]),
        /** Id of the note, if it is one. */
        note_id: optional(uuid),
        /** Zero-based position of its turn. Absent for notes. */
        turn: optional(z.number()),
        turn_title: optional(z.string()),
        step: optional(z.number()),
        tool: optional(z.string()),
        status: optional(z.enum(PART_STATUSES)),
        at: optional(z.number()),
        /** Full length of a text of which only the beginning and end are indexed, in UTF-16 code units. */
        full_length: optional(z.number()),
      }),
      /** A line around the first match. Ranges are in UTF-16 code units of `text`. */
      snippet: record({ text: z.string(), ranges: z.array(record({ start: z.number(), end: z.number() })) }),
    }),
  ),
  /** Absent: there are no more. A page may end early, or be empty, if searching takes long. */
  next: optional(z.string()),
  /** Number of indexed sessions, and of those that this page and the previous ones covered. */
  sessions: z.number(),
  searched: z.number(),
  /** Number of files and sessions whose current state is not indexed yet. */
  not_indexed: z.number(),
  /** Number of parts of which only the beginning and end are indexed. */
  cut_parts: z.number(),
  took_ms: z.number(),
});
export type SearchAllReply = z.infer<typeof searchAllReply>;
