import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject, asString, asStrings, asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { type DisplayText, textFields } from "../../model/text/display-text.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { isApiError, readApiError } from "./api-errors.ts";
import { startOf } from "./background.ts";
import { type Block, type BlockContent, contentOf, continues, isEqual, wasOf } from "./blocks.ts";
import { type Call, inputOf, setInput } from "./call-table.ts";
import { blocksOf, resultContent, textOf } from "./content.ts";
import { isDamaged, readDamaged } from "./damaged.ts";
import { pushUnknown } from "./session-parts.ts";
import type { Line, Session, Step } from "./session-types.ts";
import { givenTokens } from "./steps.ts";
import { searchHits, startsRun } from "./tool-extra.ts";

/**
 * Reads an `assistant` line. It usually contains one finished block of a model call (several lines share its `message.id`),
 * sometimes several blocks, and sometimes a longer snapshot of an earlier line with the same id.
 */
export function readAssistant(session: Session, line: Line): Disposition {
  const message = asObject(line.value.message);
  if (message === undefined) {
    return pushUnknown(session, line, line.value, claudeCodeTitle("assistant_line_without_message"));
  }
  if (isDamaged(message)) {
    session.endStep(line);
    session.damaged = true;
    return readDamaged(session, line);
  }
  const blocks = blocksOf(message.content);
  const model = asString(message.model);
  if (isApiError(line.value, model)) {
    return session.isReplayed(line, blocks)
      ? { kind: "folded", into: "the same line before it" }
      : readApiError(session, line, blocks);
  }
  if (model === "<synthetic>" && textOf(blocks).trim() === "No response requested.") {
    return { kind: "hidden", rule: "no response requested" };
  }
  if (blocks.length === 0) return { kind: "hidden", rule: "empty message" };
  const id = asString(message.id) ?? line.key;
  const input = givenTokens(usageOf(message));
  if (blocks.every(isBlank)) {
    // It may still contain the step's final usage.
    const known = session.stepNamed(line, id, input);
    if (known !== undefined) noteProgress(session, line, known, message);
    return { kind: "hidden", rule: "blank text" };
  }
  withdrawSuperseded(session, line);
  const step = session.openStepOf(line, id, model, input);
  step.isUnfinished = false;
  // A snapshot repeats earlier blocks of the step at the same positions. A line with one new block does not.
  const isCopy = step.ended || blocks.length > 1;
  let shown = 0;
  let unknown = 0;
  let folded = 0;
  /** Number of texts and thoughts so far: the next one's index in the step. */
  let textCount = 0;
  blocks.forEach((block, index) => {
    switch (block.type) {
      case "text":
      case "thinking":
      case "redacted_thinking":
        if (isBlank(block)) return;
        if (readBlock(session, line, step, block, textCount, isCopy)) shown += 1;
        else folded += 1;
        textCount += 1;
        return;
      case "tool_use":
      case "server_tool_use":
      case "mcp_tool_use":
        if (readCall(session, line, step, block, index, isCopy)) shown += 1;
        else folded += 1;
        return;
      case "fallback": {
        const from = asString(asObject(block.from)?.model);
        const to = asString(asObject(block.to)?.model);
        session.marker(line, "model_switch", claudeCodeTitle("fell_back", { from, to }), undefined, block);
        step.lastIsBlock = false;
        shown += 1;
        return;
      }
      default: {
        step.lastIsBlock = false;
        const call_id = asString(block.tool_use_id);
        if (call_id !== undefined && asString(block.type)?.endsWith("_tool_result") === true) {
          if (readServerResult(session, line, call_id, block)) shown += 1;
          else folded += 1;
          return;
        }
        const type = asString(block.type);
        const known = type === undefined ? undefined : firstLine(type);
        pushUnknown(session, line, block, sourceTitle("block_of_type", { type: known }));
        unknown += 1;
      }
    }
  });
  noteProgress(session, line, step, message);
  if (shown > 0) return { kind: "shown" };
  if (unknown > 0) return { kind: "unknown" };
  return folded > 0
    ? { kind: "folded", into: "an earlier line of its message" }
    : { kind: "hidden", rule: "blank text" };
}

/** Whether a block has only white space, or is a thought without text and signature. Such blocks are artifacts of streaming. */
function isBlank(block: JsonObject): boolean {
  if (block.type === "text") return (asString(block.text) ?? "").trim() === "";
  return block.type === "thinking" && (block.thinking ?? "") === "" && !asString(block.signature);
}

/** Returns whether the block created a part. Otherwise it changed or repeated one. */
function readBlock(
  session: Session,
  line: Line,
  step: Step,
  block: JsonObject,
  index: number,
  isCopy: boolean,
): boolean {
  const kind = block.type === "text" ? "text" : "thinking";
  const raw = kind === "text" ? block.text : block.thinking;
  // A value that should be a string but is not is shown as JSON.
  const text = asString(raw) ?? (raw === undefined || raw === null ? "" : JSON.stringify(raw));
  const signature = asString(block.signature) ?? asString(block.data);
  const recordedAt = line.place.byte;
  // A snapshot has the uuid of the previous one, or none. A record whose parent is the last block's line follows that block.
  const isNext =
    line.uuid !== undefined &&
    line.uuid !== step.lastRecordedIn &&
    line.value.parentUuid === step.lastRecordedIn;
  const last = step.lastIsBlock && index === 0 && !isNext ? step.blocks.last : undefined;
  const content = contentOf(kind, text, signature, recordedAt);
  const earlier = earlierBlock(step, content, last, index, isCopy);
  if (earlier !== undefined) {
    earlier.recordedAt = recordedAt;
    if (earlier === step.blocks.last) step.lastRecordedIn = line.uuid;
    const isSigned = content.signature !== undefined && content.signature !== earlier.signature;
    // An earlier, shorter value of the block changes nothing.
    if (text.length > earlier.length || (text.length === earlier.length && isSigned)) {
      step.blocks.change(earlier, content);
      session.push(line, {
        type: "message.part_end",
        part_id: earlier.part_id,
        text,
        ...(signature !== undefined && { signature }),
      });
    }
    return false;
  }
  const part_id = session.stepPart(line, step);
  const hidden =
    block.type === "redacted_thinking"
      ? "redacted"
      : kind === "thinking" && text === ""
        ? "empty"
        : undefined;
  session.push(line, { type: "message.part_start", part_id, kind, message_id: step.message_id });
  session.push(line, {
    type: "message.part_end",
    part_id,
    text,
    ...(signature !== undefined && { signature }),
    ...(hidden !== undefined && { hidden }),
  });
  step.blocks.add(content, part_id);
  step.lastIsBlock = true;
  step.lastRecordedIn = line.uuid;
  return true;
}

/**
 * The block that a later line of the same message repeats or extends, unless this line already matched it: a text that occurs
 * twice in a line is shown twice. In a snapshot or a copy of a finished message, any equal block matches. In a running message
 * only the last part (`last`) can match, since a model may repeat itself.
 */
function earlierBlock(
  step: Step,
  content: BlockContent,
  last: Block | undefined,
  index: number,
  isCopy: boolean,
): Block | undefined {
  const { kind, text, recordedAt } = content;
  const aligned = isCopy ? step.blocks.at(index) : undefined;
  const isCandidate = (block: Block) => block.kind === kind && block.recordedAt !== recordedAt;
  const candidate = isCopy ? aligned : last;
  if (candidate !== undefined && isCandidate(candidate) && isEqual(candidate, content)) return candidate;
  const equal = isCopy ? step.blocks.equalTo(content) : undefined;
  if (equal !== undefined || text === "") return equal;
  return [last, aligned].find(
    (block) =>
      block !== undefined &&
      isCandidate(block) &&
      block.length > 0 &&
      (continues(text, block) || (isCopy && wasOf(content, block))),
  );
}

/** The closing characters of arguments. Further arguments are inserted before them. The lookbehind keeps the search linear. */
const END = /(?<!["\]}])["\]}]+$/;

function readCall(
  session: Session,
  line: Line,
  step: Step,
  block: JsonObject,
  index: number,
  isCopy: boolean,
): boolean {
  const named = asString(block.id) ?? `${line.key}:${index}`;
  const tool_name = asString(block.name) ?? "(unnamed tool)";
  const arguments_json = argumentsOf(line, block, index);
  const known = session.callNamed(named);
  const isOther =
    known !== undefined && (known.tool_name !== tool_name || known.arguments_json !== arguments_json);
  // Some providers restart their call ids, or reuse an id. The id then names another call, unless the line repeats the first
  // one. A call of the same message may have been shown before its arguments were complete. Without a request id the provider
  // may be one of these.
  const isSameCall =
    known?.arguments_json === "{}" ||
    (known?.tool_name === tool_name &&
      asText(named) !== undefined &&
      step.request !== undefined &&
      step.request === asText(line.value.requestId) &&
      arguments_json.startsWith(known.arguments_json.replace(END, "")));
  const isReused =
    known !== undefined &&
    (known.message_id !== step.message_id
      ? known.result !== undefined || isOther || !session.isOfThisTurn(known)
      : !isCopy && !session.mayBeReplay(line) && (known.result !== undefined || (isOther && !isSameCall)));
  const id = isReused ? `${named}@${line.place.byte}` : (known?.id ?? named);
  if (known !== undefined && !isReused) {
    if (known.arguments_json !== arguments_json && known.result === undefined) {
      setInput(known, block.input, arguments_json);
      session.push(line, {
        type: "message.tool_call",
        tool_call_id: id,
        tool_name: known.tool_name,
        arguments_json,
        part_id: known.part_id,
        message_id: known.message_id,
      });
      noteStart(session, line, known);
    }
    return false;
  }
  const part_id = session.stepPart(line, step);
  const { message_id } = step;
  const call = session.addCall(named, { id, tool_name, message_id, part_id }, block.input, arguments_json);
  // The server runs its own tools within the step.
  if (block.type === "tool_use") step.calls += 1;
  step.lastIsBlock = false;
  session.push(line, {
    type: "message.tool_call",
    tool_call_id: id,
    tool_name,
    arguments_json,
    part_id,
    message_id,
  });
  noteStart(session, line, call);
  return true;
}

/** Records the link facts of a call that starts a run. Its prompt may arrive in pieces. */
function noteStart(session: Session, line: Line, call: Call): void {
  if (!startsRun(call.tool_name)) return;
  const prompt = asString(inputOf(call)?.prompt);
  let start = startOf(session, call.id);
  if (start === undefined) {
    start = { tool_call_id: call.id, at: line.at };
    session.addStart(start);
  }
  if (prompt !== undefined) start.prompt = prompt;
}

/** The JSON text of the arguments. Old versions wrote it as a string. */
function argumentsOf(line: Line, block: JsonObject, index: number): string {
  const { input } = block;
  if (typeof input === "string") return input;
  if (input === undefined || input === null) return "{}";
  return line.raw.of(input, ["message", "content", index, "input"]);
}

/** Reads the result of a server-side tool, which is part of the model's message. Returns whether it created a part. */
function readServerResult(session: Session, line: Line, call_id: string, block: JsonObject): boolean {
  const call = session.callNamed(call_id);
  const content = block.content;
  const failure = asString(asObject(content)?.error_code);
  const is_error = failure !== undefined || block.is_error === true;
  const hits = searchHits(content);
  // MCP results have the same shape as other tool results.
  const blockResult =
    block.type === "mcp_tool_result" ? resultContent(content) : { output_text: "", parts: [] };
  const output_text =
    failure ??
    asString(content) ??
    asString(asObject(content)?.text) ??
    (blockResult.output_text !== "" || blockResult.parts.length > 0
      ? blockResult.output_text
      : hits.length > 0
        ? hits.map((hit) => `${hit.title}\n${hit.url}`).join("\n\n")
        : JSON.stringify(content ?? ""));
  const query = asString(inputOf(call)?.query) ?? "";
  const id = call?.id ?? call_id;
  const earlier = call?.result?.place ?? session.unclaimed.get(id);
  if (call !== undefined) session.answer(line, call, output_text, earlier);
  else if (earlier === undefined) session.unclaimed.set(id, line.place);
  session.push(
    line,
    {
      type: "message.tool_result",
      tool_call_id: id,
      ...(call !== undefined && { tool_name: call.tool_name }),
      is_error,
      status: is_error ? "error" : "success",
      output_text,
      parts: blockResult.parts,
      ...(block.type === "web_search_tool_result" &&
        hits.length > 0 && { ui_extra: { type: "web_search", query, results: hits } }),
      ...session.recordPart(line),
    },
    earlier,
  );
  return earlier === undefined;
}

/** Retracts the older lines that this line replaces. */
function withdrawSuperseded(session: Session, line: Line): void {
  withdraw(
    session,
    line,
    asStrings(line.value.supersedesUuids),
    retractionReason("replaced_by_later_answer"),
  );
}

/** Retracts the parts of the given lines. */
export function withdraw(session: Session, line: Line, uuids: readonly string[], reason: DisplayText): void {
  for (const uuid of uuids) {
    const made = session.partsOfLine.get(uuid);
    if (made === undefined) continue;
    for (const part_id of made.part_ids) {
      session.push(line, {
        type: "message.retract",
        message_id: made.message_id,
        part_id,
        ...textFields("reason", reason),
      });
    }
  }
}

/**
 * Updates usage and stop reason. Every line of the id repeats them, early lines with partial counts, so the largest count is
 * correct.
 */
function noteProgress(session: Session, line: Line, step: Step, message: JsonObject): void {
  noteUsage(session, line, step, asString(message.stop_reason), usageOf(message));
}

/** Updates the usage and stop reason of a step, as far as they are known. */
export function noteUsage(
  session: Session,
  line: Line,
  step: Step,
  stop: string | undefined,
  usage: Usage | undefined,
): void {
  step.stop = stop ?? step.stop;
  if (usage !== undefined) {
    const before = step.usage;
    const most = (one: number | undefined, other: number | undefined) => Math.max(one ?? 0, other ?? 0);
    const reasoning = most(before?.reasoning, usage.reasoning);
    const cache_write_1h = most(before?.cache_write_1h, usage.cache_write_1h);
    step.usage = {
      input: most(before?.input, usage.input),
      output: most(before?.output, usage.output),
      cache_read: most(before?.cache_read, usage.cache_read),
      cache_write: most(before?.cache_write, usage.cache_write),
      ...(cache_write_1h > 0 && { cache_write_1h }),
      ...(reasoning > 0 && { reasoning }),
    };
  }
  session.emitEndIfDone(line, step);
}

export function usageOf(message: JsonObject): Usage | undefined {
  const usage = asObject(message.usage);
  if (usage === undefined) return undefined;
  return {
    input: asNumber(usage.input_tokens) ?? 0,
    output: asNumber(usage.output_tokens) ?? 0,
    cache_read: asNumber(usage.cache_read_input_tokens) ?? 0,
    cache_write: asNumber(usage.cache_creation_input_tokens) ?? 0,
    cache_write_1h: asNumber(asObject(usage.cache_creation)?.ephemeral_1h_input_tokens) ?? 0,
    reasoning: asNumber(asObject(usage.output_tokens_details)?.thinking_tokens) ?? 0,
  };
}
