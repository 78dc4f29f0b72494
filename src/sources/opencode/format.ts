import type { Format } from "../contract.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { openCodeOutputFile } from "./output-file.ts";
import { openCodeReader } from "./reader.ts";
import { openCodeSnapshots } from "./stores.ts";

/** opencode: a SQLite database that changes in place, or the older folder of small JSON files. */
export const openCode: Format = recordLinesFormat({
  id: "opencode",
  name: "opencode",
  root: { variable: "XDG_DATA_HOME", home: ".local/share", folders: ["opencode"], store: "OPENCODE_DB" },
  snapshots: openCodeSnapshots,
  classify: () => undefined,
  detect: () => false,
  recordsTurnEnds: true,
  outputFile: openCodeOutputFile,
  reader: openCodeReader,
});
