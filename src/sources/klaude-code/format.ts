import { asObject, asString, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { klaudeReader } from "./reader.ts";

/** klaude-code: `~/.klaude/projects/<folder>/sessions/<id>/events.jsonl`, with `meta.json` in the same folder. */
export const klaudeCode = recordLinesFormat({
  id: "klaude-code",
  name: "klaude-code",
  root: { variable: "KLAUDE_HOME", home: ".klaude", folders: ["projects"] },
  classify: (path) =>
    /(?:^|\/)events\.jsonl$/.test(path)
      ? { kind: "session", side: path.replace(/events\.jsonl$/, "meta.json") }
      : undefined,
  detect: (head) => firstRecords(head, 5).some(isItem),
  reader: klaudeReader,
});

/** Whether a record has two members: a class name and its data. */
function isItem(record: JsonObject): boolean {
  const type = asString(record.type) ?? "";
  return asObject(record.data) !== undefined && /^[A-Z][A-Za-z]+(?:Message|Entry|Item)$/.test(type);
}
