import { CLIENT_HEADER, type ErrorReply } from "../protocol.ts";

/**
 * Why a request has no value. `unauthorized`: this browser has no valid cookie. `offline`: no daemon answered, so that what
 * was asked for may be done all the same.
 */
export type ApiFailure =
  | { code: "unauthorized" }
  | { code: "offline" }
  /** `reason`: the daemon's own code for it. */
  | { code: "refused"; status: number; reason?: string; message: string; remedy?: string };

export type ApiResult<Value> = { ok: true; value: Value } | { ok: false; failure: ApiFailure };

/** How the page asks the daemon: all its requests go through here. Failures are values; an aborted request is `offline`. */
export interface Requests {
  // The daemon that served this page checks what it sends against protocol.ts; checking 200 parts again would cost more
  // than rendering them.
  get<Value>(path: string, signal?: AbortSignal): Promise<ApiResult<Value>>;
  post<Value>(path: string, body: unknown): Promise<ApiResult<Value>>;
  bytes(path: string): Promise<ApiResult<Blob>>;
  /**
   * What is under way may be so on connections that are dead: it is asked for again where it only reads, else it is
   * `offline`. A long body has its time first.
   */
  giveUp(): void;
}

/** In bytes a millisecond: what is sent slower is not waited for once connections were lost. */
const SLOWEST = 16;
/** As many connections to one host as browsers hold, and for how many milliseconds an answer on them is waited for. */
const CONNECTIONS = { most: 6, wait_ms: 2_000 };

async function refusal(response: Response): Promise<ApiFailure> {
  const { status } = response;
  if (status === 401) return { code: "unauthorized" };
  const refused = { code: "refused", status, message: `The daemon answered ${status}.` } as const;
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

export function createRequests(base: string): Requests {
  let deadOnesClosed: Promise<unknown> | undefined;
  /** With the length of each body. */
  const underWay = new Map<AbortController, number>();
  const request = async <Value>(
    path: string,
    read: (response: Response) => Promise<Value>,
    options: { signal?: AbortSignal | undefined; body?: unknown } = {},
  ): Promise<ApiResult<Value>> => {
    const { signal } = options;
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const abort = new AbortController();
    signal?.addEventListener("abort", () => abort.abort());
    underWay.set(abort, body?.length ?? 0);
    try {
      await deadOnesClosed;
      const response = await fetch(base + path, {
        headers: {
          [CLIENT_HEADER]: "1",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        credentials: "same-origin",
        signal: abort.signal,
        ...(body === undefined ? {} : { method: "POST", body }),
      });
      if (!response.ok) return { ok: false, failure: await refusal(response) };
      return { ok: true, value: await read(response) };
    } catch {
      if (abort.signal.aborted && !signal?.aborted && body === undefined) return request(path, read, options);
      // Nothing else throws here: no connection, or one cut in the middle of a reply.
      return { ok: false, failure: { code: "offline" } };
    } finally {
      underWay.delete(abort);
    }
  };

  return {
    get: (path, signal) => request(path, (response) => response.json(), { signal }),
    post: (path, body) => request(path, (response) => response.json(), { body }),
    bytes: (path) => request(path, (response) => response.blob()),
    giveUp() {
      for (const [abort, length] of underWay) setTimeout(() => abort.abort(), length / SLOWEST);
      // What is asked next would wait on those that are idle and dead: each is asked something, and closed without an answer.
      deadOnesClosed = Promise.allSettled(
        Array.from({ length: CONNECTIONS.most }, () =>
          fetch(`${base}/`, {
            method: "HEAD",
            cache: "no-store",
            signal: AbortSignal.timeout(CONNECTIONS.wait_ms),
          }),
        ),
      );
    },
  };
}
