import { retryDelay } from "../providers/failures.ts";
import type { Failure, ModelReply } from "../providers/provider.ts";

/** A try that failed and is not the last one. */
interface FailedTry<Reply> {
  reply: Reply;
  failure: Failure;
  /** "Overloaded; trying again in 4 s (2 of 5)". */
  retry_notice: string;
}

/**
 * Tries until there is no failure, or none that another try would help against, or until it is aborted; gives the last try's
 * reply. `onFailedTry` is told before each wait.
 */
export async function withRetries<Reply>(
  attempt: () => Promise<Reply>,
  failureOf: (reply: Reply) => Failure | undefined,
  onFailedTry: (failed: FailedTry<Reply>) => void,
  signal: AbortSignal,
): Promise<Reply> {
  for (let attempts = 1; ; attempts += 1) {
    const reply = await attempt();
    const failure = signal.aborted ? undefined : failureOf(reply);
    const delay = failure === undefined ? undefined : retryDelay(failure, attempts);
    if (failure === undefined || delay === undefined) return reply;
    const again = `trying again in ${secondsOf(delay)} s (${attempts + 1} of ${triesOf(failure, attempts)})`;
    onFailedTry({ reply, failure, retry_notice: `${nameOf(failure)}; ${again}` });
    await wait(delay, signal);
    if (signal.aborted) return reply;
  }
}

/** How many tries a failure is worth: the policy is asked. */
function triesOf(failure: Failure, attempts: number): number {
  let tries = attempts + 1;
  while (retryDelay(failure, tries, 0) !== undefined) tries += 1;
  return tries;
}

function secondsOf(ms: number): string {
  const seconds = ms / 1_000;
  return seconds < 10 ? String(Number(seconds.toFixed(1))) : String(Math.round(seconds));
}

/** Waits; ends at once when the signal is aborted. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}

const NAMES: Readonly<Record<Failure["class"], string>> = {
  overloaded: "Overloaded",
  rate_limit: "Rate limit",
  quota: "Quota used up",
  context_overflow: "Too long for the model",
  auth: "The key was refused",
  invalid_request: "The request was refused",
  not_found: "Not found",
  model_output_invalid: "The model's output was invalid",
  content_blocked: "The provider blocked the content",
  server: "The provider failed",
  network: "Connection lost",
  timeout: "No answer in time",
  truncated: "The answer broke off",
  unknown: "The model call failed",
};

/** What failed, in a few words. */
function nameOf(failure: Failure): string {
  return NAMES[failure.class];
}

/** Why a model call failed; `undefined`: it did not. */
export function failureOf(reply: ModelReply): Failure | undefined {
  const { failure, message } = reply;
  if (failure !== undefined) return failure;
  if (message === undefined) return unknownFailure("The provider's answer was empty");
  if (message.stop_reason === "error")
    return unknownFailure(message.error ?? "The provider's answer ended in an error");
  return undefined;
}

/** A failure of which nobody knows the kind: it is not tried again. */
export function unknownFailure(message: string): Failure {
  return { class: "unknown", message, can_retry: false };
}
