import type { ReactNode } from "react";
import { CodeBlock } from "../../ui/CodeBlock.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, named, oneLine, type ToolCard, text } from "./card.ts";

/** A script that the agent wrote to be run, as Codex's `exec` tool takes one. */
export const scriptCard: ToolCard = {
  payloads: [],
  matches: named("exec", "python", "code_interpreter", "execute_code", "run_code", "js", "javascript"),
  summary: (view) => {
    const script = scriptOf(view);
    const first = script.split("\n").find((line) => /\S/.test(line) && !/^\s*(?:\/\/|#)/.test(line)) ?? "";
    return { label: view.call.tool_name, subject: visible(oneLine(first), "code"), title: oneLine(script) };
  },
  Body: ScriptBody,
  shows: (view) => ({ input: Object.keys(view.input).length <= 1 && view.call.truncated === undefined }),
};

function scriptOf({ input, call }: CallView): string {
  return text(input, "input", "code", "script", "source") ?? call.arguments_json;
}

function ScriptBody({ view }: CardBodyProps): ReactNode {
  return (
    <CodeBlock
      code={scriptOf(view)}
      language={view.call.tool_name.toLowerCase() === "python" ? "python" : "javascript"}
    />
  );
}
