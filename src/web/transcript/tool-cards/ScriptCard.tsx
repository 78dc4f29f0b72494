import type { ReactNode } from "react";
import { type ScriptCall, scriptCalls } from "../../../model/parts/script-calls.ts";
import { CodeBlock } from "../../code/CodeBlock.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, named, oneLine, type ToolCard, text } from "./card.ts";
import { atCommand, exitFigure } from "./ShellCard.tsx";

/** A script that the agent ran, as in Codex's `exec` tool. */
export const scriptCard: ToolCard = {
  payloads: [],
  matches: named("exec", "python", "code_interpreter", "execute_code", "run_code", "js", "javascript"),
  nameOf: label,
  summary: (view) => {
    const script = scriptOf(view);
    const first = script.split("\n").find((line) => /\S/.test(line) && !/^\s*(?:\/\/|#)/.test(line)) ?? "";
    const subject = oneLine(callsIn(script) ?? first);
    return {
      label: label(view.call.tool_name),
      subject: visible(subject, "code"),
      title: oneLine(script),
      figures: exitFigure(view),
    };
  },
  Body: ScriptBody,
  shows: (view) => ({ input: Object.keys(view.input).length <= 1 && view.call.truncated === undefined }),
};

/** Codex runs commands through scripts: its `exec` is a shell to the reader. */
function label(name: string): string {
  return name === "exec" ? t.cards.shell : name;
}

function scriptOf({ input, call }: CallView): string {
  return text(input, "input", "code", "script", "source") ?? call.arguments_json;
}

/** The calls of a script in one line. `undefined`: it calls no tool. */
function callsIn(script: string): string | undefined {
  const calls = scriptCalls(script);
  if (calls.length === 0) return undefined;
  return calls.map(callText).join(" · ");
}

function callText(call: ScriptCall): string {
  switch (call.kind) {
    case "command":
      return call.command;
    case "input":
      return atCommand(t.cards.command(call.terminal), call.typed);
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
      code={scriptOf(view)}
      language={view.call.tool_name.toLowerCase() === "python" ? "python" : "javascript"}
    />
  );
}
