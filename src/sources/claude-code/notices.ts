import { asArray, asNumber, asObject, asString, asStrings, asText } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { foldTitle } from "../../model/text/fold-titles.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { messageFields } from "../../model/text/titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { withdraw } from "./assistant.ts";
import { endBackground } from "./background.ts";
import { addBlockedStop } from "./injected.ts";
import { pushUnknown } from "./session-parts.ts";
import { keptLine, type Line, type Session } from "./session-types.ts";
import { readStreamNotice } from "./stream-notices.ts";
import { readCommand, readWrapped } from "./wrapped.ts";
import { parseWrappers, stripAnsi } from "./wrappers.ts";

const SHOWN: Disposition = { kind: "shown" };

/** Subtypes of `system` lines that consist of their content. */
const NOTICES = new Set(["bridge_status", "informational", "model_change", "status"]);

/** Fields that every line has. A line without other fields is empty. */
const ENVELOPE = new Set([
  "content",
  "cwd",
  "entrypoint",
  "gitBranch",
  "isMeta",
  "isSidechain",
  "level",
  "parentUuid",
  "promptId",
  "sessionId",
  "session_id",
  "slug",
  "timestamp",
  "toolUseID",
  "type",
  "userType",
  "uuid",
  "version",
]);

/** Reads `system` lines by subtype. */
export function readSystem(session: Session, line: Line): Disposition {
  const { value } = line;
  const subtype = asString(value.subtype);
  const content = stripAnsi(asString(value.content) ?? "").trim();
  switch (subtype) {
    case "local_command": {
      const elements = parseWrappers(asString(value.content) ?? "");
      if (elements !== undefined) return readWrapped(session, line, elements);
      if (content.startsWith("/")) {
        const [name = content, ...args] = content.split(" ");
        return readCommand(session, line, name, args.join(" "));
      }
      return note(session, line, claudeCodeTitle("command_note", { text: firstLine(content) }), content);
    }
    case "turn_duration":
      session.endTurn(line, session.turnFailed ? "failed" : "completed");
      return { kind: "folded", into: "the end of the turn" };
    case "stop_hook_summary":
      return readStopHooks(session, line);
    case "compact_boundary":
      return readBoundary(session, line);
    case "microcompact_boundary":
      return readMicroBoundary(session, line);
    case "api_error":
    case "api_retry":
      return readRetry(session, line);
    case "away_summary":
      session.marker(line, "note", claudeCodeTitle("recap", { text: firstLine(content) }), content);
      return SHOWN;
    case "error":
      return readError(session, line, content);
    case "api_refusal":
    case "model_refusal_fallback":
    case "model_refusal_no_fallback":
      return readRefusal(session, line, content);
    case "agents_killed":
      session.marker(line, "note", claudeCodeTitle("background_agents_stopped"), content, value);
      return SHOWN;
    case "scheduled_task_fire": {
      session.addTimerNote(line);
      session.fired = { line: keptLine(line), text: content };
      return { kind: "folded", into: "the scheduled prompt" };
    }
    case "task_notification":
      endBackground(session, line, {
        tool_call_id: asText(value.tool_use_id),
        key: asText(value.task_id),
        summary: asText(value.summary) ?? "",
        status: asText(value.status),
        result: undefined,
      });
      return { kind: "folded", into: "the end of a background run" };
    case "api_metrics":
    case "file_snapshot":
      return { kind: "hidden", rule: `bookkeeping: ${subtype}` };
    case "session_start":
    case "init":
      return { kind: "hidden", rule: "session start" };
    case undefined:
      return readUntyped(session, line, content);
    default: {
      const streamed = readStreamNotice(session, line, subtype);
      if (streamed !== undefined) return streamed;
      if (content !== "" || NOTICES.has(subtype))
        return note(session, line, noticeTitle(subtype, firstLine(content)), content);
      return unknownNotice(session, line, subtype);
    }
  }
}

function readMicroBoundary(session: Session, line: Line): Disposition {
  const { value } = line;
  const metadata = asObject(value.microcompactMetadata);
  const saved = asNumber(metadata?.tokensSaved);
  session.marker(line, "compaction", claudeCodeTitle("old_outputs_dropped", { saved }), undefined, metadata);
  return SHOWN;
}

function readError(session: Session, line: Line, content: string): Disposition {
  const { value } = line;
  const error = asObject(value.error);
  const message = asText(error?.formatted) ?? asText(error?.message) ?? (content || foldTitle("error"));
  session.push(line, {
    type: "error",
    part_id: session.recordPart(line).part_id,
    ...messageFields(message),
    ...(value.error !== undefined && { data: value.error }),
  });
  return SHOWN;
}

/** Reads a refusal. The output of `claude -p` has other names for its members. */
function readRefusal(session: Session, line: Line, content: string): Disposition {
  const { value } = line;
  const from = asString(value.originalModel ?? value.original_model);
  const to = asString(value.fallbackModel ?? value.fallback_model);
  const why = asText(value.apiRefusalExplanation) ?? asText(value.api_refusal_explanation) ?? content;
  if (value.subtype !== "model_refusal_fallback") {
    session.endStep(line);
    session.turnFailed = true;
    const reason = why === "" ? undefined : firstLine(why);
    session.marker(line, "error", claudeCodeTitle("model_refused", { reason }), why, value);
  } else {
    const title = claudeCodeTitle("refusal_answered_again", { from, to });
    session.marker(line, "model_switch", title, why, value);
  }
  const retracted = asStrings(value.retractedMessageUuids ?? value.retracted_message_uuids);
  withdraw(session, line, retracted, retractionReason("retracted_by_refusal"));
  return SHOWN;
}

/** Reads a line without a subtype. */
function readUntyped(session: Session, line: Line, content: string): Disposition {
  const { value } = line;
  if (content === "" && Object.keys(value).some((name) => !ENVELOPE.has(name)))
    return unknownNotice(session, line, undefined);
  if (content === "") return { kind: "hidden", rule: "empty notice" };
  // The outcome follows in a separate line.
  if (asString(value.toolUseID) !== undefined && /^Running \S.*\.\.\.$/.test(content)) {
    return { kind: "hidden", rule: "hook begins" };
  }
  session.marker(
    line,
    asString(value.toolUseID) === undefined ? "note" : "hook",
    firstLine(content),
    content,
  );
  return SHOWN;
}

function unknownNotice(session: Session, line: Line, subtype: string | undefined): Disposition {
  const type = subtype === undefined ? undefined : firstLine(subtype);
  return pushUnknown(session, line, line.value, claudeCodeTitle("notice_of_type", { type }));
}

function note(session: Session, line: Line, title: DisplayText, content: string): Disposition {
  if (content === "") return { kind: "hidden", rule: "empty notice" };
  session.marker(line, "note", title, content);
  return SHOWN;
}

/** The title of a notice that consists of its content. `text`: its first line. */
function noticeTitle(subtype: string, text: string): DisplayText {
  switch (subtype) {
    // Their names carry no information.
    case "":
    case "informational":
    case "status":
      return text;
    case "bridge_status":
    case "model_change":
      return claudeCodeTitle(subtype, { text });
    default: {
      const name = subtype.replaceAll("_", " ");
      return `${firstLine(name.charAt(0).toUpperCase() + name.slice(1))}: ${text}`;
    }
  }
}

function readBoundary(session: Session, line: Line): Disposition {
  const metadata = asObject(line.value.compactMetadata ?? line.value.compact_metadata);
  const trigger = asString(metadata?.trigger);
  const before = asNumber(metadata?.preTokens ?? metadata?.pre_tokens) || undefined;
  const now = asNumber(metadata?.postTokens ?? metadata?.post_tokens);
  session.endStep(line);
  session.compact(line);
  session.marker(
    line,
    "compaction",
    claudeCodeTitle("compacted_by", { trigger, before, now }),
    undefined,
    metadata,
  );
  const frame = line.frames.at(-1);
  if (frame?.type === "marker") session.boundary = { frame: JSON.stringify(frame), place: line.place };
  return SHOWN;
}

/** Reads a failed attempt. The output of `claude -p` has other names for its members. */
function readRetry(session: Session, line: Line): Disposition {
  const { value } = line;
  const error = asObject(value.error);
  const cause = asObject(value.cause) ?? asObject(error?.cause) ?? asObject(error?.connection);
  const inner = asObject(asObject(error?.error)?.error);
  const reason =
    asText(inner?.message) ??
    asText(error?.formatted) ??
    asText(error?.message) ??
    asText(cause?.code) ??
    asText(value.error);
  const wait = asNumber(value.retryInMs ?? value.retry_delay_ms) || undefined;
  const title = claudeCodeTitle("api_retry", {
    status: asNumber(error?.status ?? value.error_status) || undefined,
    attempt: asNumber(value.retryAttempt ?? value.attempt) || undefined,
    most: asNumber(value.maxRetries ?? value.max_retries),
    seconds: wait === undefined ? undefined : Math.max(1, Math.round(wait / 1000)),
    reason: reason === undefined ? undefined : firstLine(reason),
  });
  session.marker(line, "retry", title, reason, { error: value.error ?? null, cause: value.cause ?? null });
  return SHOWN;
}

function readStopHooks(session: Session, line: Line): Disposition {
  const { value } = line;
  const errors = asArray(value.hookErrors).map((error) => asString(error) ?? JSON.stringify(error));
  if (errors.length === 0 && value.preventedContinuation !== true) {
    session.endTurn(line, session.turnFailed ? "failed" : "completed");
    return { kind: "folded", into: "the end of the turn" };
  }
  const why = asText(value.stopReason);
  const failed = Array.isArray(value.failedHookErrorIndexes) ? value.failedHookErrorIndexes : undefined;
  // A hook that keeps the agent from stopping writes its reason to the field in which a failed hook writes its error.
  const failures = errors.filter((error, index) => {
    const isBlock =
      failed === undefined ? session.blockedStop?.includes(error) === true : !failed.includes(index);
    return !isBlock || (failed !== undefined && session.blockedStop?.includes(error) !== true);
  });
  if (errors.length > 0 && failures.length === 0 && value.preventedContinuation !== true)
    return { kind: "folded", into: "the message of the stop hook" };
  if (failed?.length === 0 && value.preventedContinuation !== true) {
    const blocked = failures.map((error) => addBlockedStop(session, line, error));
    return blocked.includes(true) ? SHOWN : { kind: "folded", into: "the message of the stop hook" };
  }
  const message = failures.length > 0 ? failures.join("\n") : (why ?? "");
  const code =
    value.preventedContinuation === true
      ? "stop_hook_ended_turn"
      : failed === undefined
        ? "stop_hook_said"
        : "stop_hook_failed";
  const title = claudeCodeTitle(code, { message: message === "" ? undefined : firstLine(message) });
  session.marker(line, "hook", title, message, value.hookInfos);
  return SHOWN;
}
