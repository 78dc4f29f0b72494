import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { AgUiStream } from "./ag-ui-stream.ts";

/** Reads an event of a sub-agent. */
export function pushHelper(stream: AgUiStream, event: JsonObject, id: string): void {
  const { helpers } = stream;
  const name = asText(event.name);
  const helper = helpers.get(id) ?? { name, text: "", events: [] };
  helpers.set(id, helper);
  if (event.type === "TEXT_MESSAGE_CONTENT" || event.type === "TEXT_MESSAGE_CHUNK") {
    helper.text += asString(event.delta) ?? "";
  }
  helper.events.push(event);
  if (event.type === "SUBAGENT_FINISHED") {
    const isSuspended = asObject(event.outcome)?.type === "suspended";
    flushHelper(stream, id, isSuspended ? "helper_waits" : "helper_ended");
  }
  if (event.type === "SUBAGENT_ERROR") flushHelper(stream, id, "helper_failed", asString(event.message));
}

/** Shows the activity of a sub-agent as one note. `ending`: the code of its title. */
export function flushHelper(
  stream: AgUiStream,
  id: string,
  ending: "helper_ended" | "helper_waits" | "helper_failed" | "helper_did_not_end",
  reason?: string,
): void {
  const { writer, helpers } = stream;
  const helper = helpers.get(id);
  helpers.delete(id);
  if (helper === undefined) return;
  writer.endPart();
  writer.put({
    type: "marker",
    kind: "note",
    part_id: writer.nextPartId(),
    ...titleFields(sourceTitle(ending, { name: helper.name, reason })),
    ...(helper.text === "" ? {} : { text: helper.text }),
    data: helper.events,
  });
}
