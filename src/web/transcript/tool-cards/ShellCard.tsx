import type { ReactNode } from "react";
import { CodeBlock } from "../../code/CodeBlock.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, count, isRecord, oneLine, type ToolCard, text } from "./card.ts";
import { toolLabel } from "./tool-label.ts";

/** A shell command with its folder and exit code. */
export const shellCard: ToolCard = {
  payloads: ["shell"],
  kind: "shell",
  summary: (view) => {
    const subject = oneLine(
      continuesCommand(view)
        ? atCommand(commandOf(view) || t.cards.command(numberOf(view)), text(view.input, "chars"))
        : commandOf(view),
    );
    return {
      label: toolLabel(view.call.tool_name, "shell"),
      subject: visible(subject, "name"),
      title: subject,
      figures: exitFigure(view),
    };
  },
  Body: ShellBody,
  shows: (view) => ({ input: commandOf(view) !== "" && !continuesCommand(view) }),
};

/** Whether the call continues a command that an earlier call started: Codex polls such commands with `write_stdin`. */
const continuesCommand = ({ call }: CallView): boolean => call.tool_name === "write_stdin";

/** The argument with which Codex identifies the earlier command. */
const numberOf = ({ input }: CallView): number | string =>
  count(input, "session_id") ?? text(input, "session_id") ?? "";

/** Describes a call that waits for a running command (`typed` is absent) or types into it. */
export function atCommand(command: string, typed: string | undefined): string {
  return typed === undefined ? t.cards.waitsFor(command) : t.cards.types(JSON.stringify(typed), command);
}

function commandOf({ input, extra }: CallView): string {
  const { command, cmd, script } = input;
  for (const given of [command, cmd, script]) {
    if (typeof given === "string") return given;
    const words = wordsOf(given);
    if (words !== undefined) return fromArguments(words);
  }
  const words = isRecord(input.action) ? wordsOf(input.action.command) : undefined;
  if (words !== undefined) return fromArguments(words);
  return extra?.type === "shell" ? (extra.command ?? "") : "";
}

/** The words of an argument list; `undefined`: it contains other values, so it is not a command and is shown as sent. */
function wordsOf(given: unknown): string[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const isWords = given.every((word) => typeof word === "string" || typeof word === "number");
  return isWords ? given.map(String) : undefined;
}

/** `["bash", "-lc", "ls"]` is the command `ls`. Other argument lists are quoted as a shell requires. */
function fromArguments(words: readonly string[]): string {
  if (words.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0] ?? "") && /^-l?i?c$/.test(words[1] ?? ""))
    return words[2] ?? "";
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}

/** How a command failed, if it did. */
export function exitFigure(view: CallView): string | undefined {
  const exit = exitCode(view);
  return exit !== undefined && exit !== 0 ? t.cards.exit(exit) : undefined;
}

function exitCode({ extra, output, failed }: CallView): number | undefined {
  if (extra?.type === "shell" && extra.exit_code !== undefined) return extra.exit_code;
  if (!failed) return undefined;
  const exitMatch = /^(?:Exit code:?|Process exited with code) (-?\d+)/m.exec(output.slice(0, 2_000))?.[1];
  return exitMatch === undefined ? undefined : Number(exitMatch);
}

function ShellBody({ view }: CardBodyProps): ReactNode {
  const extra = view.extra?.type === "shell" ? view.extra : undefined;
  const command = commandOf(view);
  const description = text(view.input, "description");
  const cwd = extra?.cwd ?? text(view.input, "workdir", "cwd");
  const exit = exitCode(view);
  const timeout = count(view.input, "timeout", "timeout_ms");
  const facts: [string, ReactNode][] = [];
  if (cwd !== undefined) facts.push([t.cards.facts.folder, visible(cwd, "name")]);
  if (exit !== undefined) facts.push([t.cards.facts.exit, exit]);
  if (timeout !== undefined) facts.push([t.cards.facts.limit, t.time.seconds(String(timeout / 1_000))]);
  if (extra?.interrupted) facts.push([t.cards.facts.ended, t.cards.interrupted]);
  if (extra?.background_task_id !== undefined)
    facts.push([t.cards.facts.background, visible(extra.background_task_id, "name")]);
  return (
    <>
      {description !== undefined && <p className="card-note">{visible(description, "prose")}</p>}
      {command !== "" && <CodeBlock code={command} language="bash" wraps />}
      {facts.length > 0 && (
        <dl className="card-facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
