import { asObject, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { outputFileIn } from "../conversation/output-file.ts";
import { folderOf } from "../conversation/paths.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { grokReader } from "./reader.ts";
import { updateIn } from "./updates.ts";

const FILE = /((?:^|\/))(chat_history|updates)\.jsonl$/;

/**
 * xAI's Grok CLI: `~/.grok/sessions/<folder>/<id>/updates.jsonl`, with `summary.json` in the same folder. `chat_history.jsonl`
 * beside it, which Grok derives from it and rewrites, is read if there is no other.
 */
export const grok = recordLinesFormat({
  id: "grok",
  name: "Grok",
  root: { variable: "GROK_HOME", home: ".grok", folders: ["sessions"] },
  classify(path) {
    const [, before, name] = FILE.exec(path) ?? [];
    if (name === undefined) return undefined;
    const beside = (other: string) => path.replace(FILE, `${before}${other}`);
    const side = beside("summary.json");
    return {
      kind: "session",
      side,
      ...(name === "chat_history" && { replaced_by: beside("updates.jsonl") }),
    };
  },
  detect: (head) =>
    firstRecords(head).some(
      (record) =>
        (record.type === "user" && ("prompt_index" in record || "synthetic_reason" in record)) ||
        (record.type === "assistant" && ("model_fingerprint" in record || "reasoning_effort" in record)) ||
        (record.type === "backend_tool_call" && asObject(record.kind) !== undefined) ||
        isUpdate(record),
    ),
  outputFile: (session_path, recorded_path) =>
    outputFileIn(`${folderOf(session_path)}/terminal`, recorded_path),
  reader: grokReader,
});

/** Whether a line is one of `updates.jsonl`. Logs of other clients of the protocol have similar lines without Grok's facts. */
function isUpdate(record: JsonObject): boolean {
  const found = updateIn(record);
  if (found === undefined || record.jsonrpc !== undefined) return false;
  const facts = asObject(found.update._meta) ?? {};
  return (
    record.method === "_x.ai/session/update" ||
    "eventId" in found.meta ||
    "x.ai/tool" in facts ||
    "promptIndex" in facts
  );
}
