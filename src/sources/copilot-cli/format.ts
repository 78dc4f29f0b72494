import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { copilotReader } from "./reader.ts";

const FOLDER = /^(.*?)(?:^|\/)([^/]+)\/events\.jsonl$/;

/** GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`; before 1.0 `session-state/<id>.jsonl`. */
export const copilotCli = recordLinesFormat({
  id: "copilot-cli",
  name: "Copilot CLI",
  root: { variable: "COPILOT_HOME", home: ".copilot", folders: ["session-state"] },
  classify(path) {
    if (FOLDER.test(path)) return { kind: "session", side: path.replace(/events\.jsonl$/, "workspace.yaml") };
    return /(?:^|\/)[^/]+\.jsonl$/.test(path) ? { kind: "session" } : undefined;
  },
  detect: (head) => firstRecords(head, 5).some(isEvent),
  reader: copilotReader,
});

/** Whether a record is `session.start` or any event: an id, a parent, and a two-part type. */
function isEvent(record: JsonObject): boolean {
  const isEnvelope =
    "parentId" in record && asText(record.id) !== undefined && asObject(record.data) !== undefined;
  return isEnvelope && /^[a-z_]+\.[a-zA-Z_.]+$/.test(asText(record.type) ?? "");
}
