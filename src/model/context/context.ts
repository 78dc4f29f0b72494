import type { JsonObject } from "../narrow.ts";
import { searchText } from "../parts/search-text.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";

/** A model call, or an attempt at one, of a session. */
export interface ModelCallHead {
  /** The number of the model call in its session, from 1; `null`: an attempt that has no answer. */
  step: number | null;
  /** From 0; `null`: the request stands in no turn. */
  turn: number | null;
  request_id: string | null;
  /** `false`: rebuilt from the transcript; `missing` says what is not in it. */
  recorded: boolean;
  missing: readonly string[];
}

/** The request of a model call. */
export interface ModelRequest {
  /** The agent's own digest of the request, where it recorded one, and whether this request has it. */
  digest: string | null;
  digest_matches: boolean | null;
  /** The request body: as it was sent where `recorded`, else `{model?, messages}` in a neutral form. */
  request: JsonObject & { messages: readonly unknown[] };
}

/** A model call whose request is built when it is asked for: together the requests of a session are far longer than the session. */
export interface ModelCall extends ModelCallHead {
  /** Position of its step's first part in the transcript; of an attempt: of the step that follows. */
  first_part: number;
  /** For each message of the request, in order, what it was made from. */
  origins(): readonly MessageOrigin[];
  build(): ModelRequest;
}

/** What a model call was given, and what changed since the one before. */
export interface StepContext extends ModelCallHead, ModelRequest {
  /** For each message of the request, in order, what it was made from. */
  origins: readonly MessageOrigin[];
  /** Positions in `origins` of messages that the request before this one did not hold. */
  entered: readonly number[];
  /** Origins of messages that the request before this one held and this one does not. */
  left: readonly MessageOrigin[];
}

/** What a message of a request was made from: parts of the transcript, lines of the file. */
export interface MessageOrigin {
  /** Identifies the message among those of other requests of the session. */
  key: string;
  part_ids: readonly string[];
  /** Lines of the session's file, from 1. */
  lines: readonly number[];
}

/** What entered and what left between two requests, by the keys of their messages. */
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

/** A message while it is rebuilt. Its lists grow together: one entry a part. */
interface Pending {
  message: RebuiltMessage;
  message_id: string;
  part_ids: string[];
  /** 0: the part has no line. */
  lines: number[];
}

/** Not in a transcript, whatever agent wrote it. */
const NOT_IN_TRANSCRIPT = ["system prompt", "tools", "parameters", "context that the agent added unseen"];

/**
 * A session's model calls, their requests rebuilt from the parts that stand before each step: prompts, texts, thoughts, calls
 * and results in order. After a compaction only its summary and what follows it count; withdrawn parts do not.
 */
export function rebuiltCalls(transcript: Transcript): ModelCall[] {
  const calls: ModelCall[] = [];
  let messages: Pending[] = [];
  let turn = -1;
  let index = -1;
  for (const part of transcript.parts) {
    index += 1;
    if (part === undefined) continue;
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

/** `messages` is shared and grows: the call was given what is in it now. */
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

/** A part as a block of a message; `undefined`: the model is not given it. */
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
    case "legacy":
      return { role: part.role, content: { type: "text", text: searchText(part) } };
    case "step_start":
    case "step_finish":
    case "request":
    case "unknown":
      return undefined;
    default:
      return part satisfies never;
  }
}
