import type { Dispatcher } from "undici";
import { createEventReader } from "./event-reader.ts";
import { networkFailure, responseFailure, timeoutFailure } from "./failures.ts";
import type { Decoder, EncodedRequest, StreamEnd } from "./provider.ts";

/** Time without any data after which a call fails, in milliseconds. Comments and pings count as data. */
const SILENCE_MS = 300_000;
/** Time to wait for the end of the stream after the final event, in milliseconds. Only the usage can follow. */
const WAIT_AFTER_END_MS = 5_000;
const MAX_ERROR_BODY = 1_000_000;

/**
 * Loads undici for the first call, so that a daemon without model calls does not load it. Its own timeouts of 300 s are disabled,
 * because they would abort long thoughts; `exchange` has a timeout per call.
 */
async function loadClient() {
  const { Agent, fetch } = await import("undici");
  dispatcher ??= new Agent({ bodyTimeout: 0, headersTimeout: 0 });
  return { fetch, dispatcher };
}
let dispatcher: Dispatcher | undefined;

interface Exchange {
  request: EncodedRequest;
  /** The decoder of the answer. */
  decoder: Pick<Decoder, "phase">;
  signal: AbortSignal;
  silence_ms?: number;
  onEvent(data: string, event?: string): void;
}

/**
 * Sends the request and passes the events of the answer to `onEvent`. Never rejects. An abort takes precedence over the error
 * that it causes. The connection is closed by the time this resolves.
 */
export async function exchange({
  request,
  decoder,
  signal,
  silence_ms = SILENCE_MS,
  onEvent,
}: Exchange): Promise<StreamEnd> {
  if (signal.aborted) return { type: "abort" };
  const stop = new AbortController();
  let silent = false;
  const silence = setTimeout(() => {
    silent = true;
    stop.abort();
  }, silence_ms);
  let ending: typeof silence | undefined;
  const resetTimer = (): void => {
    // After the final event, further data does not extend the timeout.
    if (ending) return;
    if (decoder.phase === "ended") {
      clearTimeout(silence);
      ending = setTimeout(() => stop.abort(), Math.min(silence_ms, WAIT_AFTER_END_MS));
    } else silence.refresh();
  };
  const onAbort = () => stop.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const { fetch, dispatcher } = await loadClient();
    const response = await fetch(request.url, {
      method: "POST",
      headers: request.headers,
      body: request.body,
      signal: stop.signal,
      dispatcher,
      // Do not follow redirects, because the key must only be sent to its own server.
      redirect: "error",
    });
    resetTimer();
    if (response.status >= 400) {
      const body = await readText(response.body, resetTimer);
      if (signal.aborted) return { type: "abort" };
      return {
        type: "failure",
        failure: responseFailure(response.status, Object.fromEntries(response.headers), body),
      };
    }
    const events = createEventReader((data, event) => {
      // An abort may happen while a frame is emitted. Emit no more frames after it.
      if (!signal.aborted) onEvent(data, event);
    });
    for await (const chunk of response.body ?? []) {
      resetTimer();
      events.push(chunk);
      if (signal.aborted) return { type: "abort" };
      // Returning from the loop cancels the body.
      if (decoder.phase === "broken") return { type: "end" };
      if (decoder.phase === "ended") resetTimer();
    }
    if (signal.aborted) return { type: "abort" };
    events.end();
    if (events.not_event_stream !== "" && decoder.phase === "open") {
      const headers = Object.fromEntries(response.headers);
      return { type: "failure", failure: responseFailure(502, headers, events.not_event_stream) };
    }
    return { type: "end" };
  } catch (error) {
    if (signal.aborted) return { type: "abort" };
    if (ending) return { type: "end" };
    return { type: "failure", failure: silent ? timeoutFailure(silence_ms) : networkFailure(error) };
  } finally {
    clearTimeout(silence);
    clearTimeout(ending);
    signal.removeEventListener("abort", onAbort);
    stop.abort();
  }
}

/** The beginning of the body as text, up to a limit. */
async function readText(body: AsyncIterable<Uint8Array> | null, resetTimer: () => void): Promise<string> {
  const decoder = new TextDecoder("utf-8");
  let text = "";
  try {
    for await (const chunk of body ?? []) {
      resetTimer();
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_ERROR_BODY) break;
    }
  } catch {
    // Use what was received until then.
  }
  return text + decoder.decode();
}
