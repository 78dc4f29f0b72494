import type { Dispatcher } from "undici";
import { createEventReader } from "./event-reader.ts";
import { networkFailure, responseFailure, timeoutFailure } from "./failures.ts";
import type { Decoder, EncodedRequest, StreamEnd } from "./provider.ts";

/** How long a provider may say nothing at all, in milliseconds; comments and pings count as life. */
const SILENCE_MS = 300_000;
/** Once the answer is complete only figures can follow: a server that leaves the connection open is not waited for. */
const WAIT_AFTER_END_MS = 5_000;
const MAX_ERROR_BODY = 1_000_000;

/**
 * undici, loaded for the first call: a daemon that calls no model starts without it. Without its own limits of 300 s,
 * which end long silent thoughts: the silence is timed here, for each call.
 */
async function loadClient() {
  const { Agent, fetch } = await import("undici");
  dispatcher ??= new Agent({ bodyTimeout: 0, headersTimeout: 0 });
  return { fetch, dispatcher };
}
let dispatcher: Dispatcher | undefined;

interface Exchange {
  request: EncodedRequest;
  /** Reads the answer. */
  decoder: Pick<Decoder, "phase">;
  signal: AbortSignal;
  silence_ms?: number;
  onEvent(data: string, event?: string): void;
}

/**
 * Sends the request and hands on the events of its answer. Never rejects. An abort wins over the error that it causes; in every
 * case the connection is done with when this resolves.
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
    // Some ping for as long as the connection is open: behind the end that is no life.
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
      // A key goes to the address that it was given for, nowhere else.
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
      // Whoever aborts while a frame is emitted gets no more of them.
      if (!signal.aborted) onEvent(data, event);
    });
    for await (const chunk of response.body ?? []) {
      resetTimer();
      events.push(chunk);
      if (signal.aborted) return { type: "abort" };
      // Leaving the loop cancels the body.
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

/** The body as text, its beginning where it is longer than anybody needs. */
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
    // What came of it is all there is to say.
  }
  return text + decoder.decode();
}
