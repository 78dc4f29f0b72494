import type { Context } from "hono";
import type { ErrorReply } from "../../protocol.ts";

/** An error for the client: `status` is the HTTP status, `remedy` what the user can do. */
export class Refused extends Error {
  readonly status: 400 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503;
  readonly code: string;
  readonly remedy: string | undefined;
  constructor(status: Refused["status"], code: string, message: string, remedy?: string) {
    super(message);
    this.name = "Refused";
    this.status = status;
    this.code = code;
    this.remedy = remedy;
  }
}

/** The client closed the connection before the end of its body, so this reply is never received. */
export const CUT_OFF = new Refused(400, "cut_off", "The body was cut off.");

/** The error reply of a refused request. `more`: fields added to the error object. */
export function refusal(
  context: Context,
  { status, code, message, remedy }: Refused,
  more: object = {},
): Response {
  const error = remedy === undefined ? { code, message } : { code, message, remedy };
  const reply: ErrorReply = { error: { ...error, ...more } };
  return context.json(reply, status);
}
