import type { Ask } from "./ask.ts";
import type { Live } from "./live.ts";
import { type ApiResult, type Requests, requestsBy } from "./requests.ts";

/** What requests need of the page's client. */
export interface ApiClient {
  readonly ask: Ask;
  readonly live: Live;
}

/** In bytes a millisecond: what is sent slower is not waited for once connections were lost. */
const SLOWEST = 16;
/** As many connections to one host as browsers hold, and for how many milliseconds an answer on them is waited for. */
const CONNECTIONS = { most: 6, wait_ms: 2_000 };

/**
 * Requests that do not wait for ever on a connection that died without a word. Once the daemon is heard again after a loss,
 * what was under way is asked for again where it only reads, else it is `offline`. A long body has its time first.
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
    // What is asked next would wait on those that are idle and dead: each is asked something, and closed without an answer.
    // Not of one address, for which the browser's cache lets one wait for the other.
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
