import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { RecordReader } from "../contract.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { piReader } from "../pi/reader.ts";
import type { PiState } from "../pi/state.ts";

/** OpenClaw writes pi's format: only whose sessions these are is told otherwise. */
export const openclawReader: RecordReader<PiState> = {
  ...piReader,
  read(state, record) {
    // Its entries name parents that are no entries (the session, a call): they tell no branches, and the file's order holds.
    const { parentId: _, ...value } = record.value;
    if (value.type !== "session") delete value.id;
    const { disposition, frames } = piReader.read(state, { ...record, value });
    const named = frames.map((frame) =>
      frame.type === "session.update" && frame.patch.agent !== undefined
        ? { ...frame, patch: { ...frame.patch, agent: "openclaw" } }
        : frame,
    );
    return { disposition, frames: named };
  },
};

/**
 * OpenClaw: `~/.openclaw/agents/<agent>/sessions/<id>.jsonl`; what was reset or deleted keeps its file under another ending. Its
 * lines are pi's, so it is asked first.
 */
export const openclaw = recordLinesFormat({
  id: "openclaw",
  name: "OpenClaw",
  root: { variable: "OPENCLAW_STATE_DIR", home: ".openclaw", folders: ["agents"] },
  classify: (path) =>
    /(?:^|\/)sessions\/[^/]+\.jsonl(?:\.(?:reset|deleted)\.[^/]+)?$/.test(path)
      ? { kind: "session" }
      : undefined,
  detect: (head) => firstRecords(head).some(isOwn),
  reader: openclawReader,
});

/** What only OpenClaw writes among pi's entries. */
function isOwn(record: JsonObject): boolean {
  if (asText(record.customType)?.startsWith("openclaw") === true) return true;
  const provider = asText(record.provider) ?? asText(asObject(record.message)?.provider);
  return provider?.startsWith("openclaw") ?? false;
}
