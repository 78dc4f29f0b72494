import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  networkFailure,
  responseFailure,
  retryDelay,
  streamFailure,
  timeoutFailure,
} from "../../src/providers/failures.ts";
import type { Failure } from "../../src/providers/provider.ts";
import { sharedData } from "../shared-data.ts";

const shared = sharedData("streams");

function errorFiles(): string[] {
  if (shared === undefined) return [];
  return readdirSync(shared, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\/error-[^/.]*\.json$/.test(file),
  );
}

describe.skipIf(shared === undefined)("a recorded error", () => {
  it.each(errorFiles())("%s has its class", (file) => {
    const path = join(shared ?? "", file);
    const { status, headers, body } = JSON.parse(readFileSync(path, "utf8"));
    const expected = JSON.parse(readFileSync(path.replace(/\.json$/, ".expect.json"), "utf8"));
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const failure = responseFailure(status, headers, text);
    expect({
      error_class: failure.class,
      retryable: failure.can_retry,
      retry_after_ms: failure.retry_after_ms ?? null,
    }).toEqual({
      error_class: expected.error_class,
      retryable: expected.retryable,
      retry_after_ms: expected.retry_after_ms,
    });
    expect(failure.remedy).toMatch(/\.$/);
  });
});

type Row = [
  what: string,
  status: number,
  body: unknown,
  kind: string,
  can_retry: boolean,
  headers?: Record<string, string>,
];

const rows: Row[] = [
  [
    "an overloaded Anthropic",
    529,
    { error: { type: "overloaded_error", message: "Overloaded" } },
    "overloaded",
    true,
  ],
  ["a proxy's page", 502, "<html><h1>502 Bad Gateway</h1></html>", "server", true],
  [
    "an internal error",
    500,
    { error: { type: "api_error", message: "Internal server error" } },
    "server",
    true,
  ],
  [
    "a rate limit that speaks of tokens",
    429,
    {
      error: {
        type: "tokens",
        code: "rate_limit_exceeded",
        message:
          "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 28000. Please reduce the length of the messages",
      },
    },
    "rate_limit",
    true,
  ],
  [
    "a request larger than a minute's allowance",
    429,
    {
      error: {
        type: "tokens",
        code: "rate_limit_exceeded",
        message: "Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 50000",
      },
    },
    "rate_limit",
    false,
  ],
  [
    "an account without quota",
    429,
    {
      error: {
        type: "insufficient_quota",
        code: "insufficient_quota",
        message: "You exceeded your current quota",
      },
    },
    "quota",
    false,
  ],
  [
    "an account without credit",
    400,
    {
      error: {
        type: "invalid_request_error",
        message: "Your credit balance is too low to access the Anthropic API",
      },
    },
    "quota",
    false,
  ],
  [
    "no credits at OpenRouter",
    402,
    { error: { code: 402, message: "Insufficient credits" } },
    "quota",
    false,
  ],
  [
    "Google's limit of a minute",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "You exceeded your current quota, please check your plan and billing details.",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            violations: [{ quotaId: "GenerateRequestsPerMinutePerProject" }],
          },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "48.5s" },
        ],
      },
    },
    "rate_limit",
    true,
  ],
  [
    "Google's limit of a day",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "Quota",
        details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProject" }] }, { retryDelay: "20s" }],
      },
    },
    "quota",
    false,
  ],
  [
    "a bad Google key",
    400,
    {
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "API key not valid.",
        details: [{ reason: "API_KEY_INVALID" }],
      },
    },
    "auth",
    false,
  ],
  [
    "a bad key",
    401,
    { error: { message: "Incorrect API key provided", code: "invalid_api_key" } },
    "auth",
    false,
  ],
  [
    "a bad key at xAI",
    400,
    { code: "invalid-argument", error: "Incorrect API key provided: xa***" },
    "auth",
    false,
  ],
  ["an unknown model", 400, { error: { message: "The model `gpt-9` does not exist" } }, "not_found", false],
  ["an unknown address", 404, "", "not_found", false],
  [
    "a list of details (Mistral)",
    422,
    { detail: [{ loc: ["body"], msg: "Field required" }] },
    "invalid_request",
    false,
  ],
  [
    "a plain error (vLLM)",
    400,
    { object: "error", message: "max_tokens must be positive", code: 400 },
    "invalid_request",
    false,
  ],
  [
    "a filter (Azure)",
    400,
    { error: { code: "content_filter", message: "The response was filtered" } },
    "content_blocked",
    false,
  ],
  ["a conflict", 409, { error: { message: "Locked" } }, "invalid_request", true],
  [
    "a server that says to try again",
    400,
    { error: { message: "Odd" } },
    "invalid_request",
    true,
    { "x-should-retry": "true" },
  ],
  [
    "a server that says not to",
    500,
    { error: { message: "Odd" } },
    "server",
    false,
    { "x-should-retry": "false" },
  ],
  ["nothing at all for a long prompt (Cerebras)", 400, "", "context_overflow", false],
  [
    "a request that is too large",
    413,
    { error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
    "context_overflow",
    false,
  ],
  [
    "an upstream's own words",
    429,
    {
      error: {
        code: 429,
        message: "Provider returned error",
        metadata: { raw: "temporarily rate-limited upstream" },
      },
    },
    "rate_limit",
    true,
  ],
];

const OVERFLOWS = [
  "prompt is too long: 210000 tokens > 200000 maximum",
  "Input is too long for requested model.",
  "Input Tokens Exceeded the limit",
  "Your input exceeds the context window of this model",
  "This model's maximum context length is 128000 tokens",
  "The input token count (1100000) exceeds the maximum number of tokens allowed (1048575).",
  "This model's maximum prompt length is 131072",
  "Please reduce the length of the messages or completion.",
  "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
  "Your request exceeded model token limit: 262144",
  "the request is greater than the context length",
  "the request exceeds the available context size",
  "prompt too long; exceeded max context length by 4 tokens",
];

describe("an error", () => {
  it.each(rows)("of %s is classified", (_, status, body, kind, can_retry, headers = {}) => {
    const failure = responseFailure(status, headers, typeof body === "string" ? body : JSON.stringify(body));
    expect(failure).toMatchObject({ class: kind, can_retry, status });
    expect(failure.message.length).toBeGreaterThan(2);
  });

  it.each(OVERFLOWS)("for an exceeded length is recognized: %s", (message) => {
    const body = JSON.stringify({ error: { type: "invalid_request_error", message } });
    expect(responseFailure(400, {}, body)).toMatchObject({ class: "context_overflow", can_retry: false });
    // The same text with a rate limit must not cause a compaction.
    expect(responseFailure(429, {}, body).class).toBe("rate_limit");
    expect(streamFailure(JSON.parse(body))?.class).toBe("context_overflow");
  });

  it("has the delay, in all forms that providers use", () => {
    const wait = (headers: Record<string, string>, message = "Slow down", extra = {}) =>
      responseFailure(429, headers, JSON.stringify({ error: { message, ...extra } })).retry_after_ms;
    expect(wait({ "retry-after": "2" })).toBe(2_000);
    expect(wait({ "retry-after": "0.25" })).toBe(250);
    expect(wait({ "retry-after": "1", "retry-after-ms": "0" })).toBe(1_000);
    expect(wait({ "retry-after-ms": "1500" })).toBe(1_500);
    expect(
      wait({ "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date: "Wed, 21 Oct 2026 07:28:00 GMT" }),
    ).toBe(30_000);
    expect(wait({}, "Please try again in 1.2s.")).toBe(1_200);
    expect(wait({}, "Please try again in 350ms")).toBe(350);
    expect(wait({}, "Please try again in 1m2s.")).toBe(62_000);
    expect(wait({}, "x", { details: [{ retryDelay: "48s" }] })).toBe(48_000);
    expect(wait({})).toBeUndefined();
  });

  it("names network errors", () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    expect(networkFailure(new TypeError("fetch failed", { cause }))).toMatchObject({
      class: "network",
      can_retry: true,
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(timeoutFailure(300_000)).toMatchObject({
      class: "timeout",
      message: expect.stringContaining("300 s"),
    });
  });
});

describe("the retry policy", () => {
  const failed = (given: Partial<Failure> = {}): Failure => ({
    class: "overloaded",
    message: "x",
    can_retry: true,
    ...given,
  });

  it("waits longer each time, up to five attempts", () => {
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(failed(), attempt, 1))).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      undefined,
    ]);
    expect(retryDelay(failed(), 1, 0)).toBe(500);
  });

  it("waits as long as requested, but not for minutes", () => {
    expect(retryDelay(failed({ retry_after_ms: 7_000 }), 3)).toBe(7_000);
    expect(retryDelay(failed({ retry_after_ms: 3_600_000 }), 1)).toBeUndefined();
  });

  it("retries invalid output once, and final errors never", () => {
    expect(retryDelay(failed({ class: "model_output_invalid" }), 1)).toBeDefined();
    expect(retryDelay(failed({ class: "model_output_invalid" }), 2)).toBeUndefined();
    expect(retryDelay(failed({ class: "auth", can_retry: false }), 1)).toBeUndefined();
  });
});
