import { asNumber, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { antigravityReader } from "./reader.ts";

/**
 * Google Antigravity, terminal and editor: `~/.gemini/antigravity-cli/brain/<id>/.system_generated/logs/transcript.jsonl`, a
 * mirror of the conversation, whose own store is not readable. `transcript_full.jsonl` in the same folder has the same records
 * with complete texts; it is opened by name.
 */
export const antigravity = recordLinesFormat({
  id: "antigravity",
  name: "Antigravity",
  root: {
    // Verbatim's own variable: Antigravity has none.
    variable: "ANTIGRAVITY_HOME",
    home: ".gemini",
    folders: ["antigravity-cli/brain", "antigravity/brain", "antigravity-ide/brain"],
  },
  classify: (path) =>
    /(?:^|\/)\.system_generated\/logs\/transcript\.jsonl$/.test(path) ? { kind: "session" } : undefined,
  detect: (head) => firstRecords(head).some(isOwn),
  reader: antigravityReader,
});

function isOwn(record: JsonObject): boolean {
  const type = asText(record.type);
  const isStep =
    type !== undefined && /^[A-Z][A-Z_]+$/.test(type) && asNumber(record.step_index) !== undefined;
  return isStep && (asText(record.source) !== undefined || asText(record.status) !== undefined);
}
