import type { DisplayText } from "../model/text/display-text.ts";
import { failureText } from "../model/text/failure-texts.ts";
import { messageFields } from "../model/text/titles.ts";
import { retryDelay } from "../providers/failures.ts";
import type { Failure, ModelReply } from "../providers/provider.ts";

/** A failed attempt that will be repeated. */
interface FailedTry<Reply> {
  reply: Reply;
  failure: Failure;
  /** "Overloaded; trying again in 4 s (2 of 5)". */
  retry_notice: DisplayText;
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
    const retry_notice = failureText("retrying_in", {
      failure: failure.class,
      seconds: secondsOf(delay),
      attempt: attempts + 1,
      attempts: triesOf(failure, attempts),
    });
    onFailedTry({ reply, failure, retry_notice });
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

/** The failure of a model call; `undefined`: it succeeded. */
export function failureOf(reply: ModelReply): Failure | undefined {
  const { failure, message } = reply;
  if (failure !== undefined) return failure;
  if (message === undefined) return unknownFailure(failureText("provider_answer_empty"));
  if (message.stop_reason === "error")
    return unknownFailure(message.error ?? failureText("provider_answer_failed"));
  return undefined;
}

/** A failure of unknown kind, which is not retried. */
export function unknownFailure(message: DisplayText): Failure {
  return { class: "unknown", ...messageFields(message), can_retry: false };
}
