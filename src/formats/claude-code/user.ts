import type { ToolStatus } from "../../model/message.ts";
import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Part } from "../../model/part.ts";
import { firstLine } from "../first-line.ts";
import type { Disposition } from "../format.ts";
import { type AgentMessage, agentMessages, messageOf } from "./agent-messages.ts";
import { blocksOf, promptParts, resultContent, sample, textOf } from "./content.ts";
import type { Line, Session } from "./session.ts";
import { agentKeyOf, startsRun, todosOf, uiExtraOf } from "./tool-extra.ts";
import { fieldsOf, isNotification, parseWrappers, stripAnsi, type WrapperElement } from "./wrappers.ts";

/**
 * A `user` line: a prompt, results of tools, or any of the things that the agent puts under the user's role. `isRun`:
 * the session is a sub-agent's, whose prompts no person typed.
 */
export function readUser(session: Session, line: Line, isRun: boolean): Disposition {
  const message = asObject(line.value.message);
  const content = message?.content ?? undefined;
  if (message === undefined || (typeof content === "object" && !Array.isArray(content))) {
    const { part_id } = session.recordPart(line);
    session.push(line, { type: "unknown", part_id, raw: line.value, title: "user line without a message" });
    return { kind: "unknown" };
  }
  const blocks = blocksOf(content);
  const results = blocks.filter((block) => block.type === "tool_result");
  const rest = blocks.filter((block) => block.type !== "tool_result");
  let disposition: Disposition | undefined;
  for (const [index, result] of results.entries()) {
    disposition = firstOf(disposition, readResult(session, line, result, index, results.length));
  }
  if (session.isReplayed(line, rest)) {
    disposition = firstOf(disposition, { kind: "folded", into: "the same line before it" });
  } else if (rest.length > 0 || results.length === 0) {
    disposition = firstOf(disposition, readText(session, line, rest, isRun, results.length > 0));
  }
  return disposition ?? { kind: "hidden", rule: "empty message" };
}

/** A record that made several things is counted as the most visible of them. */
function firstOf(one: Disposition | undefined, other: Disposition): Disposition {
  const rank = ["shown", "unknown", "folded", "hidden", "unreadable"];
  return one !== undefined && rank.indexOf(one.kind) <= rank.indexOf(other.kind) ? one : other;
}

// --- Tool results ---------------------------------------------------------------------------------------------------

/** The structured result: a sibling of the message, under either name (the printed stream writes the second). */
function structureOf(line: Line): unknown {
  return line.value.toolUseResult ?? line.value.tool_use_result;
}

const STOPPED =
  /^(The user doesn't want to (proceed with this tool use|take this action right now)|Interrupted by user|\[Request interrupted by user|(<tool_use_error>)?(Cancelled: parallel tool call|Sibling tool call errored))/;

/** `aborted`: a person stopped or refused it, or it was cancelled with its siblings. */
function statusOf(line: Line, is_error: boolean, output_text: string, count: number): ToolStatus {
  const structured = count === 1 ? structureOf(line) : undefined;
  if (line.value.toolDenialKind === "user-rejected" || structured === "User rejected tool use")
    return "aborted";
  if (is_error && STOPPED.test(output_text)) return "aborted";
  if (asObject(structured)?.interrupted === true) return "aborted";
  return is_error ? "error" : "success";
}

function readResult(
  session: Session,
  line: Line,
  block: JsonObject,
  index: number,
  count: number,
): Disposition {
  const named = asString(block.tool_use_id) ?? asString(line.value.sourceToolUseID) ?? `${line.key}:${index}`;
  const { output_text, parts } = resultContent(block.content);
  const is_error = block.is_error === true;
  const status = statusOf(line, is_error, output_text, count);
  const call = session.callAnswered(named);
  const id = call?.id ?? named;
  const signature = `${status}:${output_text.length}:${parts.length}:${sample(output_text)}`;
  if (call?.result?.signature === signature) return { kind: "folded", into: `the first result of ${id}` };
  // Where one line holds several results, its one structure belongs to none of them for sure.
  const result = count === 1 ? structureOf(line) : undefined;
  const finished = {
    tool_name: call?.tool_name,
    input: call?.input,
    result,
    output_text,
    failed: status !== "success",
  };
  const ui_extra = uiExtraOf(finished);
  const earlier = call?.result?.place ?? session.unclaimed.get(id);
  if (call === undefined && earlier === undefined) session.unclaimed.set(id, line.place);
  const todos = todosOf(finished);
  if (call !== undefined) {
    session.answer(line, call, signature, earlier);
    if (startsRun(call.tool_name)) {
      noteRun(session, id, asObject(result), output_text);
      // The result takes the progress's place; the run's own file, which holds the same, may be gone.
      if (call.progress !== "") {
        session.push(line, {
          type: "task.metadata",
          tool_call_id: id,
          metadata: { progress: call.progress },
        });
        call.progress = "";
      }
    }
  }
  session.push(
    line,
    {
      type: "message.tool_result",
      tool_call_id: id,
      ...(call !== undefined && { tool_name: call.tool_name }),
      is_error,
      status,
      output_text,
      parts,
      ...(ui_extra !== undefined && { ui_extra }),
      ...session.recordPart(line),
    },
    earlier,
  );
  if (todos !== undefined) session.push(line, { type: "todo.change", todos });
  return earlier !== undefined ? { kind: "folded", into: `the result of ${id}` } : { kind: "shown" };
}

function noteRun(session: Session, id: string, result: JsonObject | undefined, output_text: string): void {
  const tail = /\b(?:agentId|agent_id): ?([\w@.-]+)/.exec(output_text)?.[1];
  noteAgentKey(session, id, agentKeyOf(result) ?? tail);
}

/** The first word on which run a call started stands: a later message to the same run does not move it. */
function noteAgentKey(session: Session, id: string, agent_key: string | undefined): void {
  const fact = session.starts.get(id);
  if (fact !== undefined && fact.agent_key === undefined && agent_key !== undefined)
    fact.agent_key = agent_key;
}

// --- Everything else ------------------------------------------------------------------------------------------------

const INTERRUPT = /^\[Request interrupted by user( for tool use)?\]$/;

function interruptOf(block: JsonObject): RegExpExecArray | null {
  return INTERRUPT.exec((asString(block.text) ?? "").trim());
}

function readText(
  session: Session,
  line: Line,
  blocks: readonly JsonObject[],
  isRun: boolean,
  besideResults: boolean,
): Disposition {
  if (line.value.isCompactSummary === true) return readSummary(session, line, textOf(blocks));
  let words: JsonObject[] = [];
  let isStopped = false;
  let isNew = false;
  for (const block of blocks) {
    const mark = block.type === "text" ? interruptOf(block) : null;
    if (mark === null) {
      words.push(block);
      continue;
    }
    // Words beside the mark are a person's: those before it were said into the turn, those behind it open the next.
    if (words.length > 0) readWords(session, line, words, isRun, true);
    words = [];
    isNew = session.interrupt(line, interruptReason(session, line, mark[1] !== undefined)) || isNew;
    isStopped = true;
  }
  if (!isStopped) return readWords(session, line, blocks, isRun, besideResults);
  if (words.length > 0) readWords(session, line, words, isRun, false);
  return isNew || blocks.length > 1 ? { kind: "shown" } : { kind: "folded", into: "the interrupt before it" };
}

/** Blocks without the mark of an interrupt. */
function readWords(
  session: Session,
  line: Line,
  blocks: readonly JsonObject[],
  isRun: boolean,
  besideResults: boolean,
): Disposition {
  const text = textOf(blocks);
  const others = blocks.some((block) => block.type !== "text");
  const messages = others ? undefined : agentMessages(text);
  if (messages !== undefined) return readMessages(session, line, messages);
  const elements = parseWrappers(text);
  if (!others && elements?.every(isNotification) === true) return readWrapped(session, line, elements);
  if (line.value.isMeta === true) return readInjected(session, line, blocks, text, elements);
  if (!others && text.trim() === "") return { kind: "hidden", rule: "empty message" };

  const prompt: JsonObject[] = [];
  const wrapped: WrapperElement[] = [];
  for (const block of blocks) {
    const elements = block.type === "text" ? parseWrappers(asString(block.text) ?? "") : undefined;
    if (elements === undefined) {
      if (block.type !== "text" || asText(block.text) !== undefined || !("text" in block)) prompt.push(block);
    } else wrapped.push(...elements);
  }
  // What the editor added to a prompt belongs to the prompt's turn: it stands behind it.
  let disposition = prompt.length === 0 ? undefined : readPrompt(session, line, prompt, isRun, besideResults);
  if (wrapped.length > 0) disposition = firstOf(disposition, readWrapped(session, line, wrapped));
  return disposition ?? { kind: "hidden", rule: "empty message" };
}

/** What other agents say to this one: it opens a turn only where the model has nothing to do. */
function readMessages(session: Session, line: Line, messages: readonly AgentMessage[]): Disposition {
  for (const { from, text } of messages) {
    const parts = [{ type: "text" as const, text }];
    session.prompt(line, parts, { origin: "agent", from, opensTurn: false, typed: false });
  }
  return { kind: "shown" };
}

function readPrompt(
  session: Session,
  line: Line,
  prompt: readonly JsonObject[],
  isRun: boolean,
  besideResults: boolean,
): Disposition {
  if (prompt.some((block) => block.type === "text") && session.isReplayedPrompt(line, textOf(prompt))) {
    return { kind: "folded", into: "the same prompt before it" };
  }
  const kind = asString(asObject(line.value.origin)?.kind);
  const notified = kind === "task-notification";
  const fromAgent = isRun || kind === "coordinator" || kind === "teammate";
  session.prompt(line, promptParts(prompt), {
    ...(notified ? { origin: "notification" as const } : fromAgent && { origin: "agent" as const }),
    // Text beside results is said into the running turn; so is what another agent says.
    opensTurn: !besideResults && !notified && (!fromAgent || !session.turnOpen),
    typed: !isRun && !notified && !fromAgent && !besideResults,
  });
  session.localCommand = false;
  session.command = undefined;
  return { kind: "shown" };
}

function readSummary(session: Session, line: Line, text: string): Disposition {
  const boundary = session.boundary;
  if (boundary !== undefined) {
    session.boundary = undefined;
    session.push(line, { ...boundary.frame, text }, boundary.place);
    return { kind: "folded", into: "the compaction that it sums up" };
  }
  session.compact(line);
  session.marker(line, "compaction", "Summary of the conversation so far", text);
  return { kind: "shown" };
}

/** What a person refuses at tools that ask for something else than a permission. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["AskUserQuestion", "question declined"],
  ["ExitPlanMode", "plan rejected"],
]);

/**
 * In the interactive program (from 2.1.197) the marker of a real interrupt names the message; that of a refused
 * permission does not. Programs that drive the agent never name it.
 */
function interruptReason(session: Session, line: Line, inTool: boolean): string {
  const { entrypoint, interruptedMessageId, version } = line.value;
  if (asString(interruptedMessageId) === undefined) {
    if (asString(entrypoint)?.startsWith("sdk") === true)
      return inTool ? "stopped during a tool call" : "stopped";
    if (inTool && entrypoint === "cli" && isAtLeast(asString(version), [2, 1, 197]))
      return REFUSED.get(session.answered?.tool_name ?? "") ?? "permission refused";
  }
  return inTool ? "interrupted by the user during a tool call" : "interrupted by the user";
}

/** Whether a version (`2.1.80`) is not older than another. */
export function isAtLeast(version: string | undefined, least: readonly number[]): boolean {
  const numbers = (version ?? "").split(".").map(Number);
  for (const [index, wanted] of least.entries()) {
    const got = numbers[index] ?? 0;
    if (got !== wanted) return got > wanted;
  }
  return true;
}

/** Lines with `isMeta`: injected by the agent, not typed. */
function readInjected(
  session: Session,
  line: Line,
  blocks: readonly JsonObject[],
  text: string,
  elements: readonly WrapperElement[] | undefined,
): Disposition {
  if (
    text.startsWith("Caveat: The messages below") ||
    elements?.every(({ tag }) => tag === "local-command-caveat") === true
  ) {
    session.localCommand = true;
    if (line.uuid !== undefined) session.caveats.add(line.uuid);
    return { kind: "hidden", rule: "caveat before a local command" };
  }
  if (elements?.every(({ tag }) => tag === "system-reminder") === true) {
    return { kind: "hidden", rule: "system reminder" };
  }
  if (text.trim() === "Continue from where you left off.") return { kind: "hidden", rule: "resume note" };
  if (asString(asObject(line.value.origin)?.kind) === "coordinator") {
    session.prompt(line, promptParts(blocks), { origin: "agent", opensTurn: false, typed: false });
    return { kind: "shown" };
  }
  const media = blocks.filter((block) => block.type !== "text");
  if (text.trim() !== "") {
    const command = session.command;
    session.command = undefined;
    if (text.startsWith("Stop hook feedback:")) {
      session.marker(line, "hook", `Stop hook: ${firstLine(text.slice("Stop hook feedback:".length))}`, text);
    } else if (asString(line.value.sourceToolUseID) !== undefined) {
      session.marker(line, "context", `Instructions loaded: ${firstLine(text)}`, text);
    } else if (command !== undefined) {
      session.marker(line, "context", `What ${firstLine(command)} expands to`, text);
    } else session.marker(line, "context", `Context added: ${firstLine(text)}`, text);
  }
  for (const part of promptParts(media)) {
    const { part_id, message_id } = session.recordPart(line);
    if (part.type === "image_url") {
      session.push(line, { type: "message.image", part_id, message_id, url: part.url });
    } else if (part.type === "file") {
      session.push(line, {
        type: "message.file",
        part_id,
        mime: part.mime,
        url: part.url,
        ...(part.filename !== undefined && { filename: part.filename }),
      });
    } else session.push(line, { type: "unknown", part_id, raw: part });
  }
  return text.trim() === "" && media.length === 0
    ? { kind: "hidden", rule: "empty message" }
    : { kind: "shown" };
}

/** Text that is wrapper markup as a whole; also in `system` lines of subtype `local_command`. */
export function readWrapped(session: Session, line: Line, elements: readonly WrapperElement[]): Disposition {
  let disposition: Disposition | undefined;
  const take = (next: Disposition): void => {
    disposition = firstOf(disposition, next);
  };
  const body = (tag: string): string | undefined =>
    elements.find((element) => element.tag === tag)?.body.trim();
  const name = body("command-name") ?? body("command-message");
  if (name !== undefined && elements.some(({ tag }) => tag === "command-name" || tag === "command-message")) {
    take(readCommand(session, line, name, body("command-args") ?? ""));
  }
  for (const element of elements) {
    switch (element.tag) {
      case "command-name":
      case "command-message":
      case "command-args":
      case "command-contents":
        break;
      case "local-command-stdout":
      case "local-command-stderr":
        take(readOutput(session, line, "Command output", element.body));
        break;
      case "bash-input":
        session.prompt(line, [{ type: "text", text: `! ${element.body.trim()}` }], {
          origin: "command",
          opensTurn: true,
          typed: false,
        });
        take({ kind: "shown" });
        break;
      case "bash-stdout":
        take(readOutput(session, line, "Shell output", element.body));
        break;
      case "bash-stderr":
        take(readOutput(session, line, "Shell error output", element.body));
        break;
      case "agent-notification":
      case "task-notification":
        session.prompt(line, [{ type: "text", text: readNotification(session, element) }], {
          origin: "notification",
          opensTurn: false,
          typed: false,
        });
        take({ kind: "shown" });
        break;
      case "agent-message":
      case "teammate-message":
      case "cross-session-message":
        take(readMessages(session, line, [messageOf(element)]));
        break;
      case "local-command-caveat":
        take({ kind: "hidden", rule: "caveat before a local command" });
        break;
      case "system-reminder":
        take({ kind: "hidden", rule: "system reminder" });
        break;
      case "ide_opened_file":
      case "ide_selection":
      case "ide_diagnostics":
      case "new-diagnostics":
        session.marker(line, "context", `From the editor: ${firstLine(element.body)}`, element.body.trim());
        take({ kind: "shown" });
        break;
      default:
        session.marker(
          line,
          "context",
          `Context added (${element.tag}): ${firstLine(element.body)}`,
          element.body.trim(),
        );
        take({ kind: "shown" });
    }
  }
  return disposition ?? { kind: "hidden", rule: "empty message" };
}

/**
 * A slash command, with or without its slash in `name`: a note where the program answers it by itself, else a prompt.
 */
export function readCommand(session: Session, line: Line, name: string, args: string): Disposition {
  const command = `${name.startsWith("/") ? name : `/${name}`}${args === "" ? "" : ` ${args}`}`;
  const parent = asString(line.value.parentUuid);
  const hangsOnCaveat = parent !== undefined && session.caveats.has(parent);
  if (session.localCommand || hangsOnCaveat || line.value.type === "system") {
    session.queue.deliver(command);
    session.localCommand = false;
    session.marker(line, "note", `Command ${firstLine(command)}`, command.length > 80 ? command : undefined);
    return { kind: "shown" };
  }
  session.prompt(line, [{ type: "text", text: command }], {
    origin: "command",
    opensTurn: true,
    typed: true,
  });
  session.command = name.startsWith("/") ? name : `/${name}`;
  return { kind: "shown" };
}

function readOutput(session: Session, line: Line, title: string, body: string): Disposition {
  session.hasOutput = true;
  const text = stripAnsi(body).trim();
  if (text === "" || text === "(no content)") return { kind: "hidden", rule: "empty command output" };
  session.marker(line, "note", `${title}: ${firstLine(text)}`, text);
  return { kind: "shown" };
}

/** What a person would read of a notification, and the link that it tells. */
function readNotification(session: Session, element: WrapperElement): string {
  const fields = fieldsOf(element.body);
  const call = fields.get("tool-use-id");
  if (call !== undefined) noteAgentKey(session, call, fields.get("task-id") ?? fields.get("agent-id"));
  const said = ["summary", "event", "result"].flatMap((tag) => fields.get(tag) || []);
  return said.length === 0 ? element.body.trim() : said.join("\n\n");
}

/** A `queued_command` attachment: what came while the agent worked stands in the running turn, whoever sent it. */
export function readQueued(session: Session, line: Line, attachment: JsonObject): Disposition {
  const blocks = blocksOf(attachment.prompt);
  const messages = blocks.every(({ type }) => type === "text") ? agentMessages(textOf(blocks)) : undefined;
  if (messages !== undefined) return readMessages(session, line, messages);
  const parts = blocks.flatMap((block): Part[] => {
    const elements = block.type === "text" ? parseWrappers(asString(block.text) ?? "") : undefined;
    const notices = elements?.filter(isNotification) ?? [];
    if (notices.length === 0) return promptParts([block]);
    return notices.map((notice) => ({ type: "text", text: readNotification(session, notice) }));
  });
  if (parts.length === 0) return { kind: "hidden", rule: "empty message" };
  const kind = asString(asObject(attachment.origin)?.kind);
  const origin =
    attachment.commandMode === "task-notification" || kind === "task-notification"
      ? ("notification" as const)
      : kind === "coordinator" || kind === "teammate" || kind === "agent"
        ? ("agent" as const)
        : undefined;
  session.prompt(line, parts, { ...(origin !== undefined && { origin }), opensTurn: false, typed: false });
  return { kind: "shown" };
}
