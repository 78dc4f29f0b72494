import { daemonText } from "../../model/text/daemon-texts.ts";
import { OPENED_HEAD_LIMIT, OPENED_LIMIT } from "../../protocol.ts";
import type { Refusal } from "./refusals.ts";

/** A request as the guard sees it, from hono or from a socket's upgrade. */
export interface AuthRequest {
  method: string;
  /** Path and query: as the router reads them for requests, as in the request line for sockets. */
  target: string;
  /** `undefined`: not sent. Repeated headers are joined with `, `. */
  header(name: string): string | undefined;
}

/** Maximum size of a request body, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** Maximum size of a body with a prompt: ten images of 5 MB in base64, and the text. */
const PROMPT_BODY_LIMIT = 72 * 1024 * 1024;
const TAKES_PROMPT = /^\/api\/sessions(?:\/[^/]+\/(?:prompts|fork))?$/;
/** Accepts files as they are, to open them without storing them. */
const OPENS_FILES = "/api/opened-files";
/** Accepts frames pushed by an agent, without a size limit. */
export const PUSHES = /^\/api\/ingest\/[^/]+$/;
/** The posted files. The token for pushing can read them too. */
export const POSTED_FILES = "/api/ingest/files";

/** Maximum body size of a request in bytes, by its path. A query is ignored. `Infinity`: it is a stream. */
export function bodyLimitOf(target: string): number {
  const path = pathOf(target);
  return PUSHES.test(path)
    ? Number.POSITIVE_INFINITY
    : TAKES_PROMPT.test(path)
      ? PROMPT_BODY_LIMIT
      : path === OPENS_FILES
        ? OPENED_LIMIT + OPENED_HEAD_LIMIT
        : BODY_LIMIT;
}

/** The path of a request, without its query. */
export const pathOf = (target: string) => target.split("?", 1)[0] ?? "/";

/** Whether this is a page navigation, and not a script, image or frame. */
export function wantsPage(request: AuthRequest): boolean {
  if (request.method === "POST") return false;
  const destination = request.header("sec-fetch-dest");
  if (destination !== undefined) {
    return destination === "document" && request.header("sec-fetch-mode") === "navigate";
  }
  return request.header("accept")?.includes("text/html") ?? false;
}

/** Checks the type and the length of a body, before it is read. */
export function refuseBody(request: AuthRequest): Refusal | undefined {
  const type = request.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  // Forms of other pages cannot send either type.
  const accepted = pathOf(request.target) === OPENS_FILES ? "application/octet-stream" : "application/json";
  if (type !== accepted)
    return { status: 415, code: "content_type", message: daemonText("type_not_accepted", { accepted }) };
  const length = request.header("content-length");
  const limit = bodyLimitOf(request.target);
  if (length !== undefined && !(Number(length) <= limit)) {
    return { status: 413, code: "too_large", message: daemonText("body_too_long", { limit }) };
  }
  return undefined;
}
