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
      label: callTool(view.call) === "apply_patch" ? t.cards.edit : toolLabel(view.call.tool_name, "script"),
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
const calledTools = new WeakMap<CallView["call"], { of: CallView; called: CalledTool | undefined }>();

/** The card and the input of the only tool that a script calls, if it changes files or updates the plan. */
function calledTool(view: CallView): CalledTool | undefined {
  const known = calledTools.get(view.call);
  if (known?.of === view) return known.called;
  const calls = scriptCalls(scriptOf(view));
  const tool = view.call.truncated === undefined ? onlyTool(calls) : undefined;
  const called = tool === undefined ? undefined : calledBy(view, tool, inputOf(calls));
  calledTools.set(view.call, { of: view, called });
  return called;
}

function calledBy(
  view: CallView,
  tool: "apply_patch" | "update_plan",
  input: CallView["input"],
): CalledTool | undefined {
  const called = { ...view, input, call: { ...view.call, tool_name: tool } };
  if (tool === "update_plan") return { card: todoCard, view: called };
  return input.patch === undefined ? undefined : { card: diffCard, view: called };
}

/** What the calls of a script pass to their tool. `patch` is absent if it is not one text. */
function inputOf(calls: readonly ScriptCall[]): CallView["input"] {
  const steps = calls.flatMap((call) => (call.kind === "plan" ? call.steps : []));
  const [only, ...others] = calls;
  const patch = only?.kind === "patch" && others.length === 0 ? only.patch : undefined;
  return {
    plan: steps.map(({ text: step, status }) => ({ step, status })),
    ...(patch !== undefined && { patch }),
  };
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
