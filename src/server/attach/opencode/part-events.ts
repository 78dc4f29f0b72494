import { asNumber, asObject, asString, asText, type JsonObject } from "../../../model/narrow.ts";
import { openCodePartId, openCodeSessionId } from "../../../sources/opencode/ids.ts";
import type { LiveEvent } from "../live-text/live-event.ts";

/** Maximum number of messages whose role is remembered, and of parts that are followed. */
const MAX_MESSAGES = 200;
const MAX_PARTS = 200;

/**
 * Reads opencode's events (1.18, documented) about the text that a session writes, from one opencode process. Other events give
 * nothing. The output of running calls is already in opencode's store.
 */
export type PartEventReader = (type: string, properties: JsonObject) => LiveEvent[];

export function createPartEventReader(now: () => number): PartEventReader {
  /** Messages of the model. The user's texts are recorded as a whole. */
  const answers = new Set<string>();
  const begun = new Set<string>();

  function partUpdated(session_id: string, part: JsonObject): LiveEvent[] {
    const id = asText(part.id);
    const kind = part.type === "text" ? "text" : part.type === "reasoning" ? "thinking" : undefined;
    const isAnswer = answers.has(asText(part.messageID) ?? "");
    if (id === undefined || kind === undefined || !isAnswer || part.synthetic === true) return [];
    const time = asObject(part.time);
    const common = { session_id, id, at: asNumber(time?.start) ?? now() };
    const text = asString(part.text) ?? "";
    const events: LiveEvent[] = [];
    if (!begun.has(id)) {
      remember(begun, id, MAX_PARTS);
      events.push({ ...common, type: "start", kind, part_id: openCodePartId(session_id, id) });
      if (text !== "") events.push({ ...common, type: "delta", text });
    }
    const ended_at = asNumber(time?.end);
    if (ended_at !== undefined) events.push({ ...common, at: ended_at, type: "end", text });
    return events;
  }

  return (type, properties) => {
    const name = asText(properties.sessionID);
    if (name === undefined) return [];
    const session_id = openCodeSessionId(name);
    switch (type) {
      case "message.updated": {
        const info = asObject(properties.info);
        const id = asText(info?.id);
        if (info?.role === "assistant" && id !== undefined) remember(answers, id, MAX_MESSAGES);
        return [];
      }
      case "message.part.updated":
        return partUpdated(session_id, asObject(properties.part) ?? {});
      case "message.part.delta": {
        const id = asText(properties.partID);
        const text = asString(properties.delta);
        if (id === undefined || text === undefined || properties.field !== "text" || !begun.has(id))
          return [];
        return [{ session_id, id, at: now(), type: "delta", text }];
      }
      case "session.idle":
      case "session.error":
        return [{ session_id, at: now(), type: "turn_end" }];
      default:
        return [];
    }
  };
}

function remember(ids: Set<string>, id: string, most: number): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > most && oldest !== undefined) ids.delete(oldest);
}
