import { asObject, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { chats } from "./chats.ts";
import { transcriptReader } from "./transcript.ts";

/** Cursor's transcripts: `~/.cursor/projects/<folder>/agent-transcripts/…/<id>.jsonl`, those of sub-agents in `subagents`. */
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

/** `{role, message: {content}}` without the envelope of other agents. */
function isOwn(record: JsonObject): boolean {
  const isMessage = record.role === "user" || record.role === "assistant";
  return (
    isMessage &&
    Array.isArray(asObject(record.message)?.content) &&
    !("type" in record) &&
    !("uuid" in record)
  );
}
