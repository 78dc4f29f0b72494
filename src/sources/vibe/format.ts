import { recordLinesFormat } from "../lines/record-lines.ts";
import { vibeReader } from "./reader.ts";
import { vibeSnapshots } from "./stores.ts";

/** Mistral Vibe: a folder for each session, in older versions a document. */
export const vibe = recordLinesFormat({
  id: "vibe",
  name: "Mistral Vibe",
  root: { variable: "VIBE_HOME", home: ".vibe", folders: ["logs/session"] },
  classify: () => undefined,
  detect: () => false,
  snapshots: vibeSnapshots,
  reader: vibeReader,
});
