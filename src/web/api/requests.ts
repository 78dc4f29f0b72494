import type { ErrorReply } from "../../protocol.ts";
import { t } from "../text/text.ts";
import type { Ask } from "./ask.ts";

/**
 * Why a request has no value. `unauthorized`: this browser has no valid cookie. `offline`: no daemon answered, so that what
 * was asked for may be done all the same.
 */
export type ApiFailure =
  | { code: "unauthorized" }
  | { code: "offline" }
  /** `reason`: the daemon's own code for it. */
  | { code: "refused"; status: number; reason?: string; message: string; remedy?: string };

/** A reply, or why there is none: no request rejects. */
export type ApiResult<Value> = { ok: true; value: Value } | { ok: false; failure: ApiFailure };

/** What the daemon is asked, and what came of it. Failures are values; an aborted request is `offline`. */
export interface Requests {
  // The daemon that served this page checks what it sends against protocol.ts; checking 200 parts again would cost more
  // than rendering them.
  get<Value>(path: string, signal?: AbortSignal): Promise<ApiResult<Value>>;
  post<Value>(path: string, body: unknown, signal?: AbortSignal): Promise<ApiResult<Value>>;
  bytes(path: string, signal?: AbortSignal): Promise<ApiResult<Blob>>;
}

async function refusal(response: Response): Promise<ApiFailure> {
  const { status } = response;
  if (status === 401) return { code: "unauthorized" };
  const refused = { code: "refused", status, message: t.failure.answered(status) } as const;
  // The daemon says in words of its own why it fails: this is a proxy that had no answer from it.
  const plain = status === 408 || status >= 500 ? ({ code: "offline" } as const) : refused;
  try {
    const body: unknown = await response.json();
    if (typeof body !== "object" || body === null || !("error" in body)) return plain;
    // Whoever answers in this shape is the daemon; each field is still checked below.
    const { code, message, remedy } = (body as ErrorReply).error ?? {};
    if (typeof message !== "string") return plain;
    return {
      ...refused,
      message,
      ...(typeof code === "string" ? { reason: code } : {}),
      ...(typeof remedy === "string" ? { remedy } : {}),
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
      // Nothing else throws here: no connection, or one cut in the middle of a reply.
      return { ok: false, failure: { code: "offline" } };
    }
  };

  return {
    get: (path, signal) => request(path, (response) => response.json(), signal),
    post: (path, body, signal) => request(path, (response) => response.json(), signal, body),
    bytes: (path, signal) => request(path, (response) => response.blob(), signal),
  };
}
