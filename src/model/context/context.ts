import type { JsonObject } from "../narrow.ts";
import { authorOf } from "../parts/part-kinds.ts";
import { searchText } from "../parts/search-text.ts";
import { loadedItems } from "../transcript/sequence.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";

/** A model call of a session, or an attempt at one. */
export interface ModelCallHead {
  /** One-based number of the model call in its session; `null`: an attempt without an answer. */
  step: number | null;
  /** Zero-based; `null`: the request is outside any turn. */
  turn: number | null;
  request_id: string | null;
  /** `false`: rebuilt from the transcript; `missing` lists what is not included. */
  recorded: boolean;
  missing: readonly string[];
}

/** The request of a model call. */
export interface ModelRequest {
  /** The agent's own digest of the request, if it recorded one, and whether this request matches it. */
  digest: string | null;
  digest_matches: boolean | null;
  /** The request body: as sent if `recorded`, otherwise `{model?, messages}` in a neutral form. */
  request: JsonObject & { messages: readonly unknown[] };
}

/** A model call whose request is built on demand: together the requests are far longer than the session. */
export interface ModelCall extends ModelCallHead {
  /** Position in the transcript of its step's first part. For an attempt: of the following step. */
  first_part: number;
  /** Calls with the same object have growing requests: each has the messages of those before. Absent: not known. */
  growing?: object;
  /** The origins of the request's messages, in order. */
  origins(): readonly MessageOrigin[];
  build(): ModelRequest;
}

/** The input of a model call, and the changes since the previous one. */
export interface StepContext extends ModelCallHead, ModelRequest {
  /** The origins of the request's messages, in order. */
  origins: readonly MessageOrigin[];
  /** Positions in `origins` of messages that the previous request did not contain. */
  entered: readonly number[];
  /** Origins of messages that the previous request contained and this one does not. */
  left: readonly MessageOrigin[];
}

/** The origin of a message: parts of the transcript and lines of the file. */
export interface MessageOrigin {
  /** Identifies the message across the session's requests. */
  key: string;
  part_ids: readonly string[];
  /** One-based lines of the session's file. */
  lines: readonly number[];
}

/** Messages added and removed between two requests, by their keys. */
export function changesBetween(
  before: readonly MessageOrigin[],
  after: readonly MessageOrigin[],
): Pick<StepContext, "entered" | "left"> {
  const old = new Set(before.map(({ key }) => key));
  const kept = new Set(after.map(({ key }) => key));
  return {
    entered: after.flatMap(({ key }, index) => (old.has(key) ? [] : [index])),
    left: before.filter(({ key }) => !kept.has(key)),
  };
}

interface RebuiltMessage {
  role: "user" | "assistant" | "tool";
  content: JsonObject[];
}

/** A message that is being rebuilt. Its lists have one entry per part. */
interface Pending {
  message: RebuiltMessage;
  message_id: string;
  part_ids: string[];
  /** 0: the part has no line. */
  lines: number[];
}

/** Missing from transcripts of all agents. */
const NOT_IN_TRANSCRIPT = ["system prompt", "tools", "parameters", "context that the agent added unseen"];

/**
 * The model calls of a session, with requests rebuilt from the parts before each step: prompts, texts, thoughts, calls and
 * results in order. After a compaction, only its summary and later parts are included. Retracted parts are not.
 */
export function rebuiltCalls(transcript: Transcript): ModelCall[] {
  const calls: ModelCall[] = [];
  let messages: Pending[] = [];
  let turn = -1;
  for (const [index, part] of loadedItems(transcript.parts)) {
    while ((transcript.turns.at(turn + 1)?.first_part ?? Number.POSITIVE_INFINITY) <= index) turn += 1;
    if (part.type === "step_start") {
      calls.push(rebuiltCall(calls.length + 1, turn < 0 ? null : turn, index, part.model, messages));
    }
    if (part.retracted !== undefined) continue;
    if (part.type === "marker" && part.kind === "compaction") messages = [];
    const block = blockOf(part);
    if (block === undefined) continue;
    const last = messages.at(-1);
    const joins = last?.message.role === block.role && last.message_id === part.message_id;
    const pending = joins
      ? last
      : { message: { role: block.role, content: [] }, message_id: part.message_id, part_ids: [], lines: [] };
    pending.message.content.push(block.content);
    pending.part_ids.push(part.id);
    pending.lines.push(part.source !== undefined && "line" in part.source ? part.source.line : 0);
    if (!joins) messages.push(pending);
  }
  return calls;
}

/** `messages` is shared and grows later: only its current content belongs to the call. */
function rebuiltCall(
  step: number,
  turn: number | null,
  first_part: number,
  model: string | undefined,
  messages: readonly Pending[],
): ModelCall {
  const count = messages.length;
  const blocks = messages.at(-1)?.part_ids.length ?? 0;
  const given = () =>
    messages
      .slice(0, count)
      .map((pending, at) => ({ ...pending, blocks: at === count - 1 ? blocks : pending.part_ids.length }));
  return {
    step,
    turn,
    first_part,
    growing: messages,
    request_id: null,
    recorded: false,
    missing: NOT_IN_TRANSCRIPT,
    origins: () =>
      given().map(({ message_id, part_ids, lines, blocks: taken }) => ({
        key: `${message_id}:${taken}`,
        part_ids: part_ids.slice(0, taken),
        lines: [...new Set(lines.slice(0, taken))].filter((line) => line > 0),
      })),
    build: () => ({
      digest: null,
      digest_matches: null,
      request: {
        ...(model !== undefined && { model }),
        messages: given().map(({ message, blocks: taken }) => ({
          role: message.role,
          content: message.content.slice(0, taken),
        })),
      },
    }),
  };
}

/** Fallback for kinds of parts without special handling here. The agent's own notes are not sent. */
function otherBlock(part: TranscriptPart): { role: RebuiltMessage["role"]; content: JsonObject } | undefined {
  const role = authorOf(part);
  return role === "system" ? undefined : { role, content: { type: "text", text: searchText(part) } };
}

/** A part as a block of a message; `undefined`: it is not sent to the model. */
function blockOf(part: TranscriptPart): { role: RebuiltMessage["role"]; content: JsonObject } | undefined {
  switch (part.type) {
    case "prompt":
      return { role: "user", content: { type: "prompt", parts: part.parts } };
    case "thinking":
      return { role: "assistant", content: { type: "thinking", thinking: part.thinking } };
    case "text":
      return { role: "assistant", content: { type: "text", text: part.text } };
    case "tool_call": {
      const { tool_call_id, tool_name, arguments_json } = part;
      return { role: "assistant", content: { type: "tool_call", tool_call_id, tool_name, arguments_json } };
    }
    case "tool_result": {
      const { tool_call_id, status, output_text } = part;
      return { role: "tool", content: { type: "tool_result", tool_call_id, status, output_text } };
    }
    case "image":
    case "file":
      return { role: "user", content: { ...part.media } };
    case "marker":
      if (part.kind !== "compaction" && part.kind !== "context") return undefined;
      return { role: "user", content: { type: "text", text: part.text ?? part.title } };
    case "step_start":
    case "step_finish":
    case "request":
    case "unknown":
      return undefined;
    default:
      return otherBlock(part);
  }
}
