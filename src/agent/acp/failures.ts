import { asArray, asObject, asString, asText } from "../../model/narrow.ts";
import { titleOf } from "../../model/parts/content.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { withLines } from "../../model/text/titles.ts";
import type { Exit } from "./agent-process.ts";

// Messages for failed agents: what happened, in the agent's own words if it gave any, and what to do.

/** The message for an error, which is usually the agent's answer to a request. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isAnswer(error)) return error.message;
  const data = asObject(error.data);
  const details = asText(error.data) ?? asText(data?.details) ?? asText(data?.message) ?? asText(data?.error);
  return details === undefined || error.message.includes(details)
    ? error.message
    : `${error.message}: ${details}`;
}

/** Whether the agent requires a login: the protocol's error -32000, "authentication required". */
export function isAuthError(error: unknown): boolean {
  return error instanceof Error && isAnswer(error) && error.code === -32_000;
}

/** Whether the agent does not support the method: JSON-RPC's error -32601. */
export function isUnknownMethod(error: unknown): boolean {
  return error instanceof Error && isAnswer(error) && error.code === -32_601;
}

/** A JSON-RPC error. */
function isAnswer(error: Error): error is Error & { code: number; data?: unknown } {
  return "code" in error && typeof error.code === "number";
}

/** What the user has to do once the cause is fixed. */
type Retry = "prompt" | "again";

/**
 * The message for an agent that requires a login. `methods`: those that the agent offers. `login`: the command with which users
 * log in.
 */
export function authText(
  label: string,
  error: unknown,
  { methods, login, retry = "prompt" }: { methods?: unknown; login?: string | undefined; retry?: Retry },
): CodedText {
  const ways = asArray(methods).flatMap((item) => {
    const method = asObject(item);
    const id = asString(method?.id);
    if (id === undefined) return [];
    const description = asText(method?.description);
    return [`- ${asText(method?.name) ?? id}${description === undefined ? "" : `: ${description}`} (${id})`];
  });
  const run = login === undefined ? "Log in with the agent's own program" : `Run \`${login}\` in a terminal`;
  const configure =
    ways.length === 0 ? "" : " or set `auth_method` in the agent's configuration to one of these ids,";
  return withLines(
    agentTitle("login_required", { agent: label, reason: errorText(error) }),
    // Markdown: a list and what follows it are separated by blank lines.
    ...(ways.length === 0 ? [""] : ["", "It offers:", "", ...ways, ""]),
    `${run},${configure} then ${retry === "prompt" ? "send the prompt again" : "try again"}.`,
  );
}

/** The message for a program that exited. */
export function exitText(
  label: string,
  command: string,
  exit: Exit,
  errorOutput: string,
  retry: Retry = "prompt",
): CodedText {
  if (exit.error !== undefined) {
    const isMissing = exit.error.code === "ENOENT";
    return isMissing
      ? agentTitle("program_missing", { agent: label, command })
      : agentTitle("not_started", { agent: label, command, reason: exit.error.message });
  }
  const said =
    titleOf(errorOutput) === undefined ? "It wrote nothing to stderr." : `Its error output:\n${errorOutput}`;
  return withLines(exitTitle(label, command, exit, retry), said);
}

function exitTitle(agent: string, command: string, exit: Exit, retry: Retry): CodedText {
  const { code, signal, kill_reason } = exit;
  if (kill_reason !== undefined) {
    return "characters" in kill_reason
      ? agentTitle("killed_for_long_message", { agent, ...kill_reason, retry })
      : agentTitle("killed_unrecorded", { agent, ...kill_reason, retry });
  }
  return signal === null
    ? agentTitle("ended_with_exit_code", { agent, code: code ?? undefined, command, retry })
    : agentTitle("ended_by_signal", { agent, signal, command, retry });
}
