import type { TextCode } from "../../model/text/coded-text.ts";
import type { ErrorReply } from "../../protocol.ts";
import { t } from "../text/text.ts";
import { textCodeIn } from "../text/translated.ts";
import type { Ask } from "./ask.ts";

/**
 * Why a request failed. `unauthorized`: this browser has no valid cookie. `offline`: there was no response, although the daemon
 * may have carried out the request.
 */
export type ApiFailure =
  | { code: "unauthorized" }
  | { code: "offline" }
  /** `reason`: the daemon's error code. */
  | {
      code: "refused";
      status: number;
      reason?: string;
      message: string;
      message_code?: TextCode;
      remedy?: string;
      remedy_code?: TextCode;
    };

/** A reply, or why the request failed. */
export type ApiResult<Value> = { ok: true; value: Value } | { ok: false; failure: ApiFailure };

/** Sends requests. Failures are returned; the promises never reject. An aborted request fails as `offline`. */
export interface Requests {
  // Replies are not validated: the daemon that served this page checks them against protocol.ts, and checking 200 parts again
  // would cost more than rendering them.
  get<Value>(path: string, signal?: AbortSignal): Promise<ApiResult<Value>>;
  post<Value>(path: string, body: unknown, signal?: AbortSignal): Promise<ApiResult<Value>>;
  bytes(path: string, signal?: AbortSignal): Promise<ApiResult<Blob>>;
}

async function refusal(response: Response): Promise<ApiFailure> {
  const { status } = response;
  if (status === 401) return { code: "unauthorized" };
  const refused = { code: "refused", status, message: t.failure.answered(status) } as const;
  // The daemon's own errors have a JSON body. Without one, the response is from a proxy that could not reach the daemon.
  const plain = status === 408 || status >= 500 ? ({ code: "offline" } as const) : refused;
  try {
    const body: unknown = await response.json();
    if (typeof body !== "object" || body === null || !("error" in body)) return plain;
    // Assumes the shape of the daemon's errors; each field is checked below.
    const { code, message, message_code, remedy, remedy_code } = (body as ErrorReply).error ?? {};
    if (typeof message !== "string") return plain;
    const [ofMessage, ofRemedy] = [textCodeIn(message_code), textCodeIn(remedy_code)];
    return {
      ...refused,
      message,
      ...(typeof code === "string" ? { reason: code } : {}),
      ...(ofMessage && { message_code: ofMessage }),
      ...(typeof remedy === "string" ? { remedy } : {}),
      ...(ofRemedy && { remedy_code: ofRemedy }),
    };
  } catch {
    return plain;
  }
}

export function requestsBy(ask: Ask): Requests {
  const request = async <Value>(
    path: string,
    read: (response: Response) => Promise<Value>,
    signal: AbortSignal | undefined,
    body?: unknown,
  ): Promise<ApiResult<Value>> => {
    try {
      const response = await ask(path, signal, body);
      if (!response.ok) return { ok: false, failure: await refusal(response) };
      return { ok: true, value: await read(response) };
    } catch {
      // Only a failed connection throws here, possibly in the middle of a reply.
      return { ok: false, failure: { code: "offline" } };
    }
  };

  return {
    get: (path, signal) => request(path, (response) => response.json(), signal),
    post: (path, body, signal) => request(path, (response) => response.json(), signal, body),
    bytes: (path, signal) => request(path, (response) => response.blob(), signal),
  };
}
