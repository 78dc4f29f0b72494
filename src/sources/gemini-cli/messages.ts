import type { FrameBodyOf } from "../../model/frames/frame-writer.ts";
import type { Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { blocksIn, imageOf } from "../conversation/content.ts";
import { addItem, hasItem } from "../recent-items.ts";
import { promptParts, textOf, usageOf } from "./content.ts";
import { GeminiFrames } from "./frames.ts";
import { responseOf, resultOf, unwrapped } from "./tool.ts";

/** Part indexes of a message: thoughts start at 0, content here. */
const CONTENT = 1_000;
/** The tool with which a sub-agent returns its result. */
const COMPLETE_TASK = "complete_task";
/** Maximum number of remembered calls. */
const MAX_CALLS = 1_000;
/** Precedes media that a tool returned, which the model gets as a prompt. */
const MADE_UP_ANSWER = "Binary content received. Proceeding with analysis.";
const SHELL_MODE = "I ran the following shell command:";
/** The first folder in the context that Gemini CLI gives the model. The main session's file names it nowhere else. */
const WORKSPACE = /^- \*\*Workspace Directories:\*\*\n {2}- (.+)$/m;
/** Tool output as old versions recorded it if it consisted of more than the response of the function. */
const RESPONSE = /\[Function Response: ([^\]\n]*)\]/g;
const RESPONSES = /^(?:\[Function Response: [^\]\n]*\])+/;

// Optional fields of frequent frames are assigned one by one: spreading objects is slow.

/** Reads the messages of a conversation by their type. */
export class MessageReading extends GeminiFrames {
  /** `before`: time of the record before it. */
  protected user(value: JsonObject, message_id: string, before: number): void {
    const { state } = this;
    const blocks = blocksIn(value.content);
    const answers = blocks.filter((block) => block.functionResponse !== undefined);
    if (answers.length > 0) {
      this.answers(answers);
      const others = blocks.filter((block) => block.functionResponse === undefined);
      if (others.length > 0)
        this.emitShown(contextOf(message_id, sourceTitle("sent_with_output"), promptParts(others)));
      return;
    }
    const text = textOf(value.content);
    const output = state.last === undefined ? null : RESPONSES.exec(text);
    if (output !== null) {
      const names = [...output[0].matchAll(RESPONSE)].map(([, name = ""]) => name);
      this.responses(names, text.slice(output[0].length));
      return;
    }
    if (text.startsWith("<session_context>")) {
      state.context_told = true;
      const cwd = WORKSPACE.exec(text)?.[1];
      if (cwd !== undefined) this.put({ type: "session.update", patch: { cwd } });
      this.preface(contextOf(message_id, sourceTitle("session_context"), [{ type: "text", text }]));
      return;
    }
    if (text.startsWith("System: Please continue")) {
      this.emitShown(contextOf(message_id, sourceTitle("continue"), [{ type: "text", text }]));
      return;
    }
    const parts = promptParts(value.displayContent ?? value.content);
    // Nothing records the end of a turn. The time until the next prompt is not part of it.
    if (!this.revises && state.last !== undefined && before > 0) this.putAt(before, { type: "turn.end" });
    this.emitShown({
      type: "user.message",
      message_id,
      parts,
      ...(text.startsWith(SHELL_MODE) && { origin: "command" as const }),
      ...(state.isRun && { origin: "agent" as const }),
    });
  }

  /** Reads call results as the model received them. They are part of the calls, except those without a call. */
  private answers(blocks: readonly JsonObject[]): void {
    this.fold("the results of its calls");
    for (const block of blocks) {
      const answer = asObject(block.functionResponse);
      const id = asText(answer?.id) ?? `${this.record.key}:${blocks.indexOf(block)}`;
      if (hasItem(this.state.ended, id)) continue;
      const { text = "", parts } = responseOf([block]);
      const failed = asString(asObject(answer?.response)?.error) !== undefined;
      this.emitShown({
        type: "message.tool_result",
        tool_call_id: id,
        ...(asText(answer?.name) !== undefined && { tool_name: asText(answer?.name) ?? "" }),
        is_error: failed,
        status: failed ? "error" : "success",
        output_text: unwrapped(text),
        parts,
        ...this.resultIds(id),
      });
      addItem(this.state.ended, id, MAX_CALLS);
    }
  }

  /** Reads tool output that is recorded as text: the names of all tools, then the output of the last one. */
  private responses(names: readonly string[], output_text: string): void {
    for (const [index, tool_name] of names.entries()) {
      const id = `${this.record.key}:${index}`;
      this.emitShown({
        type: "message.tool_result",
        tool_call_id: id,
        tool_name,
        is_error: false,
        status: "success",
        output_text: index === names.length - 1 ? output_text : "",
        parts: [],
        ...this.resultIds(id),
      });
    }
  }

  protected gemini(
    value: JsonObject,
    message_id: string,
    isNew: boolean,
    path: readonly (string | number)[],
  ): void {
    const { state } = this;
    const model = asText(value.model);
    if (model === undefined && textOf(value.content) === MADE_UP_ANSWER) {
      this.disposition = { kind: "hidden", rule: "answer that Gemini CLI made up" };
      return;
    }
    if (isNew) {
      state.last = message_id;
      const start: FrameBodyOf<"message.start"> = { type: "message.start", message_id };
      if (model !== undefined) start.model = model;
      this.put(start);
      this.nameModel(model);
    }
    for (const [index, each] of asArray(value.thoughts).entries()) {
      const thought = asObject(each);
      const thoughtTexts = [asText(thought?.subject), asText(thought?.description)].filter(
        (text) => text !== undefined,
      );
      const part_id = partId(message_id, index);
      this.emitShown({ type: "message.part_start", part_id, kind: "thinking", message_id });
      this.emitShown({ type: "message.part_end", part_id, text: thoughtTexts.join("\n\n") });
    }
    for (const [index, block] of blocksIn(value.content).entries()) {
      const part_id = partId(message_id, CONTENT + index);
      const text = asString(block.text);
      if (text !== undefined && !isBlank(text)) {
        const kind = block.thought === true ? "thinking" : "text";
        this.emitShown({ type: "message.part_start", part_id, kind, message_id });
        this.emitShown({ type: "message.part_end", part_id, text });
        continue;
      }
      const media = imageOf(block);
      if (media?.type === "image_url") {
        this.emitShown({ type: "message.image", part_id, message_id, url: media.url });
      } else if (text === undefined && block.functionCall === undefined && media === undefined) {
        this.unknown(block, `${this.record.key}:${index}`);
      }
    }
    // Its calls follow later and belong to it.
    const usage = usageOf(value.tokens);
    if (isNew || usage !== undefined) {
      const end: FrameBodyOf<"message.end"> = { type: "message.end", message_id };
      if (usage !== undefined) end.usage = usage;
      this.put(end);
    }
    this.fold("its message");
    for (const [index, each] of asArray(value.toolCalls).entries())
      this.call(asObject(each) ?? {}, [...path, "toolCalls", index, "args"], message_id, isNew);
  }

  private call(
    call: JsonObject,
    path: readonly (string | number)[],
    message_id: string,
    isNew: boolean,
  ): void {
    const { state } = this;
    const id = asText(call.id) ?? `${message_id}:${path.join(".")}`;
    if (hasItem(state.ended, id)) return;
    this.revises = hasItem(state.started, id);
    if (!this.revises) addItem(state.started, id, MAX_CALLS);
    const before = state.at;
    this.timeOf(call.timestamp);
    const arguments_json = new RawJson(this.record).of(call.args ?? {}, path);
    this.emitShown({
      type: "message.tool_call",
      tool_call_id: id,
      tool_name: asText(call.name) ?? "unknown",
      arguments_json,
      part_id: uuidFrom(this.session_id, "call:", id),
      // One record may contain the calls of all steps. A new call belongs to the last step.
      message_id: isNew ? message_id : (state.last ?? message_id),
    });
    this.link(call, id);
    const result = resultOf(call, id);
    if (result !== undefined) {
      this.put(Object.assign(result, this.resultIds(id)));
      addItem(state.ended, id, MAX_CALLS);
      // A sub-agent's result. Its file has no other end.
      if (call.name === COMPLETE_TASK && result.status === "success")
        this.put({ type: "turn.end", status: "completed" });
    }
    state.at = Math.max(before, state.at);
  }

  private link(call: JsonObject, tool_call_id: string): void {
    const { calls, at } = this.state;
    const agent_key = asText(call.agentId);
    const prompt = call.name === "invoke_agent" ? asText(asObject(call.args)?.prompt) : undefined;
    if (agent_key === undefined && prompt === undefined) return;
    const known = calls.find((each) => each.tool_call_id === tool_call_id);
    if (known !== undefined) {
      if (agent_key !== undefined) known.agent_key = agent_key;
      return;
    }
    calls.push({
      tool_call_id,
      at,
      ...(agent_key !== undefined && { agent_key }),
      ...(prompt !== undefined && { prompt }),
    });
    if (calls.length > MAX_CALLS) calls.shift();
  }

  protected notice(value: JsonObject, type: "info" | "warning" | "error", message_id: string): void {
    const text = textOf(value.content);
    const part_id = partId(message_id, 0);
    if (blocksIn(value.content).some((block) => imageOf(block) !== undefined)) {
      this.emitShown(contextOf(message_id, sourceTitle("sent_with_output"), promptParts(value.content)));
      return;
    }
    // Recorded for notices that the terminal composes, such as the sizes before and after a compression.
    if (text.trim() === "" && !this.revises) {
      this.disposition = { kind: "hidden", rule: "empty notice" };
      return;
    }
    if (text.startsWith("Request cancelled")) {
      // A repeated interrupt adds no part to the transcript.
      if (this.state.interrupted && !this.revises) {
        this.fold("the interrupt before it");
        return;
      }
      this.emitShown({ type: "interrupt", part_id, reason: text });
      if (!this.revises) this.state.interrupted = true;
      return;
    }
    const [title = type] = text.split("\n", 1);
    this.preface({
      type: "marker",
      part_id,
      kind: type === "error" ? "error" : "note",
      title: title.slice(0, 200),
      ...(text !== title && { text }),
    });
  }
}

/** Context that the agent added for the model. */
const contextOf = (
  message_id: string,
  title: CodedText,
  parts: Part[],
): FrameBodyOf<"developer.message"> => ({
  type: "developer.message",
  message_id,
  parts,
  ...titleFields(title),
});
