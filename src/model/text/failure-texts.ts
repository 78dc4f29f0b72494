import { codedTexts } from "./catalog.ts";

/** Where a key belongs, and what it is from (`place`) or for (`provider`). Empty: it is not known. */
export interface KeyParams {
  variable?: string | undefined;
  place?: string | undefined;
  provider?: string | undefined;
}

const setKey = ({ variable, place, provider }: KeyParams): string =>
  place === undefined
    ? `Set ${variable} to an API key for ${provider}.`
    : `Set ${variable} to a key from ${place}.`;

/** How to set the key, as a further sentence. */
const further = (key: KeyParams): string => (key.variable === undefined ? "" : ` ${setKey(key)}`);

/** Short descriptions of failures, by class. */
const NAMES: Readonly<Record<string, string>> = {
  overloaded: "Overloaded",
  rate_limit: "Rate limit",
  quota: "Quota exceeded",
  context_overflow: "Too long for the model",
  auth: "The key was rejected",
  invalid_request: "The request was rejected",
  not_found: "Not found",
  model_output_invalid: "The model's output was invalid",
  content_blocked: "The provider blocked the content",
  server: "The provider failed",
  network: "Connection lost",
  timeout: "No answer in time",
  truncated: "The answer was cut off",
};

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Why calls of models failed, and what the user can do. */
export const failureTexts = {
  retrying_in: ({
    failure,
    seconds,
    attempt,
    attempts,
  }: {
    /** The class of the failure. */
    failure: string;
    seconds: string;
    attempt: number;
    attempts: number;
  }) =>
    `${NAMES[failure] ?? "The model call failed"}; trying again in ${seconds} s (${attempt} of ${attempts})`,

  // Messages
  empty_error_response: ({ status }: { status: number }) =>
    `The provider answered with status ${status} and an empty body`,
  provider_error: ({ error }: { error: string }) => `The provider reported an error: ${error}`,
  provider_error_without_details: "The provider reported an error without details",
  connection_failed: ({ reason }: { reason: string }) => `The connection to the provider failed: ${reason}`,
  provider_silent: ({ seconds }: { seconds: number }) => `The provider sent nothing for ${seconds} s`,
  answer_incomplete: "The provider's answer ended before it was complete",
  answer_refused: "The provider refused to answer",
  answer_refused_for: ({ reason }: { reason: string }) => `The provider refused to answer (${reason})`,
  prompt_blocked: ({ reason }: { reason: string }) => `The provider blocked this prompt (${reason})`,
  stopped_for_unknown_reason: ({ reason }: { reason: string }) =>
    `The provider stopped for an unknown reason: ${reason}`,
  no_stop_reason: "The provider sent no stop reason",
  response_failed: "The provider's response failed without a reason",
  answer_invalid: ({ reason }: { reason: string }) => `The model's answer is invalid (${reason})`,
  answer_empty: "The model's answer is empty",
  summary_empty: "The model's summary is empty",
  provider_answer_empty: "The provider's answer was empty",
  provider_answer_failed: "The provider's answer ended in an error",
  event_not_json: ({ event }: { event: string }) => `The provider sent an event that is not JSON: ${event}`,
  event_invalid: ({ reason, event }: { reason: string; event: string }) =>
    `The provider sent an invalid event (${reason}): ${event}`,
  request_not_created: ({ reason }: { reason: string }) => `The request could not be created: ${reason}`,
  no_api_key: ({ provider }: { provider: string }) => `${provider} has no API key`,

  // Remedies
  set_key_from: (key: { variable: string; place: string }) => setKey(key),
  set_key_for: (key: { variable: string; provider: string }) => setKey(key),
  check_key_access: (key: KeyParams) => `Check that this API key has access to this model.${further(key)}`,
  check_key: (key: KeyParams) =>
    `Check the API key of this provider: it is missing, wrong or no longer valid.${further(key)}`,
  no_credit: "The account has no credit left. Check its plan and billing, or use another provider.",
  rate_limit_reached: "The account's rate limit is reached. Wait a little, or send less at once.",
  rate_limit_reached_until: ({ seconds }: { seconds: number }) =>
    `The account's rate limit is reached. Try again in ${duration(seconds)}.`,
  provider_overloaded: "The provider is overloaded or has a problem. Try again later.",
  conversation_too_long:
    "The conversation is too long for this model. Compact it, or continue in a new session.",
  check_model_name: "Check the model's name and the provider's base URL.",
  check_network: "Check the network, and the provider's base URL and proxy if configured.",
  longer_timeout_needed:
    "Try again. A model that thinks for a long time without output needs a longer timeout.",
  connection_closed_early: "Try again. The connection was closed too early.",
  rephrase_prompt:
    "Rephrase the prompt, or use another model. The next prompt removes this turn from the context.",
  output_not_parsed: "Try again. The model's output could not be parsed.",
  request_rejected: "The provider rejected the request. Its message may name the unsupported setting.",
};

/** A text of `failureTexts` with its code. */
export const failureText = codedTexts(failureTexts);
