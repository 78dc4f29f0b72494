import { CLIENT_HEADER, type ErrorReply } from "../../protocol.ts";

/** Why a request is refused: the status and the error of the reply. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  remedy?: string;
}

export const TOO_MANY: Refusal = {
  status: 429,
  code: "too_many_logins",
  message: "Too many failed logins.",
  remedy: "Wait a minute.",
};
export const WRONG_TOKEN: Refusal = { status: 401, code: "token", message: "Wrong token." };
export const NO_TOKEN: Refusal = {
  status: 401,
  code: "token",
  message: "Pushing requires a bearer token.",
  remedy: "`npm start -- token` prints it.",
};
export const NO_COOKIE: Refusal = {
  status: 401,
  code: "login",
  message: "This browser is not logged in.",
  remedy: "Open a new launch link: `npm start -- --link` prints one.",
};
export const NO_CLIENT_HEADER: Refusal = {
  status: 403,
  code: "client_header",
  message: `The header ${CLIENT_HEADER} is missing.`,
};

/** A refusal as JSON for programs, or as text for people. */
export function answer(refusal: Refusal, json: boolean, headers: Record<string, string>): Response {
  const { status, code, message, remedy } = refusal;
  const reply: ErrorReply = { error: remedy === undefined ? { code, message } : { code, message, remedy } };
  return new Response(json ? JSON.stringify(reply) : [message, remedy].filter(Boolean).join(" "), {
    status,
    headers: { ...headers, "content-type": json ? "application/json" : "text/plain; charset=utf-8" },
  });
}
