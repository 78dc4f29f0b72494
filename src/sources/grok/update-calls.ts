import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { resultContent } from "../conversation/content.ts";
import { type NamedOutputFile, withOutputFile } from "../conversation/output-file.ts";
import { nameRun, noteCall, notePrompt } from "../conversation/runs.ts";
import { ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import { emitOwnCall } from "./own-call.ts";
import { agentKeyOf, idOf, keep } from "./state.ts";
import { promptText, textIn, todosOfOutput } from "./tool-output.ts";
import { beginStep, endPiece, type Update } from "./update.ts";

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i;
/** The result of a call that a person did not allow. */
const REFUSED = /^User rejected the execution\b/;

/** Reads `tool_call`: a call with the arguments that the model wrote. */
export function readCall(update: Update): void {
  const { state, conversation, value, record } = update;
  const { updates } = state;
  beginStep(update);
  endPiece(state, conversation);
  const tool_name = nameOf(value);
  const input = argumentsOf(asObject(value.rawInput));
  const id = emitOwnCall(conversation, { id: asText(value.toolCallId), name: tool_name, input });
  noteCall(state, { id, name: tool_name ?? "", input }, state.conversation.at);
  if (state.runs.at(-1)?.tool_call_id === id) {
    const description = asText(input?.description);
    keep(updates.spawning, { id, ...(description !== undefined && { description }) });
  }
  if (input === undefined || Object.keys(input).length === 0)
    keep(updates.bare, { id, key: record.key, tool_name: tool_name ?? "" });
  if (isOver(value)) readResult(update, asText(value.toolCallId) ?? id);
}

/**
 * Reads `tool_call_update`. The first one of a call repeats its arguments with the defaults, later ones have all of its output so
 * far, and the last one its result. Grok writes them late: one may follow the end of its turn.
 */
export function readCallUpdate(update: Update): void {
  const { state, conversation, value } = update;
  const id = asText(value.toolCallId);
  const isKnown = state.conversation.calls.some(({ name }) => name === id);
  if (id === undefined || (!isKnown && !isOver(value))) {
    conversation.fold("its call");
    return;
  }
  const input = argumentsOf(asObject(value.rawInput));
  const at = state.updates.bare.findIndex((call) => call.id === id);
  const bare = state.updates.bare[at];
  if (bare !== undefined && input !== undefined && Object.keys(input).length > 0) {
    state.updates.bare.splice(at, 1);
    const { key, tool_name } = bare;
    const arguments_json = JSON.stringify(input);
    conversation.reviseCall(key, { id, tool_name, arguments_json, payload: payloadOf(tool_name, input) });
    notePrompt(state, id, input);
  }
  if (isOver(value)) readResult(update, id);
  else conversation.fold("its call");
}

/** The arguments in an update, without the name of the tool's type that Grok puts before them. */
function argumentsOf(input: JsonObject | undefined): JsonObject | undefined {
  if (input === undefined) return undefined;
  const { variant: _, ...others } = input;
  return others;
}

/** Grok names its tool beside the protocol's title, which may be a description. */
function nameOf(value: JsonObject): string | undefined {
  const tool = asObject(asObject(value._meta)?.["x.ai/tool"]);
  return asText(tool?.name) ?? asText(value.title);
}

const isOver = ({ status }: JsonObject): boolean => /^(?:completed|failed)$/i.test(asString(status) ?? "");

function readResult({ state, conversation, value }: Update, id: string): void {
  endPiece(state, conversation);
  const raw = asObject(value.rawOutput);
  const { output_text, parts } = outputOf(value, raw);
  const failed = /^failed$/i.test(asString(value.status) ?? "");
  const refused = failed && REFUSED.test(output_text);
  const exit_code = asNumber(raw?.exit_code);
  const task = raw?.type === "BackgroundTaskStarted" ? asText(raw.task_id) : undefined;
  const outcome: CallOutcome = { kind: "refused", by: "person" };
  if (state.runs.some(({ tool_call_id }) => tool_call_id === id)) {
    const started = asText(raw?.subagent_id) ?? UUID.exec(output_text)?.[0];
    if (started !== undefined) nameRun(state, id, agentKeyOf(idOf(started)));
    state.updates.spawning = state.updates.spawning.filter((call) => call.id !== id);
  }
  conversation.toolResult({
    id,
    tool_name: nameOf(value),
    status: refused ? "aborted" : failed ? "error" : "success",
    output_text,
    parts,
    ...(refused && { outcome }),
    payload: (call) => {
      const payload = failed ? ofFailure(call) : (todosOfOutput(raw) ?? call);
      if (payload?.type === "shell" && task !== undefined) return { ...payload, background_task_id: task };
      const ended = exit_code === undefined ? payload : withExit(payload, { exit_code });
      return withOutputFile(ended, outputFileOf(raw, output_text));
    },
  });
}

/** The log of a command, if the output for the model is only a part of it. */
function outputFileOf(raw: JsonObject | undefined, output: string): NamedOutputFile | undefined {
  const path = raw?.truncated === true ? asText(raw.output_file) : undefined;
  if (path === undefined) return undefined;
  return { path, byte_size: asNumber(raw?.total_bytes), output_start: TRUNCATED.exec(output)?.[0].length };
}
const TRUNCATED = /^exit: -?\d+ \[truncated: [^\n]*\]\n/;

/** The output for the model if it is recorded, otherwise what the interface shows, otherwise the tool's own record. */
function outputOf(value: JsonObject, raw: JsonObject | undefined): ReturnType<typeof resultContent> {
  const blocks = asArray(value.content).flatMap((item) => asObject(asObject(item)?.content) ?? []);
  const content = resultContent(blocks);
  const output_text =
    (raw && promptText(raw)) ??
    asText(content.output_text) ??
    textIn(raw) ??
    (raw === undefined || raw.type === "SearchReplace" ? "" : JSON.stringify(raw));
  return { output_text, parts: content.parts };
}
