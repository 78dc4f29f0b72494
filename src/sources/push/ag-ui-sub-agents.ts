import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { AgUiStream } from "./ag-ui-stream.ts";

/** Reads an event of a sub-agent. */
export function pushSubAgent(stream: AgUiStream, event: JsonObject, id: string): void {
  const { sub_agents } = stream;
  const name = asText(event.name);
  const sub_agent = sub_agents.get(id) ?? { name, text: "", events: [] };
  sub_agents.set(id, sub_agent);
  if (event.type === "TEXT_MESSAGE_CONTENT" || event.type === "TEXT_MESSAGE_CHUNK") {
    sub_agent.text += asString(event.delta) ?? "";
  }
  sub_agent.events.push(event);
  if (event.type === "SUBAGENT_FINISHED") {
    const isSuspended = asObject(event.outcome)?.type === "suspended";
    flushSubAgent(stream, id, isSuspended ? "sub_agent_run_waits" : "sub_agent_run_ended");
  }
  if (event.type === "SUBAGENT_ERROR")
    flushSubAgent(stream, id, "sub_agent_run_failed", asString(event.message));
}

/** Shows the activity of a sub-agent as one note. `ending`: the code of its title. */
export function flushSubAgent(
  stream: AgUiStream,
  id: string,
  ending:
    | "sub_agent_run_ended"
    | "sub_agent_run_waits"
    | "sub_agent_run_failed"
    | "sub_agent_run_did_not_end",
  reason?: string,
): void {
  const { writer, sub_agents } = stream;
  const sub_agent = sub_agents.get(id);
  sub_agents.delete(id);
  if (sub_agent === undefined) return;
  writer.endPart();
  writer.put({
    type: "marker",
    kind: "note",
    part_id: writer.nextPartId(),
    ...titleFields(sourceTitle(ending, { name: sub_agent.name, reason })),
    ...(sub_agent.text === "" ? {} : { text: sub_agent.text }),
    data: sub_agent.events,
  });
}
