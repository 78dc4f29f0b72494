import { asNumber, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { pushChunk, pushEvent, showWaiting } from "./ag-ui-events.ts";
import { type AgUiStream, endStep } from "./ag-ui-stream.ts";
import { pushSubAgent } from "./ag-ui-sub-agents.ts";
import { endCut } from "./endings.ts";
import type { EventReader, EventReaderOptions, StreamFormat } from "./format.ts";

/**
 * AG-UI, the Agent User Interaction Protocol (https://docs.ag-ui.com/concepts/events), 1.0 and its earlier event names. One run
 * is one turn. Its prompt is the last message of the run's input, if it is a person's. Results at the end of the input are from
 * tools that the front end ran.
 */
export const agUi: StreamFormat = { id: "ag-ui", createReader: createAgUiReader };

function createAgUiReader({ writer, lastingIdOf, setTime }: EventReaderOptions): EventReader {
  const stream: AgUiStream = {
    writer,
    lastingIdOf,
    calls: new Map(),
    open: new Set(),
    shown: new Map(),
    others: new Map(),
    sub_agents: new Map(),
    activities: new Set(),
    chunk: undefined,
    message_key: undefined,
    had_calls: false,
    isRunning: false,
    had_run: false,
  };
  let began = false;

  const putUnknown = (event: JsonObject): void => {
    const title = titleFields(asText(event.type) ?? sourceTitle("event_without_type"));
    writer.put({ type: "unknown", part_id: writer.nextPartId(), raw: event, ...title });
  };

  const push = (event: JsonObject): void => {
    began = true;
    setTime(asNumber(event.timestamp));
    const type = asString(event.type) ?? "";
    const sub_agent = asString(event.subagentRunId);
    if (sub_agent !== undefined) {
      pushSubAgent(stream, event, sub_agent);
      return;
    }
    const isChunk =
      type === "TEXT_MESSAGE_CHUNK" || type === "REASONING_MESSAGE_CHUNK" || type === "TOOL_CALL_CHUNK";
    if (isChunk ? !pushChunk(stream, type, event) : !pushEvent(stream, type, event)) putUnknown(event);
  };

  return {
    push,
    end() {
      if (!began) return;
      showWaiting(stream);
      if (stream.isRunning) endCut(writer);
      else endStep(stream);
    },
    get isOver() {
      const { others, sub_agents, had_run, isRunning } = stream;
      const isWaiting = others.size > 0 || sub_agents.size > 0 || writer.message_id !== undefined;
      return had_run && !isRunning && !isWaiting;
    },
  };
}
