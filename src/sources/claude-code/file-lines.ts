import { asNumber, asObject, asString, asStrings, asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { messageFields } from "../../model/text/titles.ts";
import type { Disposition } from "../contract.ts";
import { fingerprint } from "../fingerprint.ts";
import { readAssistant } from "./assistant.ts";
import { readAttachment } from "./attachments.ts";
import { BOOKKEEPING } from "./bookkeeping.ts";
import { begin, readCost, readPermissionMode, readTitle, TITLES, updateSession } from "./file-facts.ts";
import { asSessionId } from "./file-state.ts";
import { answersInherited, hidingRuleOf, sessionOf } from "./inline-runs.ts";
import { readSystem } from "./notices.ts";
import type { OpenFile } from "./open-file.ts";
import { readProgress } from "./progress.ts";
import { pushUnknown } from "./session-parts.ts";
import type { Line, Session } from "./session-types.ts";
import { rateLimitOf, readStreamLine } from "./stream-notices.ts";
import { isInterrupt, readUser } from "./user.ts";

/** Types of lines that say what happened to a conversation. */
const NO_CONVERSATION = new Set(["continued-in", "ended-by-model", "marble-origami-commit"]);

/** Reads a line into frames, by its type. */
export function readLine(file: OpenFile, line: Line): Disposition {
  const { main, state } = file;
  const { value, uuid } = line;
  const type = asString(value.type);
  const title = type === undefined ? -1 : TITLES.indexOf(type);
  if (title !== -1) return readTitle(file, line, title);
  if (type === "queue-operation") return readQueueOperation(file, line);
  if (type === "cost-state") return readCost(file, line);
  if (type === "stream_event") return readStreamEvent(file, line);
  if (type === "permission-mode") return readPermissionMode(file, main, line, asText(value.permissionMode));
  if (type === "fork-context-ref") {
    state.copies.begins();
    return { kind: "hidden", rule: "bookkeeping: fork-context-ref" };
  }
  if (type !== undefined && BOOKKEEPING.has(type)) return { kind: "hidden", rule: `bookkeeping: ${type}` };
  if (type === "relocated") return readRelocated(file, line);
  // The output of `claude -p` ends with a `result` line. A workflow's journal has such lines too.
  if (type === "result") return readResult(file, line);

  // A file that only says where the conversation continues contains no conversation.
  if (type !== undefined && NO_CONVERSATION.has(type) && !main.begun)
    return { kind: "hidden", rule: `bookkeeping: ${type}` };

  if (uuid !== undefined) line.print = file.printOf(uuid);
  const session = sessionOf(file, line);
  if (uuid !== undefined) {
    recordParent(file, session, line);
    if (isRepeated(file, line, uuid, type)) return { kind: "folded", into: "the same line before it" };
  }
  const rule = hidingRuleOf(session, line, type);
  if (rule !== undefined) return { kind: "hidden", rule };
  const inherited = session === main && state.copies.has(line, file.isOwn);
  // The parent's file shows the run's initial context.
  if (state.identity.run !== undefined && (inherited || answersInherited(file, line)))
    return { kind: "hidden", rule: "inherited from its parent" };
  line.inherited = inherited;
  if (!inherited && state.copies.end()) noteEndOfCopy(file, session, line);
  begin(file, session, line);
  if (session === main && type === "assistant") state.stream.readComplete(main, line);
  if (session === main && type === "user" && state.stream.isOpen && isInterrupt(line))
    state.stream.showCutOff(main, line);
  const mode =
    session === main && type === "user"
      ? readPermissionMode(file, main, line, asText(value.permissionMode))
      : undefined;
  const made = readConversation(file, session, line, type);
  return mode?.kind === "shown" && (made.kind === "folded" || made.kind === "hidden") ? mode : made;
}

function recordParent(file: OpenFile, session: Session, line: Line): void {
  const { parentUuid } = line.value;
  const parent = parentUuid === null ? null : asText(parentUuid);
  if (parent !== undefined) session.recordParent(line.print, parent === null ? null : file.printOf(parent));
}

/** Whether the line repeats an earlier one. Another line with the same uuid gets a key of its own. */
function isRepeated(file: OpenFile, line: Line, uuid: string, type: string | undefined): boolean {
  const { seen } = file.state;
  const copy =
    (fingerprint(asString(line.value.timestamp) ?? "") +
      4_096 * line.place.length +
      fingerprint(type ?? "", 4)) %
    0x1_0000_0000;
  const before = seen.get(line.print);
  if (before === copy) return true;
  if (before === undefined) seen.set(line.print, copy);
  else line.key = `${uuid} byte ${line.place.byte}`;
  return false;
}

/** Reads a change of the agent's own queue of prompts. */
function readQueueOperation(file: OpenFile, line: Line): Disposition {
  const { main } = file;
  const { value } = line;
  if (asString(value.operation) === "enqueue") file.state.copies.asked(line.at, main.begun);
  const taken = main.queue.read(value, line);
  if (main.queue.isFull && main.begun) {
    main.dropQueued(line, false);
    return { kind: "shown" };
  }
  if (taken === undefined || !main.turnOpen) return { kind: "hidden", rule: "bookkeeping: queue-operation" };
  main.holdQueued(line, taken);
  return { kind: "folded", into: "the queued prompt" };
}

function readRelocated(file: OpenFile, line: Line): Disposition {
  const cwd = asText(line.value.relocatedCwd);
  if (cwd !== undefined) {
    file.main.located = true;
    updateSession(file, line, { cwd });
  }
  return { kind: "folded", into: "the session's folder" };
}

/** Reads a `stream_event` line. Only the main thread streams. */
function readStreamEvent(file: OpenFile, line: Line): Disposition {
  const { main } = file;
  const isMain = asText(line.value.parent_tool_use_id) === undefined && main.hidden === undefined;
  if (isMain && asObject(line.value.event) !== undefined) begin(file, main, line);
  return isMain && file.state.stream.read(main, line)
    ? { kind: "folded", into: "the streaming message" }
    : { kind: "hidden", rule: "bookkeeping: stream_event" };
}

function readResult(file: OpenFile, line: Line): Disposition {
  const { main } = file;
  const { value } = line;
  if (asText(value.subtype) === undefined || !main.begun)
    return { kind: "hidden", rule: "bookkeeping: result" };
  file.state.stream.showCutOff(main, line);
  const usd = asNumber(value.total_cost_usd);
  if (usd !== undefined) updateSession(file, line, { agent_cost: { usd } });
  if (value.is_error === true) {
    const errors = asStrings(value.errors).join("\n");
    const message =
      asText(value.result) ?? asText(errors) ?? asText(value.subtype) ?? claudeCodeTitle("claude_run_failed");
    main.push(line, { type: "error", part_id: main.recordPart(line).part_id, ...messageFields(message) });
    main.turnFailed = true;
  }
  main.endTurn(line, main.turnFailed ? "failed" : "completed");
  return value.is_error === true ? { kind: "shown" } : { kind: "folded", into: "the end of the turn" };
}

/** Writes a marker: everything above was copied from another session, where it is counted. */
function noteEndOfCopy(file: OpenFile, session: Session, line: Line): void {
  const from = file.state.otherSession;
  const data = from === undefined ? undefined : { session_id: asSessionId(from) };
  if (session.begun) session.marker(line, "note", claudeCodeTitle("copied_above"), undefined, data);
}

function readConversation(
  file: OpenFile,
  session: Session,
  line: Line,
  type: string | undefined,
): Disposition {
  const { value } = line;
  switch (type) {
    case "assistant":
      return readAssistant(session, line);
    case "user":
      // A person may type in a teammate's session. Its task arrives as a message.
      return readUser(session, line, session !== file.main || file.state.identity.run !== undefined);
    case "system":
      return readSystem(session, line);
    case "attachment":
      return readAttachment(session, line);
    case "progress":
      return readProgress(session, line);
    case "pr-link": {
      const url = asText(value.prUrl);
      const name = `${asText(value.prRepository) ?? ""}#${asNumber(value.prNumber) ?? "?"}`;
      return noteOnce(file, session, line, url ?? name, claudeCodeTitle("pull_request", { name }), url);
    }
    case "continued-in": {
      const next = asText(value.continuedInSessionId);
      const data = next === undefined ? undefined : { session_id: asSessionId(next) };
      const title = claudeCodeTitle("continued_elsewhere");
      return noteOnce(file, session, line, `${type} ${next}`, title, undefined, data);
    }
    case "ended-by-model":
      return noteOnce(file, session, line, type, claudeCodeTitle("ended_by_model"));
    case "marble-origami-commit":
      session.marker(line, "compaction", claudeCodeTitle("part_summarized"), asText(value.summary));
      return { kind: "shown" };
    case "rate_limit_event": {
      const limit = rateLimitOf(line);
      if (limit === undefined) return { kind: "hidden", rule: "rate limit not reached" };
      return noteOnce(file, session, line, limit.about, limit.title, undefined, limit.info);
    }
    default: {
      const streamed = type === undefined ? undefined : readStreamLine(session, line, type);
      if (streamed !== undefined) return streamed;
      const title = sourceTitle("line_of_type", { type: type?.slice(0, 80).toWellFormed() });
      return pushUnknown(session, line, value, title);
    }
  }
}

/** Writes a note only the first time. The agent repeats such lines whenever it opens the file. */
function noteOnce(
  file: OpenFile,
  session: Session,
  line: Line,
  about: string,
  title: DisplayText,
  text?: string,
  data?: JsonObject,
): Disposition {
  const { state } = file;
  if (state.noted.has(about)) return { kind: "folded", into: "the same note before it" };
  state.noted.set(about, true);
  session.marker(line, "note", title, text, data);
  return { kind: "shown" };
}
