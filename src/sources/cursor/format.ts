import { asObject, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { chats } from "./chats.ts";
import { transcriptReader } from "./transcript.ts";

/** Cursor's transcripts: `~/.cursor/projects/<folder>/agent-transcripts/…/<id>.jsonl`; sub-agents are in `subagents`. */
export const cursor = recordLinesFormat({
  id: "cursor",
  name: "Cursor",
  root: { variable: "CURSOR_CONFIG_DIR", home: ".cursor", folders: ["projects", "chats"] },
  classify(path) {
    if (!/(?:^|\/)agent-transcripts\/.+\.jsonl$/.test(path)) return undefined;
    return { kind: /\/subagents\/[^/]+$/.test(path) ? "run" : "session" };
  },
  detect: (head) => firstRecords(head).some(isOwn),
  snapshots: chats,
  reader: transcriptReader,
});

/** Whether a record is `{role, message: {content}}` without another agent's envelope. */
function isOwn(record: JsonObject): boolean {
  const isMessage = record.role === "user" || record.role === "assistant";
  return (
    isMessage &&
    Array.isArray(asObject(record.message)?.content) &&
    !("type" in record) &&
    !("uuid" in record)
  );
}
