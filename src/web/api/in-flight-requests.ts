import type { StoreApi } from "zustand/vanilla";
import type { AnswerLock } from "./answer-lock.ts";
import type { Ask } from "./ask.ts";
import type { Live } from "./live.ts";
import { type ApiResult, type Requests, requestsBy } from "./requests.ts";

/** The members of the page's client that requests need. */
export interface ApiClient {
  readonly ask: Ask;
  readonly live: Live;
  readonly answer_lock: StoreApi<AnswerLock>;
}

/** Assumed minimum upload speed, in bytes per millisecond. Determines how much longer a request may take after a reconnection. */
const MIN_UPLOAD_SPEED = 16;
/** How many connections browsers open to one host, and the timeout for probing them, in milliseconds. */
const CONNECTIONS = { most: 6, wait_ms: 2_000 };

/**
 * Requests that do not hang on a dead connection. When a lost connection is back, requests in flight are aborted: reads are
 * repeated, writes fail as `offline`. Writes with long bodies get extra time first.
 */
export function abortedWhenLost(client: ApiClient): Requests {
  const requests = requestsBy(client.ask);
  const pending = new Map<AbortController, unknown>();
  let deadConnectionsClosed: Promise<unknown> | undefined;
  client.live.connection.subscribe((now, before) => {
    if (now.status !== "live" || before.status !== "lost") return;
    for (const [abort, body] of pending) {
      const length = body === undefined ? 0 : JSON.stringify(body).length;
      setTimeout(() => abort.abort(), length / MIN_UPLOAD_SPEED);
    }
    // Later requests would hang on idle, dead connections: probe each one, so that the browser closes it if there is no answer.
    // The URLs differ, because the browser's cache serializes requests for the same URL.
    deadConnectionsClosed = Promise.all(
      Array.from({ length: CONNECTIONS.most }, (_, n) =>
        requests.get(`/api/status?${n}`, AbortSignal.timeout(CONNECTIONS.wait_ms)),
      ),
    );
  });

  /** `undefined`: aborted because the connection had been lost. */
  const ask = async <Value>(
    send: (signal: AbortSignal) => Promise<ApiResult<Value>>,
    { signal, body }: { signal?: AbortSignal | undefined; body?: unknown },
  ): Promise<ApiResult<Value> | undefined> => {
    const abort = new AbortController();
    const end = (): void => abort.abort();
    signal?.addEventListener("abort", end);
    pending.set(abort, body);
    await deadConnectionsClosed;
    const reply = await send(abort.signal);
    pending.delete(abort);
    signal?.removeEventListener("abort", end);
    return !reply.ok && abort.signal.aborted && !signal?.aborted ? undefined : reply;
  };
  const read = async <Value>(
    send: (signal: AbortSignal) => Promise<ApiResult<Value>>,
    signal?: AbortSignal,
  ): Promise<ApiResult<Value>> => (await ask(send, { signal })) ?? read(send, signal);

  return {
    get: (path, signal) => read((either) => requests.get(path, either), signal),
    bytes: (path, signal) => read((either) => requests.bytes(path, either), signal),
    post: async (path, body, signal) =>
      (await ask((either) => requests.post(path, body, either), { signal, body })) ?? {
        ok: false,
        failure: { code: "offline" },
      },
  };
}
