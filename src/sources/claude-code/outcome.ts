import type { ToolStatus } from "../../model/messages/message.ts";
import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome, Decider, Permission } from "../../model/parts/outcome.ts";
import { textFields } from "../../model/text/display-text.ts";
import { outcomeReason } from "../../model/text/outcome-reasons.ts";

/** The parts of a result's line that describe how its call ended. */
interface ResultLine {
  value: JsonObject;
  /** The line's `toolUseResult`, if it belongs to this result alone. */
  structure: unknown;
  is_error: boolean;
  output_text: string;
  tool_name: string | undefined;
}

export interface CallEnd {
  status: ToolStatus;
  outcome?: CallOutcome;
  permission?: Permission;
}

/** Tools that ask a person. Stopping one means declining its request. */
const ASKING: ReadonlySet<string> = new Set(["AskUserQuestion", "ExitPlanMode"]);

/**
 * How a call ended. `toolDenialKind` (Claude Code 2.1.2xx) and `permissionDecision` (2.1.3xx) name who refused or allowed it.
 * Older files only have the agent's fixed sentences.
 */
export function callEnd(line: ResultLine): CallEnd {
  const { value, is_error, output_text } = line;
  const decision = asObject(value.permissionDecision);
  const outcome = outcomeOf(line, decision);
  if (outcome !== undefined) return { status: "aborted", outcome };
  const permission = decision?.decision === "accept" ? permissionOf(decision) : undefined;
  const interrupted = asObject(line.structure)?.interrupted === true && !/\btimed out\b/i.test(output_text);
  if (interrupted) return { status: "aborted", outcome: { kind: "stopped" } };
  return { status: is_error ? "error" : "success", ...(permission !== undefined && { permission }) };
}

function outcomeOf(line: ResultLine, decision: JsonObject | undefined): CallOutcome | undefined {
  const kind = asText(line.value.toolDenialKind);
  const refusal = decision?.decision === "reject" ? permissionOf(decision) : undefined;
  switch (kind) {
    case undefined:
      return refusal === undefined ? outcomeOfText(line) : refused(line, refusal);
    // Written on resume for a call without a recorded end.
    case "interrupted":
      return { kind: "unknown" };
    case "user-rejected": {
      if (refusal !== undefined) return refused(line, refusal);
      const instructions = rejectionOf(line);
      if (line.value.toolDenialBeforeRun === true)
        return { kind: "refused", by: "person", ...reason(instructions) };
      return stoppedByPerson(line, instructions);
    }
    case "permission-rule": {
      const hook = hookOf(line.output_text);
      if (refusal?.by === "hook") return refused(line, { ...hook, ...refusal });
      return refused(line, refusal ?? hook ?? { by: "rule" });
    }
    default:
      if (!line.is_error) return undefined;
      if (/^auto-?mode/.test(kind)) return refused(line, { by: "mode", name: "auto" });
      // An unknown kind of a later version.
      return {
        kind: "refused",
        ...(refusal ?? {}),
        reason: refusal?.reason ?? `${kind}: ${line.output_text}`,
      };
  }
}

/** Who decided, according to `permissionDecision`. */
function permissionOf(decision: JsonObject): Permission {
  const source = asText(decision.source) ?? "";
  const type = asText(decision.reasonType);
  const code = asText(decision.reasonCode);
  const scope = asText(decision.grantScope);
  if (source.startsWith("user")) return { by: "person", ...(scope !== undefined && { scope }) };
  if (source === "hook" || type === "hook") return { by: "hook", ...named(code?.replace(/^hook:/, "")) };
  switch (type) {
    case "rule":
      return { by: "rule", ...named(asText(decision.ruleSource)) };
    case "mode":
      return { by: "mode", ...named(asText(decision.mode)) };
    case "classifier":
      return { by: "mode", name: "auto" };
    default:
      return { by: "settings" };
  }
}

const named = (name: string | undefined) => (name === undefined ? {} : { name });
const reason = (text: string | undefined) => (text === undefined ? {} : { reason: text });

function refused(
  { output_text }: ResultLine,
  by: { by: Decider; name?: string; reason?: string },
): CallOutcome {
  const { by: decider, name } = by;
  const why = by.reason ?? (output_text.trim() === "" ? undefined : output_text.trim());
  return { kind: "refused", by: decider, ...named(name), ...reason(why) };
}

const REJECTED =
  /^The user doesn't want to (?:proceed with this tool use|take this action right now)|^(?:User rejected tool use|Interrupted by user|\[Request interrupted by user)/;
/** The person's instructions, which follow the sentence for the model. */
const INSTRUCTIONS = /\bthe user said:\s*([\s\S]+)$/;
const CANCELLED = /^(?:<tool_use_error>)?(?:Cancelled: parallel tool call|Sibling tool call errored)/;
/** The hook in a refusal, and its message: `PreToolUse:Bash hook error: [command]: no`. */
const HOOK = /^(PreToolUse:\S+) hook (?:error|blocked)[^:]*:(?: \[[\s\S]*\]:)?\s*([\s\S]*)$/;
const BY_RULE = /^Permission to use \S+.* has been (?:auto-)?denied/;
const BY_SETTINGS =
  /^(?:Claude requested permissions? to [\s\S]*haven't granted it yet|This command requires approval)/;

function hookOf(text: string): { by: "hook"; name?: string; reason?: string } | undefined {
  const [, name, message] = HOOK.exec(text) ?? [];
  return name === undefined ? undefined : { by: "hook", name, ...reason(message?.trim() || undefined) };
}

function rejectionOf({ output_text }: ResultLine): string | undefined {
  return INSTRUCTIONS.exec(output_text)?.[1]?.trim();
}

/**
 * The same sentence is used for calls that a person refused and for calls that were stopped while running. It is certainly a
 * refusal if the person gave instructions, or if the tool only asked.
 */
function stoppedByPerson({ tool_name }: ResultLine, instructions: string | undefined): CallOutcome {
  const isRefused = instructions !== undefined || ASKING.has(tool_name ?? "");
  return { kind: isRefused ? "refused" : "stopped", by: "person", ...reason(instructions) };
}

/** The outcome by its sentence, for versions without a field. */
function outcomeOfText(line: ResultLine): CallOutcome | undefined {
  const { structure, is_error, output_text } = line;
  if (structure === "User rejected tool use" || (is_error && REJECTED.test(output_text)))
    return stoppedByPerson(line, rejectionOf(line));
  if (!is_error) return undefined;
  if (CANCELLED.test(output_text))
    return { kind: "stopped", by: "program", ...textFields("reason", outcomeReason("parallel_call_failed")) };
  const hook = hookOf(output_text);
  if (hook !== undefined) return refused(line, hook);
  if (BY_RULE.test(output_text)) return refused(line, { by: "rule" });
  if (BY_SETTINGS.test(output_text)) return refused(line, { by: "settings" });
  return undefined;
}
