import { CLIENT_HEADER } from "../../protocol.ts";

/** Sends a request to the daemon: GET or, with a body (JSON, or bytes as a `Blob`), POST. Rejects if there is no response. */
export type Ask = (path: string, signal?: AbortSignal, body?: unknown) => Promise<Response>;

/** All requests of the page go through here. */
export const createAsk =
  (base: string): Ask =>
  (path, signal, body) =>
    fetch(base + path, {
      headers: {
        [CLIENT_HEADER]: "1",
        ...(body !== undefined && {
          "content-type": body instanceof Blob ? "application/octet-stream" : "application/json",
        }),
      },
      credentials: "same-origin",
      signal: signal ?? null,
      ...(body !== undefined && {
        method: "POST",
        body: body instanceof Blob ? body : JSON.stringify(body),
      }),
    });
