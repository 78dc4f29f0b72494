import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { outputFileIn } from "../conversation/output-file.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { qwenReader } from "./reader.ts";

/**
 * Qwen Code: `~/.qwen/projects/<folder>/chats/<id>.jsonl`, sub-agents in a sibling folder `subagents/<id>/`. Its lines look
 * like Claude Code's, so it is tried first.
 */
export const qwenCode = recordLinesFormat({
  id: "qwen-code",
  name: "Qwen Code",
  root: {
    variable: "QWEN_HOME",
    home: ".qwen",
    folders: ["projects"],
    others: [{ variable: "QWEN_RUNTIME_DIR", folders: ["projects"] }],
  },
  classify(path) {
    if (/(?:^|\/)subagents\/[^/]+\/agent-[^/]+\.jsonl$/.test(path)) return { kind: "run" };
    return /(?:^|\/)chats\/[^/]+\.jsonl$/.test(path) ? { kind: "session" } : undefined;
  },
  detect: (head) => firstRecords(head).some(isOwn),
  outputFile(session_path, recorded_path) {
    const home = /^(.*)[\\/]projects[\\/]/.exec(session_path)?.[1];
    return home === undefined ? undefined : outputFileIn(`${home}/tmp`, recorded_path);
  },
  reader: qwenReader,
});

/** Whether a record has Claude's envelope with the Gemini API's `parts`, or is a system record with a payload. */
function isOwn(record: JsonObject): boolean {
  if (asText(record.sessionId) === undefined || !("parentUuid" in record)) return false;
  const parts = asObject(record.message)?.parts;
  return asArray(parts).length > 0 || asObject(record.systemPayload) !== undefined;
}
