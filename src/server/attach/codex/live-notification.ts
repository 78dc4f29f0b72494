import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../../model/narrow.ts";
import type { LiveEvent } from "../live-text/live-event.ts";

/**
 * Reads the notifications of one connection to Codex's app server (0.169) about the text of a running turn. Other notifications
 * give no events.
 */
export type LiveNotificationReader = (
  method: string,
  params: JsonObject | undefined,
  at: number,
) => LiveEvent[];

/** Number of reasoning items whose sections are followed. */
const MAX_ITEMS = 200;

export function createLiveNotificationReader(): LiveNotificationReader {
  /** The current section of each reasoning item, by its id. A summary and the raw content have separate sections. */
  const sections = new Map<string, { of: "summary" | "content"; index: number }>();

  /** The text of a delta in a reasoning item: sections are paragraphs, as in the record. */
  function thoughtText(
    id: string,
    of: "summary" | "content",
    params: JsonObject,
    delta: string,
  ): string | undefined {
    const index = asNumber(of === "summary" ? params.summaryIndex : params.contentIndex) ?? 0;
    const before = sections.get(id);
    // An item has either a summary or its raw content as live text, because the second would repeat the first.
    if (before !== undefined && before.of !== of) return undefined;
    sections.set(id, { of, index });
    const [oldest] = sections.keys();
    if (sections.size > MAX_ITEMS && oldest !== undefined) sections.delete(oldest);
    return before !== undefined && before.index !== index ? `\n\n${delta}` : delta;
  }

  return (method, params, at) => {
    const session_id = asText(params?.threadId)?.toLowerCase();
    if (params === undefined || session_id === undefined) return [];
    const common = { session_id, at };
    if (method === "turn/completed") return [{ ...common, type: "turn_end" }];
    if (method === "item/started" || method === "item/completed") {
      const item = asObject(params.item);
      const id = asText(item?.id);
      const kind = kindOf(item?.type);
      if (item === undefined || id === undefined || kind === undefined) return [];
      if (method === "item/started") return [{ ...common, type: "start", id, kind }];
      sections.delete(id);
      const text = textOf(item);
      return [{ ...common, type: "end", id, ...(text !== undefined && { text }) }];
    }
    const id = asText(params.itemId);
    const delta = asString(params.delta);
    if (id === undefined || delta === undefined) return [];
    const text = deltaText(method, id, params, delta);
    return text === undefined ? [] : [{ ...common, type: "delta", id, text }];
  };

  function deltaText(method: string, id: string, params: JsonObject, delta: string): string | undefined {
    switch (method) {
      case "item/agentMessage/delta":
      case "item/plan/delta":
      case "item/commandExecution/outputDelta":
        return delta;
      case "item/reasoning/summaryTextDelta":
        return thoughtText(id, "summary", params, delta);
      case "item/reasoning/textDelta":
        return thoughtText(id, "content", params, delta);
      default:
        return undefined;
    }
  }
}

function kindOf(type: unknown): "text" | "thinking" | "output" | undefined {
  switch (type) {
    case "agentMessage":
    case "plan":
      return "text";
    case "reasoning":
      return "thinking";
    case "commandExecution":
      return "output";
    default:
      return undefined;
  }
}

/** The complete text of a completed item, as it will be recorded. `undefined`: it has none, so the streamed text is kept. */
function textOf(item: JsonObject): string | undefined {
  if (item.type !== "reasoning") return asText(item.text);
  const sections = [...asArray(item.summary), ...asArray(item.content)];
  return asText(sections.flatMap((each) => asText(each) ?? []).join("\n\n"));
}
