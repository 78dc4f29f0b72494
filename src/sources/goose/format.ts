import { asObject, asText } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { gooseReader } from "./reader.ts";
import { gooseSnapshots } from "./stores.ts";

/** goose: a SQLite database that changes in place, or (until 1.10) one JSONL file per session. */
export const goose = recordLinesFormat({
  id: "goose",
  name: "goose",
  root: {
    variable: "XDG_DATA_HOME",
    home: ".local/share",
    folders: ["goose"],
    others: [{ variable: "GOOSE_PATH_ROOT", folders: ["data"] }],
  },
  snapshots: gooseSnapshots,
  classify: (path) => (/(?:^|\/)sessions\/[^/]+\.jsonl$/.test(path) ? { kind: "session" } : undefined),
  detect(head) {
    const [first, second] = firstRecords(head, 2);
    return (
      asText(first?.working_dir) !== undefined &&
      "message_count" in (first ?? {}) &&
      (second === undefined || (asText(second.role) !== undefined && Array.isArray(second.content))) &&
      asObject(first)?.type === undefined
    );
  },
  reader: gooseReader,
});
