import { asNumber, asObject, asString, asText } from "../../../model/narrow.ts";
import type { LiveEvent } from "../live-text/live-event.ts";

/** Maximum number of messages whose lines are being put in order. */
const MAX_MESSAGES = 100;

interface Message {
  next_index: number;
  /** Lines that arrived early, by index. */
  waiting: Map<number, { delta: string; is_final: boolean }>;
}

/**
 * Reads bodies of Claude Code's MessageDisplay hook (2.1): the completed lines of a message's text. Each comes from a separate
 * process, so they arrive in any order. `undefined`: another body. The hook's `message_id` is not in the record.
 */
export function createMessageDisplayReader(now: () => number): (body: unknown) => LiveEvent[] | undefined {
  const messages = new Map<string, Message>();

  return (value) => {
    const body = asObject(value);
    if (body?.hook_event_name !== "MessageDisplay") return undefined;
    const session_id = asText(body.session_id)?.toLowerCase();
    const id = asText(body.message_id);
    const index = asNumber(body.index);
    const delta = asString(body.delta);
    const isRead = session_id !== undefined && id !== undefined && index !== undefined && delta !== undefined;
    if (!isRead || asText(body.agent_id) !== undefined) return [];
    const message: Message = messages.get(id) ?? { next_index: 0, waiting: new Map() };
    messages.set(id, message);
    const [oldest] = messages.keys();
    if (messages.size > MAX_MESSAGES && oldest !== undefined) messages.delete(oldest);
    message.waiting.set(index, { delta, is_final: body.final === true });

    const common = { session_id, id, at: now() };
    const events: LiveEvent[] = [];
    for (;;) {
      const line = message.waiting.get(message.next_index);
      if (line === undefined) return events;
      message.waiting.delete(message.next_index);
      if (message.next_index === 0) events.push({ ...common, type: "start", kind: "text" });
      message.next_index += 1;
      events.push({ ...common, type: "delta", text: line.delta });
      if (line.is_final) events.push({ ...common, type: "end" });
    }
  };
}
