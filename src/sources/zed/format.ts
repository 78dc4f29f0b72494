import { recordLinesFormat } from "../lines/record-lines.ts";
import { zedReader } from "./reader.ts";
import { zedSnapshots } from "./stores.ts";

/** Zed's folder `threads` below the home folder: on Linux, in Flatpak, on macOS and Windows. */
const FOLDERS = [
  ".local/share/zed/threads",
  ".var/app/dev.zed.Zed/data/zed/threads",
  "Library/Application Support/Zed/threads",
  "AppData/Local/Zed/threads",
];

/**
 * The agent of the editor Zed. Its threads are in one SQLite database. Agents that Zed runs over the Agent Client Protocol keep
 * their own sessions.
 */
export const zed = recordLinesFormat({
  id: "zed",
  name: "Zed",
  // Verbatim's own variable: Zed has none.
  root: {
    variable: "ZED_HOME",
    home: ".",
    folders: FOLDERS,
    others: [{ variable: "XDG_DATA_HOME", folders: ["zed/threads"] }],
  },
  classify: () => undefined,
  detect: () => false,
  snapshots: zedSnapshots,
  reader: zedReader,
});
