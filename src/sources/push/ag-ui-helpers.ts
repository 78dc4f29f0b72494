import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { AgUiStream } from "./ag-ui-stream.ts";

/** Reads an event of a sub-agent. */
export function pushHelper(stream: AgUiStream, event: JsonObject, id: string): void {
  const { helpers } = stream;
  const name = asText(event.name) ?? "A sub-agent";
  const helper = helpers.get(id) ?? { name, text: "", events: [] };
  helpers.set(id, helper);
  if (event.type === "TEXT_MESSAGE_CONTENT" || event.type === "TEXT_MESSAGE_CHUNK") {
    helper.text += asString(event.delta) ?? "";
  }
  helper.events.push(event);
  if (event.type === "SUBAGENT_FINISHED") {
    const isSuspended = asObject(event.outcome)?.type === "suspended";
    flushHelper(stream, id, isSuspended ? "waits for a person" : "ended");
  }
  if (event.type === "SUBAGENT_ERROR")
    flushHelper(stream, id, `failed: ${asString(event.message) ?? "no reason given"}`);
}

/** Shows the activity of a sub-agent as one note. */
export function flushHelper(stream: AgUiStream, id: string, ending: string): void {
  const { writer, helpers } = stream;
  const helper = helpers.get(id);
  helpers.delete(id);
  if (helper === undefined) return;
  writer.endPart();
  writer.put({
    type: "marker",
    kind: "note",
    part_id: writer.nextPartId(),
    title: `${helper.name} ${ending}`,
    ...(helper.text === "" ? {} : { text: helper.text }),
    data: helper.events,
  });
}
