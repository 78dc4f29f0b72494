import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { kimiCliReader } from "./reader.ts";

/** Types of the messages with which a session or its continuation begins. */
const FIRST =
  /^(?:TurnBegin|SteerInput|StepBegin|ContentPart|ToolCall|ToolResult|StatusUpdate|MCPLoadingBegin|HookTriggered)$/;

/**
 * kimi-cli, the predecessor of Kimi Code: `~/.kimi/sessions/<hash of the folder>/<id>/wire.jsonl` with `state.json` beside it, and
 * `subagents/<agent>/wire.jsonl` with `meta.json` below it.
 */
export const kimiCli = recordLinesFormat({
  id: "kimi-cli",
  name: "Kimi CLI",
  root: { variable: "KIMI_SHARE_DIR", home: ".kimi", folders: ["sessions", "imported_sessions"] },
  classify(path) {
    if (!/(?:^|\/)wire\.jsonl$/.test(path)) return undefined;
    const isRun = /(?:^|\/)subagents\/[^/]+\/wire\.jsonl$/.test(path);
    const side = path.replace(/wire\.jsonl$/, isRun ? "meta.json" : "state.json");
    return { kind: isRun ? "run" : "session", side };
  },
  // In older versions it is the status of the last step.
  recordsTurnEnds: true,
  detect: (head) => firstRecords(head).some(isWireRecord),
  reader: kimiCliReader,
});

/** Whether a record is the header, in which Kimi Code also writes a time, or a message in its envelope. */
function isWireRecord(record: JsonObject): boolean {
  if (record.type === "metadata")
    return asText(record.protocol_version) !== undefined && !("created_at" in record);
  const message = asObject(record.message);
  return (
    "timestamp" in record &&
    !("type" in record) &&
    FIRST.test(asText(message?.type) ?? "") &&
    asObject(message?.payload) !== undefined
  );
}
