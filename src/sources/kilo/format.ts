import type { Format } from "../contract.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { openCodeOutputFile } from "../opencode/output-file.ts";
import { kiloReader } from "../opencode/reader.ts";
import { openCodeSnapshots } from "../opencode/stores.ts";

/**
 * `kilo.db`, `kilo-<channel>.db`, the older folder `storage`, or `opencode-<channel>.db` in Kilo's folder. Only the name tells
 * them apart from opencode's.
 */
const STORE = /(?:^|\/)(?:kilo(?:-[\w.-]+)?\.db|kilo\/(?:storage|opencode-[\w.-]+\.db))$/;

/**
 * Kilo: the command line version, and the extension of VS Code since version 7. A fork of opencode that kept its tables. Source:
 * `packages/core/src/database/database.ts`, `global.ts`, `session/sql.ts` and `v1/session.ts` of Kilo-Org/kilocode.
 */
export const kilo: Format = recordLinesFormat({
  id: "kilo",
  name: "Kilo",
  root: { variable: "XDG_DATA_HOME", home: ".local/share", folders: ["kilo"] },
  snapshots: {
    ...openCodeSnapshots,
    recognizes: (store) => STORE.test(store.path) && openCodeSnapshots.recognizes(store),
  },
  classify: () => undefined,
  detect: () => false,
  recordsTurnEnds: true,
  outputFile: openCodeOutputFile,
  reader: kiloReader,
});
