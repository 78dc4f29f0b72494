import { retryDelay } from "../providers/failures.ts";
import type { Failure, ModelReply } from "../providers/provider.ts";

/** A failed attempt that will be repeated. */
interface FailedTry<Reply> {
  reply: Reply;
  failure: Failure;
  /** "Overloaded; trying again in 4 s (2 of 5)". */
  retry_notice: string;
}

/**
 * Repeats an attempt until it succeeds, retrying is pointless, or the signal is aborted. Returns the last reply. `onFailedTry` is
 * called before each wait.
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

/** The total number of attempts for a failure according to the retry policy. */
function triesOf(failure: Failure, attempts: number): number {
  let tries = attempts + 1;
  while (retryDelay(failure, tries, 0) !== undefined) tries += 1;
  return tries;
}

function secondsOf(ms: number): string {
  const seconds = ms / 1_000;
  return seconds < 10 ? String(Number(seconds.toFixed(1))) : String(Math.round(seconds));
}

/** Waits. Resolves early if the signal is aborted. */
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
  unknown: "The model call failed",
};

/** A short description of a failure. */
function nameOf(failure: Failure): string {
  return NAMES[failure.class];
}

/** The failure of a model call; `undefined`: it succeeded. */
export function failureOf(reply: ModelReply): Failure | undefined {
  const { failure, message } = reply;
  if (failure !== undefined) return failure;
  if (message === undefined) return unknownFailure("The provider's answer was empty");
  if (message.stop_reason === "error")
    return unknownFailure(message.error ?? "The provider's answer ended in an error");
  return undefined;
}

/** A failure of unknown kind, which is not retried. */
export function unknownFailure(message: string): Failure {
  return { class: "unknown", message, can_retry: false };
}
