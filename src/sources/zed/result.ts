import type { MediaPart } from "../../model/messages/part.ts";
import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { nameRun } from "../conversation/runs.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { fileDiff, hunksOf } from "../conversation/unified-diff.ts";
import type { ZedState } from "./state.ts";

/** The texts of results without an answer of the tool (`crates/agent/src/thread.rs`). */
const STOPPED = "Tool canceled by user";
const REFUSED = "Permission to run tool denied by user";
/** What the tool `terminal` writes before the output of a command that a person stopped. */
const STOPPED_COMMAND = "The user stopped this command";

/**
 * Reads a result: `content` is for the model, `output` is the tool's own. `idOf`: the id of the session of a thread.
 */
export function readResult(
  state: ZedState,
  conversation: Conversation,
  result: JsonObject,
  idOf: (thread: string) => string,
): void {
  const { text, parts } = contentOf(result.content);
  const output = asObject(result.output);
  const id = asText(result.tool_use_id);
  const run = asText(output?.session_id);
  if (id !== undefined && run !== undefined) nameRun(state, id, idOf(run));
  const outcome = outcomeOf(text);
  const tool_name = asText(result.tool_name);
  // Zed counts a command as successful whatever its exit code is.
  const failed = result.is_error === true || (tool_name === "terminal" && (exitCode(text) ?? 0) !== 0);
  conversation.toolResult({
    id,
    tool_name,
    output_text: text,
    parts,
    ...(outcome === undefined ? { status: failed ? "error" : "success" } : { status: "aborted", outcome }),
    payload: (call) => payloadOf(call, text, { output, failed: failed || outcome !== undefined }),
  });
}

function outcomeOf(text: string): CallOutcome | undefined {
  if (text === STOPPED || text.startsWith(STOPPED_COMMAND)) return { kind: "stopped", by: "person" };
  return text === REFUSED ? { kind: "refused", by: "person" } : undefined;
}

function payloadOf(
  call: UiExtra | undefined,
  text: string,
  { output, failed }: { output: JsonObject | undefined; failed: boolean },
): UiExtra | undefined {
  if (call?.type === "shell")
    return withExit(call, {
      exit_code: exitCode(text),
      interrupted: text.startsWith(STOPPED_COMMAND),
    });
  if (failed) return ofFailure(call);
  const path = asText(output?.input_path) ?? asText(output?.original_path);
  const hunks = hunksOf(asText(output?.diff) ?? "");
  if (path === undefined || hunks.length === 0) return call;
  const change = asString(output?.old_text) === "" ? "create" : "update";
  return { type: "diff", files: [fileDiff(path, change, hunks)] };
}

/** The exit code of a command. The output of one that succeeded is written without a code. */
function exitCode(text: string): number | undefined {
  if (text === "Command executed successfully.") return 0;
  const code = /^Command ".*?" failed with exit code (-?\d+)\./s.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

/** Splits the content of a result, for which versions use several shapes, into its text and images. */
function contentOf(content: unknown): { text: string; parts: MediaPart[] } {
  const texts: string[] = [];
  const parts: MediaPart[] = [];
  for (const item of Array.isArray(content) ? content : content === undefined ? [] : [content]) {
    const value = asObject(item);
    const text = asString(item) ?? asString(value?.Text) ?? asString(value?.text);
    if (text !== undefined) texts.push(text);
    else parts.push(imagePart(value?.Image ?? value?.image ?? item) ?? { type: "unknown", raw: item });
  }
  return { text: texts.join("\n"), parts };
}

/** An image, which Zed stores as PNG; `undefined`: it is none. */
export function imagePart(value: unknown): MediaPart | undefined {
  const data = asText(asObject(value)?.source);
  return data === undefined ? undefined : { type: "image_url", url: `data:image/png;base64,${data}` };
}
