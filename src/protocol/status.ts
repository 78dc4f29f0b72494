import * as z from "zod";
import { optional, record } from "../model/record.ts";
import { textCode } from "../model/text/coded-text.ts";

/** Header of every REST request that is authenticated by the cookie. Forms and images of other sites cannot set it. */
export const CLIENT_HEADER = "x-verbatim-client";

/** `GET /api/status` */
export const statusReply = record({
  version: z.string(),
  /** URL of the entry script of the page that the daemon serves. It differs between builds. */
  build: z.string().optional(),
  instance: z.string(),
  /** Files and bytes that were found, and those whose sessions are in the list. */
  index: record({
    files_found: z.number(),
    files_done: z.number(),
    bytes_found: z.number(),
    bytes_done: z.number(),
    /** The list is complete. */
    done: z.boolean(),
    /** Sessions or files that search and usage lack, or know an earlier state of. After an update of the daemon: all of them. */
    not_indexed: z.number(),
  }),
  /** Problems that the user should know about, such as a read-only store or an unreadable folder. */
  notices: z.array(
    record({
      level: z.enum(["info", "warning", "error"]),
      text: z.string(),
      text_code: optional(textCode),
      remedy: optional(z.string()),
      remedy_code: optional(textCode),
      /** The notice is about an unreadable path. There may be many of them. */
      unread: optional(z.literal(true)),
      /** The notice is also shown in the sessions of this agent. */
      agent: optional(z.string()),
    }),
  ),
  roots: z.array(record({ agent: z.string(), path: z.string(), exists: z.boolean() })),
});
export type StatusReply = z.infer<typeof statusReply>;

/** `POST /api/link` with `{}`: a link that signs in one more browser, once. */
export const linkReply = record({ link: z.string() });

/** The body of every error response. */
export const errorReply = record({
  error: record({
    code: z.string(),
    message: z.string(),
    message_code: optional(textCode),
    remedy: optional(z.string()),
    remedy_code: optional(textCode),
  }),
});
export type ErrorReply = z.infer<typeof errorReply>;
