import * as z from "zod";
import type { Tool } from "../tool.ts";
import { inputSchema, readInput } from "../tool-input.ts";

const input = z.object({
  todos: z
    .array(z.object({ text: z.string().min(1), status: z.enum(["pending", "in_progress", "completed"]) }))
    .max(200)
    .describe("The complete list, in order. It replaces the previous one."),
});

/** Keeps a to-do list for the user. */
export function createTodoTool(): Tool {
  return {
    definition: {
      name: "todo",
      description:
        "Maintains a to-do list for a task with several steps. Keep it up to date: one item in_progress at a time.",
      input_schema: inputSchema(input),
    },
    parallel: false,
    default_decision: "allow",
    time_limit_ms: 10_000,
    prepare(raw) {
      const { todos } = readInput(input, raw);
      return {
        subject: todos.map(({ text, status }) => `[${status}] ${text}`).join("\n"),
        target: "",
        run: async ({ host }) => {
          host.emit({ type: "todo.change", session_id: host.session_id, at: host.now(), todos });
          const done = todos.filter(({ status }) => status === "completed").length;
          return {
            output_text: `The list has ${todos.length} items, ${done} of them done.`,
            ui_extra: { type: "todos", todos },
          };
        },
      };
    },
  };
}
