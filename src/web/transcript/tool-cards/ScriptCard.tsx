import type { ReactNode } from "react";
import { CodeBlock } from "../../code/CodeBlock.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, named, oneLine, type ToolCard, text } from "./card.ts";
import { atCommand, exitFigure } from "./ShellCard.tsx";

/** A script that the agent ran, as in Codex's `exec` tool. */
export const scriptCard: ToolCard = {
  payloads: [],
  matches: named("exec", "python", "code_interpreter", "execute_code", "run_code", "js", "javascript"),
  summary: (view) => {
    const script = scriptOf(view);
    const first = script.split("\n").find((line) => /\S/.test(line) && !/^\s*(?:\/\/|#)/.test(line)) ?? "";
    const subject = oneLine(toolsIn(script.slice(0, LOOKED_AT)) ?? first);
    return {
      label: view.call.tool_name,
      subject: visible(subject, "code"),
      title: oneLine(script),
      figures: exitFigure(view),
    };
  },
  Body: ScriptBody,
  shows: (view) => ({ input: Object.keys(view.input).length <= 1 && view.call.truncated === undefined }),
};

function scriptOf({ input, call }: CallView): string {
  return text(input, "input", "code", "script", "source") ?? call.arguments_json;
}

/** Number of characters at the start of a script in which its calls are searched. */
const LOOKED_AT = 20_000;
/** Maximum number of calls shown on the line. */
const MAX_CALLS = 20;
const LITERAL = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/sy;

/**
 * Summarizes a script of Codex's code mode by the tools that it calls: nearly all scripts wrap one command in one line. A
 * heuristic, used only for the closed line. `undefined`: it calls no tool.
 */
function toolsIn(script: string): string | undefined {
  const calls = [...script.matchAll(/\btools\.(\w+)\(/g)].slice(0, MAX_CALLS);
  if (calls.length === 0) return undefined;
  // A patch is usually a constant above its call.
  const patched = script.matchAll(/\*\*\* (?:Update|Add|Delete) File: ([^\n\\"'`]+)/g);
  const files = new Set([...patched].map(([, file]) => file));
  return calls
    .map(({ 1: name = "", index }, at) => {
      const written = script.slice(index, calls[at + 1]?.index);
      switch (name) {
        case "exec_command":
          return literalOf(written, "cmd") ?? name;
        case "write_stdin": {
          const number = /\bsession_id["']?\s*:\s*["']?(\d+)/.exec(written)?.[1];
          return number === undefined
            ? name
            : atCommand(t.cards.command(number), literalOf(written, "chars") || undefined);
        }
        case "apply_patch":
          return files.size === 0 ? name : t.cards.edits([...files].join(", "));
        default:
          return name;
      }
    })
    .join(" · ");
}

/** The string value of a member in an object literal, if any. */
function literalOf(written: string, name: string): string | undefined {
  const member = new RegExp(`\\b${name}["']?\\s*:\\s*`).exec(written);
  if (member === null) return undefined;
  LITERAL.lastIndex = member.index + member[0].length;
  const literal = LITERAL.exec(written)?.[0];
  return literal
    ?.slice(1, -1)
    .replace(/\\(.)/gs, (_, sign: string) => (sign === "n" ? "\n" : sign === "t" ? "\t" : sign));
}

function ScriptBody({ view }: CardBodyProps): ReactNode {
  return (
    <CodeBlock
      code={scriptOf(view)}
      language={view.call.tool_name.toLowerCase() === "python" ? "python" : "javascript"}
    />
  );
}
