import { asString } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { type AgentMessage, messageOf } from "./agent-messages.ts";
import { endBackground } from "./background.ts";
import { firstOf } from "./first-of.ts";
import type { Line, Session } from "./session-types.ts";
import { noteAgentKey } from "./tool-results.ts";
import { fieldsOf, stripAnsi, type WrapperElement } from "./wrappers.ts";

/** Reads text that consists of wrapper markup, also from `system` lines of subtype `local_command`. */
export function readWrapped(session: Session, line: Line, elements: readonly WrapperElement[]): Disposition {
  let disposition: Disposition | undefined;
  const take = (next: Disposition): void => {
    disposition = firstOf(disposition, next);
  };
  const body = (tag: string): string | undefined =>
    elements.find((element) => element.tag === tag)?.body.trim();
  const name = body("command-name") ?? body("command-message");
  if (name !== undefined && elements.some(({ tag }) => tag === "command-name" || tag === "command-message")) {
    take(readCommand(session, line, name, body("command-args") ?? ""));
  }
  for (const element of elements) {
    switch (element.tag) {
      case "command-name":
      case "command-message":
      case "command-args":
      case "command-contents":
        break;
      case "local-command-stdout":
      case "local-command-stderr":
        take(readOutput(session, line, "command_output", element.body));
        break;
      case "bash-input":
        session.prompt(line, [{ type: "text", text: `! ${element.body.trim()}` }], {
          origin: "command",
          opensTurn: true,
          typed: false,
        });
        take({ kind: "shown" });
        break;
      case "bash-stdout":
        take(readOutput(session, line, "claude_shell_output", element.body));
        break;
      case "bash-stderr":
        take(readOutput(session, line, "shell_error_output", element.body));
        break;
      case "agent-notification":
      case "task-notification":
        session.prompt(line, [{ type: "text", text: readNotification(session, line, element) }], {
          origin: "notification",
          opensTurn: false,
          typed: false,
        });
        take({ kind: "shown" });
        break;
      case "agent-message":
      case "teammate-message":
      case "cross-session-message":
        take(readMessages(session, line, [messageOf(element)]));
        break;
      case "local-command-caveat":
        take({ kind: "hidden", rule: "caveat before a local command" });
        break;
      case "system-reminder":
        take({ kind: "hidden", rule: "system reminder" });
        break;
      case "ide_opened_file":
      case "ide_selection":
      case "ide_diagnostics":
      case "new-diagnostics":
        session.marker(
          line,
          "context",
          claudeCodeTitle("editor_context", { text: firstLine(element.body) }),
          element.body.trim(),
        );
        take({ kind: "shown" });
        break;
      default:
        session.marker(
          line,
          "context",
          claudeCodeTitle("tagged_context_added", { tag: element.tag, text: firstLine(element.body) }),
          element.body.trim(),
        );
        take({ kind: "shown" });
    }
  }
  return disposition ?? { kind: "hidden", rule: "empty message" };
}

/** Reads a slash command; `name` may lack the slash. It becomes a note if the program answers it itself, otherwise a prompt. */
export function readCommand(session: Session, line: Line, name: string, args: string): Disposition {
  const command = `${name.startsWith("/") ? name : `/${name}`}${args === "" ? "" : ` ${args}`}`;
  const parent = asString(line.value.parentUuid);
  const isBelowCaveat = parent !== undefined && session.caveats.has(parent);
  if (session.localCommand || isBelowCaveat || line.value.type === "system") {
    session.queue.deliver(command);
    session.localCommand = false;
    const title = claudeCodeTitle("slash_command", { command: firstLine(command) });
    session.marker(line, "note", title, command.length > 80 ? command : undefined);
    return { kind: "shown" };
  }
  session.prompt(line, [{ type: "text", text: command }], {
    origin: "command",
    opensTurn: true,
    typed: true,
  });
  session.command = name.startsWith("/") ? name : `/${name}`;
  return { kind: "shown" };
}

function readOutput(
  session: Session,
  line: Line,
  code: "command_output" | "claude_shell_output" | "shell_error_output",
  body: string,
): Disposition {
  session.hasOutput = true;
  const text = stripAnsi(body).trim();
  if (text === "" || text === "(no content)") return { kind: "hidden", rule: "empty command output" };
  session.marker(line, "note", claudeCodeTitle(code, { text: firstLine(text) }), text);
  return { kind: "shown" };
}

/** Returns the readable text of a notification, and records its facts: the link to a run, and the run's end. */
export function readNotification(session: Session, line: Line, element: WrapperElement): string {
  const fields = fieldsOf(element.body);
  const call = fields.get("tool-use-id");
  const key = fields.get("task-id") ?? fields.get("agent-id");
  if (call !== undefined) noteAgentKey(session, call, key);
  const status = fields.get("status");
  if (status !== undefined) {
    endBackground(session, line, {
      tool_call_id: call,
      key,
      summary: fields.get("summary") ?? "",
      status,
      result: fields.get("result") || undefined,
    });
  }
  const texts = ["summary", "event", "result"].flatMap((tag) => fields.get(tag) || []);
  return texts.length === 0 ? element.body.trim() : texts.join("\n\n");
}

/** Reads messages from other agents. They open a turn only if the model is idle. */
export function readMessages(session: Session, line: Line, messages: readonly AgentMessage[]): Disposition {
  for (const { from, text } of messages) {
    const parts = [{ type: "text" as const, text }];
    session.prompt(line, parts, { origin: "agent", from, opensTurn: false, typed: false });
  }
  return { kind: "shown" };
}
