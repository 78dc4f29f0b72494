import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { iflowReader } from "./reader.ts";

/** iFlow CLI: `~/.iflow/projects/<folder>/session-<id>.jsonl`. Its lines look like Claude Code's, so it is tried first. */
export const iflow = recordLinesFormat({
  id: "iflow",
  name: "iFlow",
  root: { variable: "IFLOW_HOME", home: ".iflow", folders: ["projects"] },
  classify: (path) => (path.endsWith(".jsonl") ? { kind: "session" } : undefined),
  detect: (head) => firstRecords(head).some(isOwn),
  reader: iflowReader,
});

function isOwn(record: JsonObject): boolean {
  const isEnvelope = "parentUuid" in record && asObject(record.message)?.role !== undefined;
  return isEnvelope && (asText(record.sessionId)?.startsWith("session-") ?? false);
}
