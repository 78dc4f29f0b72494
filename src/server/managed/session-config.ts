import * as z from "zod";
import { frame } from "../../model/frames/frame.ts";
import { part } from "../../model/messages/part.ts";
import { optional, record, uuid } from "../../model/record.ts";

/** What a session was started with: enough to make its agent again. Stored; never holds a key. */
export const sessionConfig = record({
  /** A provider's or a configured agent's id; of a session that is pushed, what it calls itself. */
  agent: z.string(),
  /** `pushed`: frames come from outside, nothing here drives it. */
  kind: z.enum(["hosted", "pushed"]),
  model: optional(z.string()),
  cwd: z.string(),
  /** 0 for a session that a person started, 1 for its runs, and so on. */
  depth: z.number(),
  parent: optional(record({ session_id: uuid, tool_call_id: z.string() })),
  created_at: z.number(),
});
export type SessionConfig = z.infer<typeof sessionConfig>;

const storedPrompt = record({
  message_id: uuid,
  parts: z.array(part),
  /** It waited when the session was rewound: only a person begins it. */
  held: optional(z.boolean()),
});

/** A foreign stream that has not ended: whatever is pushed that is not its rest ends it. */
const openStream = record({
  /** Its epoch, or a name of its own. */
  id: z.string(),
  /** What it would say if it were over, where that is known. What a newer version wrote is not worth losing all sessions. */
  ending: optional(z.array(frame).catch([])),
});
export type OpenStream = z.infer<typeof openStream>;

/** What a session remembers beside its history. */
export const sessionState = record({
  /** Prompts that wait for the running turn's end, in order. */
  queue: z.array(storedPrompt),
  /** Queued prompts that were taken back: sent again, they stay so. */
  withdrawn: z.array(uuid),
  /** The senders' own ids of those withdrawals: sent again, one is told apart from another person's. */
  withdrawals: optional(z.array(uuid)),
  /** Of a pushed session. */
  pushed: optional(
    record({
      /** The sender's, where it counts, and the last `seq` of it that was applied. */
      epoch: optional(z.string()),
      seq: optional(z.number()),
      stream: optional(openStream),
    }),
  ),
});
export type SessionState = z.infer<typeof sessionState>;
