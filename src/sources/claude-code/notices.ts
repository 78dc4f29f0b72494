import {
  asArray,
  asNumber,
  asObject,
  asString,
  asStrings,
  asText,
  type JsonObject,
} from "../../model/narrow.ts";
import { copyOf } from "../../model/progress.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { parseObject } from "../lines/parse-object.ts";
import { withdraw } from "./assistant.ts";
import { endBackground, startOf } from "./background.ts";
import { blocksOf, resultContent } from "./content.ts";
import { keptLine, type Line, type Session } from "./session-types.ts";
import { readCommand, readQueued, readWrapped, tellBlockedStop } from "./user.ts";
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
    case "microcompact_boundary": {
      const metadata = asObject(value.microcompactMetadata);
      const saved = asNumber(metadata?.tokensSaved);
      const title = `Old tool outputs dropped from the context${saved === undefined ? "" : `, ${count(saved)} tokens saved`}`;
      session.marker(line, "compaction", title, undefined, metadata);
      return SHOWN;
    }
    case "api_error":
      return readRetry(session, line);
    case "away_summary":
      session.marker(line, "note", `Recap: ${firstLine(content)}`, content);
      return SHOWN;
    case "error": {
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
    case "api_refusal":
    case "model_refusal_fallback": {
      const from = asString(value.originalModel);
      const to = asString(value.fallbackModel);
      const why = asText(value.apiRefusalExplanation) ?? content;
      if (subtype === "api_refusal") {
        session.endStep(line);
        session.turnFailed = true;
        session.marker(
          line,
          "error",
          `The model refused${why === "" ? "" : `: ${firstLine(why)}`}`,
          why,
          value,
        );
      } else {
        const title = `The model refused: answered again${to === undefined ? "" : ` by ${to}`}${from === undefined ? "" : ` instead of ${from}`}`;
        session.marker(line, "model_switch", title, why, value);
      }
      withdraw(session, line, asStrings(value.retractedMessageUuids), "withdrawn: the model refused");
      return SHOWN;
    }
    case "agents_killed":
      session.marker(line, "note", "The user stopped all background agents", content, value);
      return SHOWN;
    case "scheduled_task_fire": {
      session.tellFired(line);
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
    default:
      if (content !== "" || NOTICES.has(subtype))
        return note(session, line, NAMELESS.has(subtype) ? "" : subtype.replaceAll("_", " "), content);
      return unknownNotice(session, line, subtype);
  }
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
  const untold = errors.filter((error, index) => {
    const isBlock =
      failed === undefined ? session.blockedStop?.includes(error) === true : !failed.includes(index);
    return !isBlock || (failed !== undefined && session.blockedStop?.includes(error) !== true);
  });
  if (errors.length > 0 && untold.length === 0 && value.preventedContinuation !== true)
    return { kind: "folded", into: "what the stop hook said" };
  if (failed?.length === 0 && value.preventedContinuation !== true) {
    const told = untold.map((error) => tellBlockedStop(session, line, error));
    return told.includes(true) ? SHOWN : { kind: "folded", into: "what the stop hook said" };
  }
  const said = untold.length > 0 ? untold.join("\n") : (why ?? "");
  const title =
    value.preventedContinuation === true
      ? "A stop hook ended the turn"
      : failed === undefined
        ? "A stop hook said"
        : "A stop hook failed";
  session.marker(line, "hook", said === "" ? title : `${title}: ${firstLine(said)}`, said, value.hookInfos);
  return SHOWN;
}

// --- Attachments ----------------------------------------------------------------------------------------------------

/** Attachments for the agent's internal use only. */
const BOOKKEEPING = new Set([
  "agent_listing_delta",
  "bash_output_audience_note",
  "batching_reminder_sent",
  "budget_usd",
  "command_permissions",
  "credential_org",
  "critical_system_reminder",
  "date",
  "date_change",
  "deferred_tools_delta",
  "deferred_tools_record",
  "dynamic_skill",
  "environment",
  "invoked_skills",
  "model",
  "output_style",
  "output_style_instructions",
  "prompt_snapshot",
  "remote_session_change",
  "session_context",
  "silent_turn_reminder",
  "skill_listing",
  "task_reminder",
  "task_status",
  "thinking_drop",
  "thinking_stripped",
  "todo_reminder",
  "token_usage",
  "total_tokens_reminder",
  "ultra_effort_enter",
  "ultra_effort_exit",
  "ultrathink_effort",
  "verify_plan_reminder",
  "workflow_size_guideline_change",
]);

/** Reads `attachment` lines: queued prompts, hooks, files that were added to the context, and bookkeeping. */
export function readAttachment(session: Session, line: Line): Disposition {
  const attachment = asObject(line.value.attachment) ?? {};
  const type = asString(attachment.type) ?? "";
  if (BOOKKEEPING.has(type)) return { kind: "hidden", rule: `context bookkeeping: ${type}` };
  const name =
    asText(attachment.displayPath) ??
    asText(attachment.filename) ??
    asText(attachment.path) ??
    (type === "directory" ? "a folder" : "a file");
  switch (type) {
    case "queued_command":
      return readQueued(session, line, attachment);
    case "hook_success": {
      const said = textOf(attachment.content) || textOf(attachment.stdout) || textOf(attachment.stderr);
      const content = stripAnsi(said);
      const name = hookName(attachment) ?? "Hook";
      const json = content.startsWith("{") ? parseObject(content) : undefined;
      if (json !== undefined) return readHookJson(session, line, attachment, name, json, content);
      if (content === "") return { kind: "hidden", rule: "hook without output" };
      session.marker(line, "hook", `${name}: ${firstLine(content)}`, content, attachment);
      return SHOWN;
    }
    case "hook_additional_context": {
      const content = textOf(attachment.content);
      if (content === "") return { kind: "hidden", rule: "hook without output" };
      session.marker(
        line,
        "context",
        `Context from ${hookName(attachment)?.replace(/^H/, "h") ?? "a hook"}: ${firstLine(content)}`,
        content,
      );
      return SHOWN;
    }
    case "hook_system_message": {
      const content = stripAnsi(textOf(attachment.content));
      if (content === "") return { kind: "hidden", rule: "hook without output" };
      const name = hookName(attachment) ?? "Hook";
      const isTold = session.hookSaid === `${name}: ${content}`;
      session.hookSaid = undefined;
      if (isTold) return { kind: "folded", into: "what its hook said" };
      session.marker(line, "hook", `${name}: ${firstLine(content)}`, content, attachment);
      return SHOWN;
    }
    case "hook_blocking_error":
    case "hook_non_blocking_error":
    case "hook_error_during_execution":
    case "hook_stopped_continuation":
    case "hook_cancelled": {
      const said =
        asText(asObject(attachment.blockingError)?.blockingError) ??
        asText(attachment.stderr) ??
        asText(attachment.stdout) ??
        asText(attachment.message) ??
        textOf(attachment.content);
      if (type === "hook_blocking_error" && /^(?:Subagent)?Stop$/.test(asText(attachment.hookEvent) ?? "")) {
        return tellBlockedStop(session, line, stripAnsi(said).trim())
          ? SHOWN
          : { kind: "folded", into: "what the stop hook said" };
      }
      const title = `${hookName(attachment) ?? "A hook"} ${HOOK_DID[type]}${said === "" ? "" : `: ${firstLine(stripAnsi(said))}`}`;
      session.marker(line, "hook", title, stripAnsi(said), attachment);
      return SHOWN;
    }
    case "file":
    case "directory":
      return context(session, line, `Attached ${name}`, textOf(attachment.content), attachment);
    case "edited_text_file":
      return context(
        session,
        line,
        `Changed outside of the agent: ${name}`,
        textOf(attachment.snippet),
        attachment,
      );
    case "compact_file_reference":
      return context(session, line, `Read before the compaction: ${name}`, "", attachment);
    case "selected_lines_in_ide":
    case "opened_file_in_ide":
      return context(session, line, `From the editor: ${name}`, textOf(attachment.content), attachment);
    case "nested_memory":
      return context(session, line, `Memory: ${name}`, textOf(attachment.content), attachment);
    case "instructions":
      return readInstructions(session, line, attachment);
    case "plan_mode":
    case "plan_mode_reentry":
      return readMode(session, line, attachment, "plan", true);
    case "plan_mode_exit":
      return readMode(session, line, attachment, "plan", false);
    case "auto_mode":
      return readMode(session, line, attachment, "auto", true);
    case "auto_mode_exit":
      return readMode(session, line, attachment, "auto", false);
    case "mcp_instructions_delta": {
      const names = asStrings(attachment.addedNames);
      const removed = asStrings(attachment.removedNames);
      if (names.length === 0 && removed.length === 0)
        return { kind: "hidden", rule: "context bookkeeping: mcp_instructions_delta" };
      const title =
        names.length > 0
          ? `MCP instructions: ${names.join(", ")}`
          : `MCP instructions removed: ${removed.join(", ")}`;
      return context(session, line, title, textOf(attachment.addedBlocks) || renderedOf(line), attachment);
    }
    case "diagnostics":
      return readDiagnostics(session, line, attachment);
    case "structured_output": {
      const call = session.callNamed(asString(attachment.toolUseID) ?? "");
      if (call === undefined) return context(session, line, "Structured output", "", attachment);
      session.finalStep = session.lastStep;
      const metadata = { structured_output: attachment.data ?? null };
      session.push(line, { type: "task.metadata", tool_call_id: call.id, metadata });
      return { kind: "folded", into: `the call ${call.id}` };
    }
    case "goal_status": {
      const state =
        attachment.met === true ? "Goal met" : attachment.sentinel === true ? "Goal set" : "Goal not met yet";
      const goal = asText(attachment.condition);
      const title = goal === undefined ? state : `${state}: ${firstLine(goal)}`;
      session.marker(line, "note", title, [goal, asText(attachment.reason)].filter(Boolean).join("\n\n"));
      return SHOWN;
    }
    case "read_truncation_notice":
      return context(session, line, "A file was read in part", textOf(attachment.banner), attachment);
    default: {
      // Unknown types of later versions: their text for the model can still be shown.
      const said = type === "" ? "" : textOf(attachment) || renderedOf(line) || fieldsOf(attachment);
      if (said !== "") {
        const name = firstLine(type.replaceAll("_", " "));
        const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${firstLine(said)}`;
        session.marker(line, "context", title, said, attachment);
        return SHOWN;
      }
      session.push(line, {
        type: "unknown",
        part_id: session.recordPart(line).part_id,
        raw: attachment,
        title: `Attachment of type ${firstLine(type) || "unknown"}`,
      });
      return { kind: "unknown" };
    }
  }
}

/** The text of an attachment in the request, without the tags around it. */
function renderedOf(line: Line): string {
  return asArray(line.value.rendered)
    .map((piece) => textOf(piece).replace(/^<system-reminder>\n?|\n?<\/system-reminder>$/g, ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** The scalar fields of an attachment, one per line. */
function fieldsOf(attachment: JsonObject): string {
  return Object.entries(attachment)
    .filter(([name, value]) => name !== "type" && typeof value === "string" && value.trim() !== "")
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n");
}

/** Reads reminders of plan and auto mode, which are repeated to the model. */
function readMode(
  session: Session,
  line: Line,
  attachment: JsonObject,
  mode: "plan" | "auto",
  isOn: boolean,
): Disposition {
  const known = session.modes.indexOf(mode);
  if (isOn && known !== -1) return { kind: "hidden", rule: `context bookkeeping: ${mode} mode again` };
  if (isOn) session.modes.push(mode);
  else if (known !== -1) session.modes.splice(known, 1);
  const file = asText(attachment.planFilePath);
  const name = `${mode.charAt(0).toUpperCase()}${mode.slice(1)} mode`;
  session.marker(line, "context", `${name} ${isOn ? "on" : "off"}`, renderedOf(line) || file, attachment);
  return SHOWN;
}

/** Reads diagnostics of a language server for files that the agent changed. */
function readDiagnostics(session: Session, line: Line, attachment: JsonObject): Disposition {
  const lines: string[] = [];
  for (const item of asArray(attachment.files)) {
    const file = asObject(item);
    const path = (asText(file?.uri) ?? asText(file?.path) ?? "a file").replace(/^file:\/\//, "");
    for (const each of asArray(file?.diagnostics)) {
      const found = asObject(each);
      const start = asObject(asObject(found?.range)?.start);
      const row = asNumber(start?.line);
      const column = asNumber(start?.character);
      const place = row === undefined ? "" : `:${row + 1}${column === undefined ? "" : `:${column + 1}`}`;
      const code = found?.code === undefined || found.code === null ? "" : ` ${String(found.code)}`;
      const source = asText(found?.source);
      const by = source === undefined && code === "" ? "" : ` [${`${source ?? ""}${code}`.trim()}]`;
      lines.push(
        `${path}${place} ${asText(found?.severity) ?? "Problem"}: ${asText(found?.message) ?? ""}${by}`,
      );
    }
  }
  if (lines.length === 0) return { kind: "hidden", rule: "diagnostics without a finding" };
  const more = lines.length > 1 ? ` and ${lines.length - 1} more` : "";
  session.marker(
    line,
    "context",
    `Diagnostics: ${firstLine(lines[0] ?? "")}${more}`,
    lines.join("\n"),
    attachment,
  );
  return SHOWN;
}

function context(
  session: Session,
  line: Line,
  title: string,
  text: string,
  attachment: JsonObject,
): Disposition {
  session.marker(line, "context", firstLine(title), text, text === "" ? attachment : undefined);
  return SHOWN;
}

/** Reads instruction files that are added to the context: all of them at first, later the changed ones. */
function readInstructions(session: Session, line: Line, attachment: JsonObject): Disposition {
  const files = asArray(attachment.files)
    .map(asObject)
    .filter((file) => file !== undefined);
  const names = files.map((file) => asText(file.path) ?? "a file");
  const removed = asStrings(attachment.removed);
  if (names.length === 0 && removed.length === 0)
    return { kind: "hidden", rule: "context bookkeeping: instructions" };
  const title =
    names.length > 0 ? `Instructions: ${names.join(", ")}` : `Instructions removed: ${removed.join(", ")}`;
  const text = [
    ...files.map((file, index) => `${names[index]}\n\n${textOf(file.content)}`),
    ...removed.map((name) => `Removed: ${name}`),
  ].join("\n\n");
  return context(session, line, title, text, attachment);
}

/** Reads the JSON output of a hook. Messages for people are shown here; context for the model has a record of its own. */
function readHookJson(
  session: Session,
  line: Line,
  attachment: JsonObject,
  name: string,
  json: JsonObject,
  content: string,
): Disposition {
  const { continue: _, suppressOutput: __, hookSpecificOutput, ...told } = json;
  const { hookEventName: ___, additionalContext, ...specific } = asObject(hookSpecificOutput) ?? {};
  const said = [told.systemMessage, told.reason, told.stopReason, specific.permissionDecisionReason];
  const text = said.flatMap((words) => asText(words) ?? []).join("\n");
  const message = asText(told.systemMessage);
  session.hookSaid = message === undefined ? undefined : `${name}: ${stripAnsi(message).trim()}`;
  if (text !== "") session.marker(line, "hook", `${name}: ${firstLine(text)}`, text, attachment);
  else if (Object.keys(told).length > 0 || Object.keys(specific).length > 0) {
    session.marker(line, "hook", `${name}: ${firstLine(content)}`, content, attachment);
  } else if (asText(additionalContext) !== undefined) {
    session.marker(line, "hook", `${name} added context`, undefined, attachment);
  } else return { kind: "hidden", rule: "hook without output" };
  return SHOWN;
}

const HOOK_DID = {
  hook_blocking_error: "blocked this",
  hook_cancelled: "was cancelled",
  hook_error_during_execution: "failed",
  hook_non_blocking_error: "failed",
  hook_stopped_continuation: "ended the turn",
};

/** `Hook Stop`; `undefined`: it has no name. */
function hookName(attachment: JsonObject): string | undefined {
  const name = asText(attachment.hookName) ?? asText(attachment.hookEvent);
  return name === undefined ? undefined : `Hook ${firstLine(name)}`;
}

/** The text in an attachment's content: a string, a list of strings, or a file's content nested two levels deep. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value.trim();
  if (Array.isArray(value))
    return value
      .map(textOf)
      .filter((text) => text !== "")
      .join("\n");
  const inner = asObject(value);
  if (inner === undefined) return "";
  return textOf(asObject(inner.file)?.content ?? inner.content ?? inner.text);
}

// --- Progress -------------------------------------------------------------------------------------------------------

/** Maximum length of a run's call or result in its parent's card. */
const MAX_REPEATED = 400;

/**
 * A short description of a run's activity for its parent's card. Until 2.1.80 the run's messages are also in the parent's file.
 */
function runProgress(data: JsonObject | undefined): string {
  const message = asObject(asObject(data?.message)?.message);
  const said = blocksOf(message?.content ?? []).map((block) => {
    switch (block.type) {
      case "text":
        // The call already contains the task.
        return message?.role === "assistant" ? (asString(block.text) ?? "").trim() : "";
      case "tool_use":
        return `▸ ${asString(block.name) ?? ""} ${clip(JSON.stringify(block.input ?? {}))}`;
      case "tool_result":
        return clip(resultContent(block.content).output_text.trim()).replaceAll(/^/gm, "  ");
      default:
        return "";
    }
  });
  return said.flatMap((piece) => (piece.trim() === "" ? [] : [`${piece}\n`])).join("");
}

function clip(text: string): string {
  return text.length > MAX_REPEATED ? `${text.slice(0, MAX_REPEATED).toWellFormed()}…` : text;
}

/** Reads `progress` lines: the live state of a running call, or the id of the run that it started. */
export function readProgress(session: Session, line: Line): Disposition {
  const data = asObject(line.value.data);
  const type = asString(data?.type) ?? "progress";
  const id = asString(line.value.parentToolUseID) ?? asString(line.value.toolUseID);
  const call = id === undefined ? undefined : session.callNamed(id);
  if (id === undefined || call === undefined) return { kind: "hidden", rule: `progress: ${type}` };
  let fresh: string;
  switch (type) {
    case "agent_progress": {
      const agent_key = asText(data?.agentId);
      const fact = startOf(session, call.id);
      if (fact !== undefined && agent_key !== undefined) fact.agent_key ??= agent_key;
      const said = runProgress(data);
      if (said === "") return { kind: "hidden", rule: "progress: agent_progress" };
      fresh = said;
      break;
    }
    case "bash_progress": {
      const output = asString(data?.fullOutput) ?? asString(data?.output) ?? "";
      fresh = output.startsWith(call.progress) ? copyOf(output.slice(call.progress.length)) : "";
      break;
    }
    case "query_update":
      fresh = `Searching: ${asString(data?.query) ?? ""}\n`;
      break;
    case "search_results_received":
      fresh = `${asNumber(data?.resultCount) ?? 0} results: ${asString(data?.query) ?? ""}\n`;
      break;
    default:
      return { kind: "hidden", rule: `progress: ${type}` };
  }
  if (fresh !== "" && call.result === undefined) {
    session.push(line, {
      type: "message.tool_progress",
      tool_call_id: call.id,
      text: fresh,
      offset: call.progress.length,
    });
    call.progress += fresh;
  }
  return { kind: "folded", into: `the live output of ${id}` };
}
