import { asString, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { outputFile } from "./output-file.ts";
import { ohMyPiReader } from "./reader.ts";
import { runOf } from "./runs.ts";

/**
 * oh-my-pi, a fork of pi: `~/.omp/agent/sessions/<folder>/<time>_<id>.jsonl`, with sub-agents in the folder `<time>_<id>`. Its
 * lines are pi's, so it is tried first. It uses pi's environment variables.
 */
export const ohMyPi = recordLinesFormat({
  id: "oh-my-pi",
  name: "oh-my-pi",
  root: {
    variable: "PI_CODING_AGENT_DIR",
    home: ".omp/agent",
    folders: ["sessions"],
    others: [{ variable: "PI_CODING_AGENT_SESSION_DIR", folders: ["."] }],
  },
  classify(path) {
    if (!/\.jsonl$/.test(path) || /\.bak[^/]*$/.test(path)) return undefined;
    return { kind: runOf(path) === undefined ? "session" : "run" };
  },
  detect: (head) => firstRecords(head).some(isOwn),
  outputFile,
  reader: ohMyPiReader,
});

/** Types of entries that oh-my-pi writes and pi does not. */
const OWN = new Set(["title_change", "model_usage", "session_init", "ttsr_injection", "credential_pin"]);

function isOwn(record: JsonObject): boolean {
  const type = asText(record.type);
  // A title precedes the header. Earlier versions wrote it into the header.
  if (type === "title") return asString(record.title) !== undefined && asString(record.pad) !== undefined;
  if (asText(record.timestamp) === undefined) return false;
  if (type === "session") return asText(record.titleSource) !== undefined;
  if (asText(record.id) === undefined) return false;
  if (type === "model_change") return asText(record.model) !== undefined && record.modelId === undefined;
  return type !== undefined && OWN.has(type);
}
