import * as z from "zod";
import { milliseconds, optional, record } from "./record.ts";

/** What the users of a daemon have seen of a session, in any browser. */
export const readState = record({
  session_id: z.string(),
  /** Number of parts from the session's beginning up to the last one that was on screen. */
  parts: z.number(),
  /** When `parts` last increased. */
  seen_at: milliseconds,
  /** Marked as unread by a user, until the session is on screen again. */
  unread: z.boolean(),
  pinned: z.boolean(),
});
export type ReadState = z.infer<typeof readState>;

/** A change of a read state. `parts` only increases. Absent fields stay unchanged. */
export const readStatePatch = record({
  parts: optional(z.int().nonnegative()),
  unread: optional(z.boolean()),
  pinned: optional(z.boolean()),
});
export type ReadStatePatch = z.infer<typeof readStatePatch>;
