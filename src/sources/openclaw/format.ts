import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { openclawReader } from "./reader.ts";
import { openclawSnapshots } from "./stores.ts";

/**
 * OpenClaw: a SQLite database per agent, or (until 2026.7) `~/.openclaw/agents/<agent>/sessions/<id>.jsonl`. Files of reset or
 * deleted sessions remain under another extension. Its lines are pi's, so it is tried first.
 */
export const openclaw = recordLinesFormat({
  id: "openclaw",
  name: "OpenClaw",
  root: {
    variable: "OPENCLAW_STATE_DIR",
    home: ".openclaw",
    folders: ["agents"],
    others: [{ variable: "OPENCLAW_HOME", folders: [".openclaw/agents"] }],
  },
  snapshots: openclawSnapshots,
  classify: (path) =>
    /(?:^|\/)sessions\/[^/]+\.jsonl(?:\.(?:reset|deleted)\.[^/]+)?$/.test(path)
      ? { kind: "session" }
      : undefined,
  detect: (head) => firstRecords(head).some(isOwn),
  reader: openclawReader,
});

/** Whether a record is one that OpenClaw writes and pi does not. */
function isOwn(record: JsonObject): boolean {
  if (asText(record.customType)?.startsWith("openclaw") === true) return true;
  const provider = asText(record.provider) ?? asText(asObject(record.message)?.provider);
  return provider?.startsWith("openclaw") ?? false;
}
