import type { ReactNode } from "react";
import { callTool } from "../../../model/parts/call-subject.ts";
import { type ScriptCall, scriptCalls } from "../../../model/parts/script-calls.ts";
import { CodeBlock } from "../../code/CodeBlock.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, oneLine, type ToolCard, text } from "./card.ts";
import { atCommand, exitFigure } from "./ShellCard.tsx";
import { toolLabel } from "./tool-label.ts";

/** A script that the agent ran, as in Codex's `exec` tool. */
export const scriptCard: ToolCard = {
  payloads: [],
  kind: "script",
  summary: (view) => {
    const script = scriptOf(view);
    const first = script.split("\n").find((line) => /\S/.test(line) && !/^\s*(?:\/\/|#)/.test(line)) ?? "";
    const subject = oneLine(callsIn(view) ?? first);
    return {
      label: isPatch(view) ? t.cards.edit : toolLabel(view.call.tool_name, "script"),
      subject: visible(subject, "code"),
      title: oneLine(script),
      figures: exitFigure(view),
    };
  },
  Body: ScriptBody,
  shows: (view) => ({ input: Object.keys(view.input).length <= 1 && view.call.truncated === undefined }),
};

const isPatch = ({ call }: CallView): boolean => callTool(call) === "apply_patch";

function scriptOf({ input, call }: CallView): string {
  return text(input, "input", "code", "script", "source") ?? call.arguments_json;
}

/** The calls of a script in one line. `undefined`: it calls no tool. */
function callsIn(view: CallView): string | undefined {
  const calls = scriptCalls(scriptOf(view));
  const [first] = calls;
  if (first === undefined) return undefined;
  // The label already says "edit". All patches of a script name the same files.
  if (first.kind === "patch" && isPatch(view)) return first.files.join(", ");
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
    case "other":
      return call.name;
  }
  return call satisfies never;
}

function ScriptBody({ view }: CardBodyProps): ReactNode {
  return (
    <CodeBlock
      wraps
      code={scriptOf(view)}
      language={view.call.tool_name.toLowerCase() === "python" ? "python" : "javascript"}
    />
  );
}
