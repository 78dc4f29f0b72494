import type { ReactNode } from "react";
import { currentStep, todoItemOf } from "../../../model/parts/todo-item.ts";
import type { TodoItem } from "../../../model/parts/ui-extra.ts";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, isRecord, list, oneLine, type ToolCard, text } from "./card.ts";
import { toolLabel } from "./tool-label.ts";

/** The agent's to-do list after the call. */
export const todoCard: ToolCard = {
  payloads: ["todos"],
  kind: "todos",
  summary: (view) => {
    const todos = todosOf(view);
    const current = todos.find((todo) => todo.status === "in_progress");
    const done = todos.filter((todo) => todo.status === "completed").length;
    const subject =
      current?.text ??
      text(view.input, "subject", "explanation") ??
      taskLine(view) ??
      (todos.length > 0 && done === todos.length ? t.cards.allDone : currentStep(todos));
    return {
      label: toolLabel(view.call.tool_name, "todos"),
      subject: visible(oneLine(subject), "prose"),
      title: subject,
      figures: todos.length > 0 ? t.cards.done(done, todos.length) : undefined,
    };
  },
  Body: TodoBody,
  shows: (view) => ({ input: todosOf(view).length > 0 }),
};

function taskLine({ input }: CallView): string | undefined {
  const id = text(input, "taskId", "task_id");
  const status = text(input, "status");
  return id === undefined ? undefined : t.cards.task(id, status?.replace("_", " "));
}

function todosOf({ extra, input }: CallView): TodoItem[] {
  if (extra?.type === "todos") return extra.todos;
  return [...list(input, "todos"), ...list(input, "plan")].filter(isRecord).flatMap((item) => {
    const content = text(item, "content", "step", "text", "subject", "description");
    return content === undefined ? [] : [todoItemOf(content, item.status)];
  });
}

const MARKS: Record<TodoItem["status"], string> = { completed: "✓", in_progress: "▸", pending: "·" };

function TodoBody({ view }: CardBodyProps): ReactNode {
  const todos = todosOf(view);
  if (todos.length === 0) return null;
  return (
    <ul className="todo-list">
      {todos.map((todo, index) => (
        <li key={index} className={`todo-${todo.status}`}>
          <span className="todo-sign" aria-hidden="true">
            {MARKS[todo.status]}
          </span>{" "}
          <span className="unseen">{t.cards.states[todo.status]}</span>
          {visible(todo.text, "prose")}
        </li>
      ))}
    </ul>
  );
}
