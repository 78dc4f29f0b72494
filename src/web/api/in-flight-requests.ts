import type { StoreApi } from "zustand/vanilla";
import type { AnswerLock } from "./answer-lock.ts";
import type { Ask } from "./ask.ts";
import type { Live } from "./live.ts";
import { type ApiResult, type Requests, requestsBy } from "./requests.ts";

/** What requests need of the page's client. */
export interface ApiClient {
  readonly ask: Ask;
  readonly live: Live;
  readonly answer_lock: StoreApi<AnswerLock>;
}

/** In bytes per millisecond: slower uploads are given up after the connection was lost. */
const SLOWEST = 16;
/** How many connections browsers open to one host, and how many milliseconds to wait for an answer on them. */
const CONNECTIONS = { most: 6, wait_ms: 2_000 };

/**
 * Requests that do not hang on a dead connection. Once the daemon is back after a loss, requests in flight are repeated if they only
 * read, else they fail as `offline`. Long bodies get extra time.
 */
export function givenUpWhenLost(client: ApiClient): Requests {
  const requests = requestsBy(client.ask);
  const underWay = new Map<AbortController, unknown>();
  let deadOnesClosed: Promise<unknown> | undefined;
  client.live.connection.subscribe((now, before) => {
    if (now.status !== "live" || before.status !== "lost") return;
    for (const [abort, body] of underWay) {
      const length = body === undefined ? 0 : JSON.stringify(body).length;
      setTimeout(() => abort.abort(), length / SLOWEST);
    }
    // The next requests would hang on idle, dead connections: probe each one, so that it is closed if it does not answer.
    // With different addresses: the browser's cache serializes requests of the same one.
    deadOnesClosed = Promise.all(
      Array.from({ length: CONNECTIONS.most }, (_, n) =>
        requests.get(`/api/status?${n}`, AbortSignal.timeout(CONNECTIONS.wait_ms)),
      ),
    );
  });

  /** `undefined`: given up. */
  const ask = async <Value>(
    send: (signal: AbortSignal) => Promise<ApiResult<Value>>,
    { signal, body }: { signal?: AbortSignal | undefined; body?: unknown },
  ): Promise<ApiResult<Value> | undefined> => {
    const abort = new AbortController();
    const end = (): void => abort.abort();
    signal?.addEventListener("abort", end);
    underWay.set(abort, body);
    await deadOnesClosed;
    const reply = await send(abort.signal);
    underWay.delete(abort);
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
