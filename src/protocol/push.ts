import * as z from "zod";
import { record } from "../model/record.ts";

/** `POST /api/push`: a browser's subscription (W3C Push API) and the events that it subscribes to. */
export const pushSubscriptionBody = record({
  endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
  /** The browser's public key (P-256, uncompressed) and its authentication secret, in base64url. */
  keys: record({ p256dh: z.string().max(128), auth: z.string().max(64) }),
  of: z.enum(["waiting", "all"]),
  /** The first words of each kind of message, in the page's language. */
  words: record({
    waiting: z.string().max(100),
    failed: z.string().max(100),
    unknown: z.string().max(100),
    finished: z.string().max(100),
  }),
});
export type PushSubscriptionBody = z.infer<typeof pushSubscriptionBody>;

/** `POST /api/push/remove` */
export const pushEndpointBody = record({ endpoint: z.string() });

/** `GET /api/push`. `public_key`: the key with which a browser subscribes, in base64url. */
export const pushReply = record({ public_key: z.string() });
export type PushReply = z.infer<typeof pushReply>;

/** A push message. `public/push-worker.js` shows it. */
export interface PushMessage {
  kind: "waiting" | "failed" | "unknown" | "finished" | "rule";
  session_id: string;
  title: string;
  body: string;
  /** A later message with the same tag replaces this one. */
  tag: string;
}
