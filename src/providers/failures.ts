import { messageOf } from "../model/narrow.ts";
import type { CodedText } from "../model/text/catalog.ts";
import type { DisplayText } from "../model/text/display-text.ts";
import { textFields } from "../model/text/display-text.ts";
import { failureText } from "../model/text/failure-texts.ts";
import { messageFields, titleFields } from "../model/text/titles.ts";
import { asList, asNonEmpty, asNumber, asObject, type JsonObject, parseJson } from "./json.ts";
import type { Failure, FailureClass } from "./provider.ts";

/** Maximum automatic delay, in milliseconds. If the provider asks for more, the call fails and the user is told when to retry. */
const MAX_WAIT_MS = 60_000;
const MAX_ATTEMPTS = 5;
const INITIAL_WAIT_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const MAX_MESSAGE_LENGTH = 2_000;

/**
 * The retry policy: the delay in milliseconds before the next attempt, after `attempt` attempts; `undefined`: do not retry.
 * Callers must retry only if no call of the failed answer was executed, and must retract its parts that were shown. `random`: 0
 * to 1, for jitter.
 */
export function retryDelay(failure: Failure, attempt: number, random = Math.random()): number | undefined {
  if (!failure.can_retry || attempt >= MAX_ATTEMPTS) return undefined;
  // Invalid output is retried only once.
  if (failure.class === "model_output_invalid" && attempt >= 2) return undefined;
  const asked = failure.retry_after_ms;
  if (asked !== undefined) return asked > MAX_WAIT_MS ? undefined : asked;
  const whole = Math.min(INITIAL_WAIT_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS);
  return Math.round(whole * (0.5 + random / 2));
}

/** The failure of a response with a status of 400 or more. `headers`: names are in lower case. `body`: text in any format. */
export function responseFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Failure {
  const parsed = parseJson(body)?.value;
  const error = errorIn(parsed);
  const text = error?.message ?? textOf(body);
  const said = text === "" ? failureText("empty_error_response", { status }) : (error?.title ?? text);
  const found = classify(error, status, text);
  const should_retry = headers["x-should-retry"];
  const request_id =
    headers["request-id"] ?? headers["x-request-id"] ?? asNonEmpty(asObject(parsed)?.request_id);
  const wait = retryAfter(headers, error, text);
  return describe({
    class: found.class,
    ...messageFields(said),
    can_retry:
      should_retry === "true" ||
      (should_retry !== "false" && (found.can_retry || status === 408 || status === 409)),
    status,
    ...(wait === undefined ? {} : { retry_after_ms: wait }),
    ...(request_id === undefined ? {} : { request_id }),
    ...(error === undefined ? {} : { data: error.data }),
  });
}

/**
 * The failure in an error object of a stream, in any of the known shapes: `{error: {…}}`, the fields themselves, or a string.
 * `undefined`: the value contains no error.
 */
export function streamFailure(value: unknown): Failure | undefined {
  const error = errorIn(value);
  if (error === undefined) return undefined;
  const code = asNumber(error.fields.code) ?? asNumber(error.fields.status) ?? 0;
  const { class: kind, can_retry } = classify(error, code, error.message);
  const wait = retryAfter({}, error, error.message);
  return describe({
    class: kind,
    ...messageFields(error.title),
    can_retry,
    ...(wait === undefined ? {} : { retry_after_ms: wait }),
    data: error.data,
  });
}

/** The failure of a connection: DNS, refused, reset, TLS. */
export function networkFailure(error: unknown): Failure {
  const code = causeCode(error);
  const what = messageOf(error);
  const reason = code === undefined || what.includes(code) ? what : `${what} (${code})`;
  return describe({
    class: "network",
    ...messageFields(failureText("connection_failed", { reason })),
    can_retry: true,
  });
}

/** The failure of a call after `silence_ms` milliseconds without data. */
export function timeoutFailure(silence_ms: number): Failure {
  return describe({
    class: "timeout",
    ...messageFields(failureText("provider_silent", { seconds: Math.round(silence_ms / 1000) })),
    can_retry: true,
  });
}

/** The failure of a stream that ended before the protocol's final event. */
export function truncatedFailure(): Failure {
  return describe({
    class: "truncated",
    ...messageFields(failureText("answer_incomplete")),
    can_retry: true,
  });
}

/** The failure of a response that violates the protocol. */
export function protocolFailure(message: DisplayText): Failure {
  return describe({ class: "unknown", ...messageFields(message), can_retry: false });
}

/** The failure if the provider blocked the prompt or the answer. `explanation`: its reason. */
export function blockedFailure(explanation: DisplayText | undefined): Failure {
  return describe({
    class: "content_blocked",
    ...messageFields(explanation ?? failureText("answer_refused")),
    can_retry: false,
  });
}

/** The failure for a finish reason that means a failure or is unknown. */
export function stopFailure(raw: string, explanation?: string): Failure {
  if (isBlocked(raw))
    return blockedFailure(explanation ?? failureText("answer_refused_for", { reason: raw }));
  return describe({
    class: "unknown",
    ...messageFields(explanation ?? failureText("stopped_for_unknown_reason", { reason: raw })),
    can_retry: false,
  });
}

/** The failure if the model's output is empty or cannot be parsed by its own provider. It is retried once. */
export function invalidOutputFailure(message: DisplayText): Failure {
  return describe({ class: "model_output_invalid", ...messageFields(message), can_retry: true });
}

/** The failure if a required key is missing. `help`: how to get a key. */
export function missingKeyFailure(provider: string, help: DisplayText): Failure {
  return {
    class: "auth",
    ...messageFields(failureText("no_api_key", { provider })),
    ...textFields("remedy", help),
    can_retry: false,
  };
}

/** Raw stop reasons of blocked answers. A turn with such an answer is not sent again. */
const BLOCKED = new Set([
  "refusal",
  "sensitive",
  "content_filter",
  "incomplete:content_filter",
  "SAFETY",
  "RECITATION",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "LANGUAGE",
  "guardrail_intervened",
  "content_filtered",
]);

/** Whether a provider's stop reason means that the answer was blocked. `false` for `undefined`. */
export function isBlocked(stop_reason_raw: string | undefined): boolean {
  if (stop_reason_raw === undefined) return false;
  return (
    BLOCKED.has(stop_reason_raw) || /^IMAGE_(SAFETY|PROHIBITED_CONTENT|RECITATION)$/.test(stop_reason_raw)
  );
}

interface FoundError {
  readonly message: string;
  /** The message, with its code if the provider sent none. */
  readonly title: DisplayText;
  /** All fields of the error that describe its kind, joined. */
  readonly kind: string;
  readonly fields: JsonObject;
  readonly data: unknown;
}

/** Finds the error object in an answer, in any of the known shapes. */
function errorIn(value: unknown): FoundError | undefined {
  const first = asList(value)?.[0];
  if (first !== undefined) return errorIn(first);
  const outer = asObject(value);
  if (outer === undefined) return undefined;
  const inner = asObject(outer.error);
  if (inner !== undefined) return found(inner, inner);
  const text = asNonEmpty(outer.error);
  if (text !== undefined) return found({ ...outer, message: text }, outer);
  if (outer.detail !== undefined && outer.detail !== null) {
    const { detail } = outer;
    return found({ ...outer, message: asNonEmpty(detail) ?? JSON.stringify(detail) }, outer);
  }
  const isError = asNonEmpty(outer.message) !== undefined || asNonEmpty(outer.code) !== undefined;
  return isError ? found(outer, outer) : undefined;
}

function found(fields: JsonObject, data: unknown): FoundError {
  const metadata = asObject(fields.metadata);
  const messages = [asNonEmpty(fields.message), asNonEmpty(metadata?.raw)].filter(
    (text) => text !== undefined,
  );
  const reasons = (asList(fields.details) ?? []).map((detail) => asNonEmpty(asObject(detail)?.reason));
  const names = [fields.type, fields.code, fields.status, ...reasons].filter(
    (name) => typeof name === "string",
  );
  const kind = names.join(" ");
  const text = (messages.join(": ") || kind).slice(0, MAX_MESSAGE_LENGTH).toWellFormed();
  const title = text === "" ? failureText("provider_error_without_details") : text;
  return { message: titleFields(title).title, title, kind, fields, data };
}

type Class = { class: FailureClass; can_retry: boolean };
const RETRY = (kind: FailureClass): Class => ({ class: kind, can_retry: true });
const FINAL = (kind: FailureClass): Class => ({ class: kind, can_retry: false });

const OVERFLOW =
  /prompt is too long|request_too_large|input is too long for requested model|input tokens exceeded|context window exceeds limit|exceeds the context window|context_length_exceeded|maximum context length is|input token count .*exceeds the maximum|maximum prompt length is|reduce the length of the messages|too large for model with|too_many_prompt_tokens|total length of all messages is too long|exceeded model token limit|greater than the context length|exceeds the available context size|exceeded max context length|prompt too long|model_context_window_exceeded/i;
const RATE = /rate.?limit|too many requests|tokens per min|requests per min|\b[tr]pm\b|throttl/i;
const QUOTA =
  /insufficient.?(quota|balance|credit|funds)|credit balance is too low|exceeded your current quota|billing|payment required|per.?day|out of credits|no credits/i;

/** Classifies an error by its code and type first, then by status, then by text. */
function classify(error: FoundError | undefined, status: number, text: string): Class {
  const kind = error?.kind ?? "";
  if (/insufficient_quota|billing|quota_exceeded|insufficient_balance|insufficient_credit/i.test(kind))
    return FINAL("quota");
  if (/tool_use_failed|malformed_function_call/i.test(kind)) return RETRY("model_output_invalid");
  if (/content_filter|content_policy|invalid_prompt|prohibited_content/i.test(kind))
    return FINAL("content_blocked");
  if (/overloaded|serviceUnavailable|UNAVAILABLE|at_capacity|slow_down/i.test(kind))
    return RETRY("overloaded");
  if (/context_length_exceeded|request_too_large|too_many_prompt_tokens|exceed_context_size/i.test(kind))
    return overflow(text);
  if (/rate_limit|throttl|too_many_requests|RESOURCE_EXHAUSTED/i.test(kind)) return rateLimit(error, text);
  if (/authentication|permission|API_KEY_INVALID|invalid_api_key|UNAUTHENTICATED|unauthorized/i.test(kind))
    return FINAL("auth");
  if (/not_?found/i.test(kind)) return FINAL("not_found");
  if (/timeout_error|api_error|server_error|INTERNAL\b|internal_error/.test(kind)) return RETRY("server");

  if (status === 429) return rateLimit(error, text);
  if (status === 402) return FINAL("quota");
  if (status === 529 || status === 503) return RETRY("overloaded");
  if (status === 413) return RATE.test(text) ? FINAL("rate_limit") : FINAL("context_overflow");
  if (status >= 500) return /overloaded|at capacity/i.test(text) ? RETRY("overloaded") : RETRY("server");
  if (/credit balance is too low/i.test(text)) return FINAL("quota");
  if (status === 401 || status === 403) return QUOTA.test(text) ? FINAL("quota") : FINAL("auth");
  if (status === 408) return RETRY("timeout");
  if (status === 404) return FINAL("not_found");

  const is_rate = RATE.test(text);
  if (!is_rate && OVERFLOW.test(text)) return FINAL("context_overflow");
  // Cerebras responds with an empty body if a prompt is too long.
  if (status === 400 && text === "") return FINAL("context_overflow");
  if (/api key not valid|invalid api key|incorrect api key/i.test(text)) return FINAL("auth");
  if (
    /model.{0,80}(not found|does not exist|is not supported|not exist)|unknown model|no such model/i.test(
      text,
    )
  )
    return FINAL("not_found");
  if (status >= 400) return FINAL("invalid_request");
  if (/invalid_request/i.test(kind)) return FINAL("invalid_request");
  if (QUOTA.test(text)) return FINAL("quota");
  if (is_rate) return rateLimit(error, text);
  if (/overloaded|at capacity/i.test(text)) return RETRY("overloaded");
  return FINAL("unknown");
}

function overflow(text: string): Class {
  return RATE.test(text) ? FINAL("rate_limit") : FINAL("context_overflow");
}

function rateLimit(error: FoundError | undefined, text: string): Class {
  if (
    isDailyQuota(error) ||
    /insufficient_quota|exceeded your current quota, please check your plan and billing|credit balance/i.test(
      text,
    )
  ) {
    // Gemini uses the same text for a limit per minute, but then also sends a retry delay.
    if (isDailyQuota(error) || retryInfo(error) === undefined) return FINAL("quota");
  }
  // A request that is larger than the limit per minute never succeeds.
  if (/request too large/i.test(text)) return FINAL("rate_limit");
  return RETRY("rate_limit");
}

/** Whether Google's quota details name a daily limit. */
function isDailyQuota(error: FoundError | undefined): boolean {
  for (const detail of asList(error?.fields.details) ?? []) {
    for (const violation of asList(asObject(detail)?.violations) ?? []) {
      const { quotaId, quotaMetric } = asObject(violation) ?? {};
      if (/per.?day/i.test(`${asNonEmpty(quotaId) ?? ""} ${asNonEmpty(quotaMetric) ?? ""}`)) return true;
    }
  }
  return false;
}

/** Google's `RetryInfo.retryDelay` ("48s"), in milliseconds. */
function retryInfo(error: FoundError | undefined): number | undefined {
  for (const detail of asList(error?.fields.details) ?? []) {
    const delay = /^(\d+(?:\.\d+)?)s$/.exec(asNonEmpty(asObject(detail)?.retryDelay) ?? "")?.[1];
    if (delay !== undefined) return Math.ceil(Number(delay) * 1000);
  }
  return undefined;
}

/** The delay requested by the provider, in milliseconds. If headers disagree (as with Azure), the largest value is used. */
function retryAfter(
  headers: Readonly<Record<string, string>>,
  error: FoundError | undefined,
  text: string,
): number | undefined {
  const asked: number[] = [];
  const milliseconds = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (Number.isFinite(milliseconds)) asked.push(milliseconds);
  const after = headers["retry-after"];
  if (after !== undefined) {
    const seconds = /^\s*\d+(\.\d+)?\s*$/.test(after) ? Number(after) : Number.NaN;
    if (Number.isFinite(seconds)) asked.push(seconds * 1000);
    else {
      // Use the server's clock if it is known, because ours may be wrong.
      const base = Date.parse(headers.date ?? "") || Date.now();
      const until = Date.parse(after);
      if (Number.isFinite(until)) asked.push(Math.max(0, until - base));
    }
  }
  if (asked.length > 0) return Math.ceil(Math.max(...asked));
  const info = retryInfo(error);
  if (info !== undefined) return info;
  const requested =
    /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|h|m|s)\s*)+|\d+(?:\.\d+)? ?(?:second|minute)s?)/i.exec(
      text,
    )?.[1];
  return requested === undefined ? undefined : durationOf(requested);
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  second: 1_000,
  minute: 60_000,
};

/** Parses a duration such as "1m2.5s" into milliseconds. */
function durationOf(text: string): number {
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?) ?(ms|second|minute|s|m|h)/gi)) {
    total += Number(amount) * (UNITS[unit?.toLowerCase() ?? ""] ?? 0);
  }
  return Math.ceil(total);
}

function causeCode(error: unknown): string | undefined {
  let at: unknown = error;
  for (let depth = 0; depth < 4 && at instanceof Error; depth += 1) {
    if ("code" in at && typeof at.code === "string") return at.code;
    at = at.cause;
  }
  return undefined;
}

/** The readable text of a body that contains no error object. Proxies may send HTML. */
function textOf(body: string): string {
  const text = /<html|<!doctype/i.test(body)
    ? body
        .slice(0, 20_000)
        .replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ")
        .replace(/<[^<>]*>/g, " ")
    : body;
  return text.replace(/\s+/g, " ").trim().slice(0, 500).toWellFormed();
}

/** Adds a remedy to a failure. */
export function describe(failure: Failure): Failure {
  const remedy = remedyOf(failure);
  return remedy === undefined ? failure : { ...failure, ...textFields("remedy", remedy) };
}

function remedyOf({ class: kind, retry_after_ms, status }: Failure): CodedText | undefined {
  switch (kind) {
    case "auth":
      return failureText(status === 403 ? "check_key_access" : "check_key", {});
    case "quota":
      return failureText("no_credit");
    case "rate_limit":
      return retry_after_ms === undefined
        ? failureText("rate_limit_reached")
        : failureText("rate_limit_reached_until", { seconds: Math.ceil(retry_after_ms / 1000) });
    case "overloaded":
    case "server":
      return failureText("provider_overloaded");
    case "context_overflow":
      return failureText("conversation_too_long");
    case "not_found":
      return failureText("check_model_name");
    case "network":
      return failureText("check_network");
    case "timeout":
      return failureText("longer_timeout_needed");
    case "truncated":
      return failureText("connection_closed_early");
    case "content_blocked":
      return failureText("rephrase_prompt");
    case "model_output_invalid":
      return failureText("output_not_parsed");
    case "invalid_request":
      return failureText("request_rejected");
    case "unknown":
      return undefined;
    default:
      return kind satisfies never;
  }
}
