import { recordLinesFormat } from "../lines/record-lines.ts";
import { crushReader } from "./reader.ts";
import { crushSnapshots } from "./stores.ts";

/**
 * Crush: a SQLite database in each project. Only one in the global folder is found without being named: the list of the projects
 * there (`projects.json`) has paths outside the root.
 */
export const crush = recordLinesFormat({
  id: "crush",
  name: "Crush",
  root: {
    variable: "CRUSH_GLOBAL_DATA",
    home: ".local/share/crush",
    folders: ["."],
    others: [
      { variable: "XDG_DATA_HOME", folders: ["crush"] },
      { home: "AppData/Local/crush", folders: ["."] },
    ],
  },
  snapshots: crushSnapshots,
  classify: () => undefined,
  detect: () => false,
  recordsTurnEnds: true,
  reader: crushReader,
});
