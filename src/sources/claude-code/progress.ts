import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { copyOf } from "../../model/progress.ts";
import type { Disposition } from "../contract.ts";
import { startOf } from "./background.ts";
import { blocksOf, resultContent } from "./content.ts";
import type { Line, Session } from "./session-types.ts";

/** Maximum length of a run's call or result in its parent's card. */
const MAX_REPEATED = 400;

/**
 * A short description of a run's activity for its parent's card. Until 2.1.80 the run's messages are also in the parent's file.
 */
function runProgress(data: JsonObject | undefined): string {
  const message = asObject(asObject(data?.message)?.message);
  const texts = blocksOf(message?.content ?? []).map((block) => {
    switch (block.type) {
      case "text":
        // The call already contains the task.
        return message?.role === "assistant" ? (asString(block.text) ?? "").trim() : "";
      case "tool_use":
        return `▸ ${asString(block.name) ?? ""} ${clip(JSON.stringify(block.input ?? {}))}`;
      case "tool_result":
        return clip(resultContent(block.content).output_text.trim()).replaceAll(/^/gm, "  ");
      default:
        return "";
    }
  });
  return texts.flatMap((piece) => (piece.trim() === "" ? [] : [`${piece}\n`])).join("");
}

function clip(text: string): string {
  return text.length > MAX_REPEATED ? `${text.slice(0, MAX_REPEATED).toWellFormed()}…` : text;
}

/** Reads `progress` lines: the live state of a running call, or the id of the run that it started. */
export function readProgress(session: Session, line: Line): Disposition {
  const data = asObject(line.value.data);
  const type = asString(data?.type) ?? "progress";
  const id = asString(line.value.parentToolUseID) ?? asString(line.value.toolUseID);
  const call = id === undefined ? undefined : session.callNamed(id);
  if (id === undefined || call === undefined) return { kind: "hidden", rule: `progress: ${type}` };
  let fresh: string;
  switch (type) {
    case "agent_progress": {
      const agent_key = asText(data?.agentId);
      const fact = startOf(session, call.id);
      if (fact !== undefined && agent_key !== undefined) fact.agent_key ??= agent_key;
      const text = runProgress(data);
      if (text === "") return { kind: "hidden", rule: "progress: agent_progress" };
      fresh = text;
      break;
    }
    case "bash_progress": {
      const output = asString(data?.fullOutput) ?? asString(data?.output) ?? "";
      fresh = output.startsWith(call.progress) ? copyOf(output.slice(call.progress.length)) : "";
      break;
    }
    case "query_update":
      fresh = `Searching: ${asString(data?.query) ?? ""}\n`;
      break;
    case "search_results_received":
      fresh = `${asNumber(data?.resultCount) ?? 0} results: ${asString(data?.query) ?? ""}\n`;
      break;
    default:
      return { kind: "hidden", rule: `progress: ${type}` };
  }
  if (fresh !== "" && call.result === undefined) {
    session.push(line, {
      type: "message.tool_progress",
      tool_call_id: call.id,
      text: fresh,
      offset: call.progress.length,
    });
    call.progress += fresh;
  }
  return { kind: "folded", into: `the live output of ${id}` };
}
