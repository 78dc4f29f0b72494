import { inspect } from "node:util";
import { UsageError } from "../usage-error.ts";
import { RunError } from "./run-prompt.ts";
import { safe } from "./terminal-text.ts";

/** A second signal within this time is the same one, delivered by both the terminal and `npm`. Milliseconds. */
const SAME_SIGNAL_MS = 1_000;

/** Prints a line on standard error, with control characters made visible. */
export function printLine(text: string): void {
  console.error(safe(text));
}

/** Prints an unexpected error with its stack. */
export const report = (error: unknown): void =>
  printLine(error instanceof Error ? (error.stack ?? error.message) : inspect(error));

/** Prints an error and returns the exit code: 2 for a usage error, otherwise 1. */
export function fail(error: unknown): number {
  const is_known = error instanceof UsageError || error instanceof RunError;
  printLine(is_known ? error.message : inspect(error));
  return is_known ? 2 : 1;
}

/** Writes to standard output and waits while its buffer is full. Resolves with the exit code of a success. */
export async function print(text: string): Promise<0> {
  if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once("drain", resolve));
  return 0;
}

/** Resolves on the first signal to end. The second one exits at once. */
export function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (first !== undefined && performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
        first ??= performance.now();
        resolve();
      });
    }
  });
}
