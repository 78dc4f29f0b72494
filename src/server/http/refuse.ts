import type { Context } from "hono";
import type { ErrorReply } from "../../protocol.ts";

/** Replies with an error. */
export function refuse(
  context: Context,
  status: 400 | 404 | 413 | 500,
  code: string,
  message: string,
  remedy?: string,
) {
  const reply: ErrorReply = { error: remedy === undefined ? { code, message } : { code, message, remedy } };
  return context.json(reply, status);
}

/** The reply to an unknown session id. */
export const noSession = (context: Context) =>
  refuse(context, 404, "no_session", "There is no such session.", "Reload the list of sessions.");

/** The reply to an output whose file is gone. */
export const noOutput = (context: Context) =>
  refuse(
    context,
    404,
    "no_output",
    "The file with the complete output is not in the session's folder, or no longer exists.",
  );

/** The reply to an unknown part. */
export const noPart = (context: Context) => refuse(context, 404, "no_part", "The session has no such part.");
