import type { FrameBodyOf } from "../../model/frames/frame-writer.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { FileDiff, UiExtra } from "../../model/parts/ui-extra.ts";
import { withOutputFile } from "../conversation/output-file.ts";
import { ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import { hunksOf } from "../conversation/unified-diff.ts";
import { mediaOf } from "./fields.ts";
import { outputFileOfState } from "./output-file.ts";

/** The result of a call by its `state`; `undefined`: it has not ended. `invalid`: the tool does not exist. */
export function resultFrame(
  tool_name: string,
  tool_call_id: string,
  state: JsonObject,
  invalid: boolean,
): FrameBodyOf<"message.tool_result"> | undefined {
  if (state.status !== "completed" && state.status !== "error") return undefined;
  const metadata = asObject(state.metadata) ?? {};
  const output = asString(state.output) ?? asString(state.error) ?? "";
  const stopped =
    metadata.interrupted === true ||
    (metadata.exit === null && output.includes("User aborted the command")) ||
    (state.status === "error" && output === "Tool execution aborted");
  const failed = state.status === "error" || invalid;
  const status = stopped ? "aborted" : failed ? "error" : "success";
  const parts = asArray(state.attachments).flatMap((each): MediaPart[] => {
    const attachment = asObject(each);
    const media = attachment && mediaOf(attachment);
    return media === undefined ? [{ type: "unknown", raw: each }] : [media];
  });
  const payload = payloadFor(tool_name, asObject(state.input), metadata, state, stopped);
  const extra = withOutputFile(
    status === "success" ? payload : ofFailure(payload),
    outputFileOfState(metadata, output),
  );
  return {
    type: "message.tool_result",
    tool_call_id,
    tool_name,
    is_error: status === "error",
    status,
    output_text: output,
    parts,
    ...(extra !== undefined && { ui_extra: extra }),
    ...(stopped && { outcome: { kind: "stopped" as const, by: "person" as const } }),
  };
}

function payloadFor(
  tool_name: string,
  input: JsonObject | undefined,
  metadata: JsonObject,
  state: JsonObject,
  interrupted: boolean,
): UiExtra | undefined {
  const payload = payloadOf(tool_name, input);
  const start = asNumber(asObject(state.time)?.start);
  const end = asNumber(asObject(state.time)?.end);
  switch (payload?.type) {
    case "shell":
      return withExit(payload, {
        exit_code: asNumber(metadata.exit),
        interrupted,
        ...(start !== undefined && end !== undefined && { duration_ms: end - start }),
      });
    case "diff": {
      const files = filesOf(metadata);
      if (files.length > 0) return { type: "diff", files };
      const file = asObject(metadata.filediff);
      const path = asText(file?.file) ?? asText(metadata.filepath) ?? asText(input?.filePath);
      const diff = asText(file?.patch) ?? asText(metadata.diff);
      if (path === undefined || diff === undefined) return payload;
      const hunks = hunksOf(diff);
      const count = (sign: string) =>
        hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(sign)).length, 0);
      const change = metadata.exists === false ? "create" : "update";
      return {
        type: "diff",
        files: [{ path, change, additions: count("+"), deletions: count("-"), hunks }],
      };
    }
    case "sub_agent": {
      const session = asText(metadata.sessionId);
      return { ...payload, ...(session !== undefined && { agent_key: session }) };
    }
    default:
      return payload;
  }
}

/** The changed files in opencode 2. */
function filesOf(metadata: JsonObject): FileDiff[] {
  return asArray(metadata.files).flatMap((each) => {
    const file = asObject(each);
    const path = asText(file?.file);
    const patch = asText(file?.patch);
    if (path === undefined || patch === undefined) return [];
    const change = file?.status === "added" ? "create" : file?.status === "deleted" ? "delete" : "update";
    const [additions, deletions] = [asNumber(file?.additions) ?? 0, asNumber(file?.deletions) ?? 0];
    return [{ path, change, additions, deletions, hunks: hunksOf(patch) }];
  });
}
