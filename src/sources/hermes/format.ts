import { recordLinesFormat } from "../lines/record-lines.ts";
import { hermesReader } from "./reader.ts";
import { hermesSnapshots } from "./stores.ts";

/**
 * Hermes Agent: one SQLite database for each profile. The files in `sessions/` are copies of it, or bookkeeping of the gateway, and
 * are not read.
 */
export const hermes = recordLinesFormat({
  id: "hermes",
  name: "Hermes Agent",
  root: {
    variable: "HERMES_HOME",
    home: ".hermes",
    folders: ["."],
    others: [{ home: "AppData/Local/hermes", folders: ["."] }],
  },
  snapshots: hermesSnapshots,
  classify: () => undefined,
  detect: () => false,
  reader: hermesReader,
});
