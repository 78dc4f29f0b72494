import { asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { folderOf } from "../conversation/paths.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { piReader } from "./reader.ts";

/** pi's sessions: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`. */
export const pi = recordLinesFormat({
  id: "pi",
  name: "pi",
  root: {
    variable: "PI_CODING_AGENT_DIR",
    home: ".pi/agent",
    folders: ["sessions"],
    others: [{ variable: "PI_CODING_AGENT_SESSION_DIR", folders: ["."] }],
  },
  classify: (path) => (/\.jsonl$/.test(path) ? { kind: "session" } : undefined),
  detect: (head) => firstRecords(head, 1).some(isHeader),
  // In the system's folder for temporary files, whose path only the record has.
  outputFile: (_session_path, recorded_path) =>
    /[\\/]pi-bash-[0-9a-f]+\.log$/.test(recorded_path)
      ? { folder: folderOf(recorded_path), path: recorded_path }
      : undefined,
  reader: piReader,
});

function isHeader(record: JsonObject): boolean {
  if (record.type !== "session" || asText(record.id) === undefined) return false;
  return typeof record.cwd === "string" && typeof record.timestamp === "string";
}
