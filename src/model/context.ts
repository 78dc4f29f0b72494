import type { JsonObject } from "./narrow.ts";
import { searchText } from "./parts/search-text.ts";
import type { TranscriptPart } from "./transcript/transcript.ts";
import type { Transcript } from "./transcript/transcript-state.ts";

/** What a step's model call was given, as far as it is recorded. */
export interface StepContext {
  /** The number of the model call in its session, from 1; `null`: an attempt that has no answer. */
  step: number | null;
  /** From 0; `null`: the request stands in no turn. */
  turn: number | null;
  request_id: string | null;
  /** `false`: rebuilt from the transcript; `missing` says what is not in it. */
  recorded: boolean;
  missing: readonly string[];
  /** The agent's own digest of the request, where it recorded one, and whether this request has it. */
  digest: string | null;
  digest_matches: boolean | null;
  /** The request body: as it was sent where `recorded`, else `{model?, messages}` in a neutral form. */
  request: JsonObject & { messages: readonly unknown[] };
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

/** One message while it is rebuilt, with the parts it is made of. */
interface Pending {
  message: RebuiltMessage;
  message_id: string;
  part_ids: string[];
  lines: number[];
}

/** Not in a transcript, whatever agent wrote it. */
const NOT_IN_TRANSCRIPT = ["system prompt", "tools", "parameters", "context that the agent added unseen"];

/**
 * The requests of a transcript's steps, rebuilt from the parts that stand before each step: prompts, texts, thoughts, calls
 * and results in order. After a compaction only its summary and what follows it count; withdrawn parts do not.
 */
export function* rebuildContexts(
  transcript: Transcript,
): Generator<Omit<StepContext, "entered" | "left"> & { first_part: number }> {
  let messages: Pending[] = [];
  let step = 0;
  let turn = -1;
  let index = -1;
  for (const part of transcript.parts) {
    index += 1;
    if (part === undefined) continue;
    while ((transcript.turns.at(turn + 1)?.first_part ?? Number.POSITIVE_INFINITY) <= index) turn += 1;
    if (part.type === "step_start") {
      step += 1;
      yield {
        first_part: index,
        step,
        turn: turn < 0 ? null : turn,
        request_id: null,
        recorded: false,
        missing: NOT_IN_TRANSCRIPT,
        digest: null,
        digest_matches: null,
        request: {
          ...(part.model !== undefined && { model: part.model }),
          messages: messages.map(({ message }) => ({ ...message, content: [...message.content] })),
        },
        origins: messages.map(({ message_id, part_ids, lines }) => ({
          key: `${message_id}:${part_ids.length}`,
          part_ids: [...part_ids],
          lines: [...new Set(lines)],
        })),
      };
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
    const line = part.source !== undefined && "line" in part.source ? part.source.line : 0;
    if (line > 0) pending.lines.push(line);
    if (!joins) messages.push(pending);
  }
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
