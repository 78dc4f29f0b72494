import type { ReactNode } from "react";
import { callTool } from "../../../model/parts/call-subject.ts";
import { currentStep, onlyTool, type ScriptCall, scriptCalls } from "../../../model/parts/script-calls.ts";
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
    const subject = oneLine(callsIn(view) ?? first);
    return {
      label: toolLabel(callTool(view.call)),
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

/** The card and the input of the tool that a script calls, if it is only one call that changes files or updates the plan. */
function calledTool(view: CallView): CalledTool | undefined {
  const known = calledTools.get(view) ?? findCalledTool(view) ?? "none";
  calledTools.set(view, known);
  return known === "none" ? undefined : known;
}

function findCalledTool(view: CallView): CalledTool | undefined {
  const [only, ...others] = scriptCalls(scriptOf(view));
  if (only === undefined || others.length > 0 || view.call.truncated !== undefined) return undefined;
  const asCallOf = (tool_name: string, input: CallView["input"]): CallView => ({
    ...view,
    call: { ...view.call, tool_name },
    input,
  });
  if (only.kind === "plan") {
    const plan = only.steps.map(({ text: step, status }) => ({ step, status }));
    return { card: todoCard, view: asCallOf("update_plan", { plan }) };
  }
  if (only.kind !== "patch" || only.patch === undefined) return undefined;
  return { card: diffCard, view: asCallOf("apply_patch", { patch: only.patch }) };
}

function scriptOf({ input, call }: CallView): string {
  return text(input, "input", "code", "script", "source") ?? call.arguments_json;
}

/** The calls of a script in one line. `undefined`: it calls no tool. */
function callsIn(view: CallView): string | undefined {
  const calls = scriptCalls(scriptOf(view));
  const [first] = calls;
  if (first === undefined) return undefined;
  // The label already says "edit". All patches of a script name the same files.
  if (first.kind === "patch" && onlyTool(calls) !== undefined) return first.files.join(", ");
  const continued = view.extra?.type === "shell" ? view.extra.continues : undefined;
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
