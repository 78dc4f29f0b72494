import * as z from "zod";
import { milliseconds, optional, record } from "./record.ts";

/** What the people who use a daemon have seen of one session, in whichever browser. */
export const readState = record({
  session_id: z.string(),
  /** Parts from the session's beginning that were on screen, or came before one that was. */
  parts: z.number(),
  /** When `parts` was last raised. */
  seen_at: milliseconds,
  /** Marked as unread by a person, until the session is on screen again. */
  unread: z.boolean(),
  pinned: z.boolean(),
});
export type ReadState = z.infer<typeof readState>;

/** A change of a read state: `parts` only rises. Absent fields stay. */
export const readStatePatch = record({
  parts: optional(z.int().nonnegative()),
  unread: optional(z.boolean()),
  pinned: optional(z.boolean()),
});
export type ReadStatePatch = z.infer<typeof readStatePatch>;
