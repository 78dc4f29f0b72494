import type { Context } from "hono";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import type { ErrorReply } from "../../protocol.ts";
import { errorOf } from "../sessions/refused.ts";

/** Replies with an error. */
export function refuse(
  context: Context,
  status: 400 | 404 | 413 | 500,
  code: string,
  message: DisplayText,
  remedy?: DisplayText,
) {
  const reply: ErrorReply = { error: errorOf(code, message, remedy) };
  return context.json(reply, status);
}

/** The reply to an unknown session id. */
export const noSession = (context: Context) =>
  refuse(context, 404, "no_session", daemonText("session_unknown"), daemonText("reload_list"));

/** The reply to an output whose file is gone. */
export const noOutput = (context: Context) => refuse(context, 404, "no_output", daemonText("output_gone"));

/** The reply to an unknown part. */
export const noPart = (context: Context) => refuse(context, 404, "no_part", daemonText("part_unknown"));
