import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { parseObject } from "../lines/parse-object.ts";

/** Emits a server-side tool of xAI, within the step. Its line is both call and result. */
export function emitBackendCall(conversation: Conversation, value: JsonObject): void {
  const kind = asObject(value.kind) ?? {};
  const action = asObject(kind.action);
  const input = parseObject(asText(kind.input) ?? "");
  const tool_name = asText(kind.name) ?? asText(kind.tool_type) ?? "backend_tool";
  const id = asText(kind.id);
  const results = asArray(action?.sources).flatMap((source) => {
    const url = asText(asObject(source)?.url);
    return url === undefined ? [] : [{ title: asText(asObject(source)?.title) ?? url, url }];
  });
  const frame_id = conversation.toolCall({
    id,
    tool_name,
    arguments_json:
      action === undefined && input !== undefined
        ? (asText(kind.input) ?? "{}")
        : JSON.stringify(action ?? kind),
    by_server: true,
    payload: payloadOf(tool_name, kind, action ?? input, results),
  });
  const status = asText(kind.status);
  // Searches on X have no status: they are written when they have ended.
  if (status !== undefined && status !== "completed" && status !== "failed") return;
  conversation.toolResult({
    id: id ?? frame_id,
    tool_name,
    status: status === "failed" ? "error" : "success",
    output_text: results.map(({ url }) => url).join("\n"),
  });
}

function payloadOf(
  tool_name: string,
  kind: JsonObject,
  input: JsonObject | undefined,
  results: { title: string; url: string }[],
): UiExtra | undefined {
  const url = asText(input?.url);
  if (url !== undefined && /^(?:open_page|find)/.test(asText(input?.type) ?? ""))
    return { type: "web_fetch", url };
  const query = asText(input?.query) ?? (input === undefined ? asText(kind.input) : undefined);
  return query !== undefined && /search/.test(tool_name) ? { type: "web_search", query, results } : undefined;
}
