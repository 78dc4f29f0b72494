import { recordLinesFormat } from "../lines/record-lines.ts";
import { openHandsReader } from "./reader.ts";
import { openHandsSnapshots } from "./stores.ts";

/** OpenHands (software agent SDK and its CLI): one folder per conversation, one file per event. */
export const openHands = recordLinesFormat({
  id: "openhands",
  name: "OpenHands",
  root: { variable: "OPENHANDS_PERSISTENCE_DIR", home: ".openhands", folders: ["conversations"] },
  snapshots: openHandsSnapshots,
  classify: () => undefined,
  detect: () => false,
  reader: openHandsReader,
});
