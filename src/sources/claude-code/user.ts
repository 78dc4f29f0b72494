import type { FrameBody } from "../../model/frames/frame-writer.ts";
import type { Part } from "../../model/messages/part.ts";
import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { type AgentMessage, agentMessages, messageOf } from "./agent-messages.ts";
import {
  backgroundCall,
  endBackground,
  isLaunch,
  keysOf,
  noteLaunch,
  noteTaskOutput,
  startOf,
} from "./background.ts";
import { inputOf } from "./call-table.ts";
import { blocksOf, promptParts, resultContent, sample, textOf } from "./content.ts";
import { framedTask } from "./frames.ts";
import { callEnd } from "./outcome.ts";
import { runId } from "./path.ts";
import type { Line, Session } from "./session-types.ts";
import { agentKeyOf, startsRun, todosOf, uiExtraOf } from "./tool-extra.ts";
import { fieldsOf, isNotification, parseWrappers, stripAnsi, type WrapperElement } from "./wrappers.ts";

/**
 * Reads a `user` line: a prompt, tool results, or other content that the agent writes under the user's role. `isRun`: the
 * session is a sub-agent's, whose prompts were not typed by a person.
 */
export function readUser(session: Session, line: Line, isRun: boolean): Disposition {
  const message = asObject(line.value.message);
  const content = message?.content ?? undefined;
  if (message === undefined || asObject(content) !== undefined) {
    const { part_id } = session.recordPart(line);
    session.push(line, { type: "unknown", part_id, raw: line.value, title: "user line without a message" });
    return { kind: "unknown" };
  }
  if (isDamaged(message)) return readDamaged(session, line);
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

/** Whether a message is missing or has no content (`null`, an empty list and a string are content). */
export function isDamaged(message: JsonObject): boolean {
  const { content, role, id } = message;
  if (Array.isArray(content) && content.length === 0) return role === undefined && id === undefined;
  return content !== null && typeof content !== "string" && !Array.isArray(content);
}

/** Shows a record with a valid envelope and an invalid message, with its remaining data. */
export function readDamaged(session: Session, line: Line): Disposition {
  session.push(line, {
    type: "unknown",
    part_id: session.recordPart(line).part_id,
    raw: line.value,
    title: `Unreadable ${line.value.type === "assistant" ? "answer of the model" : "message"}`,
    error: "The message of this record is damaged: it has no content.",
  });
  return { kind: "unreadable" };
}

/** A record that created several things is counted as the most visible one. */
function firstOf(one: Disposition | undefined, other: Disposition): Disposition {
  const rank = ["shown", "unknown", "folded", "hidden", "unreadable"];
  return one !== undefined && rank.indexOf(one.kind) <= rank.indexOf(other.kind) ? one : other;
}

// --- Tool results ---------------------------------------------------------------------------------------------------

/** The structured result next to the message, under either name (the output of `claude -p` uses the second). */
function structureOf(line: Line): unknown {
  return line.value.toolUseResult ?? line.value.tool_use_result;
}

/** The tool with which a headless run returns the answer for its schema. The run ends with it. */
const FINAL_TOOL = "StructuredOutput";

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
  const call = session.callAnswered(named);
  // If a line has several results, its structured result cannot be assigned to one of them.
  const result = count === 1 ? structureOf(line) : undefined;
  const { tool_name } = call ?? {};
  const { status, outcome, permission } = callEnd({
    value: line.value,
    structure: result,
    is_error,
    output_text,
    tool_name,
  });
  const id = call?.id ?? named;
  const signature = `${status}:${output_text.length}:${parts.length}:${sample(output_text)}`;
  if (call?.result?.signature === signature) return { kind: "folded", into: `the first result of ${id}` };
  const input = inputOf(call);
  const finished = {
    tool_name,
    input,
    result,
    output_text,
    failed: status !== "success",
  };
  const earlier = call?.result?.place ?? session.unclaimed.get(id);
  if (call === undefined && earlier === undefined) session.unclaimed.set(id, line.place);
  const todos = todosOf(finished);
  session.lastOutcome = outcome;
  const messaged = messagedRun(session, tool_name, input, result);
  const resumes = messaged !== undefined && asText(asObject(result)?.resumedAgentId) !== undefined;
  const starts = tool_name !== undefined && startsRun(tool_name) && isLaunch(result, output_text);
  const launched = tool_name !== undefined && status === "success" && (starts || resumes);
  const ui_extra = messaged?.ui_extra ?? uiExtraOf(finished);
  if (launched) {
    const keys = resumes ? new Set<string>() : keysOf(result, output_text);
    const name = asText(input?.name);
    noteLaunch(session, {
      tool_call_id: id,
      tool_name,
      description: asText(input?.description),
      agent_key: [...keys][0],
      names: [id, ...keys, ...(name === undefined ? [] : [name])],
      place: earlier ?? line.place,
      launched: output_text,
      ui_extra,
    });
  } else if (status === "success") noteTaskOutput(session, line, result);
  if (call !== undefined) {
    session.answer(line, call, signature, earlier);
    if (call.tool_name === FINAL_TOOL && status === "success") session.finalStep = session.lastStep;
    if (startsRun(call.tool_name)) {
      noteRun(session, id, asObject(result), output_text);
      // The result replaces the progress. The run's own file, which has the same content, may be gone.
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
      ...(outcome !== undefined && { outcome }),
      ...(permission !== undefined && { permission }),
      ...(launched && { background: true }),
      ...session.recordPart(line),
    },
    earlier,
  );
  if (messaged !== undefined) {
    const { session_id, name, task } = messaged.ui_extra;
    session.push(line, {
      type: "task.start",
      tool_call_id: id,
      sub_agent: { session_id, ...(name !== undefined && { name }), ...(task !== undefined && { task }) },
    });
  }
  if (todos !== undefined) session.push(line, { type: "todo.change", todos });
  return earlier !== undefined ? { kind: "folded", into: `the result of ${id}` } : { kind: "shown" };
}

/** The run that received a message of the model. The card links to it, like that of the call that started it. */
function messagedRun(
  session: Session,
  tool_name: string | undefined,
  input: JsonObject | undefined,
  result: unknown,
): { ui_extra: Extract<UiExtra, { type: "sub_agent" }> & { session_id: string } } | undefined {
  if (tool_name !== "SendMessage") return undefined;
  const structure = asObject(result);
  const to = asText(input?.to) ?? asText(input?.recipient);
  const started = to === undefined ? undefined : backgroundCall(session.background, to)?.agent_key;
  const isKey = to !== undefined && session.starts.some(({ agent_key }) => agent_key === to);
  const agent_key = asText(structure?.resumedAgentId) ?? started ?? (isKey ? to : undefined);
  if (agent_key === undefined) return undefined;
  const task = asText(input?.summary) ?? asText(input?.description);
  return {
    ui_extra: {
      type: "sub_agent",
      agent_key,
      session_id: runId(session.facts.group, agent_key),
      ...(to !== undefined && to !== agent_key && { name: to }),
      ...(task !== undefined && { task }),
    },
  };
}

function noteRun(session: Session, id: string, result: JsonObject | undefined, output_text: string): void {
  const tail = /\b(?:agentId|agent_id): ?([\w@.-]+)/.exec(output_text)?.[1];
  noteAgentKey(session, id, agentKeyOf(result) ?? tail);
}

/** Records which run a call started. The first value is kept: a later message to the same run does not change it. */
function noteAgentKey(session: Session, id: string, agent_key: string | undefined): void {
  const fact = startOf(session, id);
  if (fact !== undefined && fact.agent_key === undefined && agent_key !== undefined)
    fact.agent_key = agent_key;
}

// --- Everything else ------------------------------------------------------------------------------------------------

const INTERRUPT = /^\[Request interrupted by user( for tool use)?\]$/;

/** Whether a line records that a person stopped the agent. */
export function tellsInterrupt(line: Line): boolean {
  return blocksOf(asObject(line.value.message)?.content).some(
    (block) => block.type === "text" && interruptOf(block) !== null,
  );
}

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
    // Text next to the interrupt marker is a person's. Text before it belongs to the turn; text after it opens the next.
    if (words.length > 0) readWords(session, line, words, isRun, true);
    words = [];
    isNew = session.interrupt(line, interruptReason(session, line, mark[1] !== undefined)) || isNew;
    isStopped = true;
  }
  if (!isStopped) return readWords(session, line, blocks, isRun, besideResults);
  if (words.length > 0) readWords(session, line, words, isRun, false);
  return isNew || blocks.length > 1 ? { kind: "shown" } : { kind: "folded", into: "the interrupt before it" };
}

/** Reads blocks without an interrupt marker. */
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
  // Content that the editor added to a prompt belongs to the prompt's turn and follows the prompt.
  let disposition = prompt.length === 0 ? undefined : readPrompt(session, line, prompt, isRun, besideResults);
  if (wrapped.length > 0) disposition = firstOf(disposition, readWrapped(session, line, wrapped));
  return disposition ?? { kind: "hidden", rule: "empty message" };
}

/** Reads messages from other agents. They open a turn only if the model is idle. */
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
  given: readonly JsonObject[],
  isRun: boolean,
  besideResults: boolean,
): Disposition {
  const framed = isRun ? framedTask(textOf(given)) : undefined;
  const prompt: readonly JsonObject[] =
    framed === undefined
      ? given
      : [{ type: "text", text: framed.task }, ...given.filter(({ type }) => type !== "text")];
  if (prompt.some((block) => block.type === "text") && session.isReplayedPrompt(line, textOf(prompt))) {
    return { kind: "folded", into: "the same prompt before it" };
  }
  const kind = asString(asObject(line.value.origin)?.kind);
  const notified = kind === "task-notification";
  const fromAgent = isRun || kind === "coordinator" || kind === "teammate";
  const scheduled = session.fired !== undefined && !besideResults;
  const origin = scheduled ? "schedule" : notified ? "notification" : fromAgent ? "agent" : undefined;
  if (notified) noteBareEnd(session, line, textOf(prompt));
  session.prompt(line, promptParts(prompt), {
    ...(origin !== undefined && { origin }),
    // Text next to results belongs to the running turn, and so do messages from other agents.
    opensTurn: scheduled || (!besideResults && !notified && (!fromAgent || !session.turnOpen)),
    typed: !isRun && origin === undefined && !besideResults,
  });
  if (framed !== undefined) {
    session.marker(line, "context", `Written around the task: ${firstLine(framed.frame)}`, framed.frame);
  }
  session.localCommand = false;
  session.command = undefined;
  return { kind: "shown" };
}

function readSummary(session: Session, line: Line, text: string): Disposition {
  const boundary = session.boundary;
  if (boundary !== undefined) {
    session.boundary = undefined;
    // `readBoundary` wrote it.
    const frame = JSON.parse(boundary.frame) as Extract<FrameBody, { type: "marker" }>;
    session.push(line, { ...frame, text }, boundary.place);
    return { kind: "folded", into: "the compaction that it sums up" };
  }
  session.compact(line);
  session.marker(line, "compaction", "Summary of the conversation so far", text);
  return { kind: "shown" };
}

/** The name of what a person declines when a tool asks for something other than a permission. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["AskUserQuestion", "question declined"],
  ["ExitPlanMode", "plan rejected"],
]);

/**
 * The title of an interrupt. If a person pressed Esc, the marker names the message that was cut off; a stopped call says so in
 * its result.
 */
function interruptReason(session: Session, line: Line, inTool: boolean): string {
  if (asString(line.value.interruptedMessageId) !== undefined)
    return inTool ? "interrupted by the user during a tool call" : "interrupted by the user";
  const { lastOutcome, answered } = session;
  if (inTool && lastOutcome?.kind === "refused" && lastOutcome.by === "person")
    return REFUSED.get(answered?.tool_name ?? "") ?? "permission refused";
  // Under the SDK, the user may be a program.
  if (asString(line.value.entrypoint)?.startsWith("sdk") === true)
    return inTool ? "stopped during a tool call" : "stopped";
  return inTool ? "stopped by the user during a tool call" : "interrupted by the user";
}

/** Reads lines with `isMeta`, which the agent injected. */
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
    if (line.uuid !== undefined) session.caveats.set(line.uuid, true);
    return { kind: "hidden", rule: "caveat before a local command" };
  }
  if (elements?.every(({ tag }) => tag === "system-reminder") === true) {
    return { kind: "hidden", rule: "system reminder" };
  }
  if (text.trim() === "Continue from where you left off.") return { kind: "hidden", rule: "resume note" };
  const timer = timerOf(session, line, text);
  if (timer !== undefined) {
    session.prompt(line, promptParts(blocks), { origin: timer, opensTurn: true, typed: false });
    return { kind: "shown" };
  }
  if (asString(asObject(line.value.origin)?.kind) === "coordinator") {
    session.prompt(line, promptParts(blocks), { origin: "agent", opensTurn: false, typed: false });
    return { kind: "shown" };
  }
  const media = blocks.filter((block) => block.type !== "text");
  if (text.trim() !== "") {
    const command = session.command;
    session.command = undefined;
    if (text.startsWith(STOP_FEEDBACK)) {
      const said = text.slice(STOP_FEEDBACK.length).trim();
      if (tellBlockedStop(session, line, said)) return { kind: "shown" };
      return { kind: "folded", into: "what the stop hook said" };
    }
    if (line.value.ownNote === true) {
      session.marker(line, "note", `Note from the agent's program: ${firstLine(text)}`, text);
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

const STOP_FEEDBACK = "Stop hook feedback:";

/** Notes once that a stop hook kept the agent from stopping. Returns whether it created a part. */
export function tellBlockedStop(session: Session, line: Line, said: string): boolean {
  // One of the lines has the hook's command before its message.
  if (
    session.blockedStop?.endsWith(said) === true ||
    (session.blockedStop !== undefined && said.endsWith(session.blockedStop))
  )
    return false;
  session.blockedStop = said;
  session.marker(line, "hook", `A stop hook kept the agent going: ${firstLine(said)}`, said);
  return true;
}

/** Fields of lines that the agent's program adds to a prompt or an answer. Such lines open no turn. */
const COMPANIONS = ["sourceToolUseID", "ownNote", "hookText", "turnCompanion"];

/**
 * Returns the author of an injected line that opens a turn: a line after a timer that fired, one that waited in the queue, or
 * one that names what opened its turn. `undefined`: it opens none.
 */
function timerOf(session: Session, line: Line, text: string): "schedule" | "program" | undefined {
  const { value } = line;
  if (text.trim() === "" || COMPANIONS.some((name) => value[name] !== undefined && value[name] !== false))
    return undefined;
  const began = asText(value.turnOrigin);
  if (session.fired !== undefined || (began !== undefined && /sched|cron|loop|wake|timer/i.test(began)))
    return "schedule";
  return began !== undefined || session.queue.waits(text, line.at) ? "program" : undefined;
}

/** Reads text that consists of wrapper markup, also from `system` lines of subtype `local_command`. */
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
        session.prompt(line, [{ type: "text", text: readNotification(session, line, element) }], {
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

/** Reads a slash command; `name` may lack the slash. It becomes a note if the program answers it itself, otherwise a prompt. */
export function readCommand(session: Session, line: Line, name: string, args: string): Disposition {
  const command = `${name.startsWith("/") ? name : `/${name}`}${args === "" ? "" : ` ${args}`}`;
  const parent = asString(line.value.parentUuid);
  const isBelowCaveat = parent !== undefined && session.caveats.has(parent);
  if (session.localCommand || isBelowCaveat || line.value.type === "system") {
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

/** Reads a notification without markup. */
function noteBareEnd(session: Session, line: Line, text: string): void {
  endBackground(session, line, { summary: text, status: undefined, result: undefined });
}

/** Returns the readable text of a notification, and records its facts: the link to a run, and the run's end. */
function readNotification(session: Session, line: Line, element: WrapperElement): string {
  const fields = fieldsOf(element.body);
  const call = fields.get("tool-use-id");
  const key = fields.get("task-id") ?? fields.get("agent-id");
  if (call !== undefined) noteAgentKey(session, call, key);
  const status = fields.get("status");
  if (status !== undefined) {
    endBackground(session, line, {
      tool_call_id: call,
      key,
      summary: fields.get("summary") ?? "",
      status,
      result: fields.get("result") || undefined,
    });
  }
  const said = ["summary", "event", "result"].flatMap((tag) => fields.get(tag) || []);
  return said.length === 0 ? element.body.trim() : said.join("\n\n");
}

/**
 * Reads a `queued_command` attachment. Content that arrived while the agent worked belongs to the running turn, whoever sent
 * it.
 */
export function readQueued(session: Session, line: Line, attachment: JsonObject): Disposition {
  const blocks = blocksOf(attachment.prompt);
  const messages = blocks.every(({ type }) => type === "text") ? agentMessages(textOf(blocks)) : undefined;
  if (messages !== undefined) return readMessages(session, line, messages);
  const parts = blocks.flatMap((block): Part[] => {
    const elements = block.type === "text" ? parseWrappers(asString(block.text) ?? "") : undefined;
    const notices = elements?.filter(isNotification) ?? [];
    if (notices.length === 0) return promptParts([block]);
    return notices.map((notice) => ({ type: "text", text: readNotification(session, line, notice) }));
  });
  if (parts.length === 0) return { kind: "hidden", rule: "empty message" };
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (session.wasShown(text)) return { kind: "folded", into: "the queued prompt" };
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
