import { asObject, asText } from "../../../model/narrow.ts";
import { readElicitationForm } from "../elicitation-form.ts";
import { sessionIdOf } from "../hook-event.ts";
import type { TerminalRequest } from "../terminal-request.ts";

/**
 * Reads the body of an Elicitation hook (Claude Code 2.1): the form of an MCP server. `undefined`: another body, a URL to open, or
 * a form that is left to the terminal.
 */
export function readElicitation(value: unknown): TerminalRequest | undefined {
  const body = asObject(value);
  const session_id = body && sessionIdOf(body);
  const server = asText(body?.mcp_server_name);
  const message = asText(body?.message);
  if (body?.hook_event_name !== "Elicitation" || session_id === undefined) return undefined;
  if ((body.mode ?? "form") !== "form" || server === undefined || message === undefined) return undefined;
  const form = readElicitationForm(server, message, body.requested_schema);
  if (form === undefined) return undefined;
  const cwd = asText(body.cwd);
  return {
    session_id,
    agent: "claude-code",
    ...(cwd !== undefined && { cwd }),
    requests: form.requests,
    problemOf: form.problemOf,
    isComplete: form.isComplete,
    hides_dialog: true,
    is_main: false,
    ends_by: "register",
    replyTo(answers) {
      const content = form.contentOf(answers);
      const decision = content === undefined ? { action: "decline" } : { action: "accept", content };
      return { hookSpecificOutput: { hookEventName: "Elicitation", ...decision } };
    },
  };
}
