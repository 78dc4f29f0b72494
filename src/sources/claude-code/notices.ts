import { asArray, asNumber, asObject, asString, asStrings, asText } from "../../model/narrow.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { withdraw } from "./assistant.ts";
import { endBackground } from "./background.ts";
import { addBlockedStop } from "./injected.ts";
import { keptLine, type Line, type Session } from "./session-types.ts";
import { readCommand, readWrapped } from "./wrapped.ts";
import { parseWrappers, stripAnsi } from "./wrappers.ts";

const SHOWN: Disposition = { kind: "shown" };

/** Subtypes of `system` lines that consist of their content. */
const NOTICES = new Set(["bridge_status", "informational", "model_change", "status"]);

/** Subtypes whose names carry no information. */
const NAMELESS = new Set(["informational", "status"]);

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
      return note(session, line, "Command", content);
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
      return readRetry(session, line);
    case "away_summary":
      session.marker(line, "note", `Recap: ${firstLine(content)}`, content);
      return SHOWN;
    case "error":
      return readError(session, line, content);
    case "api_refusal":
    case "model_refusal_fallback":
      return readRefusal(session, line, subtype, content);
    case "agents_killed":
      session.marker(line, "note", "The user stopped all background agents", content, value);
      return SHOWN;
    case "scheduled_task_fire": {
      session.addTimerNote(line);
      session.fired = {
        line: keptLine(line),
        title: `Scheduled: ${firstLine(content || "a timer fired")}`,
        text: content,
      };
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
    // Progress in the output of `claude -p --output-format stream-json`. The result and the notification of the call follow.
    case "thinking_tokens":
    case "task_started":
    case "task_progress":
    case "task_updated":
    case "background_tasks_changed":
      return { kind: "hidden", rule: `progress: ${subtype}` };
    case "session_start":
    case "init":
      return { kind: "hidden", rule: "session start" };
    case undefined:
      return readUntyped(session, line, content);
    default:
      if (content !== "" || NOTICES.has(subtype))
        return note(session, line, NAMELESS.has(subtype) ? "" : subtype.replaceAll("_", " "), content);
      return unknownNotice(session, line, subtype);
  }
}

function readMicroBoundary(session: Session, line: Line): Disposition {
  const { value } = line;
  const metadata = asObject(value.microcompactMetadata);
  const saved = asNumber(metadata?.tokensSaved);
  const title = `Old tool outputs dropped from the context${saved === undefined ? "" : `, ${count(saved)} tokens saved`}`;
  session.marker(line, "compaction", title, undefined, metadata);
  return SHOWN;
}

function readError(session: Session, line: Line, content: string): Disposition {
  const { value } = line;
  const error = asObject(value.error);
  const message = asText(error?.formatted) ?? asText(error?.message) ?? (content || "Error");
  session.push(line, {
    type: "error",
    part_id: session.recordPart(line).part_id,
    message,
    ...(value.error !== undefined && { data: value.error }),
  });
  return SHOWN;
}

function readRefusal(
  session: Session,
  line: Line,
  subtype: "api_refusal" | "model_refusal_fallback",
  content: string,
): Disposition {
  const { value } = line;
  const from = asString(value.originalModel);
  const to = asString(value.fallbackModel);
  const why = asText(value.apiRefusalExplanation) ?? content;
  if (subtype === "api_refusal") {
    session.endStep(line);
    session.turnFailed = true;
    session.marker(line, "error", `The model refused${why === "" ? "" : `: ${firstLine(why)}`}`, why, value);
  } else {
    const title = `The model refused: answered again${to === undefined ? "" : ` by ${to}`}${from === undefined ? "" : ` instead of ${from}`}`;
    session.marker(line, "model_switch", title, why, value);
  }
  withdraw(session, line, asStrings(value.retractedMessageUuids), "withdrawn: the model refused");
  return SHOWN;
}

/** Reads a line without a subtype. */
function readUntyped(session: Session, line: Line, content: string): Disposition {
  const { value } = line;
  if (content === "" && Object.keys(value).some((name) => !ENVELOPE.has(name)))
    return unknownNotice(session, line, "none");
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

function unknownNotice(session: Session, line: Line, subtype: string): Disposition {
  session.push(line, {
    type: "unknown",
    part_id: session.recordPart(line).part_id,
    raw: line.value,
    title: `System notice of type ${firstLine(subtype)}`,
  });
  return { kind: "unknown" };
}

function note(session: Session, line: Line, what: string, content: string): Disposition {
  if (content === "") return { kind: "hidden", rule: "empty notice" };
  const title = what === "" ? "" : `${firstLine(what.charAt(0).toUpperCase() + what.slice(1))}: `;
  session.marker(line, "note", `${title}${firstLine(content)}`, content);
  return SHOWN;
}

function count(tokens: number): string {
  // No `toLocaleString`: its first use costs as much as reading a megabyte.
  return String(tokens).replace(/\B(?=(\d{3})+$)/g, ",");
}

function readBoundary(session: Session, line: Line): Disposition {
  const metadata = asObject(line.value.compactMetadata);
  const tokens = asNumber(metadata?.preTokens);
  const after = asNumber(metadata?.postTokens);
  const how =
    metadata?.trigger === "manual" ? "by command" : metadata?.trigger === "auto" ? "automatically" : "";
  const size =
    tokens === undefined || tokens === 0
      ? ""
      : `, ${count(tokens)} tokens before${after === undefined ? "" : `, ${count(after)} after`}`;
  session.endStep(line);
  session.compact(line);
  session.marker(line, "compaction", `Conversation compacted ${how}`.trimEnd() + size, undefined, metadata);
  const frame = line.frames.at(-1);
  if (frame?.type === "marker") session.boundary = { frame: JSON.stringify(frame), place: line.place };
  return SHOWN;
}

function readRetry(session: Session, line: Line): Disposition {
  const { value } = line;
  const error = asObject(value.error);
  const cause = asObject(value.cause) ?? asObject(error?.cause) ?? asObject(error?.connection);
  const inner = asObject(asObject(error?.error)?.error);
  const status = asNumber(error?.status);
  const reason =
    asText(inner?.message) ?? asText(error?.formatted) ?? asText(error?.message) ?? asText(cause?.code);
  const attempt = asNumber(value.retryAttempt);
  const most = asNumber(value.maxRetries);
  const wait = asNumber(value.retryInMs);
  const title = [
    `API error${status === undefined || status === 0 ? "" : ` ${status}`}`,
    attempt === undefined || attempt === 0
      ? ""
      : `, retry ${attempt}${most === undefined ? "" : ` of ${most}`}`,
    wait === undefined || wait === 0 ? "" : ` in ${Math.max(1, Math.round(wait / 1000))} s`,
    reason === undefined ? "" : `: ${firstLine(reason)}`,
  ].join("");
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
  const title =
    value.preventedContinuation === true
      ? "A stop hook ended the turn"
      : failed === undefined
        ? "A stop hook said"
        : "A stop hook failed";
  session.marker(
    line,
    "hook",
    message === "" ? title : `${title}: ${firstLine(message)}`,
    message,
    value.hookInfos,
  );
  return SHOWN;
}
