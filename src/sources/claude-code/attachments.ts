import {
  asArray,
  asNumber,
  asObject,
  asString,
  asStrings,
  asText,
  type JsonObject,
} from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { readableText } from "./agent-messages.ts";
import { fieldsOf, renderedOf, textOf } from "./attachment-text.ts";
import { readHookContext, readHookFailure, readHookMessage, readHookOutput } from "./hooks.ts";
import { readMemories } from "./memories.ts";
import { pushUnknown } from "./session-parts.ts";
import type { Line, Session } from "./session-types.ts";
import { readQueued } from "./user.ts";
import { readMessages } from "./wrapped.ts";

const SHOWN: Disposition = { kind: "shown" };

/** Attachments for the agent's internal use only. */
const BOOKKEEPING = new Set([
  "agent_listing_delta",
  "bash_output_audience_note",
  "batching_reminder",
  "batching_reminder_sent",
  "budget_usd",
  "command_permissions",
  "compaction_reminder",
  "context_efficiency",
  "credential_org",
  "critical_system_reminder",
  "date",
  "date_change",
  "deferred_tools_delta",
  "deferred_tools_record",
  "dynamic_skill",
  "environment",
  "hook_plugin_listing",
  "inlined_image_paths",
  "invoked_skills",
  "mcp_dropped_tools_delta",
  "model",
  "output_style",
  "output_style_instructions",
  "output_token_usage",
  "prompt_snapshot",
  "remote_session_change",
  "secondary_reminder",
  "secondary_reminder_sent",
  "session_context",
  "silent_turn_reminder",
  "skill_listing",
  "task_reminder",
  "task_status",
  "thinking_drop",
  "thinking_stripped",
  "todo_reminder",
  "token_usage",
  "tool_search_usage_reminder",
  "total_tokens_reminder",
  "ultra_effort_enter",
  "ultra_effort_exit",
  "ultrathink_effort",
  "verify_plan_reminder",
  "workflow_keyword_request",
  "workflow_size_guideline_change",
]);

/** Attachments that are a file, and the titles of their markers. */
const FILES = {
  already_read_file: "file_attached",
  compact_file_reference: "read_before_compaction",
  directory: "folder_attached",
  edited_image_file: "changed_outside",
  edited_text_file: "changed_outside",
  file: "file_attached",
  mcp_resource: "file_attached",
  nested_memory: "memory_file",
  opened_file_in_ide: "from_editor",
  pdf_reference: "file_attached",
  plan_file_reference: "plan_kept",
  selected_lines_in_diff: "from_editor",
  selected_lines_in_ide: "from_editor",
} as const;

/** Reads `attachment` lines: queued prompts, hooks, files that were added to the context, and bookkeeping. */
export function readAttachment(session: Session, line: Line): Disposition {
  const attachment = asObject(line.value.attachment) ?? {};
  const type = asString(attachment.type) ?? "";
  if (BOOKKEEPING.has(type)) return { kind: "hidden", rule: `context bookkeeping: ${type}` };
  if (isFile(type)) return readFile(session, line, attachment, type);
  switch (type) {
    case "queued_command":
      return readQueued(session, line, attachment);
    case "hook_success":
      return readHookOutput(session, line, attachment);
    case "hook_additional_context":
      return readHookContext(session, line, attachment);
    case "hook_system_message":
      return readHookMessage(session, line, attachment);
    case "hook_blocking_error":
    case "hook_non_blocking_error":
    case "hook_error_during_execution":
    case "hook_stopped_continuation":
    case "hook_cancelled":
      return readHookFailure(session, line, attachment, type);
    case "async_hook_response":
      return readHookOutput(session, line, attachment);
    case "hook_permission_decision":
      return readHookOutput(session, line, { ...attachment, content: attachment.decision });
    case "relevant_memories":
      return readMemories(session, line, attachment);
    case "teammate_mailbox":
      return readMailbox(session, line, attachment);
    case "teammate_shutdown_batch":
      session.marker(
        line,
        "note",
        claudeCodeTitle("teammates_shut_down", { count: asNumber(attachment.count) ?? 1 }),
      );
      return SHOWN;
    case "max_turns_reached":
      session.marker(
        line,
        "note",
        claudeCodeTitle("max_turns_reached", { turns: asNumber(attachment.maxTurns) }),
      );
      return SHOWN;
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
    case "mcp_instructions_delta":
      return readMcpInstructions(session, line, attachment);
    case "diagnostics":
      return readDiagnostics(session, line, attachment);
    case "structured_output":
      return readStructuredOutput(session, line, attachment);
    case "goal_status":
      return readGoal(session, line, attachment);
    case "read_truncation_notice":
      return context(
        session,
        line,
        claudeCodeTitle("file_read_in_part"),
        textOf(attachment.banner),
        attachment,
      );
    default:
      return readOther(session, line, attachment, type);
  }
}

const isFile = (type: string): type is keyof typeof FILES => Object.hasOwn(FILES, type);

function readFile(
  session: Session,
  line: Line,
  attachment: JsonObject,
  type: keyof typeof FILES,
): Disposition {
  const name =
    asText(attachment.displayPath) ??
    asText(attachment.filename) ??
    asText(attachment.path) ??
    asText(attachment.planFilePath) ??
    asText(attachment.name) ??
    asText(attachment.uri);
  const content = attachment.snippet ?? attachment.planContent ?? attachment.content;
  const text = type === "compact_file_reference" ? "" : textOf(content);
  return context(session, line, claudeCodeTitle(FILES[type], { name }), text, attachment);
}

/** Reads an attachment with messages of teammates. */
function readMailbox(session: Session, line: Line, attachment: JsonObject): Disposition {
  const messages = asArray(attachment.messages).flatMap((item) => {
    const message = asObject(item);
    const text = asText(message?.text);
    return text === undefined
      ? []
      : [{ from: asText(message?.from) ?? "another agent", text: readableText(text) }];
  });
  if (messages.length === 0) return { kind: "hidden", rule: "empty message" };
  return readMessages(session, line, messages);
}

function readMcpInstructions(session: Session, line: Line, attachment: JsonObject): Disposition {
  const names = asStrings(attachment.addedNames);
  const removed = asStrings(attachment.removedNames);
  if (names.length === 0 && removed.length === 0)
    return { kind: "hidden", rule: "context bookkeeping: mcp_instructions_delta" };
  const title =
    names.length > 0
      ? claudeCodeTitle("mcp_instructions", { names: names.join(", ") })
      : claudeCodeTitle("mcp_instructions_removed", { names: removed.join(", ") });
  return context(session, line, title, textOf(attachment.addedBlocks) || renderedOf(line), attachment);
}

function readStructuredOutput(session: Session, line: Line, attachment: JsonObject): Disposition {
  const call = session.callNamed(asString(attachment.toolUseID) ?? "");
  if (call === undefined) return context(session, line, claudeCodeTitle("structured_output"), "", attachment);
  session.finalStep = session.lastStep;
  const metadata = { structured_output: attachment.data ?? null };
  session.push(line, { type: "task.metadata", tool_call_id: call.id, metadata });
  return { kind: "folded", into: `the call ${call.id}` };
}

function readGoal(session: Session, line: Line, attachment: JsonObject): Disposition {
  const state =
    attachment.met === true ? "goal_met" : attachment.sentinel === true ? "goal_set" : "goal_not_met";
  const goal = asText(attachment.condition);
  const title = claudeCodeTitle(state, { goal: goal === undefined ? undefined : firstLine(goal) });
  session.marker(line, "note", title, [goal, asText(attachment.reason)].filter(Boolean).join("\n\n"));
  return SHOWN;
}

/** Reads an unknown type of a later version: its text for the model can still be shown. */
function readOther(session: Session, line: Line, attachment: JsonObject, type: string): Disposition {
  const text = type === "" ? "" : textOf(attachment) || renderedOf(line) || fieldsOf(attachment);
  if (text !== "") {
    const name = firstLine(type.replaceAll("_", " "));
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${firstLine(text)}`;
    session.marker(line, "context", title, text, attachment);
    return SHOWN;
  }
  const unknown = claudeCodeTitle("attachment_of_type", { type: firstLine(type) || undefined });
  return pushUnknown(session, line, attachment, unknown);
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
  const title = claudeCodeTitle(`${mode}_mode_${isOn ? "on" : "off"}`);
  session.marker(line, "context", title, renderedOf(line) || file, attachment);
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
  session.marker(
    line,
    "context",
    claudeCodeTitle("diagnostics", { first: firstLine(lines[0] ?? ""), more: lines.length - 1 }),
    lines.join("\n"),
    attachment,
  );
  return SHOWN;
}

function context(
  session: Session,
  line: Line,
  title: CodedText,
  text: string,
  attachment: JsonObject,
): Disposition {
  session.marker(line, "context", shortTitle(title), text, text === "" ? attachment : undefined);
  return SHOWN;
}

/** Shortens a title, and the names in it, to one line. */
function shortTitle({ text, code, params = {} }: CodedText): CodedText {
  const short = Object.entries(params).map(
    ([name, value]) => [name, typeof value === "string" ? firstLine(value) : value] as const,
  );
  return { text: firstLine(text), code, ...(short.length > 0 && { params: Object.fromEntries(short) }) };
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
    names.length > 0
      ? claudeCodeTitle("instruction_files", { names: names.join(", ") })
      : claudeCodeTitle("instruction_files_removed", { names: removed.join(", ") });
  const text = [
    ...files.map((file, index) => `${names[index]}\n\n${textOf(file.content)}`),
    ...removed.map((name) => `Removed: ${name}`),
  ].join("\n\n");
  return context(session, line, title, text, attachment);
}
