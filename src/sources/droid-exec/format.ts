import { asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { droidExecReader } from "./reader.ts";

/** The saved output of `droid exec --output-format stream-json`. It has no usual folder: it is opened by name, or posted. */
export const droidExec = recordLinesFormat({
  id: "droid-exec",
  name: "Droid (exec)",
  classify: (path) => (/^droid-exec-runs\/.+\.jsonl$/.test(path) ? { kind: "session" } : undefined),
  detect: (head) => firstRecords(head).some(isOwn),
  reader: droidExecReader,
});

/** Whether a record is Droid's. The first one, `system`, is like Claude Code's. */
function isOwn({ type, session_id, ...fields }: JsonObject): boolean {
  if (asText(session_id) === undefined) return false;
  switch (type) {
    case "message":
      return asText(fields.role) !== undefined && typeof fields.text === "string";
    case "tool_call":
      return asText(fields.toolName) !== undefined && "parameters" in fields;
    case "completion":
      return "finalText" in fields;
    default:
      return false;
  }
}
