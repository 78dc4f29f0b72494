import { asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { droidReader } from "./reader.ts";

/** Factory's Droid: `~/.factory/sessions/<folder>/<id>.jsonl`, with `<id>.settings.json` in the same folder. */
export const droid = recordLinesFormat({
  id: "droid",
  name: "Droid",
  root: { variable: "FACTORY_HOME", home: ".factory", folders: ["sessions"] },
  classify: (path) =>
    path.endsWith(".jsonl")
      ? { kind: "session", side: path.replace(/\.jsonl$/, ".settings.json") }
      : undefined,
  detect: (head) => firstRecords(head).some(isOwn),
  reader: droidReader,
});

/** Whether a record is Droid's: the first line, or in a file without its start, types that only Droid writes. */
function isOwn(record: JsonObject): boolean {
  switch (record.type) {
    case "session_start":
      return (
        asText(record.id) !== undefined &&
        ["owner", "sessionTitle", "title", "cwd"].some((name) => name in record)
      );
    case "todo_state":
    case "compaction_state":
    case "agent_turn_outcome":
      return true;
    default:
      return false;
  }
}
