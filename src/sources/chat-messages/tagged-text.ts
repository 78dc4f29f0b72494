import { asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { parseObject } from "../lines/parse-object.ts";

// Data sets in the format of Hermes write calls and results as tags in texts:
// `<tool_call>{"name": …, "arguments": …}</tool_call>`, then `<tool_response>…</tool_response>` in a message of the tool.
// Source: the data set NousResearch/hermes-function-calling-v1, and `agent/trajectory.py` of hermes-agent.

const THOUGHT = /^\s*<think>([\s\S]*?)<\/think>/;

/** An element in a text. */
interface Element {
  start: number;
  end: number;
  inner: string;
}

/** The elements with a tag. Does not use a pattern, which would search to the end for every tag that is not closed. */
function* elementsIn(text: string, tag: string): Generator<Element> {
  const open = `<${tag}>`;
  const close = `</${tag}>`;
  for (let start = text.indexOf(open); start !== -1; ) {
    const to = text.indexOf(close, start + open.length);
    if (to === -1) return;
    const end = to + close.length;
    yield { start, end, inner: text.slice(start + open.length, to).trim() };
    start = text.indexOf(open, end);
  }
}

/** A block of an answer, with the calls in its text as blocks of their own. A call that is not valid JSON remains text. */
export function untagged(block: JsonObject): JsonObject[] {
  const text = block.type === "text" ? asString(block.text) : undefined;
  if (text === undefined || !/<tool_call>|^\s*<think>/.test(text)) return [block];
  const blocks: JsonObject[] = [];
  const thought = THOUGHT.exec(text);
  if (thought !== null) blocks.push({ type: "thinking", thinking: thought[1]?.trim() ?? "" });
  let from = thought?.[0].length ?? 0;
  const putText = (to: number) => {
    const part = text.slice(from, to);
    if (!isBlank(part)) blocks.push({ type: "text", text: part.trim() });
  };
  for (const { start, end, inner } of elementsIn(text, "tool_call")) {
    const call = callIn(inner);
    if (call === undefined || start < from) continue;
    putText(start);
    blocks.push(call);
    from = end;
  }
  putText(text.length);
  return blocks;
}

function callIn(text: string): JsonObject | undefined {
  const call = parseObject(text);
  const name = asText(call?.name);
  if (call === undefined || name === undefined) return undefined;
  const member = call.arguments === undefined ? "parameters" : "arguments";
  const value = call[member];
  const input = typeof value === "string" ? value : new RawJson({ text }).of(value ?? {}, [member]);
  return { type: "tool_use", id: asText(call.id), name, input };
}

/** A result in a text. */
export interface TaggedResult {
  id: string | undefined;
  name: string | undefined;
  content: unknown;
}

/** The results in a text that consists of nothing else; otherwise none. */
export function resultsIn(content: unknown): TaggedResult[] {
  if (typeof content !== "string" || !content.trimStart().startsWith("<tool_response>")) return [];
  const results: TaggedResult[] = [];
  let from = 0;
  for (const { start, end, inner } of elementsIn(content, "tool_response")) {
    if (!isBlank(content.slice(from, start))) return [];
    results.push(resultOf(inner));
    from = end;
  }
  return isBlank(content.slice(from)) ? results : [];
}

function resultOf(text: string): TaggedResult {
  const value = parseObject(text);
  const id = asText(value?.tool_call_id);
  const name = asText(value?.name);
  const isNamed = value !== undefined && "content" in value && (id !== undefined || name !== undefined);
  return { id, name, content: isNamed ? value.content : text };
}
