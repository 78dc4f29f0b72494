import type { ToolStatus } from "../../model/messages/message.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { FileDiff } from "../../model/parts/ui-extra.ts";
import { localPath } from "../conversation/path-url.ts";
import { type Output, readContent } from "./output.ts";
import { declined, outcomeOfText } from "./refusals.ts";
import { type CallFacts, commandText } from "./tool-extra.ts";

/** Converts a serialized Rust duration to milliseconds. */
function milliseconds(duration: unknown): number | undefined {
  const parts = asObject(duration);
  const seconds = asNumber(parts?.secs);
  if (seconds === undefined) return asNumber(duration);
  return Math.round(seconds * 1000 + (asNumber(parts?.nanos) ?? 0) / 1e6);
}

/** Facts from `exec_command_end` or a `CommandExecution` item. */
export function commandFacts(payload: JsonObject): CallFacts {
  const command = commandText(payload.command);
  const folder = asString(payload.cwd);
  const cwd = folder === undefined ? undefined : localPath(folder);
  const exit_code = asNumber(payload.exit_code);
  const duration_ms = milliseconds(payload.duration);
  const output = asString(payload.aggregated_output) ?? asString(payload.formatted_output);
  const status = statusOf(payload.status, exit_code);
  const outcome = payload.status === "declined" ? declined(output) : undefined;
  return {
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(exit_code === undefined ? {} : { exit_code }),
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(output === undefined ? {} : { output }),
    ...(status === undefined ? {} : { status }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

function statusOf(status: unknown, exit_code: number | undefined): ToolStatus | undefined {
  if (status === "declined") return "aborted";
  if (status === "failed" || (exit_code !== undefined && exit_code !== 0)) return "error";
  return undefined;
}

/** Facts from `patch_apply_end` or a `FileChange` item. */
export function patchFacts(payload: JsonObject, files: FileDiff[]): CallFacts {
  const failed = payload.success === false || payload.status === "failed";
  return {
    files,
    ...(payload.status === "declined"
      ? { status: "aborted", outcome: declined(asString(payload.stderr)) }
      : failed
        ? { status: "error" }
        : {}),
  };
}

/** Facts from `mcp_tool_call_end` or an `McpToolCall` item. */
export function mcpFacts(payload: JsonObject): {
  facts: CallFacts;
  text: string;
  media: MediaPart[];
  failed: boolean;
} {
  const invocation = asObject(payload.invocation) ?? payload;
  const result = asObject(payload.result);
  const ok = asObject(result?.Ok) ?? (result?.content === undefined ? undefined : result);
  const problem =
    result?.Err ?? asObject(payload.error)?.message ?? (ok === undefined ? payload.error : undefined);
  const content = Array.isArray(ok?.content) ? readContent(ok.content) : undefined;
  const refused = typeof problem === "string" ? outcomeOfText(problem) : undefined;
  const outcome = payload.status === "declined" ? (refused ?? declined(undefined)) : refused;
  const failed = ok?.isError === true || payload.status === "failed" || typeof problem === "string";
  const structured = ok?.structuredContent ?? ok?.structured_content;
  const duration_ms = milliseconds(payload.duration);
  return {
    facts: {
      mcp: {
        server: asString(invocation.server) ?? "",
        tool: asString(invocation.tool) ?? "",
        ...(structured === undefined || structured === null ? {} : { structured }),
      },
      ...(duration_ms === undefined ? {} : { duration_ms }),
      ...(outcome !== undefined ? { status: "aborted", outcome } : failed ? { status: "error" } : {}),
    },
    text: typeof problem === "string" ? problem : (content?.text ?? ""),
    media: content?.media ?? [],
    failed,
  };
}

/** The pages of a search as text. */
export function searchOutput(facts: CallFacts, status: unknown): Output {
  const pages = facts.web?.results ?? [];
  const text = pages.map(({ title, url }) => `${title}\n${url}`).join("\n\n");
  return { text, media: [], status: status === "failed" ? "error" : "success" };
}

/** The arguments of an image generation. */
export function imagePrompt(payload: JsonObject): string {
  const prompt = asString(payload.revised_prompt);
  return JSON.stringify(prompt === undefined ? {} : { prompt });
}

/** The output of an image generation, from a call, an event or an item. */
export function imageOutput(payload: JsonObject): Output {
  const path = asText(payload.saved_path);
  const data = asText(payload.result);
  const failed = payload.status === "failed";
  const url = data === undefined || /^(?:https?|data):/.test(data) ? data : `data:image/png;base64,${data}`;
  return {
    text: asString(payload.revised_prompt) ?? "",
    media:
      path !== undefined
        ? [{ type: "image_file", file_path: path }]
        : url === undefined
          ? []
          : [{ type: "image_url", url }],
    status: failed ? "error" : "success",
  };
}
