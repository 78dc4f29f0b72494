import * as z from "zod";
import { frame } from "../../model/frames/frame.ts";
import { part } from "../../model/messages/part.ts";
import { optional, record, uuid } from "../../model/record.ts";

/** The settings with which a session was started, sufficient to create its agent again. Stored; never contains a key. */
export const sessionConfig = record({
  /** The id of a provider or configured agent. For a pushed session: the sender's name. */
  agent: z.string(),
  /** `pushed`: another program sends the frames, no agent runs here. */
  kind: z.enum(["hosted", "pushed"]),
  model: optional(z.string()),
  cwd: z.string(),
  /** 0 for a session that the user started, 1 for its runs, and so on. */
  depth: z.number(),
  parent: optional(record({ session_id: uuid, tool_call_id: z.string() })),
  created_at: z.number(),
  /** An external agent's own id of the session. Absent: the agent has not opened one yet, or has no ids. */
  agent_session: optional(z.string()),
});
export type SessionConfig = z.infer<typeof sessionConfig>;

const storedPrompt = record({
  message_id: uuid,
  parts: z.array(part),
  /** It was queued when the session was rewound: only the user starts it. */
  held: optional(z.boolean()),
});

/** A foreign stream that has not ended. Any push other than its continuation ends it. */
const openStream = record({
  /** Its epoch, or a generated id. */
  id: z.string(),
  /**
   * The frames that would end it, if known. Unknown frames of a newer version are ignored, so that the session stays readable.
   */
  ending: optional(z.array(frame).catch([])),
});
export type OpenStream = z.infer<typeof openStream>;

/** State of a session besides its history. */
export const sessionState = record({
  /** Queued prompts, in order. */
  queue: z.array(storedPrompt),
  /** Ids of withdrawn prompts. Sending one again has no effect. */
  withdrawn: z.array(uuid),
  /** The senders' ids of the withdrawals. They distinguish a repeated withdrawal from another person's. */
  withdrawals: optional(z.array(uuid)),
  /** State of a pushed session. */
  pushed: optional(
    record({
      /** The sender's epoch, if it numbers its frames, and the last applied `seq`. */
      epoch: optional(z.string()),
      seq: optional(z.number()),
      stream: optional(openStream),
    }),
  ),
});
export type SessionState = z.infer<typeof sessionState>;
