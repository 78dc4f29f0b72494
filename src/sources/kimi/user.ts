import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition, SessionRecord } from "../contract.ts";
import { emitBlocks, emitCall } from "../conversation/blocks.ts";
import { blocksIn, promptParts, resultContent, textIn } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { promptKey } from "../conversation/runs.ts";
import { unescaped } from "../conversation/wrappers.ts";
import { CONTEXT_TITLE, emitPrompt, type KimiState } from "./state.ts";

/** Titles of context messages by the kind of their origin. */
const CONTEXT: Readonly<Record<string, CodedText>> = {
  injection: CONTEXT_TITLE,
  compaction_summary: sourceTitle("summary_of_earlier_conversation"),
  hook_result: sourceTitle("hook_output"),
  retry: sourceTitle("retry_context"),
};

/** Reads a command that the user ran in the shell: its input, then its output. Their `&`, `<`, `>` and quotes are escaped. */
function readCommand(
  state: KimiState,
  conversation: Conversation,
  { phase }: JsonObject,
  text: string,
): undefined {
  if (phase === "output") {
    const outputs = ["bash-stdout", "bash-stderr"].map((tag) => unescaped(bodyOf(text, tag) ?? ""));
    const output = outputs.filter((each) => each !== "").join("\n");
    conversation.marker("note", sourceTitle("shell_output", {}), output === "" ? text : output);
    if (state.command_turn !== undefined && state.command_turn === conversation.turn_id)
      conversation.endTurn("completed");
    state.command_turn = undefined;
    return;
  }
  const input = bodyOf(text, "bash-input");
  const asked = input === undefined ? text : `! ${unescaped(input).trim()}`;
  const before = conversation.turn_id;
  const part = { type: "text" as const, text: asked };
  emitPrompt(state, conversation, [part], "shell_command", conversation.hasRunningTurn);
  const turn = conversation.turn_id;
  if (turn !== undefined && turn !== before) state.command_turn = turn;
}

function bodyOf(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  const end = text.indexOf(`</${tag}>`);
  return start === -1 || end < start ? undefined : text.slice(start + tag.length + 2, end);
}

/** Reads `context.append_message`, a message of the context, which usually repeats the preceding prompt record. */
export function readUserMessage(
  state: KimiState,
  conversation: Conversation,
  record: SessionRecord,
): Disposition | undefined {
  const message = asObject(record.value.message) ?? {};
  const origin = asObject(message.origin);
  const kind = asText(origin?.kind) ?? "user";
  switch (message.role) {
    case "user": {
      if (kind === "shell_command")
        return readCommand(state, conversation, origin ?? {}, textIn(message.content));
      const asked = promptKey(textIn(message.content));
      if (state.asked !== undefined && state.asked === asked) {
        state.asked = undefined;
        return { kind: "folded", into: "the prompt before it" };
      }
      const parts = promptParts(message.content);
      if (parts.length === 0) return { kind: "hidden", rule: "empty message" };
      const title = own(CONTEXT, kind);
      if (title !== undefined) conversation.context(title, parts);
      else {
        const queued = conversation.hasRunningTurn && (kind !== "user" || origin?.inTurn === true);
        emitPrompt(state, conversation, parts, kind, queued);
        const id = asText(message.id);
        state.placed = { key: asked, ...(id !== undefined && { id }) };
      }
      return undefined;
    }
    case "assistant": {
      conversation.step(record.key, state.model === undefined ? {} : { model: state.model });
      emitBlocks(conversation, blocksIn(message.content));
      const raw = new RawJson(record);
      asArray(message.toolCalls).forEach((item, index) => {
        const call = asObject(item) ?? {};
        // Wire protocol 1.0 nests the name and the arguments.
        const nested = asObject(call.function);
        const input = call.arguments ?? call.args ?? nested?.arguments;
        const json =
          typeof input === "string"
            ? undefined
            : raw.of(input ?? {}, ["message", "toolCalls", index, "arguments"]);
        emitCall(conversation, {
          id: asText(call.id),
          name: asText(call.name) ?? asText(nested?.name),
          input,
          json,
        });
      });
      conversation.endStep();
      return { kind: "hidden", rule: "empty message" };
    }
    case "tool": {
      const id = asText(message.toolCallId);
      conversation.toolResult({
        id,
        status: message.isError === true ? "error" : "success",
        ...resultContent(message.content),
      });
      return undefined;
    }
    default:
      conversation.unknown(record.value, sourceTitle("message_of_role", { role: asString(message.role) }));
      return undefined;
  }
}
