import * as z from "zod";
import { frame } from "../model/frames/frame.ts";
import { liveChange, livePart } from "../model/live-text.ts";
import { optional, record, uuid } from "../model/record.ts";
import { sessionSummary } from "../model/session.ts";
import { textCode } from "../model/text/coded-text.ts";
import { sessionPage } from "./sessions.ts";

/** The channel of the list: rows and their changes. */
export const sessionsChannel = "sessions";

/** The channel of a session's frames. */
export const outputChannel = (session_id: string): string => `output:${session_id}`;

/** Interval at which a client receives the positions of its channels, in milliseconds. */
export const HEARTBEAT_MS = 4_000;

/** Parameter in the URL of `GET /api/live`: long messages are sent in pieces, so that the client notices that one is arriving. */
export const IN_PIECES = "pieces";

/** Ends a piece of a message that continues ("end of transmission block"). JSON never contains it. */
export const PIECE_MARK = "\x17";

/** From client to daemon. */
export const clientMessage = z.discriminatedUnion("type", [
  /** Without `epoch` and `after_seq`, the response is a snapshot. */
  record({
    type: z.literal("subscribe"),
    channel: z.string(),
    epoch: optional(z.string()),
    after_seq: optional(z.number()),
    /** The `check` that the daemon sent for `after_seq`. With it a client resumes after a restart. */
    check: optional(z.string()),
  }),
  record({ type: z.literal("unsubscribe"), channel: z.string() }),
]);
export type ClientMessage = z.infer<typeof clientMessage>;

/** A frame with its position in its channel: `seq` increases by one. */
export const channelFrame = record({ seq: z.number(), frame });
export type ChannelFrame = z.infer<typeof channelFrame>;

/** From daemon to client. Frames of a channel that follow within 16 ms are combined. */
export const serverMessage = z.discriminatedUnion("type", [
  record({
    type: z.literal("frames"),
    channel: z.string(),
    epoch: z.string(),
    frames: z.array(channelFrame),
    /** A digest of all frames of the channel up to the last of these. */
    check: optional(z.string()),
    /** Changes of the live parts, to be applied together with the frames. */
    live: optional(liveChange),
  }),
  /** The state at `seq`. It replaces all earlier state. */
  record({
    type: z.literal("snapshot"),
    channel: z.string(),
    epoch: z.string(),
    seq: z.number(),
    reason: z.enum(["first", "epoch", "too_old", "too_slow", "rewritten"]),
    page: optional(sessionPage),
    sessions: optional(z.array(sessionSummary)),
    /** The session's live parts. Absent: none. */
    live: optional(z.array(livePart)),
  }),
  /** Everything up to `seq` has been sent. What follows is live. */
  record({
    type: z.literal("synced"),
    channel: z.string(),
    epoch: z.string(),
    seq: z.number(),
    /** A digest of all frames of the channel up to `seq`. */
    check: optional(z.string()),
  }),
  /** The daemon has the same frames up to `seq` as the epoch `previous` had, and continues in `epoch` without a snapshot. */
  record({
    type: z.literal("resumed"),
    channel: z.string(),
    previous: z.string(),
    epoch: z.string(),
    seq: z.number(),
  }),
  /** Rows of the list changed (`sessions` channel). */
  record({
    type: z.literal("sessions"),
    channel: z.literal("sessions"),
    epoch: z.string(),
    seq: z.number(),
    changed: z.array(sessionSummary),
    removed: z.array(uuid),
  }),
  /** The positions of all subscribed channels, to detect gaps. */
  record({
    type: z.literal("heartbeat"),
    at: z.number(),
    positions: z.record(z.string(), record({ epoch: z.string(), seq: z.number() })),
  }),
  record({
    type: z.literal("refused"),
    channel: optional(z.string()),
    code: z.string(),
    /** With the remedy, if there is one. */
    message: z.string(),
    message_code: optional(textCode),
    remedy_code: optional(textCode),
  }),
]);
export type ServerMessage = z.infer<typeof serverMessage>;
