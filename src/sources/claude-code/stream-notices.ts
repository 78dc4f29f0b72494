import { asObject, asString, asStrings, asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { readHookFailure, readHookOutput } from "./hooks.ts";
import { readMemories } from "./memories.ts";
import type { Line, Session } from "./session-types.ts";

const SHOWN: Disposition = { kind: "shown" };

/** Subtypes of `system` lines about the program itself, and of steps whose end has a line of its own. */
const PROGRESS = new Set([
  "background_tasks_changed",
  "commands_changed",
  "control_request_progress",
  "elicitation_complete",
  "files_persisted",
  "hook_progress",
  "hook_started",
  "session_state_changed",
  "task_progress",
  "task_started",
  "task_updated",
  "thinking_tokens",
  "worker_shutting_down",
]);

/**
 * Reads a `system` line that only the output of `claude -p --output-format stream-json` and of the Agent SDK has. `undefined`:
 * it is none.
 */
export function readStreamNotice(session: Session, line: Line, subtype: string): Disposition | undefined {
  const { value } = line;
  if (PROGRESS.has(subtype)) return { kind: "hidden", rule: `progress: ${subtype}` };
  switch (subtype) {
    case "hook_response":
      return readHookResponse(session, line);
    case "notification":
      return noteOf(session, line, asText(value.text), (text) => text);
    case "permission_denied":
      return readDenial(session, line);
    case "memory_recall":
      return readMemories(session, line, value);
    case "memory_saved": {
      const names = asStrings(value.writtenPaths).join(", ");
      return noteOf(
        session,
        line,
        names,
        () => claudeCodeTitle("memory_saved", { names: firstLine(names) }),
        "",
      );
    }
    case "mirror_error":
      return noteOf(session, line, asText(value.error), (error) =>
        claudeCodeTitle("mirror_failed", { error }),
      );
    case "plugin_install": {
      if (value.status !== "failed") return { kind: "hidden", rule: `progress: ${subtype}` };
      const title = claudeCodeTitle("plugin_not_installed", { name: asText(value.name) });
      session.marker(line, "note", title, asText(value.error));
      return SHOWN;
    }
    case "post_turn_summary": {
      const text = asText(value.description) ?? asText(value.status_detail) ?? asText(value.title);
      const short = asText(value.title) ?? text ?? "";
      return noteOf(session, line, text, () => claudeCodeTitle("recap", { text: firstLine(short) }));
    }
    case "status": {
      const reason = asText(value.compact_error);
      if (value.compact_result !== "failed" && reason === undefined) return undefined;
      const short = reason === undefined ? undefined : firstLine(reason);
      session.marker(line, "compaction", sourceTitle("compaction_failed", { reason: short }), reason);
      return SHOWN;
    }
    default:
      return undefined;
  }
}

/** Reads a line of another type that only this output has. `undefined`: it is none. */
export function readStreamLine(session: Session, line: Line, type: string): Disposition | undefined {
  const { value } = line;
  switch (type) {
    case "tool_use_summary":
      return noteOf(session, line, asText(value.summary), (text) =>
        claudeCodeTitle("summary_of_calls", { text }),
      );
    case "prompt_suggestion":
      return noteOf(session, line, asText(value.suggestion), (prompt) =>
        claudeCodeTitle("claude_suggested_prompt", { prompt }),
      );
    case "auth_status": {
      const error = asText(value.error);
      if (error === undefined) return { kind: "hidden", rule: "bookkeeping: auth_status" };
      return noteOf(session, line, error, (text) => claudeCodeTitle("sign_in_failed", { error: text }));
    }
    case "conversation_reset":
      session.marker(line, "compaction", sourceTitle("context_cleared"));
      return SHOWN;
    default:
      return undefined;
  }
}

/** Writes a note with this text. `titleOf` receives its first line. */
function noteOf(
  session: Session,
  line: Line,
  text: string | undefined,
  titleOf: (text: string) => DisplayText,
  body = text,
): Disposition {
  if (text === undefined || text === "") return { kind: "hidden", rule: "empty notice" };
  session.marker(line, "note", titleOf(firstLine(text)), body === "" ? undefined : body);
  return SHOWN;
}

/** Reads the end of a hook, in the names of a session file. */
function readHookResponse(session: Session, line: Line): Disposition {
  const { value } = line;
  const hook: JsonObject = {
    hookName: value.hook_name,
    hookEvent: value.hook_event,
    content: value.output,
    stdout: value.stdout,
    stderr: value.stderr,
  };
  if (value.outcome === "cancelled") return readHookFailure(session, line, hook, "hook_cancelled");
  if (value.outcome !== "error") return readHookOutput(session, line, hook);
  // A hook blocks with this code; with any other one it failed.
  const type = value.exit_code === 2 ? "hook_blocking_error" : "hook_non_blocking_error";
  return readHookFailure(session, line, hook, type);
}

function readDenial(session: Session, line: Line): Disposition {
  const { value } = line;
  const reason = asText(value.decision_reason) ?? asText(value.decision_reason_type);
  const title = claudeCodeTitle("permission_denied", {
    tool: asText(value.tool_name),
    reason: reason === undefined ? undefined : firstLine(reason),
  });
  session.marker(line, "note", title, asString(value.message), value);
  return SHOWN;
}

/** The facts of a `rate_limit_event` that a person should see; `undefined`: the limit is not near. */
export function rateLimitOf(line: Line): { about: string; title: DisplayText; info: JsonObject } | undefined {
  const info = asObject(line.value.rate_limit_info);
  const status = asText(info?.status);
  if (info === undefined || (status !== "rejected" && status !== "allowed_warning")) return undefined;
  const limit = asText(info.rateLimitType);
  const title = claudeCodeTitle(
    status === "rejected" ? "claude_rate_limit_reached" : "claude_rate_limit_near",
    { limit },
  );
  return { about: `rate limit ${status} ${limit} ${String(info.resetsAt)}`, title, info };
}
