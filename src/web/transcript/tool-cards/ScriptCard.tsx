import type { ReactNode } from "react";
import { onlyTool, type ScriptCall, scriptCalls, scriptPatch } from "../../../model/parts/script-calls.ts";
import { currentStep } from "../../../model/parts/todo-item.ts";
import { CodeBlock } from "../../code/CodeBlock.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, oneLine, type ToolCard, text } from "./card.ts";
import { diffCard } from "./DiffCard.tsx";
import { atCommand, exitFigure } from "./ShellCard.tsx";
import { todoCard } from "./TodoCard.tsx";
import { toolLabel } from "./tool-label.ts";

/** A script that the agent ran, as in Codex's `exec` tool. */
export const scriptCard: ToolCard = {
  payloads: [],
  kind: "script",
  summary: (view) => {
    const called = calledTool(view);
    if (called !== undefined) return called.card.summary(called.view);
    const script = scriptOf(view);
    const first = script.split("\n").find((line) => /\S/.test(line) && !/^\s*(?:\/\/|#)/.test(line)) ?? "";
    const calls = scriptCalls(script);
    const subject = oneLine(calls.length === 0 ? first : callsLine(calls, view));
    return {
      label: toolLabel(onlyTool(calls) ?? view.call.tool_name),
      subject: visible(subject, "code"),
      title: oneLine(script),
      figures: exitFigure(view),
    };
  },
  Body: ScriptBody,
  shows: (view) => {
    const called = calledTool(view);
    if (called !== undefined) return called.card.shows?.(called.view) ?? {};
    return { input: Object.keys(view.input).length <= 1 && view.call.truncated === undefined };
  },
};

interface CalledTool {
  card: ToolCard;
  view: CallView;
}
const calledTools = new WeakMap<CallView, CalledTool | "none">();

/** The card and the view of the tool that a script calls, if its only call changes files or updates the plan. */
function calledTool(view: CallView): CalledTool | undefined {
  const known = calledTools.get(view) ?? findCalledTool(view) ?? "none";
  calledTools.set(view, known);
  return known === "none" ? undefined : known;
}

function findCalledTool(view: CallView): CalledTool | undefined {
  if (view.call.truncated !== undefined) return undefined;
  const script = scriptOf(view);
  const [only, ...others] = scriptCalls(script);
  if (others.length > 0) return undefined;
  if (only?.kind === "plan") {
    const call = { ...view.call, tool_name: "update_plan" };
    return { card: todoCard, view: { ...view, call, extra: { type: "todos", todos: only.steps } } };
  }
  const patch = only?.kind === "patch" ? scriptPatch(script) : undefined;
  if (patch === undefined) return undefined;
  return {
    card: diffCard,
    view: { ...view, call: { ...view.call, tool_name: "apply_patch" }, input: { patch } },
  };
}

function scriptOf({ input, call }: CallView): string {
  return text(input, "input", "code", "script", "source") ?? call.arguments_json;
}

/** The calls of a script in one line. */
function callsLine(calls: readonly ScriptCall[], { extra }: CallView): string {
  const [first] = calls;
  // The label already says "edit". All patches of a script name the same files.
  if (first?.kind === "patch" && onlyTool(calls) !== undefined) return first.files.join(", ");
  const continued = extra?.type === "shell" ? extra.continues : undefined;
  return calls.map((call) => callText(call, continued)).join(" · ");
}

/** `continued`: the command that the script waits for or types into, if it is known. */
function callText(call: ScriptCall, continued: string | undefined): string {
  switch (call.kind) {
    case "command":
      return call.command;
    case "input":
      return atCommand(continued ?? t.cards.command(call.terminal), call.typed);
    case "patch":
      return t.cards.edits(call.files.join(", "));
    case "plan":
      return currentStep(call.steps);
    case "other":
      return call.name;
  }
  return call satisfies never;
}

function ScriptBody({ view, host }: CardBodyProps): ReactNode {
  const called = calledTool(view);
  if (called?.card.Body !== undefined) return <called.card.Body view={called.view} host={host} />;
  return (
    <CodeBlock
      wraps
      code={scriptOf(view)}
      language={view.call.tool_name.toLowerCase() === "python" ? "python" : "javascript"}
    />
  );
}
