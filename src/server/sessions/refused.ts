import type { Context } from "hono";
import { CodedError } from "../../model/text/coded-error.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type DisplayText, textFields } from "../../model/text/display-text.ts";
import type { ErrorReply } from "../../protocol.ts";

/** An error for the client: `status` is the HTTP status, `remedy` what the user can do. */
export class Refused extends CodedError {
  override readonly name: string = "Refused";
  readonly status: 400 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503;
  readonly code: string;
  readonly remedy: string | undefined;
  /** The error of the reply. */
  readonly error: ErrorReply["error"];
  constructor(status: Refused["status"], code: string, message: DisplayText, remedy?: DisplayText) {
    super(message);
    this.status = status;
    this.code = code;
    this.error = errorOf(code, message, remedy);
    this.remedy = this.error.remedy;
  }
}

/** The client closed the connection before the end of its body or of the reply, so this reply is never received. */
export const CUT_OFF = new Refused(400, "cut_off", daemonText("body_cut_off"));

/** The error of a reply. */
export function errorOf(code: string, message: DisplayText, remedy?: DisplayText): ErrorReply["error"] {
  const error = { code, ...textFields("message", message) };
  return remedy === undefined ? error : { ...error, ...textFields("remedy", remedy) };
}

/** The error reply of a refused request. `more`: fields added to the error object. */
export function refusal(context: Context, { status, error }: Refused, more: object = {}): Response {
  const reply: ErrorReply = { error: { ...error, ...more } };
  return context.json(reply, status);
}
