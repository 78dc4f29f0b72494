import { asObject, asString } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";

/** Number of characters at the start of an output in which Codex reports a refusal or stop. */
const MAX_SEARCHED = 500;
/** The same if the command precedes it. */
const WITH_COMMAND = 4_000;

const STOPPED = /^(?:Wall time:? [\d.]+ seconds\n)?aborted( by user)?\b/i;
const REFUSED_BY_PERSON = /^(?:exec command|command|patch|tool call)?\s*rejected by user(?! approval)/i;
const HOOK = /^(?:Command|Tool call) blocked by (\w+) hook:?\s*([\s\S]*)/;
/** Automatic review (Codex: Guardian): a model assessed the call. */
const REVIEWER = /^This action was rejected due to unacceptable risk\.?\s*(?:Reason:\s*([^\n]*))?/;
/** A rule of the execution policy forbids the command. */
const RULE =
  /^(?:exec_command failed for |CreateProcess|[`"])[\s\S]*?rejected: (blocked by policy|policy forbids [^\n"\\]*)/;
/** The approval policy forbids asking. */
const SETTINGS =
  /^(?:patch rejected: [^\n]*|[^\n]*approval required by policy, but AskForApproval is set to Never[^\n]*|approval policy is \w+; reject command[^\n]*)/;
const MCP = /^user (?:rejected|cancelled) MCP tool call/;

/** Who refused or stopped a call, according to Codex's text at the start of its output; `undefined`: neither happened. */
export function outcomeOfText(text: string): CallOutcome | undefined {
  const start = text.slice(0, MAX_SEARCHED);
  const stopped = STOPPED.exec(start);
  if (stopped !== null) return { kind: "stopped", ...(stopped[1] === undefined ? {} : { by: "person" }) };
  if (REFUSED_BY_PERSON.test(start)) return { kind: "refused", by: "person" };
  const hook = HOOK.exec(start);
  if (hook !== null) {
    const [, name = "", message = ""] = hook;
    const reason = message.replace(/\s*Command: [\s\S]*$/, "").trim();
    return { kind: "refused", by: "hook", name, ...(reason === "" ? {} : { reason }) };
  }
  const reviewed = REVIEWER.exec(start);
  if (reviewed !== null) {
    const reason = reviewed[1]?.trim() ?? "";
    return { kind: "refused", by: "reviewer", ...(reason === "" ? {} : { reason }) };
  }
  const settings = SETTINGS.exec(start)?.[0].trim();
  if (settings !== undefined) return { kind: "refused", by: "settings", reason: settings };
  const rule = RULE.exec(text.slice(0, WITH_COMMAND))?.[1];
  if (rule !== undefined) return { kind: "refused", by: "rule", reason: rule };
  const mcp = MCP.exec(start)?.[0];
  return mcp === undefined ? undefined : { kind: "refused", by: "person", reason: mcp };
}

/** Corrects a refusal: Codex blames the person even if its approval policy forbids asking. */
export function underPolicy(outcome: CallOutcome, approval_policy: string | undefined): CallOutcome {
  const isWithoutPrompt = approval_policy === "never" && MCP.test(outcome.reason ?? "");
  return isWithoutPrompt ? { ...outcome, by: "settings" } : outcome;
}

/** The outcome of a declined call, which did not run. `text`: the text in place of its output. */
export function declined(text: string | undefined): CallOutcome {
  return outcomeOfText(text ?? "") ?? { kind: "refused" };
}

const CTRL_C = "\u0003";
/** Ctrl-C as it is written in a code mode script. */
const CTRL_C_IN_SCRIPT = /\bchars["']?\s*:\s*["'`](?:\\u0003|\\x03)/;

/** Whether a call sends Ctrl-C to a running command. An error end of that command is then expected. */
export function interruptsCommand(name: string, input: unknown): boolean {
  if (name === "write_stdin") return asString(asObject(input)?.chars)?.includes(CTRL_C) === true;
  return typeof input === "string" && input.includes("write_stdin") && CTRL_C_IN_SCRIPT.test(input);
}
