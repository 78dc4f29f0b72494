import { messageOf } from "../../model/narrow.ts";

/** Timeout of a request, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Posts to a URL. Returns the status, or the problem. */
export async function post(
  url: string,
  {
    headers,
    body,
    signal,
  }: { headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer>; signal: AbortSignal },
): Promise<number | string> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      // Session data must only be sent to this host.
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    return messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
  }
}
