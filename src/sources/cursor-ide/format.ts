import { recordLinesFormat } from "../lines/record-lines.ts";
import { ideReader } from "./reader.ts";
import { conversations } from "./stores.ts";

/** Folders below the home folder in which Cursor keeps the data of all workspaces: on Linux, macOS and Windows. */
const FOLDERS = [".config", "Library/Application Support", "AppData/Roaming"].map(
  (base) => `${base}/Cursor/User/globalStorage`,
);

/** The editor Cursor. Its conversations are in one SQLite database. The format `cursor` reads those of its command line. */
export const cursorIde = recordLinesFormat({
  id: "cursor-ide",
  name: "Cursor (IDE)",
  // Verbatim's own variable: Cursor has none.
  root: { variable: "CURSOR_IDE_HOME", home: ".", folders: FOLDERS },
  classify: () => undefined,
  detect: () => false,
  snapshots: conversations,
  reader: ideReader,
});
