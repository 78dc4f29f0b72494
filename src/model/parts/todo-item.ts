import type { TodoItem } from "./ui-extra.ts";

/** An item of a to-do list or step of a plan. An unknown status is `pending`. */
export const todoItemOf = (text: string, status: unknown): TodoItem => ({
  text,
  status: status === "completed" || status === "in_progress" ? status : "pending",
});
