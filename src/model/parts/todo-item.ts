import type { TodoItem } from "./ui-extra.ts";

/** An item of a to-do list or step of a plan. An unknown status is `pending`. */
export const todoItemOf = (text: string, status: unknown): TodoItem => ({
  text,
  status: status === "completed" || status === "in_progress" ? status : "pending",
});

/** The step of a plan that names it in one line: the one in progress, or else the next one, or else the last one. */
export function currentStep(steps: readonly TodoItem[]): string {
  const step =
    steps.find(({ status }) => status === "in_progress") ??
    steps.find(({ status }) => status === "pending") ??
    steps.at(-1);
  return step?.text ?? "";
}
