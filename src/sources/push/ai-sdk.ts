import { asString, type JsonObject } from "../../model/narrow.ts";
import { pushCall, putCall, readApproval } from "./ai-sdk-calls.ts";
import { pushEvent } from "./ai-sdk-events.ts";
import { type AiSdkStream, note, putUnknown } from "./ai-sdk-stream.ts";
import { endCut, endFailed } from "./endings.ts";
import type { EventReader, EventReaderOptions, StreamFormat } from "./format.ts";

/**
 * The AI SDK's UI message stream (`x-vercel-ai-ui-message-stream: v1`, https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol),
 * versions 5 to 7. Its message contains all steps of a turn; each step becomes a message. It contains no prompt.
 */
export const aiSdk: StreamFormat = {
  id: "ai-sdk",
  createReader: createAiSdkReader,
};

function createAiSdkReader({ writer, idOf }: EventReaderOptions): EventReader {
  const stream: AiSdkStream = {
    writer,
    idOf,
    calls: new Map(),
    approvals: new Map(),
    response_id: undefined,
    model: undefined,
    usage: undefined,
    had_calls: false,
    isEnding: false,
    isOver: false,
  };
  /** The last event gave the reason for the stream's end. */
  let hasFailed = false;
  let began = false;

  const push = (event: JsonObject): void => {
    began = true;
    const type = asString(event.type) ?? "";
    hasFailed = type === "error";
    if (type === "tool-approval-response") readApproval(stream, event);
    else if (type.startsWith("tool-")) {
      const id = asString(event.toolCallId);
      if (id === undefined || !pushCall(stream, event, id)) putUnknown(stream, event);
    } else if (type.startsWith("data-")) {
      // Data with an id replaces earlier data with that id.
      const id = asString(event.id);
      note(stream, type, event.data, id === undefined ? undefined : idOf(`${type}:${id}`));
    } else pushEvent(stream, type, event);
  };

  return {
    push,
    end() {
      if (stream.isOver || !began) return;
      for (const [id, call] of stream.calls)
        if (call.state === "started") putCall(stream, id, undefined, undefined);
      if (hasFailed) endFailed(writer);
      else endCut(writer);
    },
    get isOver() {
      return stream.isOver;
    },
    get hasFailed() {
      return hasFailed;
    },
  };
}
