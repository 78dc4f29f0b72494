import { isUuid } from "../../model/is-uuid.ts";
import { asArray, asObject, asString, asStrings, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { RecordPlace } from "../contract.ts";
import type { Base, Copy } from "./copies.ts";
import type { Moment } from "./turns.ts";
import { isSamePrompt, readUserContent, readUserEvent, type UserContent } from "./user-message.ts";

/** A record of the file in a version-independent form. */
export interface Line {
  place: RecordPlace;
  moment: Moment;
  type: string;
  payload: JsonObject;
  value: JsonObject;
  /** The record's JSON text as written. */
  text: string;
}

const LEGACY_ITEMS = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
]);

/** Parses a record of any version. */
export function lineOf(place: RecordPlace, moment: Moment, value: JsonObject, text: string): Line {
  const type = asString(value.type);
  const payload = asObject(value.payload);
  if (type !== undefined && payload !== undefined) return { place, moment, type, payload, value, text };
  // Files of mid-2025 have no payloads: first the meta, then bare items, then lines of state.
  if (value.record_type !== undefined) return { place, moment, type: "state", payload: value, value, text };
  if (type === undefined && asString(value.id) !== undefined && asString(value.timestamp) !== undefined) {
    return { place, moment, type: "session_meta", payload: value, value, text };
  }
  if (type !== undefined && LEGACY_ITEMS.has(type)) {
    return { place, moment, type: "response_item", payload: value, value, text };
  }
  return { place, moment, type: type ?? "unknown", payload: payload ?? value, value, text };
}

export function isUserMessage(line: Line): boolean {
  return line.type === "response_item" && line.payload.type === "message" && line.payload.role === "user";
}

/** Whether a user message is the program's note to the model that a person stopped the turn. */
export function isTurnAborted(payload: JsonObject): boolean {
  const first = asString(asObject(asArray(payload.content)[0])?.text);
  return first?.startsWith("<turn_aborted>") === true;
}

/** The JSON text of a payload member as written, unless it is a string; `""`: it is missing. */
export function rawMember(line: Line, name: string): string {
  const value = line.payload[name];
  if (value === undefined || value === null) return "";
  return new RawJson({ text: line.text }).of(value, line.payload === line.value ? [name] : ["payload", name]);
}

/** Whether a line is the event or item that directly follows a prompt. */
export function confirms(line: Line, content: UserContent): boolean {
  if (line.type !== "event_msg") return false;
  const { payload } = line;
  if (payload.type === "user_message" && !isInjectedEvent(payload))
    return isSamePrompt(readUserEvent(payload).text, content.text);
  const item = asObject(payload.item);
  return (
    payload.type === "item_completed" &&
    item?.type === "UserMessage" &&
    isSamePrompt(readUserContent(item.content).text, content.text)
  );
}

/** The model output in a response item. */
export function baseOf(line: Line): Base | undefined {
  if (line.type !== "response_item") return undefined;
  const { payload } = line;
  if (payload.type === "reasoning") return baseThought(payload);
  if (payload.type !== "message" || payload.role !== "assistant") return undefined;
  const texts = asArray(payload.content).flatMap((entry) => {
    const item = asObject(entry);
    const text = asString(item?.text) ?? asString(item?.refusal);
    return text === undefined ? [] : [text];
  });
  if (typeof payload.content === "string") texts.push(payload.content);
  return { kind: "text", id: asText(payload.id), texts };
}

/** Whether an event is injected context: events of 2025 record it as user messages of another kind. */
export function isInjectedEvent(payload: JsonObject): boolean {
  return typeof payload.kind === "string" && /^(?:environment_context|user_instructions)$/.test(payload.kind);
}

/** The model output that an event repeats; `undefined`: it is not a copy. */
export function copyOf(line: Line): Copy | undefined {
  if (line.type !== "event_msg") return undefined;
  const { payload } = line;
  switch (payload.type) {
    case "agent_message": {
      const phase = asText(payload.phase);
      const texts = [asString(payload.message) ?? ""];
      return { kind: "text", log: "event", texts, id: undefined, ...(phase === undefined ? {} : { phase }) };
    }
    case "agent_reasoning":
    case "agent_reasoning_raw_content":
      return { kind: "thinking", log: "event", texts: [asString(payload.text) ?? ""], id: undefined };
    case "item_completed":
      break;
    default:
      return undefined;
  }
  const item = asObject(payload.item);
  const id = asText(item?.id);
  switch (item?.type) {
    case "AgentMessage": {
      const phase = asText(item.phase);
      const texts = asArray(item.content).flatMap((entry) => asString(asObject(entry)?.text) ?? []);
      return { kind: "text", log: "completed", texts, id, ...(phase === undefined ? {} : { phase }) };
    }
    case "Reasoning":
      return {
        kind: "thinking",
        log: "completed",
        texts: [...asStrings(item.summary_text), ...asStrings(item.raw_content)],
        id,
      };
    case "Plan":
      return { kind: "text", log: "plan", texts: [asString(item.text) ?? ""], id: undefined };
    default:
      return undefined;
  }
}

/** The paragraphs of a `reasoning` item: those of its summary, then those of its content, without empty ones. */
export function baseThought(payload: JsonObject): Base {
  const texts: string[] = [];
  for (const entry of [...asArray(payload.summary), ...asArray(payload.content)]) {
    const text = asString(asObject(entry)?.text) ?? asString(entry);
    if (text !== undefined && text !== "") texts.push(text);
  }
  return { kind: "thinking", id: asText(payload.id), texts };
}

/** The metadata of an item, from the line or the payload; empty if there is none. */
export function metadataOf(line: Line): JsonObject {
  return asObject(line.value.metadata) ?? asObject(line.payload.metadata) ?? {};
}

/** The turn id in a record. */
export function turnIdOf(line: Line): string | undefined {
  const { payload } = line;
  return (
    asString(payload.turn_id) ??
    asString(asObject(payload.internal_chat_message_metadata_passthrough)?.turn_id) ??
    asString(asObject(payload.metadata)?.turn_id)
  );
}

/** The timestamp of a version 7 UUID in milliseconds. */
export function timeOfId(id: string): number | undefined {
  if (id[14] !== "7" || !isUuid(id)) return undefined;
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The call id of an event that precedes its call; `undefined`: it is not such an event. */
export function earlyEventOf(line: Line): { id: string; payload: JsonObject } | undefined {
  if (line.type !== "event_msg") return undefined;
  const { payload } = line;
  const item = payload.type === "item_completed" ? asObject(payload.item) : undefined;
  const about = item ?? payload;
  const kind = item === undefined ? payload.type : item.type;
  if (typeof kind !== "string" || !EARLY_EVENTS.has(kind)) return undefined;
  const id = asText(item === undefined ? payload.call_id : item.id);
  return id === undefined ? undefined : { id, payload: about };
}
const EARLY_EVENTS = new Set(["web_search_end", "image_generation_end", "WebSearch", "ImageGeneration"]);
