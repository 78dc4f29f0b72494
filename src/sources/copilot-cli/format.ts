import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { createOpenStateReader } from "./open-state.ts";
import { copilotReader, copilotSessionId } from "./reader.ts";

const FOLDER = /^(.*?)(?:^|\/)([^/]+)\/events\.jsonl$/;

/** The lock of a process on its session (observed with 1.0.102). A killed process leaves it behind. */
const LOCK = /^inuse\.(\d+)\.lock$/;

/** GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`; before 1.0 `session-state/<id>.jsonl`. */
export const copilotCli = recordLinesFormat({
  id: "copilot-cli",
  name: "Copilot CLI",
  root: { variable: "COPILOT_HOME", home: ".copilot", folders: ["session-state"] },
  classify(path) {
    if (FOLDER.test(path)) return { kind: "session", side: path.replace(/events\.jsonl$/, "workspace.yaml") };
    return /(?:^|\/)[^/]+\.jsonl$/.test(path) ? { kind: "session" } : undefined;
  },
  locks: {
    folder: "session-state",
    sessionId: copilotSessionId,
    pidOf(name) {
      const [, pid] = LOCK.exec(name) ?? [];
      return pid === undefined ? undefined : Number(pid);
    },
    records: "events.jsonl",
    createStateReader: createOpenStateReader,
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
