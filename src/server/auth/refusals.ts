import { daemonText } from "../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { CLIENT_HEADER, type ErrorReply } from "../../protocol.ts";
import { errorOf } from "../sessions/refused.ts";

/** Why a request is refused: the status and the error of the reply. */
export interface Refusal {
  status: number;
  code: string;
  message: DisplayText;
  remedy?: DisplayText;
}

export const TOO_MANY: Refusal = {
  status: 429,
  code: "too_many_logins",
  message: daemonText("too_many_logins"),
  remedy: daemonText("wait_a_minute"),
};
export const WRONG_TOKEN: Refusal = {
  status: 401,
  code: "token",
  message: daemonText("token_wrong"),
  remedy: daemonText("use_api_token"),
};
export const WRONG_PUSH_TOKEN: Refusal = { ...WRONG_TOKEN, remedy: daemonText("print_token") };
export const NO_TOKEN: Refusal = {
  status: 401,
  code: "token",
  message: daemonText("token_missing"),
  remedy: daemonText("print_token"),
};
export const NO_COOKIE: Refusal = {
  status: 401,
  code: "login",
  message: daemonText("not_logged_in"),
  remedy: daemonText("open_launch_link"),
};
export const NO_CLIENT_HEADER: Refusal = {
  status: 403,
  code: "client_header",
  message: daemonText("header_missing", { header: CLIENT_HEADER }),
};

/** A refusal as JSON for programs, or as text for people. */
export function answer(refusal: Refusal, json: boolean, headers: Record<string, string>): Response {
  const { status, code, message, remedy } = refusal;
  const error = errorOf(code, message, remedy);
  const reply: ErrorReply = { error };
  return new Response(
    json ? JSON.stringify(reply) : [error.message, error.remedy].filter(Boolean).join(" "),
    {
      status,
      headers: { ...headers, "content-type": json ? "application/json" : "text/plain; charset=utf-8" },
    },
  );
}
